// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate tune`: the settings of a disk and their reasons, its drift, and an undo.

use serde::Serialize;
use tidegate_analysis::{Answer as Verdict, Assessment};
use tidegate_model::{Weight, Workload};
use tidegate_tune::{Drift, NewFile, Refusal, Setting, Undone};

use crate::figures::{count, ms_ceil};
use crate::ns::Ns;
use crate::page::{Answer, Page, Report, printable};

/// The other causes of delay, which no setting removes.
const CAUSES: [&str; 3] = [
    "self-tests of smartd, standby and error recovery stop a disk for seconds: run self-tests when no \
     deadline matters, switch standby off, and limit error recovery where the disk can (SCT ERC)",
    "a thread under SCHED_FIFO or SCHED_RR without an I/O class counts as real time: a unit that the \
     workload does not name must have none",
    "buffered writes reach the disk from kernel threads, without the I/O class of the program that \
     wrote: a task that writes must use direct I/O",
];

/// How far the command went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Nothing was written.
    Shown,
    /// The settings were made, until the machine restarts.
    Applied,
    /// The settings were made, and files make them again.
    Installed,
}

/// The settings of a disk for a workload.
#[derive(Debug, Serialize)]
pub struct TuneReport<'a> {
    device: &'a str,
    verdict: &'static str,
    /// Why no bound applies.
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
struct TunedSetting<'a> {
    attribute: &'static str,
    old: Option<&'a str>,
    new: &'a str,
    reason: &'a str,
}

/// The parts of a report on settings.
#[derive(Debug, Clone, Copy)]
pub struct Tuned<'a> {
    /// The kernel's name for the disk.
    pub device: &'a str,
    /// The workload at the chosen depth.
    pub workload: &'a Workload,
    /// Its assessment.
    pub assessment: &'a Assessment,
    /// The largest proved depth; `None` if the workload states the depth.
    pub depth_max: Option<u32>,
    /// Why the disk cannot be tuned.
    pub refusals: &'a [Refusal],
    /// The settings.
    pub settings: &'a [Setting],
    /// The files of an installation.
    pub files: &'a [NewFile],
    /// The units that the workload names.
    pub units: &'a [String],
    /// How far the command went.
    pub extent: Extent,
}

impl<'a> TuneReport<'a> {
    /// Reports these settings.
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
        let setting = |it: &'a Setting| TunedSetting {
            attribute: it.attribute,
            old: it.old.as_deref(),
            new: &it.new,
            reason: &it.reason,
        };
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
            settings: tuned.settings.iter().map(setting).collect(),
            files: tuned.files.iter().map(|file| format!("/{}", file.path)).collect(),
            units: tuned.units.iter().map(String::as_str).collect(),
            extent: tuned.extent,
            other_causes: CAUSES,
        }
    }

    /// Returns whether the settings keep every deadline.
    pub fn is_proven(&self) -> bool {
        self.verdict == "proven" && self.refusals.is_empty()
    }

    fn done(&self) -> String {
        let differ = self.settings.iter().filter(|it| it.old != Some(it.new)).count();
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
                match self.doubts.len() {
                    0 => Answer::good(format!("PROVEN: {text}")),
                    _ => Answer::doubtful(format!("PROVEN, weak: {text}")),
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
        let row = |it: &TunedSetting<'_>| {
            let old = it.old.map_or("-".to_owned(), printable);
            vec![it.attribute.to_owned(), old, it.new.to_owned()]
        };
        if self.is_proven() {
            writeln!(page);
            let header = ["setting", "now", "needed"];
            page.table(&header, self.settings.iter().map(row).collect(), 1);
            writeln!(page);
            for (index, setting) in self.settings.iter().enumerate() {
                let label = if index == 0 { "Reasons" } else { "" };
                page.labelled(label, format!("{}: {}", setting.attribute, setting.reason));
            }
            let depth = match self.depth_max {
                None => format!("{}, as the workload states", self.depth),
                Some(most) => format!(
                    "{} of up to {most} that are proved: the drive file's batches of that size have the \
                     highest rate",
                    self.depth
                ),
            };
            page.labelled("Depth", depth);
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
        if self.extent == Extent::Installed {
            page.command("To do", "udevadm control --reload");
            if !self.units.is_empty() {
                page.command("", "systemctl daemon-reload");
                page.command("", &format!("systemctl restart {}", self.units.join(" ")));
            }
        }
        for cause in self.other_causes {
            page.labelled("Not covered", cause);
        }
    }
}

/// Whether a disk still has its settings.
#[derive(Debug, Serialize)]
pub struct TuneStatusReport<'a> {
    device: &'a str,
    is_tuned: bool,
    drift: Vec<Drift>,
}

impl<'a> TuneStatusReport<'a> {
    /// Reports the drift of a disk; `None` if it is not tuned.
    pub fn of(device: &'a str, drift: Option<Vec<Drift>>) -> Self {
        Self { device, is_tuned: drift.is_some(), drift: drift.unwrap_or_default() }
    }

    /// Returns whether the disk is tuned and nothing differs.
    pub fn is_kept(&self) -> bool {
        self.is_tuned && self.drift.is_empty()
    }
}

impl Report for TuneStatusReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let device = self.device;
        Some(match self.drift.len() {
            0 if self.is_tuned => Answer::good(format!("YES: {device} is as it was tuned")),
            0 => Answer::bad(format!("NO: {device} is not tuned")),
            differ => {
                let differ = count(differ, "difference");
                Answer::bad(format!("NO: {device} has {differ} from its settings"))
            }
        })
    }

    fn write(&self, page: &mut Page) {
        let text = |value: &Option<String>| value.as_deref().map_or("-".to_owned(), printable);
        let row = |it: &Drift| vec![printable(&it.name), text(&it.found), text(&it.expected)];
        if !self.drift.is_empty() {
            let header = ["setting or file", "now", "needed"];
            page.table(&header, self.drift.iter().map(row).collect(), 3);
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
    /// Reports an undo.
    pub fn of(device: &'a str, undone: Undone) -> Self {
        Self { device, undone }
    }
}

impl Report for TuneUndoReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let Undone { settings, files } = &self.undone;
        let device = self.device;
        Some(Answer::good(if settings.is_empty() && files.is_empty() {
            format!("{device} is not tuned, nothing to undo")
        } else {
            let settings = count(settings.len(), "setting");
            format!("{device}: {settings} restored, {} removed", count(files.len(), "file"))
        }))
    }

    fn write(&self, page: &mut Page) {
        for (attribute, value) in &self.undone.settings {
            page.labelled("Restored", format!("{attribute} = {}", printable(value)));
        }
        for file in &self.undone.files {
            page.labelled("Removed", printable(file));
        }
    }
}
