// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Encryption, off the real-time path: a thread for each encrypted connection decrypts into a pair
//! of sockets, and the service uses the other end of the pair.
//!
//! ```text
//!   client <--TLS--> thread at ordinary priority <--plain--> handshake, then the service's ring
//! ```
//! Uses OpenSSL, because rustls does not support external pre-shared keys (`docs/decisions`, 0022).

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use openssl::ssl::{
    ErrorCode, Ssl, SslContext, SslContextBuilder, SslFiletype, SslMethod, SslStream,
    SslVerifyMode, SslVersion,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tidegate_device::Socket;

/// The largest number of bytes moved in one step in each direction.
pub(super) const PIECE_BYTES: usize = 64 << 10;

/// The stack size of an encrypted connection's thread, in bytes.
pub(super) const STACK_BYTES: usize = 256 << 10;

/// The time that a client has to take its last replies once the service has closed its end.
const LAST_REPLIES: Duration = Duration::from_secs(1);

/// The ciphers for clients that use pre-shared keys before TLS 1.3.
const PSK_CIPHERS: &str = "kECDHEPSK:kDHEPSK:kPSK";

/// The server's keys.
pub(crate) struct Encryption {
    context: SslContext,
}

impl std::fmt::Debug for Encryption {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encryption").finish_non_exhaustive()
    }
}

impl Encryption {
    /// Reads a file of `NAME:KEY` lines, as `psktool` writes it.
    pub(crate) fn with_keys(path: &Path) -> Result<Self, String> {
        if !path.exists() {
            return Err("no keys exist".to_owned());
        }
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        let keys = read_keys(&text)?;
        let made = || {
            let mut builder = builder()?;
            builder.set_cipher_list(PSK_CIPHERS)?;
            builder.set_psk_server_callback(move |_, name, key| {
                let known = name.and_then(|name| keys.get(name));
                Ok(known.filter(|known| known.len() <= key.len()).map_or(0, |known| {
                    key[..known.len()].copy_from_slice(known);
                    known.len()
                }))
            });
            Ok::<_, openssl::error::ErrorStack>(Self { context: builder.build() })
        };
        made().map_err(|error| format!("OpenSSL refuses pre-shared keys ({error})"))
    }

    /// Reads `server-cert.pem`, `server-key.pem` and `ca-cert.pem` from a folder. Clients need a
    /// certificate that the authority signed.
    pub(crate) fn with_certificates(folder: &Path) -> Result<Self, String> {
        if !folder.exists() {
            return Err("no keys exist".to_owned());
        }
        let made = || {
            let mut builder = builder()?;
            builder.set_certificate_chain_file(folder.join("server-cert.pem"))?;
            builder.set_private_key_file(folder.join("server-key.pem"), SslFiletype::PEM)?;
            builder.set_ca_file(folder.join("ca-cert.pem"))?;
            builder.set_verify(SslVerifyMode::PEER | SslVerifyMode::FAIL_IF_NO_PEER_CERT);
            builder.check_private_key()?;
            Ok::<_, openssl::error::ErrorStack>(Self { context: builder.build() })
        };
        made().map_err(|error| {
            format!("OpenSSL cannot use server-cert.pem, server-key.pem and ca-cert.pem ({error})")
        })
    }

    /// Starts the thread of a connection; returns the service's end of the socket pair, which
    /// carries plain text.
    pub(super) fn start(&self, socket: &Socket, time_left: Duration) -> io::Result<OwnedFd> {
        let (ours, theirs) = UnixStream::pair()?;
        let ssl = Ssl::new(&self.context).map_err(io::Error::other)?;
        let stream = TcpStream::from(socket.as_fd().try_clone_to_owned()?);
        let until = Instant::now() + time_left;
        let work = move || {
            // After any failure, both ends are closed.
            let _ = carry(stream, ssl, theirs, until);
        };
        let named = std::thread::Builder::new().name("tidegate-tls".to_owned());
        named.stack_size(STACK_BYTES).spawn(work)?;
        Ok(ours.into())
    }
}

