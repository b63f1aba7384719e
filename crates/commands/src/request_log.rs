// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Writes a file with one row for each request of several runs, on a separate thread.

mod rows;

use std::cell::Cell;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tempfile::NamedTempFile;
use tidegate_host::{EndedRequest, RequestLog};
use tidegate_model::{PolicyName, Workload};
use tidegate_platform::{FileFault, NewFile};

pub use rows::{EndedRows, RequestRow, RequestRows};

/// The maximum number of rows that wait for the writing thread: at 10,000 requests per second, the
/// rows of six seconds.
const WAITING_MAX: usize = 1 << 16;

/// The time between two checks for waiting rows. The writing thread polls, so that a run does not
/// have to wake it.
const PAUSE: Duration = Duration::from_millis(10);

/// The behaviour of a run when too many rows wait for the writing thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// The run waits, because its time is virtual.
    Wait,
    /// The run drops the row, because waiting would delay requests.
    LeaveOut,
}

/// The numbers of requests that have no row in a finished file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Requests after the last row that the limit allows.
    pub beyond_limit: u64,
    /// Requests that were dropped because the writing thread was too slow.
    pub in_haste: u64,
}

/// A request to log, and the policy that served it.
type Logged = (PolicyName, EndedRequest);

/// A thread that writes a row for each record that it gets.
///
/// The file appears only when it is complete.
#[derive(Debug)]
pub struct RowWriter<T> {
    file: NewFile,
    /// The number of records that did not reach the thread.
    lost: Cell<u64>,
    /// The channel to the thread; `None` once the last record was sent.
    records: Option<SyncSender<T>>,
    /// The thread, which returns the file and the number of rows beyond the limit; `None` once
    /// joined.
    writer: Option<JoinHandle<io::Result<(NamedTempFile, u64)>>>,
}

impl<T: Send + 'static> RowWriter<T> {
    /// Starts the thread, with the calling thread's priority, for at most `rows_max` rows. `put`
    /// converts a record to a row.
    ///
    /// # Errors
    /// If no file can be created there.
    pub fn begin(
        file: NewFile,
        rows_max: u64,
        mut put: impl FnMut(&mut RequestRows, &T) -> io::Result<()> + Send + 'static,
    ) -> Result<Self, FileFault> {
        let mut rows = RequestRows::begin(&file, rows_max)?;
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let writer = thread::spawn(move || {
            take(&receiver, |record| put(&mut rows, record))?;
            rows.finish()
        });
        Ok(Self { file, lost: Cell::new(0), records: Some(sender), writer: Some(writer) })
    }

    /// Passes a record to the thread.
    pub fn send(&self, record: T, when_full: WhenFull) {
        let Some(records) = &self.records else { return };
        let is_sent = match when_full {
            WhenFull::Wait => records.send(record).is_ok(),
            WhenFull::LeaveOut => records.try_send(record).is_ok(),
        };
        self.lost.set(self.lost.get() + u64::from(!is_sent));
    }

    /// Returns whether a row could not be written; no later row is written then.
    pub fn has_failed(&self) -> bool {
        self.writer.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Completes the file, and returns how many rows it lacks.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<LeftOut, FileFault> {
        let Some(written) = self.join() else { return Ok(LeftOut::default()) };
        let (file, beyond_limit) = written.map_err(|error| self.file.unwritable(error))?;
        self.file.persist(file)?;
        Ok(LeftOut { beyond_limit, in_haste: self.lost.get() })
    }
}

