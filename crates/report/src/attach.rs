// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate attach`, `detach` and `status`.

mod attached;

use serde::Serialize;
use tidegate_analysis::{Answer as Verdict, Assessment};
use tidegate_mapping::{Contract, Sign, Way};
use tidegate_model::{Weight, Workload};
use tidegate_tune::{NewFile, Setting};

pub use attached::{AttachStatusReport, DetachReport};

use crate::figures::{count, ms_ceil};
use crate::ns::Ns;
use crate::page::{Answer, Page, Report, printable};
use crate::tune::{Extent, TuneReport, TunedSetting, write_settings};

const PROVIDED: &str = "the drive stays within its times, and the target's worker within `submit` below [host]; \
                        `tidegate status` compares both with what it sees";

/// A way of attaching that was considered, with the reasons against it.
#[derive(Debug, Clone, Serialize)]
pub struct Considered {
    /// The way of attaching.
    pub way: Way,
    /// The reasons why it cannot be taken; empty if it can.
    pub reasons: Vec<String>,
}

/// The parts of a report on a mapping of the kernel target.
#[derive(Debug, Clone, Copy)]
pub struct Mapped<'a> {
    /// The workload that is attached.
    pub workload: &'a Workload,
    /// The assessment of the workload.
    pub assessment: &'a Assessment,
    /// The contracts in the table line.
    pub contracts: &'a [Contract],
    /// The name of the mapping.
    pub name: &'a str,
    /// The mapping's table, as a line of text.
    pub table: &'a str,
    /// The commands that create the mapping.
    pub commands: &'a [String],
    /// The settings of the disk below the mapping.
    pub settings: &'a [Setting],
    /// The files of an installation.
    pub files: &'a [NewFile],
    /// The units that have contracts.
    pub units: &'a [String],
    /// The causes of delay that the guarantee does not cover on this disk.
    pub not_covered: &'a [String],
    /// Whether the command only showed changes, made them, or installed them.
    pub extent: Extent,
}

#[derive(Debug, Serialize)]
struct MappedTask<'a> {
    name: &'a str,
    deadline_ns: Ns,
    response_ns_max: Option<Ns>,
    sign: Option<&'a Sign>,
    level: Option<u32>,
}

#[derive(Debug, Serialize)]
struct MappedReport<'a> {
    verdict: &'static str,
    policy: &'static str,
    doubts: Vec<&'a str>,
    tasks: Vec<MappedTask<'a>>,
    mapping: &'a str,
    table: &'a str,
    commands: &'a [String],
    settings: Vec<TunedSetting<'a>>,
    files: Vec<String>,
    units: &'a [String],
    not_covered: &'a [String],
    extent: Extent,
}

/// A disk, and the way in which a workload's deadlines are kept on it.
#[derive(Debug, Serialize)]
pub struct AttachReport<'a> {
    device: &'a str,
    /// The way that was taken; `None` if none is possible.
    via: Option<Way>,
    /// Whether the user requested the way.
    is_asked: bool,
    ways: &'a [Considered],
    kernel: Option<MappedReport<'a>>,
    stock: Option<TuneReport<'a>>,
}

impl<'a> AttachReport<'a> {
    /// Reports that no way is possible.
    pub fn refused(device: &'a str, is_asked: bool, ways: &'a [Considered]) -> Self {
        Self { device, via: None, is_asked, ways, kernel: None, stock: None }
    }

    /// Returns the report with the kernel's own scheduler as the way.
    #[must_use]
    pub fn stock(self, stock: TuneReport<'a>) -> Self {
        Self { via: Some(Way::Stock), stock: Some(stock), ..self }
    }

    /// Returns the report with the kernel target as the way.
    #[must_use]
    pub fn kernel(self, mapped: Mapped<'a>) -> Self {
        Self { via: Some(Way::Kernel), kernel: Some(MappedReport::of(mapped)), ..self }
    }

    /// Writes why this way was taken, and why the ways before it were not.
    fn write_ways(&self, page: &mut Page) {
        if let Some(via) = self.via {
            let is_only = self.ways.len() == 1;
            let reason =
                if is_only { "as asked" } else { "the strongest way that is possible here" };
            page.labelled("Way", format!("{}, {reason}", via.name()));
        }
        let refused = self.ways.iter().filter(|it| Some(it.way) != self.via);
        for Considered { way, reasons } in refused {
            for (index, reason) in reasons.iter().enumerate() {
                let label = if index == 0 { format!("Not {}", way.name()) } else { String::new() };
                page.labelled(&label, printable(reason));
            }
        }
    }
}