fn builder() -> Result<SslContextBuilder, openssl::error::ErrorStack> {
    let mut builder = SslContext::builder(SslMethod::tls_server())?;
    builder.set_min_proto_version(Some(SslVersion::TLS1_2))?;
    // Each connection has its own keys: session tickets would outlive the process's secrets.
    builder.set_num_tickets(0)?;
    Ok(builder)
}

/// Reads one name and its key per line.
fn read_keys(text: &str) -> Result<Keys, String> {
    let mut keys = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fault = || format!("line {} is not NAME:KEY with a hexadecimal key", number + 1);
        let (name, digits) = line.rsplit_once(':').ok_or_else(fault)?;
        let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if name.is_empty() || digits.is_empty() || digits.len() % 2 != 0 || !is_hexadecimal {
            return Err(fault());
        }
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| fault());
        let key = (0..digits.len()).step_by(2).map(byte).collect::<Result<Vec<u8>, _>>()?;
        keys.insert(name.as_bytes().to_vec(), key);
    }
    if keys.is_empty() { Err("the file has no keys".to_owned()) } else { Ok(Arc::new(keys)) }
}

/// The clients' names, and their keys.
type Keys = Arc<BTreeMap<Vec<u8>, Vec<u8>>>;

/// The bytes in transit in one direction.
#[derive(Default)]
struct Stream {
    bytes: Vec<u8>,
    moved: usize,
    is_closed: bool,
}

impl Stream {
    fn is_empty(&self) -> bool {
        self.moved == self.bytes.len()
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.moved..]
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.moved = 0;
    }
}

/// Returns the event that TLS needs before it can read or write.
fn awaited(code: ErrorCode) -> Option<PollFlags> {
    match code {
        ErrorCode::WANT_READ => Some(PollFlags::IN),
        ErrorCode::WANT_WRITE => Some(PollFlags::OUT),
        _ => None,
    }
}

