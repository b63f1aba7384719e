// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: assessments of the RTIO policies: the depths of the literature, bounds, and the reasons
//! where nothing can be promised. Method: sums by hand.

use tidegate_analysis::rtio::response_in_rounds;
use tidegate_analysis::{Answer, Assessment, BoundName, Limit, assess, headroom};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{Duration, PolicyName, PremiseCode, Workload};

const BACKUP: &str = "[[best_effort]]\nname = \"b\"\noutstanding = 450\nsize = \"256KiB\"\n";

const fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

/// Binds the sources to a drive of 20 slots with these contracts; a batch takes 10 ms for one
/// request and 2 ms for each further one.
fn workload(contracts: &str, sources: &str) -> Workload {
    let times = (1..=20).map(|n: u64| ((8 + 2 * n) * 1_000_000).to_string());
    let times = times.collect::<Vec<_>>().join(",");
    let drive = format!("[drive]\nkind = \"pseudo\"\nbatch_ns_max = [{times}]\n");
    let file = WorkloadFile::parse(&format!("{drive}{contracts}{sources}")).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { panic!("an inline drive") };
    file.bind(drive).unwrap()
}

fn tasks(count: u32, period: &str) -> String {
    format!("[[task]]\nname = \"t\"\ncount = {count}\nperiod = \"{period}\"\nsize = \"256KiB\"\n")
}

/// Returns drain times: 15 ms and 5 ms more for each further request, up to `entries`.
fn drain(entries: u64) -> String {
    let times = (1..=entries).map(|q| (10_000_000 + 5_000_000 * q).to_string());
    format!("drain_ns_max = [{}]\n", times.collect::<Vec<_>>().join(","))
}

fn says(assessment: &Assessment, text: &str) -> bool {
    assessment.premises.iter().any(|premise| premise.text.contains(text))
}

fn bound(assessment: &Assessment) -> Option<Duration> {
    let [first, rest @ ..] = assessment.tasks.as_slice() else { panic!("a task") };
    assert!(rest.iter().all(|task| task.bounds == first.bounds), "one bound for all");
    first.response_max.map(|(response, name)| {
        assert_eq!(name, BoundName::Tight);
        response
    })
}

/// Goal: the depths of RTAS 2008 follow from its published times for a Fujitsu (sections 3.2 and
/// 3.4): 20 requests drain within 160 ms, 8 within 75 ms, 9 do not. So best effort may be 19 deep
/// beside a deadline of 160 ms and 7 deep beside 75 ms. (The dissertation prints one less in 8.3.4:
/// "a queue depth of less than 8".)
#[test]
fn published_drain_times_give_the_published_depths() {
    let published_ms = |q: u64| if q <= 8 { 75 * q / 8 } else { 160 * q / 20 + 8 * (20 - q) / 11 };
    assert_eq!([8, 20].map(published_ms), [75, 160]);
    assert!(published_ms(9) > 75);
    let times: Vec<String> = (1..=20).map(|q| (published_ms(q) * 1_000_000).to_string()).collect();
    let drain = format!("drain_ns_max = [{}]\n", times.join(","));
    for (period, best_effort_depth) in [("160ms", 19), ("75ms", 7)] {
        let workload = workload(&drain, &format!("{}{BACKUP}", tasks(1, period)));
        let limit = assess(&workload, PolicyName::RtioLimit);
        assert_eq!((limit.answer, limit.best_effort_depth), (Answer::Proven, best_effort_depth));
        assert_eq!(bound(&limit), Some(workload.tasks[0].deadline));
        let drain = assess(&workload, PolicyName::RtioDrain);
        assert_eq!(
            (drain.best_effort_depth, drain.answer == Answer::Proven),
            (19, period == "160ms")
        );
    }
}

/// Goal: the bound for two rounds takes the worst division. Method: D(1) = 1, D(2) = 4, D(3) = 5,
/// D(4) = 6: 2 and 2 is the worst division of four.
#[test]
fn two_rounds_are_divided_in_the_worst_way() {
    let times = [1, 4, 5, 6].map(ms);
    let response = |n| response_in_rounds(n, |s| times[s as usize - 1]);
    assert_eq!([0, 1, 2, 3, 4].map(|n| response(n).unwrap()), [0, 1, 4, 5, 8].map(ms));
    assert_eq!(response_in_rounds(2, |_| Duration::MAX), None);
}

