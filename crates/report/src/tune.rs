// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate tune`: the settings of a disk and their reasons, their drift, and an
//! undo.

mod file_systems;
mod services;
mod status;

use serde::Serialize;
use tidegate_analysis::{Answer as Verdict, Assessment};
use tidegate_model::{Weight, Workload};
use tidegate_tune::{Drift, FileSystem, NewFile, Refusal, Running, Setting, Undone};

use crate::figures::{count, ms_ceil};
use crate::ns::Ns;
use crate::page::{Answer, Page, Report, printable};

use services::ServiceReport;

pub use file_systems::FileSystemReport;
pub use status::{TuneStatusReport, TuneUndoReport, TunedState};

/// Other causes of delay, which no setting removes.
const CAUSES: [&str; 3] = [
    "self-tests of smartd, standby and error recovery stop a disk for seconds: run self-tests when no \
     deadline matters, switch standby off, and limit error recovery where the disk can (SCT ERC)",
    "a thread under SCHED_FIFO or SCHED_RR without an I/O class counts as real time: a unit that the \
     workload does not name must have none",
    "buffered writes reach the disk from kernel threads, without the I/O class of the program that \
     wrote: a task that writes must use direct I/O",
];

/// Whether the command only showed changes, made them, or installed them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// The changes were only shown.
    Shown,
    /// The settings were made, and last until the next restart.
    Applied,
    /// The settings were made, and installed files make them again after each restart.
    Installed,
}

/// The settings of a disk for a workload.
#[derive(Debug, Serialize)]
pub struct TuneReport<'a> {
    device: &'a str,
    verdict: &'static str,
    /// The reason why no bound applies.
    reason: Option<&'a str>,
    /// The doubts about the verdict.
    doubts: Vec<&'a str>,
    /// The depth of the device's queue.
    depth: u32,
    /// The largest proved depth; `None` if the workload states the depth.
    depth_max: Option<u32>,
    tasks: Vec<TunedTask<'a>>,
    refusals: Vec<String>,
    settings: Vec<TunedSetting<'a>>,
    files: Vec<String>,
    units: Vec<&'a str>,
    services: Vec<ServiceReport<'a>>,
    file_systems: Vec<FileSystemReport<'a>>,
    extent: Extent,
    other_causes: [&'static str; 3],
}

#[derive(Debug, Serialize)]
struct TunedTask<'a> {
    name: &'a str,
    deadline_ns: Ns,
    response_ns_max: Option<Ns>,
}

#[derive(Debug, Serialize)]
pub(crate) struct TunedSetting<'a> {
    attribute: &'static str,
    old: Option<&'a str>,
    new: &'a str,
    reason: &'a str,
}

impl<'a> TunedSetting<'a> {
    pub(crate) fn of(setting: &'a Setting) -> Self {
        Self {
            attribute: setting.attribute,
            old: setting.old.as_deref(),
            new: &setting.new,
            reason: &setting.reason,
        }
    }

    pub(crate) fn differs(&self) -> bool {
        self.old != Some(self.new)
    }
}

/// Writes the current and the required values, and the reasons.
pub(crate) fn write_settings(page: &mut Page, settings: &[TunedSetting<'_>]) {
    let row = |it: &TunedSetting<'_>| {
        let old = it.old.map_or("-".to_owned(), printable);
        vec![it.attribute.to_owned(), old, it.new.to_owned()]
    };
    writeln!(page);
    page.table(&["setting", "now", "needed"], settings.iter().map(row).collect(), 1);
    writeln!(page);
    for (index, setting) in settings.iter().enumerate() {
        let label = if index == 0 { "Reasons" } else { "" };
        page.labelled(label, format!("{}: {}", setting.attribute, setting.reason));
    }
}

/// Writes the differences between a disk and its record.
pub(crate) fn write_drift(page: &mut Page, drift: &[Drift]) {
    let text = |value: &Option<String>| value.as_deref().map_or("-".to_owned(), printable);
    let row = |it: &Drift| vec![printable(&it.name), text(&it.found), text(&it.expected)];
    if !drift.is_empty() {
        let header = ["differs", "now", "needed"];
        page.table(&header, drift.iter().map(row).collect(), 3);
    }
}

/// Writes the values that an undo restored, the files that it removed, and the services that got
/// their old class back.
pub(crate) fn write_undone(page: &mut Page, undone: &Undone) {
    for (attribute, value) in &undone.settings {
        page.labelled("Restored", format!("{attribute} = {}", printable(value)));
    }
    for file in &undone.files {
        page.labelled("Removed", printable(file));
    }
    for (unit, threads) in undone.services.iter().filter(|(_, threads)| *threads > 0) {
        let threads = count(*threads, "thread");
        page.labelled("Class", format!("{}: {threads} as before", printable(unit)));
    }
    if !undone.unreached.is_empty() {
        let unreached = undone.unreached.join(", ");
        page.labelled("Not restored", format!("{unreached}: the disk is gone"));
    }
}

