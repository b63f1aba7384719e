// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No response under `rtio-priority` exceeds its bound: on a drive that keeps only priority(q), and
//! on the nearline disk, whose table was measured on its own mechanics.
//!
//! Canaries: a policy that lets two rounds meet, a drive that ignores the tag, and a table or a
//! bound that is too low.

use std::collections::HashSet;

use tidegate_analysis::{Answer, assess};
use tidegate_drive::builtin;
use tidegate_model::{
    BatchTable, Class, DriveContract, DriveFile, DriveLimits, PolicyName, RequestId, Tag, Time,
    Workload,
};
use tidegate_policy::{Decision, Event, Full, Policy, Rtio};
use tidegate_sim::{ContractWatch, SimRun};
use tidegate_soundness::disk::{Disk, Outcome};
use tidegate_soundness::generate;
use tidegate_soundness::priority_box::{PriorityBox, leaning_on_priority};
use tidegate_soundness::trial::{Closeness, Trial, assert_caught};
use tidegate_soundness::workloads::{self, Load};

const SEED: u64 = 20_261_124;
const TRIALS: u64 = 1_600;
const JOBS: u64 = 40;

fn trial(number: u64) -> Trial {
    let random = &mut generate::generator(SEED, number);
    let workload = workloads::workload(random, PolicyName::RtioPriority, Load::numbered(number));
    let workload = leaning_on_priority(random, workload);
    let releases = workloads::releases(random, &workload);
    Trial::new(number, PolicyName::RtioPriority, workload, releases, JOBS)
}

/// Returns a drive that keeps `kept`, independent of the workload's table.
fn drive(number: u64, kept: &BatchTable) -> PriorityBox {
    PriorityBox::new(kept.clone(), generate::generator(SEED + 1, number))
}

fn promised(workload: &Workload) -> &BatchTable {
    workload.contracts.priority.as_ref().expect("the workload needs it")
}

#[test]
fn no_response_exceeds_the_bound_on_a_drive_that_honours_priority() {
    let mut closeness = Closeness::default();
    for number in 0..TRIALS {
        let trial = trial(number);
        let priority = promised(&trial.workload);
        let watch = ContractWatch::new(&DriveLimits::of(&trial.workload, false));
        let (run, watch) = trial.checked_run(drive(number, priority), watch);
        let rounds = watch.overruns(DriveContract::Priority).expect("it is watched");
        assert_eq!(rounds.overruns, 0, "{number}: the drive broke its times");
        assert!(rounds.observed > 0, "{number}: no round could be compared");
        closeness.note(&trial, &run);
    }
    closeness.conclude("rtio-priority", 1_500);
}

fn run(trial: &Trial, kept: &BatchTable) -> SimRun {
    trial.checked_run(drive(trial.number, kept), ()).0
}

#[test]
fn bound_that_is_a_tenth_too_low_is_caught() {
    assert_caught("a bound a tenth too low", (0..TRIALS).map(trial), |trial| {
        trial.lower_bounds();
        run(trial, promised(&trial.workload))
    });
}

/// Canary: a table that has the drive's time for q - 1 at each q is caught.
#[test]
fn table_short_of_one_request_is_caught() {
    assert_caught("a table short of one request", (0..TRIALS).map(trial), |trial| {
        let kept = promised(&trial.workload).clone();
        trial.workload.contracts.priority = Some(tidegate_soundness::drains::optimistic(&kept));
        trial.assess_anew();
        run(trial, &kept)
    });
}

/// Canary: a bound for one round, as if no request ever met another on the drive, is caught.
#[test]
fn bound_without_the_round_before_is_caught() {
    assert_caught("a bound of one round", (0..TRIALS).map(trial), |trial| {
        let priority = promised(&trial.workload).clone();
        let requests: u32 = trial.workload.tasks.iter().map(|task| task.requests).sum();
        for task in &mut trial.assessment.tasks {
            let one_round = priority.time_max(requests.min(priority.batch_max()));
            task.response_max = task.response_max.map(|(_, name)| (one_round, name));
        }
        run(trial, &priority)
    });
}

/// Canary: a drive that ignores the tag serves requests with priority like any others.
#[test]
fn drive_that_ignores_priority_is_caught() {
    assert_caught("a blind drive", (0..TRIALS).map(trial), |trial| {
        trial.checked_run(trial.drive(), ()).0
    });
}

