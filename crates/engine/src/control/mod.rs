// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The control socket of a service: one JSON object per line, in both directions.
//!
//! ```text
//!   {"do":"status"}       the exports, their bounds, and whether these still hold
//!   {"do":"statistics"}   the statistics so far
//!   {"do":"distributions"}   both, and the response times so far as steps, at one instant
//!   {"do":"missed","export":"camera-1"}   its client missed a deadline   } used by regulators
//!   {"do":"ended","export":"camera-1"}    its stream ended               } that notices steer
//!   {"do":"check","export":{..}}   would it be admitted? Takes the keys of an [[export]]
//!   {"do":"admit","export":{..}}   proves it together with the others, and offers it
//!   {"do":"remove","export":"camera-1"}   completes the calls that were read, then removes it
//!   {"do":"stop"}         completes all requests, then ends the service
//! ```
//! An admission or removal can take seconds. During that time, other changes are refused
//! immediately, and so is a second check while one runs. All other requests are still answered.
//!
//! Only the socket's owner can connect (mode 0600). The caller defines what `stop` does, because a
//! service does not know which program runs it.
//!
//! # Source
//! The two notices, `missed` and `ended`, are the calls of missed-deadline notification: streams
//! that read a shared disk through a file system use them to report how they are served.

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

use self::answers::{Fault, admitted, distributions, removed, statistics, status};
use self::request::Request;
use self::wire::{AdmittedExport, Done, Failed, Heard, Noted, RemovedExport};
use crate::peers::{Answer, LogSink, PathListener, Peers, Protocol, Refusal, Reply};
use crate::service::View;

/// The longest line of a request, in bytes.
const LINE_BYTES_MAX: usize = 64 << 10;

/// An open control socket; closed when dropped.
#[derive(Debug)]
pub struct Control {
    _peers: Peers,
}

impl Control {
    /// Opens a control socket at `path` for a service. When a peer asks to stop the service, `stop`
    /// is called on the control socket's thread; it must not wait until the service has ended.
    ///
    /// # Errors
    /// If the socket cannot be created at that path, or no thread can be started.
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

    /// Refuses a path at which [`Self::open`] could not make a socket; changes nothing.
    pub(crate) fn check(path: &Path) -> io::Result<()> {
        PathListener::check(path)
    }
}

/// Replies to one request as the control socket does, for programs that contain the service. The
/// request `stop` is refused, because the program ends the service itself.
pub fn ask(view: &View, request: &[u8]) -> String {
    let mut protocol = ControlProtocol::new(view.clone(), None);
    let answer = match protocol.answer(request) {
        Reply::Now(answer) => answer,
        Reply::Later(job) => job(),
    };
    String::from_utf8_lossy(answer.bytes.trim_ascii_end()).into_owned()
}

/// The protocol of the control socket.
struct ControlProtocol {
    view: View,
    /// Stops the server; `None` if no server runs this service.
    stop: Option<Box<dyn Fn() + Send>>,
    /// Held while an export is checked, because a check takes a long time and only one may run.
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
            Request::Distributions => now(distributions(&view)),
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
                "no server runs this service, so `stop` is not possible",
                "end it in the program that opened it",
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
                Fault::new("the line exceeds 64 KiB", "end each request with a new line")
            }
            Refusal::Slow => Fault::new(
                "no complete line within 10 s",
                "connect, then send a request immediately",
            ),
            Refusal::Crowded => {
                Fault::new("too many connections", "close some, or try again later")
            }
        };
        line(&Failed::from(fault))
    }
}

fn notice(view: &View, name: &str, kind: NoticeKind) -> Result<Heard, Fault> {
    let Some(export) = view.export(name) else {
        return Err(Fault::new("there is no export of that name", "`status` lists them"));
    };
    let spec = export.spec();
    if spec.contract.is_none() && !spec.is_soft {
        return Err(Fault::new(
            "best effort has no deadlines",
            "name an export with soft = true, or with a contract",
        ));
    }
    export.notice(kind);
    // Hard contracts are kept by proof, so notices about them change nothing.
    Ok(Heard { is_heard: spec.is_soft && view.offer().hears(kind) })
}

fn check(view: &View, new: &NewExport, checking: &Mutex<()>) -> Result<AdmittedExport, Fault> {
    let _checking = match checking.try_lock() {
        Err(TryLockError::WouldBlock) => return Err(Fault::busy()),
        Ok(checking) => checking,
        Err(TryLockError::Poisoned(checking)) => checking.into_inner(),
    };
    view.check(new).map(|found| admitted(&found, answers::CHECKED)).map_err(Fault::of_change)
}

fn admit(view: &View, new: &NewExport) -> Result<AdmittedExport, Fault> {
    view.admit(new).map(|found| admitted(&found, answers::KEPT)).map_err(Fault::of_change)
}

fn remove(view: &View, name: &str) -> Result<RemovedExport, Fault> {
    view.remove(name).map(|found| removed(name, &found)).map_err(Fault::of_change)
}

fn now(found: Result<impl Serialize, Fault>) -> Reply {
    Reply::Now(answer(found))
}

/// Makes a reply whose computation can take long.
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
