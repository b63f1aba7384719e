// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate sim`: policies side by side on a simulated drive, in virtual time.

use std::time::Instant;

use serde_json::{Value, json};
use tidegate_analysis::{Assessment, assess};
use tidegate_host::{ContractWatch, Length};
use tidegate_model::{Class, DriveKind, Duration, Plan, PolicyName, Task, TaskIndex, Workload};
use tidegate_sim::SimParams;
use tidegate_sim::checkers::{Checkers, Violation};

use crate::answer::Answer;
use crate::arguments::{LengthArguments, SimArguments};
use crate::broken_contract::DriveRecord;
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
    watch: ContractWatch,
}

impl Tried<'_> {
    fn record(&self) -> DriveRecord<'_> {
        DriveRecord::new(&self.result, &self.watch)
    }
}

/// Runs the command.
pub(crate) fn sim(arguments: &SimArguments) -> Result<Answer, Failure> {
    let input = input::read(&arguments.workload, &arguments.policy)?;
    let kind = arguments.model.map_or(input.drive.kind, DriveKind::from);
    let policies = input::policies(&arguments.policy, &input.workload);
    let cheats = cheats(&arguments.cheat, &input.workload)?;
    let length = length(&arguments.length);
    let defaults = SimParams::new(&input.workload, length);
    let params = SimParams { seed: arguments.seed, cheats: &cheats, ..defaults };
    let tried = policies
        .iter()
        .map(|&policy| try_policy(&input, kind, policy, &params))
        .collect::<Result<Vec<Tried<'_>>, Failure>>()?;
    let results: Vec<&PolicyResult<'_>> = tried.iter().map(|tried| &tried.result).collect();
    if arguments.json {
        outln!("{:#}", to_json(&input.workload, kind, arguments.seed, &tried));
    } else {
        print_head(&input.workload, kind, arguments.seed);
        results::print(&results);
        print_overruns(&tried);
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

/// The tasks of these names, which are to be soft: nobody hears the others.
fn cheats(names: &[String], workload: &Workload) -> Result<Vec<TaskIndex>, Failure> {
    let mut cheats = Vec::new();
    for name in names {
        let is_meant = |task: &&(TaskIndex, &Task)| {
            let (_, task) = task;
            task.class == Class::Soft
                && (task.name == *name || workload.entries[task.entry as usize] == *name)
        };
        let tasks: Vec<_> = (0..).map(TaskIndex).zip(&workload.tasks).collect();
        let before = cheats.len();
        cheats.extend(tasks.iter().filter(is_meant).map(|(index, _)| *index));
        if cheats.len() == before {
            return Err(Failure::input(
                format!("there is no soft task `{name}` that could cheat"),
                "name a task of the workload that has class = \"soft\"",
            ));
        }
    }
    Ok(cheats)
}

fn try_policy<'a>(
    input: &'a Input,
    kind: DriveKind,
    policy: PolicyName,
    params: &SimParams<'_>,
) -> Result<Tried<'a>, Failure> {
    let workload = &input.workload;
    let assessment = assess(workload, policy);
    let plan = assessment.plan(workload);
    let simulated = charged(workload, &assessment);
    let drive = tidegate_drive::build(kind, &simulated, Some(&input.drive), params.seed)
        .map_err(|error| Failure::unusable(&error))?;
    let capacity = input.drive.capacity().unwrap_or(params.capacity);
    let params = SimParams { capacity, ..*params };
    let watch = watch(&plan);
    // Of the other kinds the mechanics in the file tell nothing: their times come from tables.
    let is_mechanical = kind == DriveKind::Mechanical;
    let access = is_mechanical.then(|| tidegate_drive::access_time(&input.drive)).flatten();
    let (built, checkers) =
        Checkers::watching(policy, &plan, access).map_err(|error| Failure::unusable(&error))?;
    let mut observers = (checkers, watch);
    let start = Instant::now();
    let run = tidegate_sim::simulate(&params, built, drive, &mut observers);
    let wall_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let (checkers, watch) = observers;
    Ok(Tried {
        result: PolicyResult { workload, assessment, run, wall_ns },
        violations: checkers.violations(),
        watch,
    })
}

/// Holds the drive to what the proof charges: where that is each request's own cost, to costs.
fn watch(plan: &Plan) -> ContractWatch {
    let watch = ContractWatch::new(plan.table.clone(), &plan.contracts);
    match &plan.charges {
        Some(charges) => watch.by_costs(charges.clone()),
        None => watch,
    }
}

/// The workload as the pseudo-disk is to serve it: as slow as the proof allows, by costs only
/// where the proof rests on them.
fn charged(workload: &Workload, assessment: &Assessment) -> Workload {
    let mut workload = workload.clone();
    if !assessment.rests_on_costs() {
        workload.contracts.costs = None;
    }
    workload
}

fn print_head(workload: &Workload, kind: DriveKind, seed: u64) {
    let what = match kind {
        DriveKind::Pseudo => "every batch takes the longest that the proof allows, in random order",
        DriveKind::Mechanical => "a hard disk from its mechanics, with its own queue",
        DriveKind::Ssd => "a solid-state drive from its chips, with its own queue",
        DriveKind::Recorded => "batch times are drawn from what was measured",
    };
    show::labelled("Drive", &format!("{} as {}: {what}", workload.drive_name, kind.name()));
    show::labelled("Seed", &format!("{seed}: the same command gives the same figures"));
    for note in &workload.notes {
        show::labelled("Note", note);
    }
    outln!();
}

/// Says where the simulated drive took longer than what proofs rely on.
fn print_overruns(tried: &[Tried<'_>]) {
    for sentence in tried.iter().filter_map(|tried| tried.record().sentence()) {
        show::labelled("Overruns", &sentence);
    }
}

/// Says what of ours did not hold; whether there was anything.
fn report_broken_promises(tried: &[Tried<'_>]) -> bool {
    let mut is_broken = false;
    for tried in tried {
        let Tried { result, violations, .. } = tried;
        let allowance = tried.record().allowance();
        let is_ours = |excess: &Duration| allowance.is_some_and(|allowance| *excess > allowance);
        let excesses = result.tasks().filter_map(|task| Some((task, task.excess()?)));
        for (task, excess) in excesses.filter(|(_, excess)| is_ours(excess)) {
            is_broken = true;
            eprintln!(
                "tidegate: {} under {} exceeded its proven bound by {excess}. This is a defect \
                 of Tidegate: please report it with the workload, the drive file and the seed.",
                task.task.name,
                result.policy()
            );
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

fn to_json(workload: &Workload, kind: DriveKind, seed: u64, tried: &[Tried<'_>]) -> Value {
    let policies = tried.iter().map(|tried| {
        let mut value = tried.result.to_json();
        tried.record().add_to(&mut value);
        value
    });
    json!({
        "drive": workload.drive_name,
        "model": kind.name(),
        "seed": seed,
        "policies": policies.collect::<Vec<_>>(),
        "notes": workload.notes,
    })
}
