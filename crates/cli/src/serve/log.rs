// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The file with a row for each request that a service has served (`--log`).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tidegate_commands::{EndedRows, RequestRow, RequestRows};
use tidegate_engine::log::Format;
use tidegate_engine::serve::{Prepared, Server};
use tidegate_engine::service::{RequestSink, ServedRequest, View};
use tidegate_host::EndedRequest;
use tidegate_model::PolicyName;
use tidegate_platform::{FileFault, NewFile};

use crate::arguments::LogArguments;

/// The interval between two checks for requests to log. The service need not wake the thread.
const PAUSE: Duration = Duration::from_millis(10);

/// The thread's stack size; small, because all memory of a server can be locked.
const STACK_BYTES: usize = 512 << 10;

/// The log before the server starts; `None` if the user requested no log.
pub(super) struct ServedLog(Option<Asked>);

struct Asked {
    file: NewFile,
    rows_max: u64,
    sink: RequestSink,
    requests: Receiver<ServedRequest>,
}

impl ServedLog {
    /// Prepares the file. If that fails, the command reports it and starts without a log.
    pub(super) fn prepare(arguments: &LogArguments, format: Format) -> Self {
        let Some(path) = &arguments.log else { return Self(None) };
        let prepared = NewFile::numbered(path).map_err(|fault| say_without(&fault, format));
        let asked = |file| {
            let (sink, requests) = RequestSink::channel();
            Asked { file, rows_max: arguments.log_rows, sink, requests }
        };
        Self(prepared.ok().map(asked))
    }

    /// Makes the server that is started from `prepared` report its requests to this log.
    pub(super) fn reported_by(&self, prepared: Prepared) -> Prepared {
        match &self.0 {
            Some(asked) => prepared.reporting(asked.sink.clone()),
            None => prepared,
        }
    }

    /// Starts the thread that writes the rows, with ordinary priority.
    pub(super) fn begin(self, server: &Server, format: Format) -> RunningLog {
        let begun = self.0.map(|asked| asked.begin(server, format)).transpose();
        RunningLog(begun.unwrap_or_else(|fault| {
            say_without(&fault, format);
            None
        }))
    }
}

fn say_without(fault: &FileFault, format: Format) {
    format.say(format!("warning: requests are not logged: {fault}"));
}

impl Asked {
    fn begin(self, server: &Server, format: Format) -> Result<Writing, FileFault> {
        let Self { file, rows_max, sink, requests } = self;
        let open = Some(RequestRows::begin(&file, rows_max)?);
        let (view, is_done) = (server.view(), Arc::new(AtomicBool::new(false)));
        let ended = is_done.clone();
        let log = Rows { open, name: file.name(), format, ended: None, unwritten: 0, nameless: 0 };
        let thread = thread::Builder::new()
            .name("tidegate-rows".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || write(&requests, &view, log, &ended))
            .map_err(|error| file.unwritable(error))?;
        Ok(Writing { file, sink, is_done, thread })
    }
}

/// A log that is being written.
pub(super) struct RunningLog(Option<Writing>);

struct Writing {
    file: NewFile,
    sink: RequestSink,
    is_done: Arc<AtomicBool>,
    thread: JoinHandle<Rows>,
}

impl RunningLog {
    /// Finishes the file of a service that has ended, and reports its name and how many rows are
    /// missing. A fault is only reported.
    pub(super) fn finish(self, format: Format) {
        let Some(Writing { file, sink, is_done, thread }) = self.0 else { return };
        is_done.store(true, Ordering::Release);
        let mut log = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        log.end();
        let Some(EndedRows { file: temporary, beyond, .. }) = log.ended else { return };
        let name = match file.persist_free(temporary) {
            Ok(name) => name,
            Err(fault) => return say_without(&fault, format),
        };
        format.say(format!("requests are logged in {name}"));
        let lacking = [
            (beyond, "see --log-rows"),
            (log.unwritten, "the file could not be written; its last rows before are missing too"),
            (sink.lost(), "they ended faster than rows can be written"),
            (log.nameless, "their exports were removed before"),
        ];
        for (count, why) in lacking.into_iter().filter(|(count, _)| *count > 0) {
            format.say(format!("warning: requests without a row in {name}: {count} ({why})"));
        }
    }
}

/// The state of the thread that writes the rows.
struct Rows {
    /// The open file; `None` once no more rows are written.
    open: Option<RequestRows>,
    ended: Option<EndedRows>,
    name: String,
    format: Format,
    /// The number of requests without a row because of an earlier fault.
    unwritten: u64,
    /// The number of requests without a row because their export was removed.
    nameless: u64,
}

impl Rows {
    fn put(&mut self, policy: PolicyName, name: &str, ended: &EndedRequest) {
        match self.open.as_mut().map(|rows| rows.put(&RequestRow::of(policy, name, ended))) {
            Some(Ok(())) => {}
            None => self.unwritten += 1,
            Some(Err(error)) => {
                self.unwritten += 1;
                self.say_stopped(&error);
                self.ended = self.open.take().map(RequestRows::end);
            }
        }
    }

    fn end(&mut self) {
        let Some(rows) = self.open.take() else { return };
        let ended = rows.end();
        ended.fault.iter().for_each(|error| self.say_stopped(error));
        self.ended = Some(ended);
    }

    fn say_stopped(&self, error: &io::Error) {
        let name = &self.name;
        self.format.say(format!(
            "warning: cannot write {name}: {error}; the service goes on, the rows before are kept, \
             and later requests have none"
        ));
    }
}

/// Writes rows until the service has ended.
fn write(
    requests: &Receiver<ServedRequest>,
    view: &View,
    mut log: Rows,
    is_done: &AtomicBool,
) -> Rows {
    loop {
        // The flag is read first, because nothing is sent after it is set.
        let is_last = is_done.load(Ordering::Acquire);
        match requests.try_recv() {
            Ok(served) => match view.export_of(&served) {
                Some(name) => log.put(view.policy(), &name, &served.ended),
                None => log.nameless += 1,
            },
            Err(TryRecvError::Empty) if !is_last => thread::sleep(PAUSE),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return log,
        }
    }
}
