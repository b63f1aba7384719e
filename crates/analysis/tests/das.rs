// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `das` promises deadlines only if its test holds, and policies by position promise nothing.
//! Method: small systems by hand.

use tidegate_analysis::{Answer, BoundName, Limit, SporadicTask, System, Verdict, assess, das};
use tidegate_model::{
    BatchTable, Duration, PolicyName, Premise, PremiseCode, RegulatorName, Task, Workload,
};

const fn ms(ms: u64) -> Duration {
    Duration::from_ms(ms)
}

fn system(tasks: &[(u32, u64, u64)]) -> System {
    let table = BatchTable::new(&[ms(10)]).unwrap();
    let task = |&(requests, period, deadline): &(u32, u64, u64)| SporadicTask {
        period: ms(period),
        requests,
        deadline: ms(deadline),
    };
    System { tasks: tasks.iter().map(task).collect(), table, batch_max: 1, best_effort_fill: 0 }
}

fn bounds(tasks: &[(u32, u64, u64)]) -> Vec<Option<Duration>> {
    das::responses(&system(tasks)).into_iter().map(Verdict::bound).collect()
}

/// e = 1, 2, C = 10 ms: all of them in a row take 30 ms.
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
    let table = BatchTable::new(&[Duration::from_ns(u64::MAX / 2)]).unwrap();
    let system = System { tasks: tasks.to_vec(), table, batch_max: 1, best_effort_fill: 0 };
    assert_eq!(das::responses(&system)[0].bound(), None);
}

fn workload(deadline: Duration) -> Workload {
    let reader = Task::periodic("reader", deadline, tidegate_model::Bytes::from_kib(4));
    let table = BatchTable::new(&[ms(10)]).unwrap();
    let mut workload = Workload { tasks: vec![reader], ..Workload::new("test", 1, table) };
    workload.contracts.are_positions_known = true;
    workload
}

#[test]
fn nothing_is_promised_where_positions_are_not_known() {
    let mut workload = workload(ms(10));
    workload.contracts.are_positions_known = false;
    assert!(matches!(assess(&workload, PolicyName::Das).answer, Answer::NotApplicable { .. }));
}

/// Tokens hand over the requests of a job one by one: the test treats them as as many tasks.
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
    let mut workload = workload(ms(10));
    workload.parameters.das.margin = ms(2);
    let assessment = assess(&workload, PolicyName::Das);
    assert_eq!((assessment.answer, assessment.batch_max), (Answer::Proven, 1));
    assert_eq!(assessment.tasks[0].response_max, Some((ms(10), BoundName::Tight)));
    assert_eq!(assessment.limit, Some(Limit::Margin { task: 0 }));
    let is_margin =
        |it: &Premise| it.code == PremiseCode::Prediction && it.text.ends_with("plus 2ms");
    assert!(assessment.premises.iter().any(is_margin), "{:?}", assessment.premises);
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