/// Waits for an event at the client's end or at the service's. Returns whether the service has
/// closed its end; to learn only that, pass `plain` without events.
fn wait_for(
    client: (&TcpStream, PollFlags),
    plain: Option<(&UnixStream, PollFlags)>,
    until: Option<Instant>,
) -> io::Result<bool> {
    let timeout = until.map(|until| until.saturating_duration_since(Instant::now()));
    let timeout = timeout.map(|time| Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(time.subsec_nanos()),
    });
    let mut polled = vec![PollFd::new(client.0, client.1)];
    polled.extend(plain.map(|(plain, flags)| PollFd::new(plain, flags)));
    match poll(&mut polled, timeout.as_ref()) {
        Ok(0) => Err(io::ErrorKind::TimedOut.into()),
        Ok(_) => Ok(polled.get(1).is_some_and(|plain| plain.revents().contains(PollFlags::HUP))),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Encrypts one connection until either end closes.
fn carry(stream: TcpStream, ssl: Ssl, mut plain: UnixStream, until: Instant) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    plain.set_nonblocking(true)?;
    let mut tls = SslStream::new(ssl, stream).map_err(io::Error::other)?;
    while let Err(error) = tls.accept() {
        let Some(flags) = awaited(error.code()) else { return Err(io::Error::other(error)) };
        // A guest whose connection the service has closed must not keep its thread until the
        // handshake's time is over.
        if wait_for((tls.get_ref(), flags), Some((&plain, PollFlags::empty())), Some(until))? {
            return Ok(());
        }
    }
    let (mut inwards, mut outwards) = (Stream::default(), Stream::default());
    // The instant at which the connection ends. It is set when the service closes its end while the
    // client still has replies to take.
    let mut ends: Option<Instant> = None;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let mut wanted = PollFlags::empty();
        if !outwards.is_empty() {
            match tls.ssl_write(outwards.rest()) {
                Ok(count) => outwards.moved += count,
                Err(error) => wanted |= awaited(error.code()).ok_or(io::ErrorKind::BrokenPipe)?,
            }
        }
        if inwards.is_empty() {
            match tls.ssl_read(&mut piece) {
                Ok(count) => inwards.put(&piece[..count]),
                Err(error) => wanted |= awaited(error.code()).ok_or(io::ErrorKind::BrokenPipe)?,
            }
        }
        let mut of_plain = PollFlags::empty();
        if !inwards.is_empty() {
            match plain.write(inwards.rest()) {
                Ok(count) => inwards.moved += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    of_plain |= PollFlags::OUT;
                }
                Err(error) => return Err(error),
            }
        }
        if outwards.is_empty() && !outwards.is_closed {
            match plain.read(&mut piece) {
                Ok(0) => outwards.is_closed = true,
                Ok(count) => {
                    outwards.put(&piece[..count]);
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    of_plain |= PollFlags::IN;
                }
                Err(error) => return Err(error),
            }
        }
        if outwards.is_closed && outwards.is_empty() {
            // The client may already be gone.
            let _ = tls.shutdown();
            return Ok(());
        }
        if inwards.is_empty() && wanted.is_empty() {
            continue;
        }
        let polled = ends.is_none() || !of_plain.is_empty();
        if wait_for((tls.get_ref(), wanted), polled.then_some((&plain, of_plain)), ends)? {
            ends.get_or_insert_with(|| Instant::now() + LAST_REPLIES);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::mpsc;

    use super::*;

    /// Runs [`carry`] on a thread; returns the other end of each connection, and a channel that
    /// reports when `carry` returned.
    fn carried() -> (TcpStream, UnixStream, mpsc::Receiver<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        let (plain, service) = UnixStream::pair().unwrap();
        let mut builder = SslContextBuilder::new(SslMethod::tls_server()).unwrap();
        builder.set_max_proto_version(Some(SslVersion::TLS1_2)).unwrap();
        builder.set_cipher_list(PSK_CIPHERS).unwrap();
        builder.set_psk_server_callback(|_, _, key| {
            key[0] = 1;
            Ok(1)
        });
        let ssl = Ssl::new(&builder.build()).unwrap();
        let (ended, has_ended) = mpsc::channel();
        std::thread::spawn(move || {
            let _ = carry(server, ssl, plain, Instant::now() + Duration::from_hours(1));
            ended.send(()).unwrap();
        });
        (client, service, has_ended)
    }

    /// Goal: a guest that the service disconnects during its handshake keeps no thread.
    #[test]
    fn closed_guest_leaves_no_thread() {
        let (_client, service, has_ended) = carried();
        drop(service);
        has_ended.recv_timeout(Duration::from_mins(1)).unwrap();
    }

    /// Goal: a client that takes no replies keeps no thread after the service has closed its end.
    #[test]
    fn closed_slow_client_leaves_no_thread() {
        let (client, mut service, has_ended) = carried();
        let mut builder = SslContextBuilder::new(SslMethod::tls_client()).unwrap();
        builder.set_max_proto_version(Some(SslVersion::TLS1_2)).unwrap();
        builder.set_cipher_list(PSK_CIPHERS).unwrap();
        builder.set_psk_client_callback(|_, _, name, key| {
            name[..2].copy_from_slice(b"a\0");
            key[0] = 1;
            Ok(1)
        });
        let mut tls = SslStream::new(Ssl::new(&builder.build()).unwrap(), client).unwrap();
        tls.connect().unwrap();
        service.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
        // Write until every buffer between the two ends is full.
        let piece = vec![0; PIECE_BYTES];
        while service.write(&piece).is_ok() {}
        drop(service);
        has_ended.recv_timeout(Duration::from_mins(1)).unwrap();
    }

    #[test]
    fn keys_are_read_as_psktool_writes_them() {
        let keys = read_keys("# comment\nalice:00ff\n\nb:ob:1234\n").unwrap();
        assert_eq!(keys[&b"alice"[..]], [0, 255]);
        assert_eq!(keys[&b"b:ob"[..]], [0x12, 0x34]);
        for wrong in ["", "alice", "alice:", ":00", "alice:0", "alice:0g", "alice:+1"] {
            assert!(read_keys(wrong).is_err(), "{wrong}");
        }
    }
}
