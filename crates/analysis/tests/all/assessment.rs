// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: assessments of whole workloads: batch size, best-effort fill, headroom, and the result
//! when there is no bound. Method: the dissertation's drive, with its times in an inline table.

use tidegate_analysis::{
    Answer, Assessment, BoundName, Comparison, Headroom, Limit, assess, compare,
};
use tidegate_model::workload_file::{DriveReference, WorkloadFile};
use tidegate_model::{
    DeferredWrites, Duration, Grade, PolicyName, Premise, PremiseCode, ServicePrediction, Weight,
    Workload,
};

/// Binds the sources to the Maxtor of table 7.2 for 128 KiB (equation 7.4.1.7).
fn workload(sources: &str) -> Workload {
    let transfer_ns = (5_340_000_u64 * 128).div_ceil(255);
    let times: Vec<String> = (1..=64_u64)
        .map(|n| match n {
            1 => 14_440_000 + transfer_ns,
            _ => 11_180_000 + n * (8_850_000 + transfer_ns),
        })
        .map(|ns| ns.to_string())
        .collect();
    let drive = format!("[drive]\nkind = \"pseudo\"\nbatch_ns_max = [{}]\n", times.join(","));
    let file = WorkloadFile::parse(&format!("{drive}{sources}")).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { panic!("an inline drive") };
    file.bind(drive).unwrap()
}

fn cameras(count: u32) -> String {
    format!("[[task]]\nname = \"camera\"\ncount = {count}\nperiod = \"300ms\"\nsize = \"128KiB\"\n")
}

const BACKUP: &str = "[[best_effort]]\nname = \"backup\"\noutstanding = 450\nsize = \"128KiB\"\n";

/// Returns the headroom of every entry under dual-queue FIFO.
fn headroom(sources: &str) -> Vec<Headroom> {
    tidegate_analysis::headroom(&workload(sources), PolicyName::Dqf).unwrap()
}

fn dqf(sources: &str) -> Assessment {
    assess(&workload(sources), PolicyName::Dqf)
}

#[test]
fn auto_takes_the_smallest_batch_that_proves_everything() {
    let assessment = dqf(&cameras(17));
    assert_eq!((assessment.batch_max, assessment.answer), (1, Answer::Proven));
    // z = E - 1 gives the same bound as z = E.
    let assessment = dqf(&cameras(24));
    assert_eq!((assessment.batch_max, assessment.answer), (23, Answer::Proven));
    assert_eq!(assessment.tasks[0].response_max.unwrap().1, BoundName::Tight);
    assert_eq!(assessment.limit, Some(Limit::Margin { task: 0 }));
}

/// b(8) + b(16) = 299.1 ms: a batch of 16 is enough for the largest fill.
#[test]
fn auto_then_carries_the_largest_best_effort_fill() {
    let assessment = dqf(&format!("{}{BACKUP}", cameras(16)));
    assert_eq!((assessment.batch_max, assessment.best_effort_fill), (16, 8));
    assert_eq!(assessment.answer, Answer::Proven);
    assert_eq!(assessment.tasks[0].bounds.min_period, None);
    assert_eq!(headroom(&format!("{}{BACKUP}", cameras(16)))[0].count_max, 24);
}

#[test]
fn headroom_is_what_a_larger_workload_would_be_granted() {
    let room = &headroom(&cameras(16))[0];
    assert_eq!((room.more, room.count_max, room.is_at_least), (8, 24, false));
    let too_many = dqf(&cameras(25));
    assert_eq!(too_many.answer, Answer::NotProven);
    let room = &headroom(&cameras(25))[0];
    assert_eq!((room.more, room.count_max), (0, 24));
    // Some z still has a bound, but not within the deadline: 2A + 25B = 310.6 ms exceeds the
    // period, so two batches no longer suffice.
    assert_eq!(too_many.limit, Some(Limit::Deadline { task: 0 }));
    let fixed = format!("[policy]\nname = \"dqf\"\nbatch = 8\n{}", cameras(10));
    assert_eq!((dqf(&fixed).batch_max, headroom(&fixed)[0].count_max), (8, 16));
}

