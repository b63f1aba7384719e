// SPDX-License-Identifier: Apache-2.0 OR MIT
//! No real-time response under `mq-deadline-tuned` exceeds its bound: the model of the kernel's
//! scheduler runs on drives that keep only drain(q). With a setting that the proof excludes, a
//! response exceeds its bound, and `assess` refuses that setting.

use std::num::NonZeroU32;

use tidegate_analysis::{Answer, assess};
use tidegate_model::{Bandwidth, Class, Duration, Intensity, Plan, PolicyName, Workload};
use tidegate_sim::SimRun;
use tidegate_soundness::black_box::{BlackBox, CompletionStrategy};
use tidegate_soundness::generate;
use tidegate_soundness::strict_classes::{LastInstant, trial};
use tidegate_soundness::trial::{Closeness, Trial, assert_caught};

const SEED: u64 = 20_261_126;
const TRIALS: u64 = 1_500;
const JOBS: u64 = 30;
/// The tick on the drive that completes one request 1 ns early. It is so long that the nanosecond
/// hardly matters.
const COARSE: Duration = Duration::from_ns(1_000);
/// The tick on a drive that may complete a request 1 ns after each dispatch.
const FINE: Duration = Duration::from_ns(1);

/// Returns a drive that completes requests by an adversary's strategy.
fn black_box(trial: &Trial) -> BlackBox {
    let kinds = CompletionStrategy::ALL.len() as u64;
    let kind = usize::try_from(trial.number % kinds).expect("a few kinds");
    let table = trial.workload.contracts.drain.as_ref().expect("it has drain times");
    let drain = (0..=trial.workload.depth).map(|count| match count {
        0 => Duration::ZERO,
        _ => table.time_max(count),
    });
    let random = generate::generator(SEED, trial.number);
    BlackBox::new(drain.collect(), CompletionStrategy::ALL[kind], random)
}

#[test]
fn no_real_time_response_exceeds_the_bound() {
    let (mut closeness, mut closest) = (Closeness::default(), 0);
    for number in 0..TRIALS {
        let coarse = trial(number, COARSE, JOBS);
        let (run, ()) = coarse.checked_run(LastInstant::of(&coarse.workload), ());
        closest = closest.max(coarse.closeness_permille(&run).unwrap_or_default());
        closeness.note(&coarse, &run);
        let fine = trial(number, FINE, JOBS);
        let (run, ()) = fine.checked_run(black_box(&fine), ());
        closeness.note(&fine, &run);
    }
    closeness.conclude("mq-deadline-tuned", 1_500);
    assert!(closest > 950, "the drive is no adversary: {closest} permille at most");
}

/// Runs the trial with a plan other than the proved one.
fn run(trial: &Trial, change: impl FnOnce(&mut Plan)) -> SimRun {
    let mut plan = trial.plan.clone();
    change(&mut plan);
    let policy = tidegate_policy::build(PolicyName::MqDeadlineTuned, &plan, None);
    let drive = LastInstant::of(&trial.workload);
    trial.run(policy.expect("it needs nothing else"), drive, &mut ())
}

fn trials() -> impl Iterator<Item = Trial> {
    (0..TRIALS)
        .map(|number| trial(number, COARSE, JOBS))
        .filter(|trial| trial.is_bounded_throughout() && !trial.workload.best_effort.is_empty())
}

/// Canary: requests of lower classes age, and are then served before real time.
#[test]
fn requests_that_age_break_the_bound_and_are_refused() {
    let aging = Duration::from_ns(20_000);
    assert_caught("an early prio_aging_expire", trials(), |it| {
        run(it, |plan| plan.parameters.mq_deadline_tuned.prio_aging_expire = aging)
    });
    for mut trial in trials().take(50) {
        trial.workload.parameters.mq_deadline_tuned.prio_aging_expire = aging;
        trial.assess_anew();
        assert!(matches!(trial.assessment.answer, Answer::NotApplicable { .. }));
    }
}

/// Canary: a real-time request finds no tag, and waits behind best effort.
#[test]
fn too_few_tags_break_the_bound_and_are_refused() {
    let outstanding = |workload: &Workload| {
        let tasks = workload.tasks.iter().map(|task| task.requests);
        tasks.sum::<u32>()
    };
    assert_caught("nr_requests of 2", trials(), |it| {
        run(it, |plan| plan.parameters.mq_deadline_tuned.nr_requests = NonZeroU32::new(2))
    });
    for mut trial in trials().take(50) {
        let tags = NonZeroU32::new(outstanding(&trial.workload));
        trial.workload.parameters.mq_deadline_tuned.nr_requests = tags;
        trial.assess_anew();
        assert!(matches!(trial.assessment.answer, Answer::NotApplicable { .. }));
    }
}

/// Canary: a device queue that is one deeper than the proved one breaks the bound.
#[test]
fn one_more_on_the_device_breaks_the_bound_and_is_not_proven() {
    let deeper = |trial: &Trial| trial.plan.best_effort_depth < trial.workload.depth;
    assert_caught("a queue one deeper", trials().filter(deeper), |it| {
        run(it, |plan| plan.best_effort_depth += 1)
    });
    let is_chosen = |trial: &Trial| {
        trial.is_proven() && trial.workload.parameters.mq_deadline_tuned.queue_depth.is_none()
    };
    let mut refused = 0;
    for mut trial in trials().filter(deeper).filter(is_chosen) {
        let more = NonZeroU32::new(trial.plan.best_effort_depth + 1);
        trial.workload.parameters.mq_deadline_tuned.queue_depth = more;
        trial.assess_anew();
        assert!(!trial.is_proven(), "number {}", trial.number);
        refused += 1;
    }
    assert!(refused > 20, "only {refused} systems have a depth beyond which nothing is proven");
}

/// Canary: the bound breaks if one request more than the proof counts has left the scheduler before
/// a real-time request.
#[test]
fn one_more_taken_early_breaks_the_bound() {
    assert_caught("one more taken early", trials(), |it| {
        run(it, |plan| plan.parameters.mq_deadline_tuned.taken_early += 1)
    });
}

/// Canary: a bound that omits the requests on the device at the release is caught.
#[test]
fn a_bound_without_blocking_is_caught() {
    assert_caught("a bound without blocking", trials(), |it| {
        let table = it.workload.contracts.drain.clone().expect("it has drain times");
        let step = table.time_max(it.plan.best_effort_depth);
        for task in &mut it.assessment.tasks {
            task.response_max = task.response_max.map(|(bound, name)| (bound - step, name));
        }
        run(it, |_| {})
    });
}

/// Canary: a task that is not in the real-time class is caught.
#[test]
fn a_task_in_a_lower_class_is_caught() {
    assert_caught("a task in a lower class", trials(), |it| {
        let mut deeds = it.workload.clone();
        deeds.tasks[0].class = Class::BestEffort;
        it.deeds = Some(deeds);
        run(it, |_| {})
    });
}

/// An open loop can fill the scheduler, so nothing is proven beside it.
#[test]
fn open_loops_are_refused() {
    let mut trial = trials().next().expect("there are trials");
    let rate = Bandwidth::new(1_000).expect("not zero");
    trial.workload.best_effort[0].intensity = Intensity::Rate(rate);
    let answer = assess(&trial.workload, PolicyName::MqDeadlineTuned).answer;
    assert!(matches!(answer, Answer::NotApplicable { .. }));
}
