// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A client that has not entered an export yet.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use tidegate_device::Socket;
use tidegate_nbd::{Entered, Handshake, HandshakeError, Step, Tls};

use super::catalogue::Exports;
use super::places::PlaceTaken;
use super::tls::Encryption;
use crate::service::Export;

/// The largest number of bytes per receive call.
const PIECE_BYTES: usize = 4096;

/// The state of a guest after a call of [`Guest::turn`].
pub(super) enum Fate {
    Stays,
    /// The connection must be closed; the reason is logged, if there is one.
    Goes(Option<String>),
    /// The guest has entered an export.
    Enters(Box<(Entered, Export, PlaceTaken)>),
}

/// A client that has not entered an export yet.
pub(super) struct Guest {
    pub(super) socket: Socket,
    /// The client's address or process, for the log and for the count of guests per source.
    pub(super) source: String,
    /// The handshake; `None` while the connection switches to encryption.
    handshake: Option<Handshake>,
    /// The step to take after the output is sent.
    then: Option<Step>,
    /// The export that the client has entered; the client learns of it when the output is sent.
    entered: Option<(Export, PlaceTaken)>,
    pub(super) begun: Instant,
}

impl Guest {
    pub(super) fn new(socket: Socket, source: String, tls: Tls, now: Instant) -> Self {
        let handshake = Some(Handshake::new(tls));
        Self { socket, source, handshake, then: None, entered: None, begun: now }
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Returns the event that the guest waits for.
    pub(super) fn awaits(&mut self) -> PollFlags {
        let has_output = self.handshake.as_mut().is_some_and(|it| !it.output().is_empty());
        if has_output { PollFlags::OUT } else { PollFlags::IN }
    }

    /// Continues the handshake as far as possible without blocking.
    pub(super) fn turn(
        &mut self,
        exports: &mut Exports<'_>,
        encryption: Option<&Encryption>,
        time_left: Duration,
    ) -> Fate {
        loop {
            let Some(handshake) = &mut self.handshake else { return Fate::Goes(None) };
            match send_all(&self.socket, handshake.output()) {
                Ok(true) => {}
                Ok(false) => return Fate::Stays,
                Err(_) => return Fate::Goes(None),
            }
            match self.then.take() {
                None | Some(Step::More) => {}
                Some(Step::End) => return Fate::Goes(None),
                Some(Step::Enter(entered)) => {
                    let (export, place) = self.entered.take().expect("it has entered one");
                    return Fate::Enters(Box::new((*entered, export, place)));
                }
                Some(Step::StartTls) => {
                    if let Err(why) = self.encrypt(encryption, time_left) {
                        return Fate::Goes(Some(why));
                    }
                    continue;
                }
            }
            let stepped = handshake.step(exports);
            if let Some(refused) = exports.refused.take() {
                // The reply reports the refusal, and the client can ask for another export.
                self.entered = None;
                exports.refused = Some(refused);
            }
            self.entered = exports.entered.take().or(self.entered.take());
            match stepped {
                Err(error) => return Fate::Goes(Some(reason(error))),
                Ok(Step::More) if handshake.output().is_empty() => {
                    let mut piece = [0; PIECE_BYTES];
                    let room = handshake.room().min(PIECE_BYTES);
                    match recv(&self.socket, &mut piece[..room], RecvFlags::DONTWAIT) {
                        Ok((_, 0)) => return Fate::Goes(None),
                        Ok((_, count)) => handshake.receive(&piece[..count]),
                        Err(Errno::AGAIN | Errno::INTR) => return Fate::Stays,
                        Err(_) => return Fate::Goes(None),
                    }
                }
                Ok(step) => self.then = Some(step),
            }
        }
    }

    /// Continues on the encrypted connection, which a separate thread decrypts.
    fn encrypt(
        &mut self,
        encryption: Option<&Encryption>,
        time_left: Duration,
    ) -> Result<(), String> {
        let handshake = self.handshake.take().expect("it has begun");
        let handshake = handshake.encrypted().map_err(reason)?;
        let encryption = encryption.ok_or("this service has no keys")?;
        let plain = encryption
            .start(&self.socket, time_left)
            .map_err(|error| format!("cannot begin to encrypt: {error}"))?;
        self.socket = Arc::new(plain);
        self.handshake = Some(handshake);
        Ok(())
    }
}

fn reason(error: HandshakeError) -> String {
    format!("the handshake failed: {error}")
}

/// Sends and drains `output`; returns whether it is empty then.
fn send_all(socket: &Socket, output: &mut Vec<u8>) -> Result<bool, Errno> {
    while !output.is_empty() {
        match send(socket, output, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(count) => drop(output.drain(..count)),
            Err(Errno::AGAIN) => return Ok(false),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
