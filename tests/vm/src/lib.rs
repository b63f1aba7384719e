// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Replays a kernel's trace on the model of `mq-deadline-tuned`, and compares the order of
//! dispatch.
//!
//! The trace states when a request entered the kernel's scheduler, when the kernel asked the
//! scheduler for a request and whether it got one, and when requests were sent to the disk and
//! completed. The model gets the insertions and completions, and decides whenever the kernel asked.
//! It must choose the request that the kernel sends next, or none if the kernel got none.
//! `tests/vm/bench/order.py` writes one event per line:
//!
//! ```text
//!   insert TIME_NS ID r|b R|W SECTOR SECTORS      r: real-time class, b: a lower one
//!   ask TIME_NS y|n
//!   send TIME_NS ID
//!   complete TIME_NS ID
//! ```

pub mod table;

use std::collections::VecDeque;

use tidegate_model::{
    BatchTable, Bytes, Class, Duration, Lba, Op, Outcome, Plan, Request, RequestId, Time, Workload,
};
use tidegate_policy::{Decision, Event, MqDeadlineTuned, Policy};

/// The kernels whose order the model knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// Linux 6.1 remembers the next request of a batch.
    Linux6_1,
    /// Linux 6.12 searches for the next request of a batch each time.
    Linux6_12,
}

/// The result of a comparison.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The number of the kernel's dispatches that the model makes too.
    pub equal: u64,
    /// The first difference: the line's number, and a sentence without its full stop.
    pub difference: Option<(usize, String)>,
}

/// The error for a line that is not an event.
#[derive(Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The line's number, counted from 1.
    pub line: usize,
}

/// Compares a trace of a kernel with the model on a disk of this depth.
///
/// # Errors
/// [`Malformed`] for a line that is not an event.
pub fn compare(trace: &str, kernel: Kernel, depth: u32) -> Result<Comparison, Malformed> {
    let mut model = Model::new(kernel, depth);
    let mut comparison = Comparison::default();
    for (index, text) in trace.lines().enumerate() {
        let line = index + 1;
        match model.follow(text).ok_or(Malformed { line })? {
            Step::Silent => {}
            Step::Equal => comparison.equal += 1,
            Step::Differs(sentence) => {
                comparison.difference = Some((line, sentence));
                break;
            }
        }
    }
    Ok(comparison)
}

/// The result of comparing the model with the kernel after one event.
enum Step {
    /// There is nothing to compare.
    Silent,
    /// The model makes the same decision.
    Equal,
    /// The model decides differently; the text describes how.
    Differs(String),
}

/// The policy, and the requests that it has chosen but the kernel has not sent yet.
struct Model {
    policy: MqDeadlineTuned,
    chosen: VecDeque<RequestId>,
    /// The number of requests on the device and in `chosen`.
    on_device: u32,
    depth: u32,
}

impl Model {
    fn new(kernel: Kernel, depth: u32) -> Self {
        let table = BatchTable::new(&[Duration::from_ms(1)]).expect("one time");
        let plan = Plan::of(&Workload::new("trace", depth, table));
        let plan = Plan { best_effort_depth: depth, ..plan };
        let policy = match kernel {
            Kernel::Linux6_1 => MqDeadlineTuned::of_linux_6_1(&plan),
            Kernel::Linux6_12 => MqDeadlineTuned::new(&plan),
        };
        Self { policy, chosen: VecDeque::new(), on_device: 0, depth }
    }

    /// Follows an event; `None` for a line that is not an event.
    fn follow(&mut self, text: &str) -> Option<Step> {
        let mut words = text.split(' ');
        let name = words.next()?;
        let now = Time::from_ns(number(&mut words)?);
        match name {
            "insert" => self.observe(now, Event::Release(request(now, &mut words)?)),
            "ask" => return Some(self.ask(now, words.next()? == "y")),
            "send" => return Some(self.send(now, RequestId(number(&mut words)?))),
            "complete" => {
                let id = RequestId(number(&mut words)?);
                self.on_device = self.on_device.checked_sub(1)?;
                self.observe(now, Event::Complete { id, outcome: Outcome::Done });
            }
            _ => return None,
        }
        Some(Step::Silent)
    }