impl<T> RowWriter<T> {
    /// Waits for the thread to end.
    fn join(&mut self) -> Option<io::Result<(NamedTempFile, u64)>> {
        self.records = None;
        let writer = self.writer.take()?;
        Some(writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

/// Drops an unfinished file.
impl<T> Drop for RowWriter<T> {
    fn drop(&mut self) {
        self.join();
    }
}

/// Processes records until the sender is gone.
fn take<T>(records: &Receiver<T>, mut put: impl FnMut(&T) -> io::Result<()>) -> io::Result<()> {
    loop {
        match records.try_recv() {
            Ok(record) => put(&record)?,
            Err(TryRecvError::Empty) => thread::sleep(PAUSE),
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
    }
}

/// A log of the requests of several runs of one workload.
#[derive(Debug)]
pub struct RequestLogFile(RowWriter<Logged>);

impl RequestLogFile {
    /// Begins a log of at most `rows_max` rows.
    ///
    /// # Errors
    /// The same as [`RowWriter::begin`].
    pub fn begin(file: NewFile, workload: &Workload, rows_max: u64) -> Result<Self, FileFault> {
        let tasks = workload.tasks.iter().map(|task| task.name.clone());
        let loads = workload.best_effort.iter().map(|load| load.name.clone());
        let sources: Vec<String> = tasks.chain(loads).collect();
        let writer = RowWriter::begin(file, rows_max, move |rows, (policy, ended): &Logged| {
            rows.put(&RequestRow::of(*policy, &sources[ended.request.task.0 as usize], ended))
        });
        Ok(Self(writer?))
    }

    /// Returns an observer that logs a run.
    pub fn of_run(
        &self,
        policy: PolicyName,
        in_flight_max: u32,
        when_full: WhenFull,
    ) -> RequestLog<impl FnMut(EndedRequest)> {
        RequestLog::with_room(in_flight_max, move |ended| self.0.send((policy, ended), when_full))
    }

    /// Completes the file, and returns how many rows it lacks.
    ///
    /// # Errors
    /// The same as [`RowWriter::finish`].
    pub fn finish(self) -> Result<LeftOut, FileFault> {
        self.0.finish()
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::workload_file::{DriveReference, WorkloadFile};
    use tidegate_model::{Bytes, Class, Request, RequestId, TaskIndex, Time};

    use super::*;

    const PAGE: &str = include_str!("../../../docs/reference/request-log.md");

    /// Returns a workload with a task and a load, whose name needs quotes in a CSV file.
    fn workload() -> Workload {
        let file = WorkloadFile::parse(
            "[drive]\nkind = \"pseudo\"\nbatch_ns_max = [5_000_000]\n\
             [[task]]\nname = \"camera\"\nperiod = \"30ms\"\nsize = \"4KiB\"\n\
             [[best_effort]]\nname = \"back, up\"\noutstanding = 3\nsize = \"4KiB\"\n",
        );
        let file = file.unwrap();
        let DriveReference::Inline(drive) = &file.drive else { unreachable!("an inline drive") };
        file.bind(drive).unwrap()
    }

    fn ended(id: u64, task: u32) -> EndedRequest {
        let class = if task == 0 { Class::Hard } else { Class::BestEffort };
        let plain = Request::plain(RequestId(id), class, Bytes::from_kib(4));
        let request = Request { task: TaskIndex(task), ..plain };
        let ended = Time::ZERO + tidegate_model::Duration::from_ns(id);
        EndedRequest { request, dispatched: None, ended, outcome: None }
    }

    /// The reference documentation states how much memory the waiting rows take. The queue stores a
    /// number with each row.
    #[test]
    fn rows_that_wait_take_at_most_10_mb() {
        assert!(WAITING_MAX * (size_of::<Logged>() + size_of::<usize>()) <= 10_000_000);
    }

    /// Goal: the reference page names every column, rows beyond the limit are counted, and no file
    /// appears before the end or without an end.
    #[test]
    fn file_has_a_row_for_each_request_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.csv");
        let begin = || {
            let file = NewFile::prepare(&path).unwrap();
            RequestLogFile::begin(file, &workload(), 2).unwrap()
        };
        drop(begin());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "unfinished");
        let log = begin();
        for row in [ended(1, 0), ended(2, 1), ended(3, 0)] {
            log.0.send((PolicyName::Dqf, row), WhenFull::Wait);
        }
        assert!(!path.exists());
        assert_eq!(log.finish().unwrap(), LeftOut { beyond_limit: 1, in_haste: 0 });
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let listed = PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        assert_eq!(lines[0].split(',').collect::<Vec<_>>(), listed.collect::<Vec<_>>());
        assert_eq!(lines[1], "dqf,1,camera,hard,read,0,4096,0,,,,1,dropped");
        assert_eq!(lines[2], "dqf,2,\"back, up\",best-effort,read,0,4096,0,,,,2,dropped");
        assert_eq!(lines.len(), 3);
    }

    /// Goal: a name that ends in .zst selects compression, and the rows are the same.
    #[test]
    fn a_compressed_file_has_the_same_rows() {
        let folder = tempfile::tempdir().unwrap();
        let [plain, packed] = ["log.csv", "log.csv.zst"].map(|name| {
            let path = folder.path().join(name);
            let log = RequestLogFile::begin(NewFile::prepare(&path).unwrap(), &workload(), 1_000);
            let log = log.unwrap();
            (1..=500).for_each(|id| log.0.send((PolicyName::Dqf, ended(id, 0)), WhenFull::Wait));
            log.finish().unwrap();
            std::fs::read(path).unwrap()
        });
        assert!(packed.len() * 4 < plain.len(), "{} of {}", packed.len(), plain.len());
        assert_eq!(zstd::decode_all(&*packed).unwrap(), plain);
    }
}
