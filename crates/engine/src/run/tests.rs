// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The run loop with policies that no workload can name: what a policy may ask of its host,
//! and what a host must not take from a policy.

use drive::PseudoDisk;
use model::{BatchChoice, BatchTable, Bytes, Duration, Op, Place, Task, Workload};
use policy::{Event, Full, Tag};

use super::*;
use crate::{DriveExecutor, Length};

/// Sends a request not before it is 2 ms old, or never.
struct Late {
    queued: Vec<Request>,
    is_serving: bool,
}

impl Policy for Late {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        if let Event::Release(request) = event {
            self.queued.push(request);
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        let Some(request) = self.queued.first().filter(|_| self.is_serving) else {
            return Decision::AwaitEvent;
        };
        let (id, at) = (request.id, request.released + Duration::from_ms(2));
        if at > now {
            return Decision::NotBefore(at);
        }
        self.queued.remove(0);
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}

/// Three jobs with a period of 10 ms on a drive that takes 5 ms.
fn run_late(is_serving: bool) -> RunOutcome {
    let task = Task {
        name: "a".to_owned(),
        entry: 0,
        period: Duration::from_ms(10),
        deadline: Duration::from_ms(10),
        requests: 1,
        size: Bytes::from_kib(4),
        op: Op::Read,
        place: Place::Random,
        offset: Duration::ZERO,
        class: Class::Hard,
    };
    let table = BatchTable::new(&[Duration::from_ms(5)]).unwrap();
    let workload = Workload {
        tasks: vec![task.clone()],
        best_effort: Vec::new(),
        policy: PolicyName::Fifo,
        batch: BatchChoice::Auto,
        drive_name: "pseudo".to_owned(),
        depth: 1,
        table: table.clone(),
        notes: Vec::new(),
    };
    let plan = Plan {
        depth: 1,
        batch_max: 1,
        best_effort_fill: 0,
        queued_max: 1,
        tasks: vec![task],
        table: table.clone(),
    };
    let params = RunParams {
        workload: &workload,
        plan: &plan,
        policy: PolicyName::Fifo,
        length: Length::Jobs(3),
        seed: 1,
    };
    let limits = Limits {
        capacity: Bytes::from_kib(1024),
        alignment: Bytes::new(512),
        size_max: Bytes::from_kib(4),
        in_flight_max: 1,
        is_writable: false,
    };
    let mut executor = DriveExecutor::new(PseudoDisk::new(1, table, 1), limits);
    let policy = Box::new(Late { queued: Vec::new(), is_serving });
    run_policy(&params, policy, &mut executor, &AtomicBool::new(false)).unwrap()
}

#[test]
fn instant_that_a_policy_asks_for_is_kept() {
    let outcome = run_late(true);
    let response = outcome.tasks[0].response.unwrap();
    let expected = Duration::from_ms(7);
    assert_eq!((response.count, response.min, response.max), (3, expected, expected));
    assert_eq!(outcome.wall, Duration::from_ms(27));
}

/// Canary: a policy that forgets a job must be caught, not waited for for ever.
#[test]
#[should_panic(expected = "leaves a job waiting on an idle device")]
fn policy_that_forgets_a_job_is_caught() {
    run_late(false);
}
