// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate tune --status` and `--undo`.

use serde::Serialize;
use tidegate_tune::{Drift, FileSystem, Refusal, Stranger, Undone};

use super::file_systems::FileSystemReport;
use super::{write_drift, write_undone};
use crate::figures::count;
use crate::page::{Answer, Page, Report, printable};

/// States whether a disk still has its settings.
#[derive(Debug, Serialize)]
pub struct TuneStatusReport<'a> {
    device: &'a str,
    is_tuned: bool,
    is_gone: bool,
    /// The name of the record if the disk is gone.
    #[serde(skip)]
    gone_record: Option<&'a str>,
    drift: &'a [Drift],
    /// The reasons for which the disk would be refused now.
    refusals: Vec<String>,
    /// The programs outside the workload that have threads in the real-time class.
    strangers: &'a [Stranger],
    file_systems: Vec<FileSystemReport<'a>>,
}

/// The differences between a tuned disk and the assumptions of its proof.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TunedState {
    /// The name of the record if the disk is gone; then only files and services can differ.
    pub gone_record: Option<String>,
    /// The differences between the disk and its record.
    pub drift: Vec<Drift>,
    /// The reasons for which the disk would be refused now.
    pub refusals: Vec<Refusal>,
    /// The programs outside the workload that have threads in the real-time class.
    pub strangers: Vec<Stranger>,
    /// The file systems on the disk.
    pub file_systems: Vec<FileSystem>,
}

impl<'a> TuneStatusReport<'a> {
    /// Reports the state of a disk; `state` is `None` if the disk is not tuned.
    pub fn of(device: &'a str, state: Option<&'a TunedState>) -> Self {
        let (drift, strangers) =
            state.map_or((&[][..], &[][..]), |state| (&*state.drift, &*state.strangers));
        let refusals = state.map_or(&[][..], |state| &*state.refusals);
        let refusals = refusals.iter().map(Refusal::to_string).collect();
        let file_systems = FileSystemReport::all(state.map_or(&[][..], |it| &*it.file_systems));
        let gone_record = state.and_then(|state| state.gone_record.as_deref());
        let (is_tuned, is_gone) = (state.is_some(), gone_record.is_some());
        Self { device, is_tuned, is_gone, gone_record, drift, refusals, strangers, file_systems }
    }

    /// Returns whether the disk is present and tuned, nothing differs, and nothing would be refused.
    /// Real-time threads of other programs do not count, because only `watch` sees whether they use
    /// the disk.
    pub fn is_kept(&self) -> bool {
        self.is_tuned && !self.is_gone && self.drift.is_empty() && self.refusals.is_empty()
    }
}

impl Report for TuneStatusReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let device = self.device;
        if let Some(record) = self.gone_record {
            let text = format!("NO: {device} was tuned and is gone (its record is {record})");
            return Some(Answer::bad(text));
        }
        Some(match (self.drift.len(), self.refusals.len()) {
            (0, 0) if self.is_tuned => {
                let text = format!("YES: {device} is as it was tuned");
                FileSystemReport::doubt(&self.file_systems, text)
            }
            (0, 0) => Answer::bad(format!("NO: {device} is not tuned")),
            (0, reasons) => {
                let reasons = count(reasons, "reason");
                Answer::bad(format!("NO: {device} would be refused now, for {reasons}"))
            }
            (differ, _) => {
                let differ = count(differ, "difference");
                Answer::bad(format!("NO: {device} has {differ} from its settings"))
            }
        })
    }

    fn write(&self, page: &mut Page) {
        write_drift(page, self.drift);
        for refusal in &self.refusals {
            page.labelled("Refused", printable(refusal));
        }
        if !self.strangers.is_empty() {
            let name = |it: &Stranger| format!("{} ({})", it.name, count(it.threads, "thread"));
            let names: Vec<String> = self.strangers.iter().map(name).collect();
            let text = format!(
                "programs outside of the workload have threads in the real-time class: {}; the bounds \
                 do not count their requests, and `watch` shows whether they send any",
                names.join(", ")
            );
            page.labelled("Note", printable(&text));
        }
        FileSystemReport::write_all(page, &self.file_systems);
        if let Some(record) = self.gone_record {
            // Another disk can now have the kernel's name.
            page.command("To do", &format!("tidegate tune {record} --undo"));
        }
    }
}

/// The values that an undo restored and the files that it removed.
#[derive(Debug, Serialize)]
pub struct TuneUndoReport<'a> {
    device: &'a str,
    #[serde(flatten)]
    undone: Undone,
}

impl<'a> TuneUndoReport<'a> {
    /// Reports the effect of an undo.
    pub fn of(device: &'a str, undone: Undone) -> Self {
        Self { device, undone }
    }
}

impl Report for TuneUndoReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let Undone { settings, files, unreached, .. } = &self.undone;
        let device = self.device;
        let removed = count(files.len(), "file");
        Some(Answer::good(if !unreached.is_empty() {
            format!("{device} is gone: {removed} and its record removed")
        } else if settings.is_empty() && files.is_empty() {
            format!("{device} is not tuned, nothing to undo")
        } else {
            let settings = count(settings.len(), "setting");
            format!("{device}: {settings} restored, {removed} removed")
        }))
    }

    fn write(&self, page: &mut Page) {
        write_undone(page, &self.undone);
        let is_removed = |end: &str| self.undone.files.iter().any(|file| file.ends_with(end));
        if is_removed(".rules") {
            page.command("To do", "udevadm control --reload");
        }
        if is_removed(".conf") {
            page.command("To do", "systemctl daemon-reload");
        }
    }
}
