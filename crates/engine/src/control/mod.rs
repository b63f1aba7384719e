// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The control socket of a service: one JSON object on each line, there and back.
//!
//! ```text
//!   {"do":"status"}       what is offered, what was proved, whether it still stands
//!   {"do":"statistics"}   what was seen so far
//!   {"do":"missed","export":"camera-1"}   its tenant missed a deadline   } heard by regulators
//!   {"do":"ended","export":"camera-1"}    its stream came to its end     } that this steers
//!   {"do":"check","export":{..}}   would it be admitted? With the keys of an [[export]]
//!   {"do":"admit","export":{..}}   prove it beside the others, and offer it
//!   {"do":"remove","export":"camera-1"}   answer what was read of it, then forget it
//!   {"do":"stop"}         answer everything, then end
//! ```
//! While an export is admitted or removed, which may take seconds, no other is: that is refused at
//! once; so is a second check while one runs. Everything else is answered meanwhile.
//!
//! Only the socket's owner gets in (mode 0600). What `stop` does is the caller's: a service does
//! not know who runs it.
//!
//! # Source
//! The two notices are the calls of missed-deadline notification, in which streams that read a
//! shared disk through a file system tell it how they are served.

mod answers;
#[cfg(any(test, feature = "harness"))]
pub(crate) mod harness;
mod request;
#[cfg(test)]
pub(crate) mod tests;
pub mod wire;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, TryLockError};

use serde::Serialize;
use tidegate_model::NewExport;
use tidegate_policy::NoticeKind;

use self::answers::{Fault, admitted, removed, statistics, status};
use self::request::Request;
use self::wire::{AdmittedExport, Done, Failed, Heard, Noted, RemovedExport};
use crate::peers::{Answer, LogSink, PathListener, Peers, Protocol, Refusal, Reply};
use crate::service::View;

/// The longest line of a request.
const LINE_BYTES_MAX: usize = 64 << 10;

/// A control socket that is open; dropping it closes it.
#[derive(Debug)]
pub struct Control {
    _peers: Peers,
}

impl Control {
    /// Opens a control socket at `path` for a service. `stop` is called when somebody asks for
    /// the end, on the control socket's thread, and should not wait for it.
    ///
    /// # Errors
    /// When there can be no socket at that path, or no thread.
    pub fn open(
        path: &Path,
        view: View,
        stop: impl Fn() + Send + 'static,
        say: LogSink,
    ) -> io::Result<Self> {
        let protocol = ControlProtocol::new(view, Some(Box::new(stop)));
        let peers = Peers::start("tidegate-ctl", PathListener::open(path)?, protocol, say)?;
        Ok(Self { _peers: peers })
    }
}

/// Answers one request as the control socket does, for programs that have the service in
/// themselves. Ending it is theirs: `stop` is refused.
pub fn ask(view: &View, request: &[u8]) -> String {
    let mut protocol = ControlProtocol::new(view.clone(), None);
    let answer = match protocol.answer(request) {
        Reply::Now(answer) => answer,
        Reply::Later(job) => job(),
    };
    String::from_utf8_lossy(answer.bytes.trim_ascii_end()).into_owned()
}

/// What answers requests.
struct ControlProtocol {
    view: View,
    /// Ends the server; none runs this service where there is none.
    stop: Option<Box<dyn Fn() + Send>>,
    /// Held while an export is checked: proofs take their time, and one runs at once.
    checking: Arc<Mutex<()>>,
}

impl ControlProtocol {
    fn new(view: View, stop: Option<Box<dyn Fn() + Send>>) -> Self {
        Self { view, stop, checking: Arc::default() }
    }

    fn reply(&self, request: Request) -> Reply {
        let view = self.view.clone();
        match request {
            Request::Status => now(status(&view)),
            Request::Statistics => now(statistics(&view)),
            Request::Missed { export } => now(notice(&view, &export, NoticeKind::DeadlineMissed)),
            Request::Ended { export } => now(notice(&view, &export, NoticeKind::StreamEnded)),
            Request::Check { export } => {
                let checking = self.checking.clone();
                later(move || check(&view, &export, &checking))
            }
            Request::Admit { export } => later(move || admit(&view, &export)),
            Request::Remove { export } => later(move || remove(&view, &export)),
            Request::Stop => now(self.stop()),
        }
    }

    fn stop(&self) -> Result<Noted, Fault> {
        let Some(stop) = &self.stop else {
            return Err(Fault::new(
                "no server runs this service, so none can be stopped",
                "the program that opened it closes it",
            ));
        };
        stop();
        Ok(Noted {})
    }
}

impl Protocol for ControlProtocol {
    const REQUEST_MAX: usize = LINE_BYTES_MAX;

    fn end(input: &[u8], scanned: usize) -> Option<usize> {
        let rest = input.get(scanned..)?;
        rest.iter().position(|&byte| byte == b'\n').map(|at| scanned + at + 1)
    }

    fn answer(&mut self, request: &[u8]) -> Reply {
        match Request::parse(request) {
            Ok(request) => self.reply(request),
            Err(fault) => now(Err::<Noted, _>(fault)),
        }
    }

    fn refusal(&self, why: Refusal) -> Vec<u8> {
        let fault = match why {
            Refusal::Long => {
                Fault::new("a line of more than 64 KiB", "end each request with a new line")
            }
            Refusal::Slow => {
                Fault::new("no whole line within 10 s", "connect when there is something to ask")
            }
            Refusal::Crowded => Fault::new("too many peers at once", "close others, or try later"),
        };
        line(&Failed::from(fault))
    }
}

fn notice(view: &View, name: &str, kind: NoticeKind) -> Result<Heard, Fault> {
    let Some(export) = view.export(name) else {
        return Err(Fault::new("there is no export of that name", "`status` lists them"));
    };
    if export.spec().contract.is_none() {
        return Err(Fault::new(
            "an export without a contract has no deadlines",
            "name one that has a contract",
        ));
    }
    export.notice(kind);
    // Who reports is to know whether that changes anything.
    Ok(Heard { is_heard: view.hears_notices() })
}

fn check(view: &View, new: &NewExport, checking: &Mutex<()>) -> Result<AdmittedExport, Fault> {
    let _checking = match checking.try_lock() {
        Err(TryLockError::WouldBlock) => return Err(Fault::busy()),
        Ok(checking) => checking,
        Err(TryLockError::Poisoned(checking)) => checking.into_inner(),
    };
    view.check(new).map(|found| admitted(&found)).map_err(Fault::of_change)
}

fn admit(view: &View, new: &NewExport) -> Result<AdmittedExport, Fault> {
    view.admit(new).map(|found| admitted(&found)).map_err(Fault::of_change)
}

fn remove(view: &View, name: &str) -> Result<RemovedExport, Fault> {
    view.remove(name).map(|found| removed(name, &found)).map_err(Fault::of_change)
}

fn now(found: Result<impl Serialize, Fault>) -> Reply {
    Reply::Now(answer(found))
}

/// What may take its time.
fn later<T: Serialize + 'static>(job: impl FnOnce() -> Result<T, Fault> + Send + 'static) -> Reply {
    Reply::Later(Box::new(move || answer(job())))
}

fn answer(found: Result<impl Serialize, Fault>) -> Answer {
    let bytes = match found {
        Ok(reply) => line(&Done::new(reply)),
        Err(fault) => line(&Failed::from(fault)),
    };
    Answer { bytes, is_last: false }
}

fn line(reply: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(reply).expect("a reply is plain data");
    line.push(b'\n');
    line
}
