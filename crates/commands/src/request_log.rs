// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A file with one row for each request of some runs, written by a thread of its own.

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

/// The rows that can wait for the writing thread: at 10,000 requests a second, those of six
/// seconds.
const WAITING_MAX: usize = 1 << 16;

/// The time between two looks at the rows that wait. A run need not wake the writing thread.
const PAUSE: Duration = Duration::from_millis(10);

/// Whether a run waits for the writing thread when too many rows wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenFull {
    /// It waits: time is virtual.
    Wait,
    /// It leaves the row out: waiting would delay requests.
    LeaveOut,
}

/// The requests that have no row in a finished file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Those after the last row that the limit allows.
    pub beyond_limit: u64,
    /// Those that ended faster than the writing thread could write.
    pub in_haste: u64,
}

/// A request of a run.
type Logged = (PolicyName, EndedRequest);

/// A thread that writes a row for each record that it gets.
///
/// The file appears whole when it is finished, or not at all.
#[derive(Debug)]
pub struct RowWriter<T> {
    file: NewFile,
    /// Records that did not reach the thread.
    lost: Cell<u64>,
    /// `None` once the last record was sent.
    records: Option<SyncSender<T>>,
    /// `None` once joined; else returns the file and the rows beyond the limit.
    writer: Option<JoinHandle<io::Result<(NamedTempFile, u64)>>>,
}

impl<T: Send + 'static> RowWriter<T> {
    /// Starts the thread, with the priority of the calling one, for at most `rows_max` rows; `put`
    /// makes a record a row.
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

    /// Hands a record to the thread.
    pub fn send(&self, record: T, when_full: WhenFull) {
        let Some(records) = &self.records else { return };
        let is_sent = match when_full {
            WhenFull::Wait => records.send(record).is_ok(),
            WhenFull::LeaveOut => records.try_send(record).is_ok(),
        };
        self.lost.set(self.lost.get() + u64::from(!is_sent));
    }

    /// Returns whether a row could not be written; then no later row is.
    pub fn has_failed(&self) -> bool {
        self.writer.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Finishes the file, and returns how many rows it lacks.
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
    /// Waits for the thread.
    fn join(&mut self) -> Option<io::Result<(NamedTempFile, u64)>> {
        self.records = None;
        let writer = self.writer.take()?;
        Some(writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

/// Removes an unfinished file.
impl<T> Drop for RowWriter<T> {
    fn drop(&mut self) {
        self.join();
    }
}

/// Takes records until no more can be sent.
fn take<T>(records: &Receiver<T>, mut put: impl FnMut(&T) -> io::Result<()>) -> io::Result<()> {
    loop {
        match records.try_recv() {
            Ok(record) => put(&record)?,
            Err(TryRecvError::Empty) => thread::sleep(PAUSE),
            Err(TryRecvError::Disconnected) => return Ok(()),
        }
    }
}

/// The log of some runs of one workload.
#[derive(Debug)]
pub struct RequestLogFile(RowWriter<Logged>);

impl RequestLogFile {
    /// Begins a log of at most `rows_max` rows.
    ///
    /// # Errors
    /// As [`RowWriter::begin`].
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

    /// Finishes the file, and returns how many rows it lacks.
    ///
    /// # Errors
    /// As [`RowWriter::finish`].
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

    /// The reference states how much memory the waiting rows take; the queue keeps a number beside
    /// each.
    #[test]
    fn rows_that_wait_take_at_most_10_mb() {
        assert!(WAITING_MAX * (size_of::<Logged>() + size_of::<usize>()) <= 10_000_000);
    }

    /// Goal: the page names every column; rows beyond the limit are counted; nothing appears before
    /// the end, or without one.
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

    /// Goal: a name that ends in .zst asks for compression, and the rows are the same.
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