/// Three tasks: `drain(q + 1) + drain(q + 2) = 20 + 5 (2q + 3)` is the worst sum: 85 ms with 5
/// best-effort requests. The drive has room for 17.
#[test]
fn limit_is_the_deepest_that_keeps_all_deadlines() {
    let with = |period: &str, backup: &str| {
        let workload = workload(&drain(20), &format!("{}{backup}", tasks(3, period)));
        [PolicyName::RtioDrain, PolicyName::RtioLimit].map(|policy| assess(&workload, policy))
    };
    let [drain, limit] = with("86ms", BACKUP);
    assert_eq!(
        (limit.answer, limit.best_effort_depth, bound(&limit)),
        (Answer::Proven, 5, Some(ms(85)))
    );
    assert_eq!(
        (drain.answer, drain.best_effort_depth, bound(&drain)),
        (Answer::NotProven, 17, None)
    );
    let [drain, limit] = with("1s", BACKUP);
    assert_eq!((limit.best_effort_depth, bound(&limit)), (17, Some(ms(205))));
    assert_eq!((drain.best_effort_depth, bound(&drain)), (17, Some(ms(205))));
    // Without best effort nothing is charged for it.
    let [drain, limit] = with("1s", "");
    assert_eq!(
        [&drain, &limit].map(|it| (it.best_effort_depth, bound(it))),
        [(0, Some(ms(35))); 2]
    );
}

/// A bound equal to the period is valid for one request, but not for two.
#[test]
fn response_equal_to_the_period_is_enough_for_one_only() {
    for (count, period, is_proven) in [(1, "15ms", true), (2, "30ms", false), (2, "31ms", true)] {
        let workload = workload(&drain(20), &tasks(count, period));
        let limit = assess(&workload, PolicyName::RtioLimit);
        assert_eq!(limit.answer == Answer::Proven, is_proven, "{count} every {period}");
        assert_eq!(bound(&limit).is_some(), is_proven);
    }
}

#[test]
fn drain_table_limits_best_effort_to_what_it_speaks_of() {
    let workload = workload(&drain(6), &format!("{}{BACKUP}", tasks(2, "1s")));
    for policy in [PolicyName::RtioDrain, PolicyName::RtioLimit] {
        assert_eq!(assess(&workload, policy).best_effort_depth, 4);
    }
}

/// A task that cannot meet its deadline does not invalidate the proof of the other, and best effort
/// goes as deep as the other allows: `drain(q + 1) + drain(q + 1) = 30 + 10 q` within 90 ms.
#[test]
fn limit_gives_away_no_proof() {
    let hopeless = "[[task]]\nname = \"h\"\nperiod = \"1s\"\ndeadline = \"1ms\"\nsize = \"4KiB\"\n";
    let sources = |first: String| format!("{first}{hopeless}{BACKUP}");
    let limit = assess(&workload(&drain(20), &sources(tasks(1, "91ms"))), PolicyName::RtioLimit);
    assert_eq!((limit.answer, limit.best_effort_depth), (Answer::NotProven, 6));
    assert!(limit.tasks[0].is_deadline_met && !limit.tasks[1].is_deadline_met);
    let limit = assess(&workload(&drain(20), &sources(String::new())), PolicyName::RtioLimit);
    assert_eq!((limit.best_effort_depth, limit.limit), (0, Some(Limit::Deadline { task: 0 })));
}

#[test]
fn rtio_promises_the_starvation_bound_where_every_request_has_a_slot() {
    let sources = |count, period| format!("{}{BACKUP}", tasks(count, period));
    let rtio = |sources: &str| {
        assess(&workload("starvation_ns_max = 2_000_000_000\n", sources), PolicyName::Rtio)
    };
    let three = rtio(&sources(3, "2s"));
    assert_eq!((three.answer, three.best_effort_depth), (Answer::Proven, 17));
    assert_eq!(bound(&three), Some(ms(2_000)));
    assert!(says(&three, "2s"), "{:?}", three.premises);
    assert_eq!(rtio(&sources(20, "3s")).best_effort_depth, 0);
    let pile = rtio(&sources(3, "1999ms"));
    assert_eq!((pile.answer, pile.limit), (Answer::NotProven, Some(Limit::NoBound { task: 0 })));
    assert!(says(&pile, "pile up"), "{:?}", pile.premises);
    assert!(matches!(rtio(&sources(21, "3s")).answer, Answer::NotApplicable { .. }));
}

/// Goal: the priority that the drive honours bounds a round whatever best effort does. Method:
/// 12 ms for one request, 20 ms for two, 30 ms for three: 12 + 20 is worse than 30.
#[test]
fn priority_is_promised_by_the_times_of_the_drive() {
    let contracts = "priority_ns_max = [12_000_000, 20_000_000, 30_000_000]\n";
    let sources = format!("{}{BACKUP}", tasks(3, "33ms"));
    let three = assess(&workload(contracts, &sources), PolicyName::RtioPriority);
    assert_eq!((three.answer, three.best_effort_depth), (Answer::Proven, 17));
    let codes: Vec<_> = three.premises.iter().map(|premise| premise.code).collect();
    assert_eq!(bound(&three), Some(ms(32)));
    assert_eq!(
        codes,
        [PremiseCode::Chosen, PremiseCode::PriorityContract, PremiseCode::HostTimeExcluded]
    );
    let four = assess(&workload(contracts, &tasks(4, "1s")), PolicyName::RtioPriority);
    assert!(matches!(four.answer, Answer::NotApplicable { .. }));
}

