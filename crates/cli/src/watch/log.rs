// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The file with a row for each request that completed during a watch.

use std::io;

use tidegate_commands::{RequestRow, RequestRows, RowWriter, WhenFull};
use tidegate_model::Time;
use tidegate_watch::{Served, Session};

use crate::arguments::LogArguments;
use crate::failure::Failure;
use crate::request_log::{complain_of, prepare};

/// The log of a watch.
pub(super) struct WatchLog {
    /// The writer of the rows; `None` once a row could not be written.
    rows: Option<RowWriter<Row>>,
    next: u64,
    /// The reason why the rest of the watch has no log.
    failure: Option<Failure>,
}

/// The number of a request, the request, and the start of the watch.
type Row = (u64, Served, Time);

impl WatchLog {
    /// Starts the file; `None` if the user requested none.
    pub(super) fn begin(arguments: &LogArguments) -> Result<Option<Self>, Failure> {
        let Some(file) = prepare(arguments)? else { return Ok(None) };
        let rows = RowWriter::begin(file, arguments.log_rows, put);
        Ok(Some(Self::of(rows.map_err(|fault| Failure::of_file(&fault))?)))
    }

    fn of(rows: RowWriter<Row>) -> Self {
        Self { rows: Some(rows), next: 1, failure: None }
    }

    /// Hands over the requests that completed since the last call. A watch does not wait, because
    /// the kernel's buffer would fill. Returns a message if the log fails in this call; the watch
    /// continues without it.
    pub(super) fn take(&mut self, session: &mut Session) -> Option<String> {
        let began = session.began();
        self.put(session.take_served(), began)
    }

    fn put(&mut self, served: Vec<Served>, began: Time) -> Option<String> {
        for served in served {
            if let Some(rows) = &self.rows {
                rows.send((self.next, served, began), WhenFull::LeaveOut);
            }
            self.next += 1;
        }
        let failed = self.rows.take_if(|rows| rows.has_failed())?;
        let failure = Failure::of_file(&failed.finish().err()?);
        let message = format!("{}; the watch goes on without a log", failure.message());
        self.failure = Some(failure);
        Some(message)
    }

    /// Returns the reason why the log has ended; `None` while it is written.
    pub(super) fn fault(&self) -> Option<String> {
        self.failure.as_ref().map(Failure::message)
    }

    /// Finishes the file, and reports how many rows are missing.
    pub(super) fn finish(self) -> Result<(), Failure> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let Some(rows) = self.rows else { return Ok(()) };
        complain_of(rows.finish().map_err(|fault| Failure::of_file(&fault))?);
        Ok(())
    }
}

fn put(rows: &mut RequestRows, (number, served, began): &Row) -> io::Result<()> {
    rows.put(&row(*number, served, *began))
}

/// Returns the row of a request. The kernel does not report batches or deadlines.
fn row(number: u64, served: &Served, began: Time) -> RequestRow<'_> {
    let since = |at: Time| at.max(began).since(began).ns();
    RequestRow {
        policy: "",
        request: number,
        source: served.by.unit.as_deref().unwrap_or(&served.by.name),
        class: served.class.name(),
        op: served.extent.op.name(),
        offset_bytes: served.extent.start.offset_bytes(),
        size_bytes: served.extent.bytes().get(),
        released_ns: since(served.queued),
        due_ns: None,
        batch: None,
        dispatched_ns: None,
        ended_ns: since(served.completed),
        outcome: if served.is_failed { "failed" } else { "done" },
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{Lba, Op};
    use tidegate_platform::NewFile;
    use tidegate_watch::{Extent, IoClass, Operation, Process};

    use super::*;

    fn served(unit: Option<&str>, queued: u64, op: Operation) -> Served {
        let unit = unit.map(str::to_owned);
        let class = IoClass::RealTime;
        Served {
            extent: Extent { op, start: Lba::new(16), sectors: 8 },
            by: Process { pid: 7, name: "a, b".to_owned(), unit, class, is_known: true },
            class,
            queued: Time::from_ns(queued),
            completed: Time::from_ns(queued + 500),
            is_failed: op == Operation::Write,
        }
    }

    /// Goal: a full disk is reported immediately and only once, and the watch continues. Method: a
    /// device that is always full.
    #[test]
    fn a_full_disk_ends_the_log_at_once() {
        let full = |_: &mut RequestRows, _: &Row| Err(io::ErrorKind::StorageFull.into());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.csv");
        let rows = RowWriter::begin(NewFile::prepare(&path).unwrap(), 9, full).unwrap();
        let (mut log, began) = (WatchLog::of(rows), Time::from_ns(1_000));
        let mut said = Vec::new();
        let one = || vec![served(None, 1_200, Operation::Read)];
        let give_up = std::time::Instant::now() + std::time::Duration::from_mins(1);
        while said.is_empty() && std::time::Instant::now() < give_up {
            said.extend(log.put(one(), began));
        }
        said.extend(log.put(one(), began));
        let [said] = &said[..] else { panic!("{said:?}") };
        assert!(said.contains("w.csv") && said.ends_with("goes on without a log"), "{said}");
        assert!(log.fault().is_some() && log.finish().is_err() && !path.exists());
    }

    /// Goal: rows have the columns of other logs, and times count from the start of the watch.
    #[test]
    fn a_watch_has_rows_like_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.csv");
        let rows = RowWriter::begin(NewFile::prepare(&path).unwrap(), 2, put).unwrap();
        let began = Time::from_ns(1_000);
        let requests = [
            served(Some("recorder.service"), 1_200, Operation::Read),
            served(None, 1_300, Operation::Write),
            served(None, 1_400, Operation::Flush),
        ];
        for (number, served) in (1..).zip(requests) {
            rows.send((number, served, began), WhenFull::Wait);
        }
        assert_eq!(rows.finish().unwrap().beyond_limit, 1);
        let text = std::fs::read_to_string(path).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                ",1,recorder.service,realtime,read,8192,4096,200,,,,700,done",
                ",2,\"a, b\",realtime,write,8192,4096,300,,,,800,failed",
            ]
        );
        assert_eq!(Op::Read.name(), Operation::Read.name());
    }
}
