// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The file with a row for each request that a service has served (`--log`).

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tidegate_commands::RequestRows;
use tidegate_engine::serve::{Prepared, Server};
use tidegate_engine::service::{RequestSink, ServedRequest, View};
use tidegate_platform::NewFile;

use crate::arguments::LogArguments;
use crate::failure::Failure;

/// The time between two looks at the requests that wait. A service need not wake the thread.
const PAUSE: Duration = Duration::from_millis(10);

/// The thread's stack size: all memory of a server can be locked.
const STACK_BYTES: usize = 512 << 10;

/// A log that was asked for; nothing otherwise.
pub(super) struct ServedLog(Option<Asked>);

struct Asked {
    file: NewFile,
    rows_max: u64,
    sink: RequestSink,
    requests: Receiver<ServedRequest>,
}

impl ServedLog {
    /// Refuses an impossible file before anything is served.
    pub(super) fn prepare(arguments: &LogArguments) -> Result<Self, Failure> {
        let Some(path) = &arguments.log else { return Ok(Self(None)) };
        let file = NewFile::prepare(path).map_err(|fault| Failure::of_file(&fault))?;
        let (sink, requests) = RequestSink::channel();
        Ok(Self(Some(Asked { file, rows_max: arguments.log_rows, sink, requests })))
    }

    /// Lets the servers of a file report their requests here.
    pub(super) fn reported_by(&self, prepared: Prepared) -> Prepared {
        match &self.0 {
            Some(asked) => prepared.reporting(asked.sink.clone()),
            None => prepared,
        }
    }

    /// Starts the thread that writes the rows, with ordinary priority.
    pub(super) fn begin(self, server: &Server) -> Result<RunningLog, Failure> {
        let Some(Asked { file, rows_max, sink, requests }) = self.0 else {
            return Ok(RunningLog(None));
        };
        let rows = RequestRows::begin(&file, rows_max).map_err(|fault| Failure::of_file(&fault))?;
        let (view, is_done) = (server.view(), Arc::new(AtomicBool::new(false)));
        let ended = is_done.clone();
        let thread = thread::Builder::new()
            .name("tidegate-rows".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || write(&requests, &view, rows, &ended))
            .map_err(|error| Failure::environment(&error))?;
        Ok(RunningLog(Some(Writing { file, sink, is_done, thread })))
    }
}

/// A log that is being written.
pub(super) struct RunningLog(Option<Writing>);

struct Writing {
    file: NewFile,
    sink: RequestSink,
    is_done: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<(RequestRows, u64)>>,
}

impl RunningLog {
    /// Finishes the file of a service that has ended, and says how many rows it lacks.
    pub(super) fn finish(self, say: impl Fn(String)) -> Result<(), Failure> {
        let Some(Writing { file, sink, is_done, thread }) = self.0 else { return Ok(()) };
        is_done.store(true, Ordering::Release);
        let written = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let finished = written.and_then(|(rows, nameless)| Ok((rows.finish()?, nameless)));
        let failed = |fault| Failure::of_file(&fault);
        let ((temporary, beyond), nameless) =
            finished.map_err(|error| failed(file.unwritable(error)))?;
        file.persist(temporary).map_err(failed)?;
        let lacking = [
            (beyond, "see --log-rows"),
            (sink.lost(), "they ended faster than rows can be written"),
            (nameless, "their exports were removed before"),
        ];
        for (count, why) in lacking.into_iter().filter(|(count, _)| *count > 0) {
            say(format!("warning: requests without a row in {}: {count} ({why})", file.name()));
        }
        Ok(())
    }
}

/// Writes rows until the service has ended; returns the number of requests of unknown exports.
fn write(
    requests: &Receiver<ServedRequest>,
    view: &View,
    mut rows: RequestRows,
    is_done: &AtomicBool,
) -> io::Result<(RequestRows, u64)> {
    let mut nameless = 0;
    loop {
        // Read first: nothing is sent after it is set.
        let is_last = is_done.load(Ordering::Acquire);
        match requests.try_recv() {
            Ok(served) => match view.export_of(&served) {
                Some(name) => rows.put(view.policy(), &name, &served.ended)?,
                None => nameless += 1,
            },
            Err(TryRecvError::Empty) if !is_last => thread::sleep(PAUSE),
            Err(TryRecvError::Empty | TryRecvError::Disconnected) => return Ok((rows, nameless)),
        }
    }
}