#[test]
fn headroom_counts_each_kind_of_task_beside_the_others() {
    let meter = "[[task]]\nname = \"meter\"\nperiod = \"2s\"\nsize = \"4KiB\"\n";
    let rooms = headroom(&format!("{}{meter}", cameras(20)));
    let more: Vec<usize> = rooms.iter().map(|room| room.more).collect();
    assert_eq!(more, [3, 3]);
}

#[test]
fn beyond_capacity_there_is_no_bound_and_it_is_said() {
    let assessment = dqf(&cameras(27));
    assert_eq!(assessment.answer, Answer::NotProven);
    assert_eq!(assessment.limit, Some(Limit::Capacity));
    assert_eq!(assessment.tasks[0].response_max, None);
    assert_eq!(assessment.best_effort_fill, 0);
}

/// Goal: capacity is blamed only if the tasks' own periods exceed it. Method: a task of 6 % load,
/// with jitter that leaves 1 ms of its period.
#[test]
fn jitter_that_leaves_too_short_a_period_is_named() {
    let task = |jitter: &str| format!("{}jitter = \"{jitter}\"\n", cameras(1));
    assert_eq!(dqf(&task("1ms")).answer, Answer::Proven);
    let limit = dqf(&task("299ms")).limit;
    assert_eq!(limit, Some(Limit::CapacityBehindJitter));
    let limit = dqf(&format!("{}jitter = \"299ms\"\n", cameras(27))).limit;
    assert_eq!(limit, Some(Limit::Capacity), "too many without jitter too");
}

#[test]
fn one_impossible_task_takes_no_proof_from_the_others() {
    let impossible =
        "[[task]]\nname = \"x\"\nperiod = \"1s\"\ndeadline = \"5ms\"\nsize = \"4KiB\"\n";
    let assessment = dqf(&format!("{}{impossible}{BACKUP}", cameras(10)));
    assert_eq!(assessment.answer, Answer::NotProven);
    assert!(assessment.tasks[..10].iter().all(|task| task.is_deadline_met));
    assert!(!assessment.tasks[10].is_deadline_met);
    assert!(assessment.best_effort_fill > 0);
}

#[test]
fn fifo_is_dual_queue_fifo_with_batches_of_one() {
    let workload = workload(&cameras(16));
    let fifo = assess(&workload, PolicyName::Fifo);
    let (response, _) = fifo.tasks[0].response_max.unwrap();
    assert_eq!(response, workload.table.time_max(1) * 16);
    let room = &tidegate_analysis::headroom(&workload, PolicyName::Fifo).unwrap()[0];
    assert_eq!((fifo.batch_max, room.count_max), (1, 17));
    assert!(fifo.tasks[0].bounds.linear.is_some());
    let comparison = compare(&workload, PolicyName::Fifo)[0];
    assert_eq!((comparison.fifo, comparison.edf), (None, Some(response)));
}

/// With 450 outstanding in the same queue, all 450 may be ahead: (450 + 1) b(1) = 7.7 s.
#[test]
fn fifo_waits_for_the_best_effort_in_its_queue() {
    let lone =
        format!("[[task]]\nname = \"camera\"\nperiod = \"10s\"\nsize = \"128KiB\"\n{BACKUP}");
    let workload = workload(&lone);
    let fifo = assess(&workload, PolicyName::Fifo);
    let expected = workload.table.time_max(1) * 451;
    assert_eq!(fifo.tasks[0].response_max, Some((expected, BoundName::Tight)));
    assert_eq!(fifo.tasks[0].bounds.linear, None);
}

#[test]
fn an_open_loop_beside_fifo_counts_as_a_task() {
    let rate = "[[best_effort]]\nname = \"copy\"\nrate = \"1MB/s\"\nsize = \"128KiB\"\n";
    let workload = workload(&format!("{}{rate}", cameras(2)));
    let fifo = assess(&workload, PolicyName::Fifo);
    assert_eq!(fifo.tasks[0].response_max.unwrap().0, workload.table.time_max(1) * 3);
    let flood = "[[best_effort]]\nname = \"copy\"\nrate = \"100MB/s\"\nsize = \"128KiB\"\n";
    let workload = self::workload(&format!("{}{flood}", cameras(2)));
    let fifo = assess(&workload, PolicyName::Fifo);
    assert_eq!((fifo.answer, fifo.tasks[0].response_max), (Answer::NotProven, None));
}

