// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the throughput that `check` predicts for best effort is close to the throughput of a run.

use tidegate_analysis::{Answer, Assessment, assess, expected_best_effort};
use tidegate_model::{DepthChoice, PolicyName};
use tidegate_sim::Length;
use tidegate_soundness::disk::Disk;

/// A drive with the size of its requests, and tasks on it: their number and period in ms.
type Case = (&'static str, &'static str, &'static [(u32, u64)]);

const DISKS: [Case; 5] = [
    ("fujitsu-max3036rc", "256KiB", &[(1, 160), (1, 75), (1, 40), (4, 160), (4, 75), (16, 1000)]),
    ("nearline-7200", "128KiB", &[(1, 160), (1, 75), (4, 160), (4, 300), (16, 1000)]),
    ("ibm-36z15", "128KiB", &[(1, 160), (1, 75), (1, 40), (4, 160), (4, 75), (16, 1000)]),
    ("ibm-40k1044", "256KiB", &[(1, 160), (1, 75), (1, 40), (4, 160), (4, 75), (16, 1000)]),
    ("seagate-36es2", "128KiB", &[(1, 160), (1, 75), (4, 160), (4, 300), (16, 1000)]),
];
const SSDS: [Case; 2] =
    [("sata-ssd", "4KiB", &[(1, 20), (4, 40)]), ("nvme-ssd", "128KiB", &[(1, 20), (4, 40)])];
const POLICIES: [PolicyName; 9] = [
    PolicyName::Dqf,
    PolicyName::DqfElastic,
    PolicyName::DqEdf,
    PolicyName::Edf,
    PolicyName::ScanEdf,
    PolicyName::RtioDrain,
    PolicyName::RtioLimit,
    PolicyName::AdaptiveDrain,
    PolicyName::GatedDrain,
];

/// The policies for which the depth of best effort matters. Policies that serve best effort like
/// one of these are left out.
const LIMITED: [PolicyName; 4] =
    [PolicyName::Dqf, PolicyName::RtioLimit, PolicyName::AdaptiveDrain, PolicyName::GatedDrain];

/// Returns a drive with this number of tasks of this period in ms, with releases spread over the
/// period, and with best effort in this order.
fn disk(
    (drive, size): (&str, &str),
    order: &str,
    outstanding: u32,
    (count, period_ms): (u32, u64),
) -> Disk {
    let step_us = period_ms * 1_000 / u64::from(count);
    let sources = format!(
        "absent_places = [\"both_ends\", \"clusters\", \"track\", \"sequential\", \"climbed\"]\n\
         [policy]\nname = \"dqf\"\nbest_effort_order = \"{order}\"\n\
         [[task]]\nname = \"t\"\ncount = {count}\nperiod = \"{period_ms}ms\"\nsize = \"{size}\"\n\
         offset = {{ step = \"{step_us}us\" }}\n\
         [[best_effort]]\nname = \"b\"\noutstanding = {outstanding}\nsize = \"{size}\"\n"
    );
    Disk::new(drive, &sources)
}

/// Returns the differences between predictions and runs, in parts per thousand of the run, for each
/// policy that proves the deadlines and has a prediction; docs/reference/policies.md sums them up.
fn errors(cases: &[Case], order: &str, outstanding: &[u32], run_ms: u64) -> Vec<(String, i64)> {
    let mut errors = Vec::new();
    for &(drive, size, tasks) in cases {
        for &outstanding in outstanding {
            for &(count, period_ms) in tasks {
                let disk = disk((drive, size), order, outstanding, (count, period_ms));
                for policy in POLICIES {
                    let assessment = assess(&disk.workload, policy);
                    let Some(expected) = expected_best_effort(&disk.workload, &assessment) else {
                        continue;
                    };
                    let seen = throughput(&disk, &assessment, run_ms / period_ms);
                    let (expected, seen) = (i128::from(expected), i128::from(seen.max(1)));
                    let error = i64::try_from((expected - seen) * 1_000 / seen).expect("small");
                    let name =
                        format!("{drive} {order} {outstanding} {count}x{period_ms} {policy}");
                    errors.push((name, error));
                }
            }
        }
    }
    errors
}

/// Returns the throughput of best effort in a run of this many jobs, in bytes per second.
fn throughput(disk: &Disk, assessment: &Assessment, jobs: u64) -> u64 {
    let plan = assessment.plan(&disk.workload);
    let built = tidegate_policy::build(assessment.policy, &plan, None).expect("it needs no more");
    let run = disk.run(built, Length::Jobs(jobs), &mut ());
    run.metrics.best_effort().throughput_bytes_per_s().expect("some time")
}

/// Fails if more than `exceptions` predictions are off by more than a tenth, or one by more than
/// `worst` parts per thousand.
fn assert_within_a_tenth(errors: &[(String, i64)], exceptions: usize, worst: i64) {
    let beyond = |permille| errors.iter().filter(move |(_, error)| error.abs() > permille);
    let exceptional: Vec<_> = beyond(100).collect();
    println!("{} predictions, off by more than a tenth: {exceptional:?}", errors.len());
    assert!(exceptional.len() <= exceptions, "{exceptional:?}");
    assert_eq!(beyond(worst).count(), 0);
}

#[test]
fn disks_serve_what_is_expected_in_the_elevators_order() {
    let errors = errors(&DISKS, "elevator", &[64, 256], 30_000);
    assert!(errors.len() > 400, "{} predictions", errors.len());
    assert_within_a_tenth(&errors, 0, 100);
}

#[test]
fn drives_serve_what_is_expected_in_the_order_of_release() {
    let mut all = errors(&DISKS, "fifo", &[64], 30_000);
    all.extend(errors(&SSDS, "fifo", &[64], 2_000));
    assert!(all.len() > 240, "{} predictions", all.len());
    assert_within_a_tenth(&all, 14, 203);
}

/// Goal: `best_effort_depth = "auto"` costs best effort at most 5 %, and more than 2 % in at most
/// four cases; it proves as much, and no bound is longer. Method: runs at both depths, wherever
/// they differ.
#[test]
fn a_sufficient_depth_costs_next_to_nothing() {
    let (mut lowered, mut costly) = (0, 0);
    for (drive, size, tasks) in DISKS {
        for (outstanding, order) in [(64, "elevator"), (256, "elevator"), (64, "fifo")] {
            for &tasks in tasks {
                let proven = disk((drive, size), order, outstanding, tasks);
                let mut auto = proven.clone();
                auto.workload.best_effort_depth = DepthChoice::Auto;
                for policy in LIMITED {
                    let deep = assess(&proven.workload, policy);
                    let shallow = assess(&auto.workload, policy);
                    let case = format!("{drive} {order} {outstanding} {tasks:?} {policy}");
                    if deep.answer != Answer::Proven || shallow == deep {
                        continue;
                    }
                    lowered += 1;
                    assert_eq!(shallow.answer, Answer::Proven, "{case}");
                    for (shallow, deep) in shallow.tasks.iter().zip(&deep.tasks) {
                        assert!(shallow.response_max <= deep.response_max, "{case}");
                    }
                    let jobs = 30_000 / tasks.1;
                    let [deep, shallow] = [(&proven, &deep), (&auto, &shallow)]
                        .map(|(disk, assessment)| throughput(disk, assessment, jobs));
                    assert!(shallow * 100 >= deep * 95, "{case}: {shallow} instead of {deep}");
                    costly += usize::from(shallow * 100 < deep * 98);
                }
            }
        }
    }
    println!("{lowered} lower depths, {costly} of them cost more than 2 %");
    assert!(lowered >= 140 && costly <= 4, "{lowered} {costly}");
}
