// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a run calls a policy again at the instant that the policy names, and panics if the policy
//! forgets a job. Method: a policy that no workload file can name.

use tidegate_drive::PseudoDisk;
use tidegate_host::Length;
use tidegate_model::{
    BatchTable, Bytes, Duration, Plan, PolicyName, Request, Task, Time, Workload,
};
use tidegate_policy::{Decision, Event, Full, Tag};
use tidegate_sim::VirtualDrive;

use super::*;
use crate::Limits;

/// Dispatches each request 2 ms after its release, or never.
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

/// Runs three jobs with a period of 10 ms on a drive that takes 5 ms.
fn run_late(is_serving: bool) -> DeviceRun {
    let task = Task::periodic("a", Duration::from_ms(10), Bytes::from_kib(4));
    let table = BatchTable::new(&[Duration::from_ms(5)]).unwrap();
    let workload = Workload {
        tasks: vec![task.clone()],
        best_effort: Vec::new(),
        policy: PolicyName::Fifo,
        ..Workload::new("pseudo", 1, table.clone())
    };
    let plan = Plan { batch_max: 1, best_effort_fill: 0, queued_max: 1, ..Plan::of(&workload) };
    let limits = Limits {
        capacity: Bytes::from_kib(1024),
        alignment: Bytes::new(512),
        size_max: Bytes::from_kib(4),
        in_flight_max: 1,
        is_writable: false,
    };
    let params = RunParams {
        workload: &workload,
        plan: &plan,
        policy: PolicyName::Fifo,
        length: Length::Jobs(3),
        seed: 1,
        limits,
    };
    let mut backend = VirtualDrive::new(PseudoDisk::new(1, table, 1));
    let policy = Late { queued: Vec::new(), is_serving };
    run_policy(&params, policy, &mut backend, (), &AtomicBool::new(false)).unwrap()
}

#[test]
fn instant_that_a_policy_asks_for_is_kept() {
    let run = run_late(true).run;
    let responses = &run.metrics.tasks()[0].responses;
    let expected = Some(Duration::from_ms(7));
    assert_eq!((responses.count(), responses.min(), responses.max()), (3, expected, expected));
    assert_eq!(run.ended, Time::ZERO + Duration::from_ms(27));
}

/// Canary: a policy that forgets a job is detected; the run does not wait forever.
#[test]
#[should_panic(expected = "leaves a job waiting on an idle device")]
fn policy_that_forgets_a_job_is_caught() {
    run_late(false);
}