#[test]
fn noop_has_no_bound_and_that_is_no_failure_of_the_proof() {
    let workload = workload(&cameras(2));
    let noop = assess(&workload, PolicyName::Noop);
    assert!(matches!(noop.answer, Answer::NotApplicable { .. }));
    assert_eq!(noop.tasks[0].response_max, None);
    let comparison = compare(&workload, PolicyName::Noop)[0];
    assert!(comparison.dqf.is_some() && comparison.fifo.is_some());
}

/// Goal: no promise by default: a policy without a theorem has no bound and says why, and a policy
/// with one has a bound. Method: a drive for which everything is known.
#[test]
fn only_a_policy_whose_row_names_a_theorem_has_a_bound() {
    let mut known = workload("[[task]]\nname = \"a\"\nperiod = \"1s\"\nsize = \"128KiB\"\n");
    known.contracts.drain = Some(known.table.clone());
    known.contracts.priority = Some(known.table.clone());
    known.contracts.starvation_max = Some(Duration::from_ms(900));
    known.contracts.prediction = Some(predicted(&known));
    for policy in PolicyName::ALL {
        let (facts, assessment) = (policy.facts(), assess(&known, policy));
        match facts.theorem {
            Ok(_) => assert_eq!(assessment.answer, Answer::Proven, "{policy}"),
            Err(reason) => {
                assert_eq!(assessment.answer, Answer::NotApplicable { reason }, "{policy}");
                assert!(
                    assessment.tasks.iter().all(|task| task.response_max.is_none()),
                    "{policy}"
                );
            }
        }
    }
}

#[test]
fn best_effort_alone_has_nothing_to_prove() {
    let assessment = dqf(BACKUP);
    assert_eq!((assessment.answer, assessment.best_effort_fill), (Answer::Proven, 64));
    assert_eq!((assessment.batch_max, assessment.limit), (64, None));
}

#[test]
fn deadlines_may_exceed_periods() {
    let late = "[[task]]\nname = \"bulk\"\ncount = 12\nperiod = \"150ms\"\ndeadline = \"1s\"\nsize = \"128KiB\"\n";
    let assessment = dqf(late);
    assert_eq!(assessment.answer, Answer::Proven);
    let (response, _) = assessment.tasks[0].response_max.unwrap();
    assert!(response > Duration::from_ms(150) && response <= Duration::from_ms(1000));
}

fn on_drive(batch_ns_max: &str, sources: &str) -> Workload {
    let drive = format!("[drive]\nkind = \"pseudo\"\nbatch_ns_max = [{batch_ns_max}]\n");
    let file = WorkloadFile::parse(&format!("{drive}{sources}")).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { panic!("an inline drive") };
    file.bind(drive).unwrap()
}

/// Beyond E the batch size matters as soon as responses exceed periods: a task of one request needs
/// batches of two to keep up with its own backlog.
#[test]
fn auto_looks_beyond_everything_that_is_released_together() {
    let task = "[[task]]\nname = \"a\"\nperiod = \"5ms\"\ndeadline = \"100ms\"\nsize = \"4KiB\"\n";
    let workload = on_drive("6_000_000, 7_000_000, 8_000_000, 9_000_000", task);
    let assessment = assess(&workload, PolicyName::Dqf);
    assert_eq!((assessment.answer, assessment.batch_max), (Answer::Proven, 2));
    assert!(tidegate_analysis::headroom(&workload, PolicyName::Dqf).unwrap()[0].count_max >= 1);
}

