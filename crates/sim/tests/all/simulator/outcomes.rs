// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests drives that fail and policies that wait.

use std::collections::VecDeque;

use tidegate_drive::{Completion, Drive, PseudoDisk};
use tidegate_model::{Intensity, Outcome, PolicyName, Request, RequestId, Task, Time, Workload};
use tidegate_policy::{Decision, Event, Full, Policy, Tag};
use tidegate_sim::{Length, SimParams, SimRun, simulate};

use super::common::{disk, load, ms, plan, task, workload};

/// A drive that fails every third request.
struct Faulty {
    disk: PseudoDisk,
    count: u32,
}

impl Drive for Faulty {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        self.disk.submit(now, batch);
    }
    fn flush(&mut self, now: Time, id: RequestId) {
        self.disk.flush(now, id);
    }
    fn next_event(&self) -> Option<Time> {
        self.disk.next_event()
    }
    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        let first_new = out.len();
        self.disk.advance(now, out);
        for completion in &mut out[first_new..] {
            self.count += 1;
            if self.count.is_multiple_of(3) {
                completion.outcome = Outcome::Failed;
            }
        }
    }
}

/// Serves `jobs` jobs of each source, one request at a time in order of release.
fn run_faulty(workload: &Workload, jobs: u64) -> SimRun {
    let policy = tidegate_policy::build(PolicyName::Fifo, &plan(workload, 1, 0), None).unwrap();
    let drive = Faulty { disk: disk(workload), count: 0 };
    simulate(&SimParams::new(workload, Length::Jobs(jobs)), policy, drive, &mut ())
}

/// One request at a time in order of release, per period of 100 ms: a (1 request), b (2 requests).
/// Requests 3, 6, .. fail.
#[test]
fn failed_requests_are_counted_apart() {
    let pair = Task { requests: 2, ..task("b", 100) };
    let workload = workload(&[10], vec![task("a", 100), pair], Vec::new());
    let run = run_faulty(&workload, 5);
    let [a, b] = run.metrics.tasks() else { panic!("two tasks") };
    assert_eq!((a.jobs(), a.failed_jobs, a.failed_requests), (5, 0, 0));
    assert_eq!((b.jobs(), b.failed_jobs, b.failed_requests), (0, 5, 5));
    assert_eq!((b.completed.requests, b.misses), (5, 0));
    assert_eq!(b.responses.max(), None);
    assert_eq!(run.metrics.real_time().failed_requests, 5);
    assert_eq!(run.real_time_left, 0);
}

#[test]
fn closed_loop_goes_on_after_a_failure() {
    let workload = workload(&[10], Vec::new(), vec![load("x", Intensity::Outstanding(1))]);
    let run = run_faulty(&workload, 9);
    let [x] = run.metrics.loads() else { panic!("one load") };
    assert_eq!((x.jobs(), x.failed_jobs), (6, 3));
}

/// A policy that dispatches each request 5 ms after its release, one at a time.
#[derive(Default)]
struct Delayed {
    queue: VecDeque<(Time, RequestId)>,
    is_busy: bool,
}

impl Policy for Delayed {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                self.queue.push_back((request.released + ms(5), request.id));
            }
            Event::Complete { .. } => self.is_busy = false,
            _ => {}
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        match self.queue.front() {
            Some(&(from, id)) if !self.is_busy && from <= now => {
                self.queue.pop_front();
                self.is_busy = true;
                Decision::Dispatch { id, tag: Tag::Simple }
            }
            Some(&(from, _)) if !self.is_busy => Decision::NotBefore(from),
            _ => Decision::AwaitEvent,
        }
    }
}

/// Requests are released at 0, 20, .. ms, dispatched at 5, 25, .. ms, and complete 10 ms later.
#[test]
fn policy_is_asked_again_when_it_said() {
    let workload = workload(&[10], vec![task("a", 20)], Vec::new());
    let params = SimParams::new(&workload, Length::Jobs(4));
    let run = simulate(&params, Delayed::default(), disk(&workload), &mut ());
    let [a] = run.metrics.tasks() else { panic!("one task") };
    assert_eq!(a.responses.min(), Some(ms(15)));
    assert_eq!(a.responses.max(), Some(ms(15)));
    assert_eq!(run.events, 4 + 4 + 4);
}
