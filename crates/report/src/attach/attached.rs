// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate status` and `tidegate detach`.

use serde::Serialize;
use tidegate_mapping::{Figures, Way};
use tidegate_model::Duration;
use tidegate_tune::{Drift, Undone};

use crate::figures::{count, ms_ceil};
use crate::page::{Answer, Page, Report, printable};
use crate::tune::{FileSystemReport, write_drift, write_undone};

/// States whether a disk is attached as its record says.
#[derive(Debug, Serialize)]
pub struct AttachStatusReport<'a> {
    /// The kernel's name for the disk.
    pub device: &'a str,
    /// The way in which the disk is attached; `None` if it is not.
    pub via: Option<Way>,
    /// The name of the disk's mapping, if it has one.
    pub mapping: Option<&'a str>,
    /// Whether the mapping exists and has the recorded table; `None` without a mapping.
    pub has_its_table: Option<bool>,
    /// The reasons why the plan does not hold.
    pub faults: Vec<String>,
    /// Notes on cgroups that currently do not exist.
    pub notes: Vec<String>,
    /// The differences of settings and files from the record.
    pub drift: Vec<Drift>,
    /// The figures of the mapping.
    pub figures: Option<Figures>,
    /// The file systems on a disk that is attached through the kernel's own scheduler.
    pub file_systems: Vec<FileSystemReport<'a>>,
}

impl AttachStatusReport<'_> {
    /// Returns whether the disk is attached and nothing differs.
    pub fn is_kept(&self) -> bool {
        let is_whole = self.has_its_table != Some(false) && self.faults.is_empty();
        self.via.is_some() && is_whole && self.drift.is_empty()
    }
}

impl Report for AttachStatusReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let device = self.device;
        Some(match (self.via, self.mapping, self.has_its_table) {
            (None, ..) => Answer::bad(format!("NO: {device} is not attached")),
            (_, Some(name), Some(false)) => {
                let text = format!("NO: /dev/mapper/{name} is missing, or has another table");
                Answer::bad(text)
            }
            _ if !self.faults.is_empty() => {
                let faults = count(self.faults.len(), "fault");
                Answer::bad(format!("NO: {device} is attached, with {faults}"))
            }
            _ if !self.drift.is_empty() => {
                let differ = count(self.drift.len(), "difference");
                Answer::bad(format!("NO: {device} has {differ} from its settings"))
            }
            (Some(way), None, _) => FileSystemReport::doubt(
                &self.file_systems,
                format!("YES: {device} by {}", way.name()),
            ),
            (Some(way), Some(name), _) => {
                Answer::good(format!("YES: {device} by {}, /dev/mapper/{name}", way.name()))
            }
        })
    }

    fn write(&self, page: &mut Page) {
        for fault in &self.faults {
            page.labelled("Fault", printable(fault));
        }
        write_drift(page, &self.drift);
        for note in &self.notes {
            page.labelled("Note", printable(note));
        }
        FileSystemReport::write_all(page, &self.file_systems);
        let Some(figures) = &self.figures else { return };
        let row = |kind: &str, requests: u64, longest: u64| {
            vec![kind.to_owned(), requests.to_string(), ms_ceil(Duration::from_ns(longest))]
        };
        let header = ["requests", "count", "longest"];
        let rows = vec![
            row("real time", figures.real_time, figures.real_time_max_ns),
            row("best effort", figures.best_effort, figures.best_effort_max_ns),
        ];
        page.table(&header, rows, 1);
        let now = format!("{} queued, {} on the disk", figures.queued, figures.in_flight);
        page.labelled("Now", now);
        let worker = ms_ceil(Duration::from_ns(figures.worker_max_ns));
        page.labelled(
            "Worker",
            format!("at most {worker} from an event until its requests are sent"),
        );
    }
}

/// The end of an attachment.
#[derive(Debug, Serialize)]
pub struct DetachReport<'a> {
    /// The kernel's name for the disk.
    pub device: &'a str,
    /// The way in which the disk was attached; `None` if it was not.
    pub via: Option<Way>,
    /// The mapping that was removed.
    pub mapping: Option<&'a str>,
    /// The values that were restored and the files that were removed.
    #[serde(flatten)]
    pub undone: Undone,
}

impl Report for DetachReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let device = self.device;
        let Undone { settings, files, .. } = &self.undone;
        let undone = format!(
            "{} restored, {} removed",
            count(settings.len(), "setting"),
            count(files.len(), "file")
        );
        Some(Answer::good(match (self.via, self.mapping) {
            (None, None) => format!("{device} is not attached, nothing to undo"),
            (None, Some(name)) => {
                format!("{device}: /dev/mapper/{name} removed, without a record of settings")
            }
            (_, None) => format!("{device}: {undone}"),
            (_, Some(name)) => format!("{device}: /dev/mapper/{name} removed, {undone}"),
        }))
    }

    fn write(&self, page: &mut Page) {
        write_undone(page, &self.undone);
        if !self.undone.files.is_empty() {
            page.command("To do", "udevadm control --reload");
            page.command("", "systemctl daemon-reload");
        }
    }
}