/// The largest fill may need a z that is neither E nor the whole table.
#[test]
fn auto_finds_the_batch_that_carries_the_largest_fill() {
    let sources = "[[task]]\nname = \"a\"\nperiod = \"6ns\"\ndeadline = \"9ns\"\nrequests = 2\nsize = \"4KiB\"\n\
                   [[best_effort]]\nname = \"b\"\noutstanding = 9\nsize = \"4KiB\"\n";
    let auto = assess(&on_drive("1, 2, 3, 3, 4, 8, 8, 10", sources), PolicyName::Dqf);
    assert_eq!((auto.answer, auto.batch_max, auto.best_effort_fill), (Answer::Proven, 5, 5));
}

#[test]
fn the_longest_periods_overflow_nothing() {
    let task = "[[task]]\nname = \"a\"\nperiod = \"10000days\"\nsize = \"4KiB\"\n";
    let workload = on_drive("1_000_000", task);
    assert_eq!(assess(&workload, PolicyName::Dqf).answer, Answer::Proven);
}

/// Without a proof, best effort cannot invalidate one: it fills the batches, up to the size of the
/// table.
#[test]
fn where_nothing_is_said_best_effort_is_not_starved() {
    let shaped = |task: &str| {
        format!(
            "depth = 99\n[policy]\nname = \"dqf\"\nregulators = [\"token-bucket\"]\n\
             [policy.token-bucket]\nrate = \"8MB/s\"\ninteractive_rate = \"1000/s\"\n{task}"
        )
    };
    let interactive = cameras(1) + "class = \"interactive\"\n";
    let with = dqf(&shaped(&format!("{interactive}{BACKUP}")));
    assert!(matches!(with.answer, Answer::NotApplicable { .. }));
    assert_eq!((with.batch_max, with.best_effort_fill), (64, 64));
    assert_eq!(dqf(&shaped(&interactive)).best_effort_fill, 0);
    let fixed = shaped(&format!("{interactive}{BACKUP}")).replace("\"dqf\"", "\"dqf\"\nbatch = 9");
    assert_eq!((dqf(&fixed).batch_max, dqf(&fixed).best_effort_fill), (9, 9));
}

/// Returns the exact prediction of a drive that takes b(1) at most.
fn predicted(workload: &Workload) -> ServicePrediction {
    let ceiling = workload.table.time_max(1);
    ServicePrediction { ceiling, late_max: Some(Duration::ZERO) }
}

/// Returns a workload of reads and writes on a drive that defers writes.
fn deferring(deferred_writes: DeferredWrites, ops: [&str; 2]) -> Workload {
    let task =
        |name: &str, op: &str| cameras(1).replace("camera", name) + &format!("op = \"{op}\"\n");
    let mut workload = workload(&(task("a", ops[0]) + &task("b", ops[1])));
    workload.contracts.deferred_writes = deferred_writes;
    workload.contracts.drain = Some(workload.table.clone());
    workload.contracts.prediction = Some(predicted(&workload));
    workload
}

/// Goal: reads that may wait behind unmeasured deferred writes get no bound; a workload of writes
/// alone gets bounds from its tables, with the doubt about deferred writes.
#[test]
fn reads_beside_deferred_writes_are_promised_nothing_unmeasured() {
    let is_silent = |workload: &Workload, policy| {
        matches!(assess(workload, policy).answer, Answer::NotApplicable { .. })
    };
    let mixed = deferring(DeferredWrites::Unmeasured, ["read", "write"]);
    for policy in [PolicyName::Dqf, PolicyName::Fifo, PolicyName::GatedDrain, PolicyName::Das] {
        assert!(is_silent(&mixed, policy), "{policy}");
        assert_eq!(
            tidegate_analysis::headroom(&mixed, policy).unwrap()[0].count_max,
            0,
            "{policy}"
        );
        assert!(compare(&mixed, policy).iter().all(|it| *it == Comparison::default()), "{policy}");
    }
    let measured = deferring(DeferredWrites::Measured, ["read", "write"]);
    assert!(!is_silent(&measured, PolicyName::Dqf) && is_silent(&measured, PolicyName::GatedDrain));
    let writes = deferring(DeferredWrites::Unmeasured, ["write", "write"]);
    assert!(!is_silent(&writes, PolicyName::GatedDrain) && is_silent(&writes, PolicyName::Das));
    let assumed = assess(&writes, PolicyName::Dqf).premises;
    assert!(assumed.iter().any(|it| it.code == PremiseCode::DeferredWrites), "{assumed:?}");
    let through = deferring(DeferredWrites::None, ["read", "write"]);
    assert_eq!(assess(&through, PolicyName::Dqf).answer, Answer::Proven);
}