/// The data for a report on settings.
#[derive(Debug, Clone, Copy)]
pub struct Tuned<'a> {
    /// The kernel's name for the disk.
    pub device: &'a str,
    /// The workload at the chosen depth.
    pub workload: &'a Workload,
    /// The assessment of the workload.
    pub assessment: &'a Assessment,
    /// The largest proved depth; `None` if the workload states the depth.
    pub depth_max: Option<u32>,
    /// The reasons why the disk cannot be tuned.
    pub refusals: &'a [Refusal],
    /// The settings.
    pub settings: &'a [Setting],
    /// The files of an installation.
    pub files: &'a [NewFile],
    /// The units that the workload names, in their current state.
    pub services: &'a [Running],
    /// The file systems on the disk.
    pub file_systems: &'a [FileSystem],
    /// Whether the command only showed changes, made them, or installed them.
    pub extent: Extent,
}

impl<'a> TuneReport<'a> {
    /// Makes the report on these settings.
    pub fn of(tuned: Tuned<'a>) -> Self {
        let Tuned { workload, assessment, .. } = tuned;
        let (verdict, reason) = match assessment.answer {
            Verdict::Proven => ("proven", None),
            Verdict::NotProven => ("not_proven", None),
            Verdict::NotApplicable { reason } => ("not_applicable", Some(reason)),
        };
        let tasks =
            workload.tasks.iter().zip(&assessment.tasks).map(|(task, assessed)| TunedTask {
                name: &task.name,
                deadline_ns: task.deadline.into(),
                response_ns_max: assessed.response_max.map(|(response, _)| response.into()),
            });
        let doubts = assessment.premises.of(Weight::Weak);
        Self {
            device: tuned.device,
            verdict,
            reason,
            doubts: doubts.map(|premise| premise.subject.as_str()).collect(),
            depth: assessment.best_effort_depth,
            depth_max: tuned.depth_max,
            tasks: tasks.collect(),
            refusals: tuned.refusals.iter().map(Refusal::to_string).collect(),
            settings: tuned.settings.iter().map(TunedSetting::of).collect(),
            files: tuned.files.iter().map(|file| format!("/{}", file.path)).collect(),
            units: tuned.services.iter().map(|it| &*it.unit).collect(),
            services: tuned.services.iter().map(ServiceReport::of).collect(),
            file_systems: FileSystemReport::all(tuned.file_systems),
            extent: tuned.extent,
            other_causes: CAUSES,
        }
    }

    /// Returns whether the settings keep every deadline.
    pub fn is_proven(&self) -> bool {
        self.verdict == "proven" && self.refusals.is_empty()
    }

    fn done(&self) -> String {
        let differ = self.settings.iter().filter(|it| it.differs()).count();
        let settings = count(differ, "setting");
        match self.extent {
            Extent::Shown => format!("{settings} to change, nothing written"),
            Extent::Applied => format!("{settings} changed until the next restart"),
            Extent::Installed => {
                format!("{settings} changed, {} written", count(self.files.len(), "file"))
            }
        }
    }
}

impl Report for TuneReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let device = self.device;
        Some(match (self.refusals.len(), self.reason) {
            (0, Some(_)) => Answer::bad(format!("NOT APPLICABLE: {device}, nothing written")),
            (0, None) if self.is_proven() => {
                let text = format!("{device} at depth {}; {}", self.depth, self.done());
                let is_doubtful = self.file_systems.iter().any(FileSystemReport::is_doubtful);
                if self.doubts.is_empty() && !is_doubtful {
                    Answer::good(format!("PROVEN: {text}"))
                } else {
                    Answer::doubtful(format!("PROVEN, weak: {text}"))
                }
            }
            (0, None) => Answer::bad(format!("NOT PROVEN: {device} at depth {}", self.depth)),
            (reasons, _) => {
                let reasons = count(reasons, "reason");
                Answer::bad(format!("REFUSED: {device} for {reasons}, nothing written"))
            }
        })
    }

    fn write(&self, page: &mut Page) {
        for refusal in &self.refusals {
            page.labelled("Refused", printable(refusal));
        }
        if let Some(reason) = self.reason {
            page.labelled("Reason", reason);
            return;
        }
        let row = |task: &TunedTask<'_>| {
            let bound = task.response_ns_max.map_or("none".to_owned(), |it| ms_ceil(it.0));
            vec![printable(task.name), ms_ceil(task.deadline_ns.0), bound]
        };
        let header = ["task", "deadline", "bound"];
        page.table(&header, self.tasks.iter().map(row).collect(), 1);
        if self.is_proven() {
            write_settings(page, &self.settings);
            let depth = match self.depth_max {
                None => format!("{}, as the workload states", self.depth),
                Some(most) => format!(
                    "{} of up to {most} that are proved: the drive file's batches of that size have the \
                     highest rate",
                    self.depth
                ),
            };
            page.labelled("Depth", depth);
            for (index, service) in self.services.iter().enumerate() {
                let label = if index == 0 { "Classes" } else { "" };
                let state = service.state(self.extent);
                page.labelled(
                    label,
                    format!("{}: {}; {state}", printable(service.unit), service.class),
                );
            }
        }
        for file in &self.files {
            page.labelled("File", printable(file));
        }
        if !self.doubts.is_empty() {
            page.labelled(
                "Doubts",
                format!("{}; `tidegate check` has their texts", self.doubts.join(", ")),
            );
        }
        FileSystemReport::write_all(page, &self.file_systems);
        if self.extent == Extent::Installed {
            page.command("To do", "udevadm control --reload");
            if !self.units.is_empty() {
                page.command("", "systemctl daemon-reload");
            }
        }
        for cause in self.other_causes {
            page.labelled("Not covered", cause);
        }
    }
}
