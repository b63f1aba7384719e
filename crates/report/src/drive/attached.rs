// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate drive detach`: the simulated drives that are attached as block devices.

use serde::Serialize;
use tidegate_model::Bytes;

use crate::figures;
use crate::page::{Page, Report, Table};

/// Every attached drive.
#[derive(Debug, Serialize)]
pub struct AttachedReport {
    /// The attached drives, sorted by name.
    pub attached: Vec<AttachedDrive>,
}

/// An attached drive; fields from its record are missing if it has none.
#[derive(Debug, Serialize)]
pub struct AttachedDrive {
    /// Its name.
    pub name: String,
    /// Its block device.
    pub device: Option<String>,
    /// The drive that is simulated.
    pub drive: Option<String>,
    /// Its size.
    pub size_bytes: Option<u64>,
    /// The process that serves or served the drive.
    pub pid: Option<u32>,
    /// Whether that process is alive.
    pub is_served: bool,
    /// Whether a process has the device open.
    pub is_in_use: bool,
    /// The processes that have the device open, as text.
    #[serde(skip)]
    pub holders: String,
}

impl Report for AttachedReport {
    fn write(&self, page: &mut Page) {
        if self.attached.is_empty() {
            page.paragraph("No drives are attached.");
            return;
        }
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
