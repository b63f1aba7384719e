// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One answer for a machine: the reports of its disk and of its processor.

use serde_json::{Value, json};

use crate::check::Report;
use crate::cpu::CpuReport;
use crate::show::{self, outln};

/// Prints both reports and, where there are two, the answer for the machine.
pub(crate) fn print(disk: Option<&Report>, cpu: &CpuReport) {
    let Some(disk) = disk else { return cpu.print() };
    disk.print();
    outln!();
    cpu.print();
    outln!();
    let sentence = match (disk.is_proven(), cpu.is_proven()) {
        (true, true) => "PROVEN: both its disk and its processor.",
        (true, false) => "NOT PROVEN: its disk is, its processor is not.",
        (false, true) => "NOT PROVEN: its processor is, its disk is not.",
        (false, false) => "NOT PROVEN: neither its disk nor its processor.",
    };
    show::labelled("Machine", sentence);
}

/// The verdict of the whole with an object for each part.
pub(crate) fn to_json(disk: Option<&Report>, cpu: &CpuReport) -> Value {
    let (disk_json, cpu_json) = (disk.map(Report::to_json), cpu.to_json());
    let verdicts = [disk_json.as_ref().map(|disk| &disk["verdict"]), Some(&cpu_json["verdict"])];
    // What is not proven is worse news than what nothing can be said of.
    let worst = ["not_proven", "not_applicable", "proven"].into_iter();
    let verdict = worst
        .into_iter()
        .find(|worst| verdicts.iter().flatten().any(|verdict| verdict.as_str() == Some(*worst)));
    let is_proven = disk.is_none_or(Report::is_proven) && cpu.is_proven();
    json!({
        "verdict": verdict,
        "schedulable": is_proven,
        "disk": disk_json,
        "cpu": cpu_json,
    })
}