/// Goal: a premise that voids the verdict leaves no bound under any policy, and a doubt leaves all.
/// Method: the same provable workload with one premise of each code.
#[test]
fn a_void_premise_leaves_no_bound() {
    let of = |code, policy| {
        let mut workload = workload(&cameras(2));
        workload.premises.push(Premise::new(code, "subject", "text"));
        (assess(&workload, policy), workload)
    };
    for code in PremiseCode::ALL {
        let (assessment, workload) = of(code, PolicyName::Dqf);
        let is_void = code.weight() == Weight::Void;
        let expected = if is_void { Answer::NotProven } else { Answer::Proven };
        assert_eq!(assessment.answer, expected, "{code}");
        // Every bound here rests on the table, so a doubt about costs is no doubt about the
        // verdict.
        let is_weak = code.weight() != Weight::Note && code != PremiseCode::CostsUnmeasured;
        assert_eq!(assessment.premises.grade() == Grade::Weak, is_weak, "{code}");
        let headroom = tidegate_analysis::headroom(&workload, PolicyName::Dqf).unwrap();
        assert_eq!(headroom[0].count_max == 0, is_void, "{code}");
        let comparison = compare(&workload, PolicyName::Dqf);
        assert_eq!(comparison[0] == Comparison::default(), is_void, "{code}");
    }
    for policy in PolicyName::ALL {
        let (assessment, _) = of(PremiseCode::PlacesSetUnmeasured, policy);
        assert_ne!(assessment.answer, Answer::Proven, "{policy}");
        assert!(assessment.tasks.iter().all(|task| task.response_max.is_none()), "{policy}");
    }
}

const HOST: &str =
    "[host]\nrelease = \"3ms\"\nsubmit = \"1ms\"\ncomplete = \"1ms\"\nreply = \"2ms\"\n";

/// Each of two batches contains h = 2 ms, and the client waits 3 ms before the policy and 2 ms
/// after it.
#[test]
fn a_bound_behind_the_host_is_the_clients() {
    let whole =
        |count, host| format!("[policy]\nname = \"dqf\"\nbatch = 24\n{}{host}", cameras(count));
    let (disk, client) = (dqf(&whole(24, "")), dqf(&whole(22, HOST)));
    assert_eq!((disk.answer, client.answer), (Answer::Proven, Answer::Proven));
    let bound = |assessment: &Assessment| assessment.tasks[0].response_max.unwrap().0;
    // Two batches, of any sizes: 2 A + 22 B.
    let without = bound(&dqf(&whole(22, "")));
    assert_eq!(bound(&client), without + Duration::from_ms(2 * 2 + 3 + 2));
    let code = |assessment: &Assessment, code| {
        assessment.premises.iter().any(|premise| premise.code == code)
    };
    assert!(code(&disk, PremiseCode::HostTimeExcluded));
    assert!(!code(&client, PremiseCode::HostTimeExcluded));
    assert!(code(&client, PremiseCode::HostTimeIncluded));
    assert_eq!(client.grade(), Some(Grade::Strong));
    // 24 cameras need 299.1 ms at the disk alone.
    assert_eq!(dqf(&format!("{}{HOST}", cameras(24))).answer, Answer::NotProven);
}