/// An `rtio` that dispatches real-time requests with the drive's own priority, immediately instead
/// of in rounds.
struct AtOnce {
    inner: Rtio,
    real_time: HashSet<RequestId>,
}

impl Policy for AtOnce {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        if let Event::Release(request) = &event
            && request.class != Class::BestEffort
        {
            self.real_time.insert(request.id);
        }
        self.inner.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        match self.inner.decide(now) {
            Decision::Dispatch { id, .. } if self.real_time.contains(&id) => {
                Decision::Dispatch { id, tag: Tag::Priority }
            }
            decision => decision,
        }
    }
}

/// Canary: priority without rounds. A request that joins a round on the drive may delay it.
#[test]
fn priority_without_rounds_is_caught() {
    assert_caught("priority without rounds", (0..TRIALS).map(trial), |trial| {
        let policy = AtOnce { inner: Rtio::at_once(&trial.plan), real_time: HashSet::new() };
        trial.run(policy, drive(trial.number, promised(&trial.workload)), &mut ())
    });
}

/// Runs `count` tasks that read 4 KiB every `period_ms`, beside a backlog, on the nearline disk,
/// which `change` modifies after its table was taken. All places are random, so the drive's times
/// at other places do not count.
fn on_the_disk(period_ms: u64, count: u32, change: impl FnOnce(&mut DriveFile)) -> Outcome {
    let step_us = period_ms * 1_000 / u64::from(count);
    let sources = format!(
        "absent_places = [\"both_ends\", \"clusters\", \"track\", \"sequential\", \"climbed\"]\n\
         [[task]]\nname = \"stream\"\ncount = {count}\n\
         period = \"{period_ms}ms\"\nsize = \"4KiB\"\noffset = {{ step = \"{step_us}us\" }}\n\
         [[best_effort]]\nname = \"backlog\"\noutstanding = 64\nsize = \"4KiB\"\n"
    );
    let mut disk = Disk::new("nearline-7200", &sources);
    change(&mut disk.file);
    let outcome = disk.outcome(PolicyName::RtioPriority, 2_000 / u64::from(count));
    println!("nearline, {count} x {period_ms} ms: {outcome}");
    outcome
}

/// A response may exceed its bound only by as much as the disk exceeded its table, because the
/// table is the maximum of finitely many samples.
#[test]
fn no_response_exceeds_the_bound_on_the_nearline_disk() {
    for (period_ms, count) in [(40, 1), (75, 2), (100, 4), (150, 8)] {
        let outcome = on_the_disk(period_ms, count, |_| ());
        assert_eq!(outcome.assessment.answer, Answer::Proven, "{count} x {period_ms} ms");
        assert_eq!(outcome.excess(), None, "{count} x {period_ms} ms");
        assert!(outcome.misses <= outcome.overruns, "{count} x {period_ms} ms");
        assert!(outcome.overruns * 100 < outcome.jobs, "{count} x {period_ms} ms");
    }
}

/// A drive without these measurements has no bound, and the answer says what to do.
#[test]
fn drive_without_times_for_priority_says_so() {
    for name in builtin::names().filter(|&name| name != "nearline-7200") {
        let sources = "[[task]]\nname = \"stream\"\nperiod = \"1s\"\nsize = \"4KiB\"\n";
        let workload = Disk::new(name, sources).workload;
        let answer = assess(&workload, PolicyName::RtioPriority).answer;
        let Answer::NotApplicable { reason } = answer else { panic!("{name}: {answer:?}") };
        assert!(reason.contains("no times for requests with its own priority"), "{name}: {reason}");
    }
}

/// The nearline disk without the priority feature exceeds its times, and the run reports this.
#[test]
fn disk_that_ignores_priority_is_caught() {
    let outcome = on_the_disk(40, 1, |file| {
        file.mechanics.as_mut().expect("it has mechanics").queue.priority = false;
    });
    let (bound, _) = outcome.assessment.tasks[0].response_max.expect("a bound");
    assert!(outcome.response_max > bound && outcome.misses > 0, "{}", outcome.response_max);
    assert!(outcome.overruns > 0, "the watch saw nothing");
}
