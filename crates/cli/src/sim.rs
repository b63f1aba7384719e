// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate sim`: policies side by side on a simulated drive, in virtual time.

use std::time::Instant;

use analysis::assess;
use host::Length;
use model::{DriveKind, PolicyName, Workload};
use serde_json::{Value, json};
use sim::SimParams;
use sim::checkers::{Checkers, Violation};

use crate::Answer;
use crate::arguments::{LengthArguments, SimArguments};
use crate::failure::Failure;
use crate::input::{self, Input};
use crate::results::{self, PolicyResult};
use crate::show::{self, outln};

/// Jobs of each task where no length is asked for: those of the dissertation (9.3.4).
const JOBS_DEFAULT: u64 = 10_000;

/// One policy's run and what the checkers found in it.
struct Tried<'a> {
    result: PolicyResult<'a>,
    violations: Vec<Violation>,
}

/// Runs the command.
pub(crate) fn sim(arguments: &SimArguments) -> Result<Answer, Failure> {
    let input = input::read(&arguments.workload)?;
    let kind = arguments.model.map_or(input.drive.kind, DriveKind::from);
    let policies = input::policies(&arguments.policy, &input.workload);
    let length = length(&arguments.length);
    let tried = policies
        .iter()
        .map(|&policy| try_policy(&input, kind, policy, length, arguments.seed))
        .collect::<Result<Vec<Tried<'_>>, Failure>>()?;
    let results: Vec<&PolicyResult<'_>> = tried.iter().map(|tried| &tried.result).collect();
    if arguments.json {
        outln!("{:#}", to_json(&input.workload, kind, arguments.seed, &results));
    } else {
        print_head(&input.workload, kind, arguments.seed);
        results::print(&results);
    }
    if report_broken_promises(&tried) {
        return Ok(Answer::Broken);
    }
    Ok(results::worst_answer(&results))
}

fn length(arguments: &LengthArguments) -> Length {
    match (arguments.duration, arguments.jobs) {
        (Some(duration), _) => Length::Duration(duration),
        (None, jobs) => Length::Jobs(jobs.unwrap_or(JOBS_DEFAULT)),
    }
}

fn try_policy(
    input: &Input,
    kind: DriveKind,
    policy: PolicyName,
    length: Length,
    seed: u64,
) -> Result<Tried<'_>, Failure> {
    let workload = &input.workload;
    let assessment = assess(workload, policy);
    let plan = assessment.plan(workload);
    let drive = drive::build(kind, workload, Some(&input.drive), seed)
        .map_err(|error| Failure::unusable(&error))?;
    let params = SimParams { seed, ..SimParams::new(workload, length) };
    let mut checkers = Checkers::of_policy(policy, &plan);
    let start = Instant::now();
    let run = sim::simulate(&params, policy::build(policy, &plan), drive, &mut checkers);
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(Tried {
        result: PolicyResult { workload, assessment, run, wall_ns },
        violations: checkers.violations(),
    })
}

fn print_head(workload: &Workload, kind: DriveKind, seed: u64) {
    let what = match kind {
        DriveKind::Pseudo => "every batch takes the longest its table allows, in random order",
        DriveKind::Recorded => "batch times are drawn from what was measured",
    };
    show::labelled("Drive", &format!("{} as {}: {what}", workload.drive_name, kind.name()));
    show::labelled("Seed", &format!("{seed}: the same command gives the same figures"));
    for note in &workload.notes {
        show::labelled("Note", note);
    }
    outln!();
}

/// Says what of ours did not hold; whether there was anything.
fn report_broken_promises(tried: &[Tried<'_>]) -> bool {
    let mut is_broken = false;
    for Tried { result, violations } in tried {
        for task in result.tasks() {
            if let Some(excess) = task.excess() {
                is_broken = true;
                eprintln!(
                    "tidegate: {} under {} exceeded its proven bound by {excess}. This is a defect \
                     of Tidegate: please report it with the workload, the drive file and the seed.",
                    task.task.name,
                    result.policy()
                );
            }
        }
        for violation in violations {
            is_broken = true;
            eprintln!(
                "tidegate: {} broke its own rule: {violation}. This is a defect of Tidegate: \
                 please report it with the workload, the drive file and the seed.",
                result.policy()
            );
        }
    }
    is_broken
}

fn to_json(
    workload: &Workload,
    kind: DriveKind,
    seed: u64,
    results: &[&PolicyResult<'_>],
) -> Value {
    json!({
        "drive": workload.drive_name,
        "model": kind.name(),
        "seed": seed,
        "policies": results.iter().map(|result| result.to_json()).collect::<Vec<_>>(),
        "notes": workload.notes,
    })
}
