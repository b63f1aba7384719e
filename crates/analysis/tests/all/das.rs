// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `das` promises deadlines only if its test holds, and policies by position promise nothing.
//! Method: small systems by hand.

use tidegate_analysis::{Answer, BoundName, Limit, SporadicTask, Verdict, assess, das};
use tidegate_model::{
    BatchTable, Duration, PolicyName, Premise, PremiseCode, RegulatorName, ServicePrediction, Task,
    Workload,
};

const fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

fn bounds(tasks: &[(u32, u64, u64)]) -> Vec<Option<Duration>> {
    let task = |&(requests, period, deadline): &(u32, u64, u64)| SporadicTask {
        period: ms(period),
        requests,
        deadline: ms(deadline),
    };
    let tasks: Vec<_> = tasks.iter().map(task).collect();
    das::responses(&tasks, ms(10)).into_iter().map(Verdict::bound).collect()
}

/// e = 1, 2, C = 10 ms: all three requests in a row take 30 ms.
#[test]
fn deadlines_that_all_requests_fit_into_are_promised() {
    assert_eq!(bounds(&[(1, 30, 30), (2, 50, 40)]), [Some(ms(30)), Some(ms(40))]);
    assert_eq!(bounds(&[(1, 29, 29), (2, 50, 40)]), [None, None], "30 do not fit into 29");
    assert_eq!(bounds(&[(1, 30, 31), (2, 50, 40)]), [None, None], "a deadline beyond the period");
    assert_eq!(bounds(&[]), []);
}

#[test]
fn overflow_is_no_promise() {
    let tasks = [SporadicTask { period: Duration::MAX, requests: 3, deadline: Duration::MAX }];
    let service_max = Duration::from_ns(u64::MAX / 2);
    assert_eq!(das::responses(&tasks, service_max)[0].bound(), None);
}

fn workload(deadline: Duration) -> Workload {
    let reader = Task::periodic("reader", deadline, tidegate_model::Bytes::from_kib(4));
    let table = BatchTable::new(&[ms(10)]).unwrap();
    let mut workload = Workload { tasks: vec![reader], ..Workload::new("test", 1, table) };
    workload.contracts.prediction = Some(predicted(ms(10), Some(Duration::ZERO)));
    workload
}

const fn predicted(ceiling: Duration, late_max: Option<Duration>) -> ServicePrediction {
    ServicePrediction { ceiling, late_max }
}

#[test]
fn nothing_is_promised_where_positions_are_not_known() {
    let mut workload = workload(ms(10));
    workload.contracts.prediction = None;
    assert!(matches!(assess(&workload, PolicyName::Das).answer, Answer::NotApplicable { .. }));
}

/// Tokens hand over the requests of a job one by one: the analysis treats each of them as a task.
#[test]
fn jobs_that_tokens_split_are_promised_request_by_request() {
    let mut workload = workload(ms(30));
    workload.regulators = vec![RegulatorName::TokensPerTask];
    for (requests, answer) in [(1, Answer::Proven), (3, Answer::Proven), (4, Answer::NotProven)] {
        workload.tasks[0].requests = requests;
        let assessment = assess(&workload, PolicyName::Das);
        assert_eq!((assessment.answer, assessment.tasks.len()), (answer, 1), "{requests}");
    }
}

#[test]
fn assessment_names_the_deadline_as_the_bound_and_the_margin_as_a_premise() {
    let mut workload = workload(ms(12));
    workload.parameters.das.margin = Some(ms(2));
    let assessment = assess(&workload, PolicyName::Das);
    assert_eq!((assessment.answer, assessment.batch_max), (Answer::Proven, 1));
    assert_eq!(assessment.tasks[0].response_max, Some((ms(12), BoundName::Tight)));
    assert_eq!(assessment.limit, Some(Limit::Margin { task: 0 }));
    let says = |workload: &Workload, end: &str| {
        let is_margin = |it: &Premise| it.code == PremiseCode::Prediction && it.text.ends_with(end);
        let premises = assess(workload, PolicyName::Das).premises;
        assert!(premises.iter().any(is_margin), "{premises:?}");
    };
    says(&workload, "plus 2ms, the margin in [policy.das]");
    workload.parameters.das.margin = None;
    says(&workload, "plus 0ms, the largest error that was measured");
}

/// Goal: C is the larger of b(1) and what the mechanics can predict, plus the margin and the flush.
/// The plan carries the same C to the policy, and tolerates a request that takes C.
#[test]
fn longest_service_is_never_below_what_the_mechanics_can_predict() {
    for (ceiling, margin, flush, service_max) in
        [(7, 2, 0, 10), (9, 1, 0, 10), (9, 2, 0, 11), (11, 0, 0, 11), (11, 1, 3, 15)]
    {
        for (deadline, answer) in
            [(service_max, Answer::Proven), (service_max - 1, Answer::NotProven)]
        {
            let mut workload = workload(ms(deadline));
            workload.contracts.prediction = Some(predicted(ms(ceiling), Some(ms(margin))));
            workload.contracts.flush_max = Some(ms(flush));
            let assessment = assess(&workload, PolicyName::Das);
            assert_eq!(assessment.answer, answer, "{ceiling} + {margin} + {flush}");
            let plan = assessment.plan(&workload);
            assert_eq!(plan.active_subset.service_max, ms(service_max));
            assert_eq!(plan.active_subset.excess_max, ms(margin + flush));
            assert_eq!(plan.limits.tolerated.batches.table.time_max(1), ms(service_max));
            let other = assess(&workload, PolicyName::Edf).plan(&workload);
            let table = &other.limits.tolerated.batches.table;
            assert_eq!(table.time_max(1), ms(10), "edf rests on the table alone");
        }
    }
}

/// Goal: a prediction whose error is unknown proves nothing; a margin in the file does.
#[test]
fn unmeasured_predictions_prove_nothing() {
    let mut workload = workload(ms(50));
    workload.contracts.prediction = Some(predicted(ms(9), None));
    let assessment = assess(&workload, PolicyName::Das);
    assert_eq!(assessment.answer, Answer::NotProven);
    let void = assessment.premises.void().expect("a reason");
    assert_eq!(void.code, PremiseCode::PredictionUnmeasured);
    assert!(void.to_do.as_ref().is_some_and(|it| it.contains("--only prediction")), "{void:?}");
    workload.parameters.das.margin = Some(ms(1));
    assert_eq!(assess(&workload, PolicyName::Das).answer, Answer::Proven);
}

#[test]
fn too_short_a_deadline_is_not_proven() {
    let assessment = assess(&workload(ms(9)), PolicyName::Das);
    assert_eq!(assessment.answer, Answer::NotProven);
    assert_eq!(assessment.tasks[0].response_max, None);
}

#[test]
fn of_policies_by_position_nothing_is_said_and_why() {
    for policy in [PolicyName::Sstf, PolicyName::Scan, PolicyName::CLook, PolicyName::Satf] {
        let answer = assess(&workload(ms(100)), policy).answer;
        let Answer::NotApplicable { reason } = answer else { panic!("{policy}: {answer:?}") };
        assert!(reason.contains("as long as"), "{policy}: {reason}");
    }
}
