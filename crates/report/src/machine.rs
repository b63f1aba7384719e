// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One verdict for a machine, from the reports of its disk and its processor.

use serde::Serialize;

use crate::check::{CheckReport, Verdict};
use crate::cpu::CpuReport;
use crate::page::{Page, Report};

/// The proof for a machine: for its disk, its processor, or both.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum MachineReport<'a> {
    /// The workload file has only a disk.
    Disk(Box<CheckReport<'a>>),
    /// The workload file has a processor.
    Processor(Box<ProcessorReport<'a>>),
}

/// A machine with a processor: the overall verdict, with an object for each part.
#[derive(Debug, Serialize)]
pub struct ProcessorReport<'a> {
    verdict: Verdict,
    schedulable: bool,
    disk: Option<CheckReport<'a>>,
    cpu: CpuReport<'a>,
}

impl<'a> MachineReport<'a> {
    /// Reports on the given parts.
    ///
    /// # Panics
    /// If both parts are missing.
    pub fn of(disk: Option<CheckReport<'a>>, cpu: Option<CpuReport<'a>>) -> Self {
        let Some(cpu) = cpu else {
            return Self::Disk(Box::new(disk.expect("a workload file has at least one part")));
        };
        let verdicts = [disk.as_ref().map(CheckReport::verdict), Some(cpu.verdict())];
        // "Not proven" takes precedence over "not applicable".
        let worst = [Verdict::NotProven, Verdict::NotApplicable];
        let verdict = worst.into_iter().find(|worst| verdicts.contains(&Some(*worst)));
        Self::Processor(Box::new(ProcessorReport {
            verdict: verdict.unwrap_or(Verdict::Proven),
            schedulable: disk.as_ref().is_none_or(CheckReport::is_proven) && cpu.is_proven(),
            disk,
            cpu,
        }))
    }

    /// Returns whether every deadline is proven.
    pub fn is_proven(&self) -> bool {
        match self {
            Self::Disk(disk) => disk.is_proven(),
            Self::Processor(machine) => machine.schedulable,
        }
    }
}

impl Report for MachineReport<'_> {
    fn write(&self, page: &mut Page) {
        let machine = match self {
            Self::Disk(disk) => return disk.write(page),
            Self::Processor(machine) => machine,
        };
        let Some(disk) = &machine.disk else { return machine.cpu.write(page) };
        disk.write(page);
        writeln!(page);
        machine.cpu.write(page);
        writeln!(page);
        let sentence = match (disk.is_proven(), machine.cpu.is_proven()) {
            (true, true) => "PROVEN: both its disk and its processor.",
            (true, false) => "NOT PROVEN: its disk is, its processor is not.",
            (false, true) => "NOT PROVEN: its processor is, its disk is not.",
            (false, false) => "NOT PROVEN: neither its disk nor its processor.",
        };
        page.labelled("Machine", sentence);
    }
}
