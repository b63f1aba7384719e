// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One verdict for a machine, from the reports of its disk and its processor.

use serde::Serialize;
use tidegate_model::{Grade, Premises};

use crate::check::{CheckReport, Verdict};
use crate::cpu::CpuReport;
use crate::origin::Origin;
use crate::page::{Answer, Page, Report};
use crate::result::CurvesRecord;

/// The proof for a machine, and its origin.
#[derive(Debug, Serialize)]
pub struct MachineReport<'a> {
    #[serde(flatten)]
    parts: Parts<'a>,
    /// The weakest grade that counts as proven.
    required: Grade,
    origin: Origin,
}

/// The proof for a disk, a processor, or both.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Parts<'a> {
    /// The workload file contains only a disk.
    Disk(Box<CheckReport<'a>>),
    /// The workload file contains a processor.
    Processor(Box<ProcessorReport<'a>>),
}

/// A machine with a processor: the overall verdict, with an object for each part.
#[derive(Debug, Serialize)]
struct ProcessorReport<'a> {
    verdict: Verdict,
    grade: Option<Grade>,
    schedulable: bool,
    disk: Option<CheckReport<'a>>,
    cpu: CpuReport<'a>,
}

impl<'a> MachineReport<'a> {
    /// Reports on the given parts.
    ///
    /// # Panics
    /// If both parts are missing.
    pub fn of(
        disk: Option<CheckReport<'a>>,
        cpu: Option<CpuReport<'a>>,
        required: Grade,
        origin: Origin,
    ) -> Self {
        let Some(cpu) = cpu else {
            let disk = disk.expect("a workload file has at least one part");
            return Self { parts: Parts::Disk(Box::new(disk)), required, origin };
        };
        let verdicts = [disk.as_ref().map(CheckReport::verdict), Some(cpu.verdict())];
        // "Not proven" takes precedence over "not applicable".
        let worst = [Verdict::NotProven, Verdict::NotApplicable];
        let verdict = worst.into_iter().find(|worst| verdicts.contains(&Some(*worst)));
        let of_disk = disk.as_ref().map_or(Some(Grade::Strong), CheckReport::grade);
        let processor = ProcessorReport {
            verdict: verdict.unwrap_or(Verdict::Proven),
            // The overall grade is the weaker one; there is none if a part is not proven.
            grade: of_disk.zip(cpu.grade()).map(|(disk, cpu)| disk.max(cpu)),
            schedulable: disk.as_ref().is_none_or(CheckReport::is_proven) && cpu.is_proven(),
            disk,
            cpu,
        };
        Self { parts: Parts::Processor(Box::new(processor)), required, origin }
    }

    /// Returns the curves behind the disk's bounds; empty without a disk.
    pub fn curves(&self) -> Vec<CurvesRecord> {
        let disk = match &self.parts {
            Parts::Disk(disk) => Some(&**disk),
            Parts::Processor(machine) => machine.disk.as_ref(),
        };
        disk.map(CheckReport::curves).unwrap_or_default()
    }

    /// Returns whether every deadline is proven.
    pub fn is_proven(&self) -> bool {
        match &self.parts {
            Parts::Disk(disk) => disk.is_proven(),
            Parts::Processor(machine) => machine.schedulable,
        }
    }

    /// Returns whether every deadline is proven with at least the required grade.
    pub fn is_enough(&self) -> bool {
        match (self.grade(), self.required) {
            (None, Grade::Strong | Grade::Weak) | (Some(Grade::Weak), Grade::Strong) => false,
            (Some(Grade::Strong), Grade::Strong | Grade::Weak)
            | (Some(Grade::Weak), Grade::Weak) => true,
        }
    }

    /// Returns the grade of the proof; `None` if there is no proof.
    fn grade(&self) -> Option<Grade> {
        match &self.parts {
            Parts::Disk(disk) => disk.grade(),
            Parts::Processor(machine) => machine.grade,
        }
    }

    /// Returns the premises of the verdict.
    fn premises(&self) -> Premises {
        match &self.parts {
            Parts::Disk(disk) => disk.premises().clone(),
            Parts::Processor(machine) => machine.premises(),
        }
    }
}

impl ProcessorReport<'_> {
    fn proven(&self) -> Answer {
        match self.grade {
            Some(Grade::Weak) => {
                let doubts = self.premises().doubts();
                Answer::doubtful(format!(
                    "PROVEN, weak ({doubts}): both its disk and its processor."
                ))
            }
            Some(Grade::Strong) | None => Answer::good("PROVEN: both its disk and its processor."),
        }
    }

    fn premises(&self) -> Premises {
        let of_disk = self.disk.as_ref().map(|disk| disk.premises().clone());
        of_disk.unwrap_or_default().and(self.cpu.premises())
    }
}

impl Report for MachineReport<'_> {
    fn answer(&self) -> Option<Answer> {
        if self.is_proven() && !self.is_enough() {
            return Some(Answer::bad(format!(
                "TOO WEAK for --require strong ({}): every deadline is proven, but with doubts.",
                self.premises().doubts()
            )));
        }
        let machine = match &self.parts {
            Parts::Disk(disk) => return disk.answer(),
            Parts::Processor(machine) => machine,
        };
        let Some(disk) = &machine.disk else { return machine.cpu.answer() };
        let sentence = match (disk.is_proven(), machine.cpu.is_proven()) {
            (true, true) => return Some(machine.proven()),
            (true, false) => "NOT PROVEN: its disk is, its processor is not.",
            (false, true) => "NOT PROVEN: its processor is, its disk is not.",
            (false, false) => "NOT PROVEN: neither its disk nor its processor.",
        };
        Some(Answer::bad(sentence))
    }

    fn write(&self, page: &mut Page) {
        let machine = match &self.parts {
            Parts::Disk(disk) => return disk.write(page),
            Parts::Processor(machine) => machine,
        };
        let Some(disk) = &machine.disk else { return machine.cpu.write(page) };
        write_part("Disk:", disk, page);
        write_part("Processor:", &machine.cpu, page);
    }
}

/// Writes one part with its own answer.
fn write_part(title: &str, part: &impl Report, page: &mut Page) {
    writeln!(page);
    page.paragraph(title);
    if let Some(answer) = part.answer() {
        page.answer(&answer);
    }
    part.write(page);
}
