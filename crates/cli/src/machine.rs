// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One answer for a machine: the reports of its disk and of its processor.

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::check::Report;
use crate::cpu::CpuReport;
use crate::show::{self, outln};

/// Prints what there is, a file having one of both at least, and answers for all of it.
pub(crate) fn report(disk: Option<&Report>, cpu: Option<&CpuReport>, is_json: bool) -> Answer {
    match (disk, cpu, is_json) {
        (Some(disk), None, false) => disk.print(),
        (Some(disk), None, true) => outln!("{:#}", disk.to_json()),
        (None, Some(cpu), false) => cpu.print(),
        (Some(disk), Some(cpu), false) => print(disk, cpu),
        (disk, Some(cpu), true) => outln!("{:#}", to_json(disk, cpu)),
        (None, None, _) => unreachable!("a workload file has one of both"),
    }
    let is_proven = disk.is_none_or(Report::is_proven) && cpu.is_none_or(CpuReport::is_proven);
    if is_proven { Answer::Yes } else { Answer::No }
}

/// Prints both reports, and the answer for the machine.
fn print(disk: &Report, cpu: &CpuReport) {
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
fn to_json(disk: Option<&Report>, cpu: &CpuReport) -> Value {
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
