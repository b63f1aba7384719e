// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: curves show exactly the bound of each task, or there is a reason for none. Method: many
//! small workloads; the test computes the wait from the steps again, request by request.

use std::collections::BTreeMap;

use tidegate_analysis::curves::{Argument, Curves, Reading, curves};
use tidegate_analysis::{Assessment, BoundName, assess, explain};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{PolicyName, Workload};

fn workload(times_ms: &[u64], sources: &str) -> Workload {
    let times: Vec<String> = times_ms.iter().map(|ms| (ms * 1_000_000).to_string()).collect();
    let drive = format!("[drive]\nkind = \"pseudo\"\nbatch_ns_max = [{}]\n", times.join(","));
    let file = WorkloadFile::parse(&format!("{drive}{sources}")).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { panic!("an inline drive") };
    file.bind(drive).unwrap()
}

fn task(name: &str, count: u32, requests: u32, period_ms: u64) -> String {
    format!(
        "[[task]]\nname = \"{name}\"\ncount = {count}\nrequests = {requests}\n\
         period = \"{period_ms}ms\"\nsize = \"4KiB\"\n"
    )
}

const BACKUP: &str = "[[best_effort]]\nname = \"backup\"\noutstanding = 3\nsize = \"4KiB\"\n";

/// Returns the wait that the steps show, in ns.
fn wait_ns(curves: &Curves) -> u64 {
    let requested_by = |at: u64, is_closed: bool| {
        let counts = |ns: u64| ns < at || (is_closed && ns == at);
        curves.requested.iter().filter(|(ns, _)| counts(ns.ns())).map(|step| step.1).max()
    };
    let meeting = |is_closed| {
        let is_met = |at: u64, served: u64| requested_by(at, is_closed).unwrap_or(0) <= served;
        curves.served.iter().find(|(at, served)| is_met(at.ns(), *served)).unwrap().0.ns()
    };
    match curves.argument.reading() {
        Reading::Distance => {
            let all = curves.requested.last().unwrap().1;
            let released = |nth: u64| curves.requested.iter().find(|it| it.1 >= nth).unwrap().0;
            let served = |nth: u64| curves.served.iter().find(|it| it.1 >= nth).unwrap().0;
            (1..=all).map(|nth| served(nth).ns() - released(nth).ns()).max().unwrap()
        }
        Reading::Meeting => meeting(true),
        Reading::MeetingHalfOpen => meeting(false),
    }
}

/// Compares the curves of every task with its bound; counts them by argument.
fn compare(
    workload: &Workload,
    assessment: &Assessment,
    found: &mut BTreeMap<Option<&'static str>, u32>,
) {
    for group in curves(workload, assessment) {
        for &task in &group.tasks {
            let bound = assessment.tasks[task].response_max;
            let Ok(curves) = &group.curves else {
                *found.entry(None).or_default() += u32::from(bound.is_some());
                continue;
            };
            let (bound, _) = bound.expect("a bound that curves show");
            let shown = wait_ns(curves) + curves.after.ns() + group.outside.ns();
            assert_eq!(shown, bound.ns(), "{curves:?} of {workload:?}");
            assert_eq!(curves.longest.length().ns(), wait_ns(curves));
            *found.entry(Some(curves.argument.name())).or_default() += 1;
        }
    }
}

#[test]
fn curves_show_the_bound_of_every_task() {
    let tables: [&[u64]; 3] = [&[4, 7, 9, 12, 14, 15], &[5], &[3, 4, 8, 9]];
    let mut found = BTreeMap::new();
    for times in tables {
        for (count, requests) in [(1, 1), (2, 1), (3, 2), (5, 1), (1, 7)] {
            for (period, other) in [(20, 31), (29, 40), (60, 47), (90, 250), (400, 33)] {
                for best_effort in ["", BACKUP] {
                    let tasks = task("a", count, requests, period) + &task("b", 1, 2, other);
                    let workload = workload(times, &format!("{tasks}{best_effort}"));
                    for policy in [PolicyName::Dqf, PolicyName::DqfElastic, PolicyName::Fifo] {
                        compare(&workload, &assess(&workload, policy), &mut found);
                    }
                }
            }
        }
    }
    println!("{found:?}");
    let drawn = |argument: Argument| found.get(&Some(argument.name())).copied().unwrap_or(0);
    assert!(drawn(Argument::Batches) > 200 && drawn(Argument::Fifo) > 50, "{found:?}");
    assert!(drawn(Argument::FifoBehindLoops) > 20, "{found:?}");
    // Some bounds come from a search whose steps are not found again.
    assert!(found.get(&None).copied().unwrap_or(0) < 20, "{found:?}");
}

/// Goal: a bound by costs takes curves and steps from its own task only. Method: an assessment in
/// which the bound of one of two tasks is said to rest on costs.
#[test]
fn only_the_bound_that_rests_on_costs_has_no_curves() {
    let workload = workload(&[4, 7, 9], &(task("a", 1, 1, 60) + &task("b", 1, 2, 90)));
    let mut assessment = assess(&workload, PolicyName::Dqf);
    let all = curves(&workload, &assessment);
    assert!(all.iter().all(|group| group.curves.is_ok()) && !assessment.rests_on_costs());
    assert!(explain(&workload, &assessment).iter().all(Option::is_some));
    let (bound, _) = assessment.tasks[1].response_max.unwrap();
    assessment.tasks[1].response_max = Some((bound, BoundName::Mixed));
    assert!(assessment.rests_on_costs() && !assessment.rests_on_costs_alone());
    let drawn: BTreeMap<usize, bool> = curves(&workload, &assessment)
        .iter()
        .flat_map(|group| group.tasks.iter().map(|&task| (task, group.curves.is_ok())))
        .collect();
    assert_eq!(drawn, BTreeMap::from([(0, true), (1, false)]));
    let explained = explain(&workload, &assessment);
    assert_eq!([0, 1].map(|task| explained[task].is_some()), [true, false]);
    assessment.tasks[0].response_max = assessment.tasks[1].response_max;
    assert!(assessment.rests_on_costs_alone());
}
