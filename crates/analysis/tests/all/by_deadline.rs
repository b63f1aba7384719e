// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the bounds of `edf`, `scan-edf`, `g-edf` and `dq-edf` for whole workloads. Method: small
//! drives by hand.

use tidegate_analysis::{Answer, Assessment, BoundName, assess, compare, headroom};
use tidegate_model::workload_file::DriveReference;
use tidegate_model::workload_file::WorkloadFile;
use tidegate_model::{Duration, PolicyName, Workload};

const BACKUP: &str = "[[best_effort]]\nname = \"backup\"\noutstanding = 9\nsize = \"4KiB\"\n";

/// Binds the sources to a drive with b(n) = 6 ms + 4 n ms, n up to 8.
fn workload(sources: &str) -> Workload {
    let times: Vec<String> = (1..=8).map(|n| format!("{}", (6 + 4 * n) * 1_000_000)).collect();
    let drive = format!("[drive]\nkind = \"pseudo\"\nbatch_ns_max = [{}]\n", times.join(", "));
    let file = WorkloadFile::parse(&format!("{drive}{sources}")).unwrap();
    let DriveReference::Inline(drive) = &file.drive else { panic!("an inline drive") };
    file.bind(drive).unwrap()
}

fn tasks(name: &str, count: u32, period_ms: u32, deadline_ms: u32) -> String {
    format!(
        "[[task]]\nname = \"{name}\"\ncount = {count}\nperiod = \"{period_ms}ms\"\n\
         deadline = \"{deadline_ms}ms\"\nsize = \"4KiB\"\n"
    )
}

fn responses(assessment: &Assessment) -> Vec<Option<u64>> {
    let bound = |(bound, _): (Duration, BoundName)| bound.ns() / 1_000_000;
    assessment.tasks.iter().map(|task| task.response_max.map(bound)).collect()
}

/// b(1) = 10 ms. The urgent task waits for one request in service: 20 ms. The other waits for one
/// in service and for the urgent one: 20 ms alone, 30 ms with best effort in service first.
#[test]
fn edf_waits_for_one_request_in_service() {
    let sources = tasks("urgent", 1, 100, 25) + &tasks("calm", 1, 100, 100);
    let alone = workload(&sources);
    let shared = workload(&format!("{sources}{BACKUP}"));
    for policy in [PolicyName::Edf, PolicyName::ScanEdf] {
        assert_eq!(responses(&assess(&alone, policy)), [Some(20), Some(20)]);
        let beside = assess(&shared, policy);
        assert_eq!(responses(&beside), [Some(20), Some(30)]);
        assert_eq!((beside.answer, beside.batch_max), (Answer::Proven, 1));
        assert_eq!(compare(&shared, policy)[0].edf, None);
    }
    let comparison = compare(&shared, PolicyName::Dqf);
    assert_eq!(comparison[1].edf, Some(Duration::from_ms(30)));
}

#[test]
fn headroom_under_edf_is_what_edf_proves() {
    let one = workload(&tasks("camera", 1, 100, 100));
    assert_eq!(headroom(&one, PolicyName::Edf).unwrap()[0].count_max, 10);
    let shared = workload(&format!("{}{BACKUP}", tasks("camera", 1, 100, 100)));
    assert_eq!(headroom(&shared, PolicyName::Edf).unwrap()[0].count_max, 9);
}

#[test]
fn g_edf_has_no_bound_and_says_why() {
    let assessment = assess(&workload(&tasks("a", 2, 100, 100)), PolicyName::GroupEdf);
    let Answer::NotApplicable { reason } = assessment.answer else { panic!("not applicable") };
    assert!(reason.contains("no proof bounds"));
}

/// If all requests fit into a batch, both policies are one scheduler: z and beta are chosen alike
/// and the bounds are equal.
#[test]
fn dual_queue_edf_is_dual_queue_fifo_where_everything_fits_into_a_batch() {
    let shared = workload(&format!("{}{BACKUP}", tasks("camera", 5, 100, 100)));
    let by_due = assess(&shared, PolicyName::DqEdf);
    let by_release = assess(&shared, PolicyName::Dqf);
    assert_eq!(by_due.answer, Answer::Proven);
    assert_eq!(by_due.batch_max, by_release.batch_max);
    assert_eq!(by_due.best_effort_fill, by_release.best_effort_fill);
    assert_eq!(responses(&by_due), responses(&by_release));
    // With more requests than the drive's queue accepts, the bound by deadline is looser.
    let room = |policy| headroom(&shared, policy).unwrap()[0].count_max;
    assert_eq!((room(PolicyName::DqEdf), room(PolicyName::Dqf)), (15, 16));
}

/// E = 46 requests on a drive that takes 8: one urgent task behind 45 tasks with long deadlines. In
/// release order it waits for all of them. By deadline it waits for the batch in flight and is
/// served in the next one. Batches of two are enough to keep up, batches of one are not: 2 b(2) =
/// 28 ms.
#[test]
fn dual_queue_edf_pays_where_the_requests_exceed_the_queue() {
    let mixed = workload(&(tasks("urgent", 1, 400, 80) + &tasks("calm", 45, 400, 400)));
    let by_due = assess(&mixed, PolicyName::DqEdf);
    assert_eq!((by_due.answer, responses(&by_due)[0]), (Answer::Proven, Some(28)));
    assert_eq!(by_due.batch_max, 2);
    assert_eq!(assess(&mixed, PolicyName::Dqf).answer, Answer::NotProven);
    assert_eq!(assess(&mixed, PolicyName::Edf).answer, Answer::NotProven);
}

#[test]
fn beyond_capacity_there_is_no_bound_by_deadline_either() {
    let flood = workload(&tasks("a", 30, 100, 100));
    for policy in [PolicyName::Edf, PolicyName::DqEdf] {
        let assessment = assess(&flood, policy);
        assert_eq!(
            (assessment.answer, assessment.tasks[0].response_max),
            (Answer::NotProven, None)
        );
    }
}

/// A task has one buffer and a deadline of two periods. A policy that decides by deadlines lets it
/// fall behind, and its jobs are then closer together than its contract says. Seen in the
/// simulator: a bound of 58 ms, a response of 89 ms, and a conforming task late.
#[test]
fn buffers_that_do_not_cover_the_deadline_take_bounds_by_deadline_away() {
    let buffered = |deadline_ms| tasks("a", 1, 100, deadline_ms) + "outstanding = 1\n";
    let both = |deadline_ms| workload(&(buffered(deadline_ms) + &tasks("b", 2, 140, 140)));
    for policy in [PolicyName::Edf, PolicyName::ScanEdf, PolicyName::DqEdf] {
        assert_eq!(assess(&both(100), policy).answer, Answer::Proven, "{policy}");
        let answer = assess(&both(200), policy).answer;
        assert!(matches!(answer, Answer::NotApplicable { .. }), "{policy}");
    }
    // In release order a late deadline does not let a task fall behind. The column of `edf` stays
    // empty.
    assert_eq!(assess(&both(200), PolicyName::Dqf).answer, Answer::Proven);
    assert!(compare(&both(200), PolicyName::Dqf).iter().all(|others| others.edf.is_none()));
}