/// Goal: a drive contract is not used beyond the depth at which it was measured. Method: contracts
/// measured at different depths, on a drive of 20 slots; up to 6 real-time requests.
#[test]
fn contracts_hold_at_the_depth_at_which_they_were_measured() {
    let contracts = "starvation_ns_max = 90_000_000\npriority_ns_max = [12_000_000, 20_000_000]\n";
    let at = |count, depth| {
        let sources = format!("{}{BACKUP}", tasks(count, "1s"));
        let mut workload = workload(contracts, &sources);
        workload.contracts.starvation_depth = depth;
        workload.contracts.priority_depth = depth;
        [PolicyName::Rtio, PolicyName::RtioPriority].map(|policy| assess(&workload, policy))
    };
    for (depth, expected) in [(None, 18), (Some(20), 18), (Some(99), 18), (Some(5), 3)] {
        for it in at(2, depth) {
            assert_eq!((&it.answer, it.best_effort_depth), (&Answer::Proven, expected));
            let is_said = says(&it, "at most 5 on it");
            assert_eq!(is_said, depth == Some(5), "{:?}", it.premises);
        }
    }
    for it in at(2, Some(1)) {
        assert!(
            matches!(it.answer, Answer::NotApplicable { reason } if reason.contains("--depth"))
        );
    }
    let alone = at(5, Some(5));
    assert_eq!((&alone[0].answer, alone[0].best_effort_depth), (&Answer::Proven, 0));
    assert!(matches!(at(6, Some(5))[0].answer, Answer::NotApplicable { .. }));
}

/// Two services of 10 ms: up to 20 ms the drive honours the priority, one nanosecond more and it
/// does not.
#[test]
fn drive_that_does_not_honour_priority_is_named() {
    let noted = |ns: u64| {
        let contracts = format!("priority_ns_max = [{ns}]\n");
        let one = assess(&workload(&contracts, &tasks(1, "1s")), PolicyName::RtioPriority);
        assert_eq!(one.answer, Answer::Proven);
        says(&one, "does not honour the priority")
    };
    assert!(!noted(20_000_000));
    assert!(noted(20_000_001));
}

#[test]
fn what_was_never_measured_promises_nothing_and_says_how_to_measure() {
    for (policy, word) in [
        (PolicyName::Rtio, "starvation_ns_max"),
        (PolicyName::RtioDrain, "drain_ns_max"),
        (PolicyName::RtioLimit, "drain_ns_max"),
        (PolicyName::RtioPriority, "priority_ns_max"),
    ] {
        let assessment = assess(&workload("", &format!("{}{BACKUP}", tasks(3, "1s"))), policy);
        let Answer::NotApplicable { reason } = assessment.answer else { panic!("{policy}") };
        assert!(reason.contains(word), "{policy}: {reason}");
        assert_eq!(assessment.best_effort_depth, 17);
    }
}

#[test]
fn best_effort_alone_has_the_drive_to_itself() {
    let contracts = format!("{}starvation_ns_max = 1\npriority_ns_max = [1]\n", drain(4));
    for policy in
        [PolicyName::Rtio, PolicyName::RtioDrain, PolicyName::RtioLimit, PolicyName::RtioPriority]
    {
        let assessment = assess(&workload(&contracts, BACKUP), policy);
        assert_eq!((assessment.answer, assessment.best_effort_depth), (Answer::Proven, 20));
    }
}

/// `drain(s) + drain(n - s) = 20 + 5 n` below 100 ms gives 15 tasks if best effort yields; `rtio`
/// allows as many as the drive accepts.
#[test]
fn headroom_counts_what_the_contract_carries() {
    let contracts = format!("{}starvation_ns_max = 90_000_000\n", drain(20));
    let workload = workload(&contracts, &tasks(2, "100ms"));
    let count_max = |policy| headroom(&workload, policy).unwrap()[0].count_max;
    assert_eq!(count_max(PolicyName::RtioLimit), 15);
    assert_eq!(count_max(PolicyName::Rtio), 20);
    assert_eq!(count_max(PolicyName::RtioPriority), 0);
}

/// With a deadline below drain(1) + drain(1) = 30 ms, the gate stays closed while tasks pause, and
/// the assessment says so.
#[test]
fn best_effort_that_waits_for_a_pause_is_told_so() {
    for (deadline, is_said) in [("29ms", true), ("30ms", false)] {
        let task = tasks(1, "200ms").replace("size", &format!("deadline = \"{deadline}\"\nsize"));
        let gated =
            assess(&workload(&drain(8), &format!("{task}{BACKUP}")), PolicyName::GatedDrain);
        let said = says(&gated, "gets nothing from the instant");
        assert_eq!((gated.answer, said), (Answer::Proven, is_said), "{deadline}");
    }
}
