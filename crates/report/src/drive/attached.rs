// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate drive attach` and `detach`: simulated drives as block devices.

use serde::{Deserialize, Serialize};
use tidegate_model::{Bytes, Duration};

use crate::figures;
use crate::page::{Answer, Page, Report, Table};

/// A drive that was attached.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AttachReport {
    /// The drive's block device.
    pub device: String,
    /// The name under which the drive is attached.
    pub name: String,
    /// The name of the simulated drive.
    pub drive: String,
    /// The drive's size.
    pub size_bytes: u64,
    /// The largest number of requests that the drive accepts at the same time.
    pub depth: u32,
    /// The file that keeps the data; `None` if the data is in memory.
    pub store: Option<String>,
    /// Whether the kernel granted all of the requested real-time scheduling.
    pub real_time_granted: bool,
    /// The granted real-time scheduling, in words.
    pub real_time: String,
}

/// The statistics of a drive that was detached.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AttachmentStatistics {
    /// The number of completed reads.
    pub reads: u64,
    /// The number of bytes read.
    pub read_bytes: u64,
    /// The number of completed writes.
    pub writes: u64,
    /// The number of bytes written.
    pub written_bytes: u64,
    /// The number of completed flushes.
    pub flushes: u64,
    /// The longest time from a request's arrival until the drive completed it.
    pub response_ns_max: u64,
    /// The longest time from the drive's completion to the reply.
    pub lateness_ns_max: u64,
    /// The largest number of outstanding requests.
    pub outstanding_max: u64,
    /// The largest number of requests that waited for room on the drive.
    pub waiting_max: u64,
}

/// Drives that were detached.
#[derive(Debug, Serialize)]
pub struct DetachReport {
    /// The detached drives.
    pub detached: Vec<DetachedDrive>,
}

/// A drive that was detached.
#[derive(Debug, Serialize)]
pub struct DetachedDrive {
    /// The drive's name.
    pub name: String,
    /// The drive's devices, which fail requests until every process has closed them.
    pub held: Vec<String>,
    /// The drive's statistics; present if a background process served it.
    pub statistics: Option<AttachmentStatistics>,
}

/// Every attached drive.
#[derive(Debug, Serialize)]
pub struct AttachedReport {
    /// The attached drives, sorted by name.
    pub attached: Vec<AttachedDrive>,
}

/// An attached drive; the fields that its record would provide are `None` if it has no record.
#[derive(Debug, Serialize)]
pub struct AttachedDrive {
    /// The drive's name.
    pub name: String,
    /// The drive's block device.
    pub device: Option<String>,
    /// The name of the simulated drive.
    pub drive: Option<String>,
    /// The drive's size.
    pub size_bytes: Option<u64>,
    /// The process that serves or served the drive.
    pub pid: Option<u32>,
    /// Whether the serving process is alive.
    pub is_served: bool,
    /// Whether a process has the device open.
    pub is_in_use: bool,
    /// The processes that have the device open, in words.
    #[serde(skip)]
    pub holders: String,
}

impl Report for AttachReport {
    fn answer(&self) -> Option<Answer> {
        Some(Answer::good(format!("Attached as {}: {}.", self.device, self.drive)))
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        page.labelled("Size", figures::decimal(Bytes::new(self.size_bytes)));
        page.labelled("At once", figures::count(self.depth as usize, "request"));
        page.labelled("Data", self.store.as_deref().unwrap_or("in memory, lost at the end"));
        page.labelled("Host", &self.real_time);
        page.labelled("Stop", format!("Ctrl-C, or `tidegate drive detach {}`", self.name));
    }
}

impl Report for AttachmentStatistics {
    fn answer(&self) -> Option<Answer> {
        let requests = usize::try_from(self.reads + self.writes + self.flushes);
        let requests = figures::count(requests.unwrap_or(usize::MAX), "request");
        Some(Answer::good(format!("Detached after {requests}.")))
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        self.write_facts(page);
    }
}

impl AttachmentStatistics {
    fn write_facts(&self, page: &mut Page) {
        let volume = |requests: u64, bytes| {
            format!("{}, {}", figures::thousands(requests), Bytes::new(bytes))
        };
        let time = |ns| figures::ms_ceil(Duration::from_ns(ns));
        page.labelled("Reads", volume(self.reads, self.read_bytes));
        page.labelled("Writes", volume(self.writes, self.written_bytes));
        page.labelled("Flushes", figures::thousands(self.flushes));
        let longest = time(self.response_ns_max);
        page.labelled("Longest", format!("{longest} from arrival to completion"));
        page.labelled("Host late", format!("{} at most", time(self.lateness_ns_max)));
        let Self { outstanding_max, waiting_max, .. } = self;
        page.labelled(
            "Outstanding",
            format!("{outstanding_max} at most, {waiting_max} of them before the drive had room"),
        );
    }
}

impl Report for DetachReport {
    fn answer(&self) -> Option<Answer> {
        let names: Vec<&str> = self.detached.iter().map(|drive| drive.name.as_str()).collect();
        Some(Answer::good(match names.as_slice() {
            [] => "No drives were attached.".to_owned(),
            names => format!("Detached: {}.", names.join(", ")),
        }))
    }

    fn write(&self, page: &mut Page) {
        for drive in &self.detached {
            for device in &drive.held {
                let stays = "fails requests until every process has closed it";
                page.labelled("Stays", format!("{device} {stays}"));
            }
            if let Some(statistics) = &drive.statistics {
                writeln!(page);
                page.labelled("Name", &drive.name);
                statistics.write_facts(page);
            }
        }
    }
}

impl Report for AttachedReport {
    fn answer(&self) -> Option<Answer> {
        Some(Answer::good(match self.attached.len() {
            0 => "No drives are attached.".to_owned(),
            1 => "1 drive is attached.".to_owned(),
            count => format!("{count} drives are attached."),
        }))
    }

    fn write(&self, page: &mut Page) {
        if self.attached.is_empty() {
            return;
        }
        writeln!(page);
        let header = ["name", "device", "drive", "size", "process", "used by"];
        let rows = self.attached.iter().map(AttachedDrive::row).collect();
        page.put(Table::new(&header, rows, header.len()).named(1));
    }
}

impl AttachedDrive {
    fn row(&self) -> Vec<String> {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let process = |pid: u32| if self.is_served { pid.to_string() } else { "ended".to_owned() };
        vec![
            self.name.clone(),
            or_none(self.device.clone()),
            or_none(self.drive.clone()),
            or_none(self.size_bytes.map(|size| figures::decimal(Bytes::new(size)))),
            or_none(self.pid.map(process)),
            or_none(self.is_in_use.then(|| self.holders.clone())),
        ]
    }
}