    /// Decides, and compares whether there is a request. If the device is full, the request is
    /// taken early, and is compared when it is sent.
    fn ask(&mut self, now: Time, has_request: bool) -> Step {
        let is_full = self.on_device >= self.depth;
        let is_chosen = self.decide(now);
        if is_full || is_chosen == has_request {
            return Step::Silent;
        }
        let kernels = if has_request { "a request" } else { "nothing" };
        Step::Differs(format!("the kernel gets {kernels}, the model does not"))
    }

    fn send(&mut self, now: Time, id: RequestId) -> Step {
        if self.chosen.is_empty() {
            // The device can now accept the request that was taken early.
            self.decide(now);
        }
        match self.chosen.pop_front() {
            Some(chosen) if chosen == id => Step::Equal,
            Some(other) => {
                Step::Differs(format!("the kernel sends {}, the model {}", id.0, other.0))
            }
            None => Step::Differs(format!("the kernel sends {}, the model nothing", id.0)),
        }
    }

    /// Returns whether the model chooses a request for the device.
    fn decide(&mut self, now: Time) -> bool {
        let Decision::Dispatch { id, .. } = self.policy.decide(now) else { return false };
        self.chosen.push_back(id);
        self.on_device += 1;
        true
    }

    fn observe(&mut self, now: Time, event: Event) {
        self.policy.observe(now, event).expect("the model has room");
    }
}

fn request<'a>(now: Time, words: &mut impl Iterator<Item = &'a str>) -> Option<Request> {
    let id = RequestId(number(words)?);
    let class = match words.next()? {
        "r" => Class::Hard,
        "b" => Class::BestEffort,
        _ => return None,
    };
    let op = match words.next()? {
        "R" => Op::Read,
        "W" => Op::Write,
        _ => return None,
    };
    let start = Lba::new(number(words)?);
    let size = Bytes::new(number(words)?.checked_mul(Lba::SECTOR_BYTES)?);
    Some(Request { released: now, eligible: now, op, start, ..Request::plain(id, class, size) })
}

fn number<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<u64> {
    words.next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Depth 1: the second read is taken early, so it precedes the real-time request.
    const TRACE: &str = "insert 0 1 b R 100 8\nask 0 y\ninsert 0 2 b R 200 8\nask 0 y\nsend 0 1\n\
                         insert 1 3 r R 50 8\ncomplete 9 1\nsend 9 2\nask 9 y\ncomplete 18 2\nsend 18 3";

    fn equal(trace: &str, kernel: Kernel) -> Result<u64, Option<(usize, String)>> {
        let comparison = compare(trace, kernel, 1).expect("events");
        comparison.difference.map_or(Ok(comparison.equal), |difference| Err(Some(difference)))
    }

    #[test]
    fn a_request_taken_early_goes_before_real_time() {
        for kernel in [Kernel::Linux6_1, Kernel::Linux6_12] {
            assert_eq!(equal(TRACE, kernel), Ok(3));
        }
    }

    #[test]
    fn another_order_and_a_foreign_line_are_told() {
        let swapped = TRACE.replace("send 9 2", "send 9 3");
        let told = "the kernel sends 3, the model 2".to_owned();
        assert_eq!(equal(&swapped, Kernel::Linux6_12), Err(Some((8, told))));
        let foreign = compare("insert 0 1 b R 100 8\nfree 1", Kernel::Linux6_12, 1);
        assert_eq!(foreign, Err(Malformed { line: 2 }));
    }

    /// Request 3 comes between 1 and 2 after 1 was taken: by then, 6.1 has already chosen 2.
    #[test]
    fn the_kernels_differ_in_a_request_that_comes_between() {
        let sent = |next: [u64; 2]| {
            format!(
                "insert 0 1 b R 100 8\ninsert 0 2 b R 300 8\nask 0 y\nsend 0 1\ncomplete 1 1\n\
                 insert 1 3 b R 200 8\nask 1 y\nsend 1 {}\ncomplete 2 {}\nask 2 y\nsend 2 {}",
                next[0], next[0], next[1]
            )
        };
        assert_eq!(equal(&sent([3, 2]), Kernel::Linux6_12), Ok(3));
        assert_eq!(equal(&sent([2, 3]), Kernel::Linux6_1), Ok(3));
        equal(&sent([3, 2]), Kernel::Linux6_1).expect_err("6.1 passes over request 3");
    }
}