impl<'a> MappedReport<'a> {
    fn of(mapped: Mapped<'a>) -> Self {
        let Mapped { workload, assessment, contracts, .. } = mapped;
        let contract_of =
            |name: &String| contracts.iter().find(|contract| contract.tasks.contains(name));
        let tasks = workload.tasks.iter().zip(&assessment.tasks).map(|(task, assessed)| {
            let contract = contract_of(&task.name);
            MappedTask {
                name: &task.name,
                deadline_ns: task.deadline.into(),
                response_ns_max: assessed.response_max.map(|(response, _)| response.into()),
                sign: contract.map(|contract| &contract.sign),
                level: contract.and_then(|contract| contract.level),
            }
        });
        let doubts = assessment.premises.of(Weight::Weak);
        Self {
            verdict: match assessment.answer {
                Verdict::Proven => "proven",
                Verdict::NotProven => "not_proven",
                Verdict::NotApplicable { .. } => "not_applicable",
            },
            policy: workload.policy.name(),
            doubts: doubts.map(|premise| premise.subject.as_str()).collect(),
            tasks: tasks.collect(),
            mapping: mapped.name,
            table: mapped.table,
            commands: mapped.commands,
            settings: mapped.settings.iter().map(TunedSetting::of).collect(),
            files: mapped.files.iter().map(|file| format!("/{}", file.path)).collect(),
            units: mapped.units,
            not_covered: mapped.not_covered,
            extent: mapped.extent,
        }
    }

    fn answer(&self, device: &str) -> Answer {
        let Self { mapping, policy, .. } = self;
        let differ = count(self.settings.iter().filter(|it| it.differs()).count(), "setting");
        let done = match self.extent {
            Extent::Shown => format!("{differ} to change, nothing written"),
            Extent::Applied => format!("/dev/mapper/{mapping} until the next restart"),
            Extent::Installed => {
                format!("/dev/mapper/{mapping}, {} written", count(self.files.len(), "file"))
            }
        };
        let text = format!("{device} under {policy}; {done}");
        match self.doubts.len() {
            0 => Answer::good(format!("PROVEN: {text}")),
            _ => Answer::doubtful(format!("PROVEN, weak: {text}")),
        }
    }

    fn write(&self, page: &mut Page) {
        let row = |task: &MappedTask<'_>| {
            let bound = task.response_ns_max.map_or("none".to_owned(), |it| ms_ceil(it.0));
            let sign = match (task.level, task.sign) {
                (Some(level), _) => format!("real-time class, level {level}"),
                (None, sign) => sign.map_or("-".to_owned(), |sign| printable(&sign.to_string())),
            };
            vec![printable(task.name), sign, ms_ceil(task.deadline_ns.0), bound]
        };
        let header = ["task", "known by", "deadline", "bound"];
        page.table(&header, self.tasks.iter().map(row).collect(), 2);
        write_settings(page, &self.settings);
        for (index, command) in self.commands.iter().enumerate() {
            page.command(if index == 0 { "Command" } else { "" }, command);
        }
        for file in &self.files {
            page.labelled("File", printable(file));
        }
        if !self.doubts.is_empty() {
            let doubts = self.doubts.join(", ");
            page.labelled("Doubts", format!("{doubts}; `tidegate check` has their texts"));
        }
        if self.verdict == "proven" {
            page.labelled("Provided", PROVIDED);
        }
        self.write_to_do(page);
        for cause in self.not_covered {
            page.labelled("Not covered", cause);
        }
    }

    /// Writes the commands that the administrator must still run.
    fn write_to_do(&self, page: &mut Page) {
        match self.extent {
            Extent::Shown => {}
            Extent::Applied => {
                for (index, unit) in self.units.iter().enumerate() {
                    let label = if index == 0 { "To do" } else { "" };
                    let command =
                        format!("systemctl set-property --runtime {unit} IOAccounting=yes");
                    page.command(label, &command);
                }
            }
            Extent::Installed => {
                page.command("To do", "udevadm control --reload");
                page.command("", "systemctl daemon-reload");
                if !self.units.is_empty() {
                    page.command("", &format!("systemctl restart {}", self.units.join(" ")));
                }
            }
        }
    }
}

impl Report for AttachReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let kernel = self.kernel.as_ref().map(|kernel| kernel.answer(self.device));
        let stock = || Some(self.stock.as_ref()?.answer()?.and(", by the kernel's own scheduler"));
        let refused = || {
            let device = self.device;
            Answer::bad(format!("REFUSED: {device}, nothing written"))
        };
        Some(kernel.or_else(stock).unwrap_or_else(refused))
    }

    fn write(&self, page: &mut Page) {
        self.write_ways(page);
        if let Some(kernel) = &self.kernel {
            kernel.write(page);
        }
        if let Some(stock) = &self.stock {
            stock.write(page);
        }
    }
}