/// Goal: bounds of other policies, headroom, and the steps of a bound contain the host as well.
#[test]
fn everything_beside_the_verdict_contains_the_host() {
    let sources = format!("{}{HOST}", cameras(8));
    let behind = workload(&sources);
    let plain = workload(&cameras(8));
    let columns = |workload: &Workload| compare(workload, PolicyName::Dqf)[0];
    let [with, without] = [&behind, &plain].map(columns);
    let later = |bound: Option<Duration>, ms| bound.map(|it| it + Duration::from_ms(ms));
    // One at a time, 8 requests contain 8 h.
    assert_eq!(with.fifo, later(without.fifo, 8 * 2 + 5));
    assert_eq!(with.edf, later(without.edf, 8 * 2 + 5));
    assert!(headroom(&sources)[0].count_max < headroom(&cameras(8))[0].count_max);
    let assessment = assess(&behind, PolicyName::Dqf);
    let steps = tidegate_analysis::explain(&behind, &assessment)[0].expect("steps add up");
    assert_eq!(steps.total(), Some(assessment.tasks[0].response_max.unwrap().0));
}

/// A policy that gives away all time before a deadline gives the client exactly its deadline.
#[test]
fn a_policy_that_spends_the_slack_spends_what_the_host_leaves() {
    let with_drain = |sources: &str| {
        let mut workload = workload(sources);
        workload.contracts.drain = Some(workload.table.clone());
        workload
    };
    let workload = with_drain(&format!("{}{BACKUP}{HOST}", cameras(2)));
    let assessment = assess(&workload, PolicyName::GatedDrain);
    assert_eq!(assessment.answer, Answer::Proven);
    assert_eq!(assessment.tasks[0].response_max.unwrap().0, Duration::from_ms(300));
    let plan = assessment.plan(&workload);
    assert_eq!(
        (plan.tasks[0].period, plan.tasks[0].deadline),
        (Duration::from_ms(297), Duration::from_ms(295),)
    );
}

/// No theorem covers a request whose service time was predicted for another instant.
#[test]
fn das_is_refused_if_the_host_passes_requests_on_late() {
    let prediction = |workload: &mut Workload| {
        workload.contracts.prediction = Some(predicted(workload));
    };
    let of = |host: &str| {
        let mut workload = workload(&format!("{}{host}", cameras(2)));
        prediction(&mut workload);
        assess(&workload, PolicyName::Das)
    };
    assert_eq!(of("").answer, Answer::Proven);
    assert!(
        matches!(of(HOST).answer, Answer::NotApplicable { reason } if reason.contains("[host]"))
    );
    let at_once = HOST.replace("1ms", "0ms");
    let assessment = of(&at_once);
    assert_eq!(assessment.answer, Answer::Proven);
    assert_eq!(assessment.tasks[0].response_max.unwrap().0, Duration::from_ms(300));
}

#[test]
fn a_deadline_within_the_hosts_own_time_is_not_proven() {
    let tasks = cameras(1).replace("300ms\"", "300ms\"\ndeadline = \"5ms\"");
    for policy in PolicyName::ALL.into_iter().filter(|policy| policy.facts().theorem.is_ok()) {
        let assessment = assess(&workload(&format!("{tasks}{HOST}")), policy);
        assert_ne!(assessment.answer, Answer::Proven, "{policy}");
        assert_eq!(assessment.tasks[0].response_max, None, "{policy}");
    }
}

/// Goal: the short answer agrees with the full assessment for every policy, on sets of tasks that
/// can be proven and on sets that cannot.
#[test]
fn the_short_answer_is_that_of_the_assessment() {
    let door = "[[task]]\nname = \"door\"\ncount = 2\nperiod = \"100ms\"\nsize = \"128KiB\"\n";
    let margin = "[policy]\nname = \"dqf\"\nmargin = \"10%\"\n";
    let extras = ["", BACKUP, door, margin];
    let mut proven = 0;
    for (extra, count) in extras.iter().flat_map(|it| (1..30).map(move |count| (it, count))) {
        let head = if extra.starts_with("[policy]") { extra } else { "" };
        let tail = if head.is_empty() { extra } else { "" };
        let workload = workload(&format!("{head}{}{tail}", cameras(count)));
        for policy in PolicyName::ALL {
            let long = assess(&workload, policy).answer == Answer::Proven;
            let short = tidegate_analysis::proves(&workload, policy);
            assert_eq!(short, long, "{policy}: {count} cameras with {extra}");
            proven += u32::from(long);
        }
    }
    assert!(proven > 100, "{proven}");
}
