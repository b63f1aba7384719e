// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The `[mechanics.queue]` section: the order in which a drive serves its queued requests.
//!
//! This module defines the names and checks a file's values. The mechanical drive's queue documents
//! how each scheduler orders requests and how schedulers combine with tags.

use serde::{Deserialize, Serialize};

use super::MechanicsError;

/// The order in which the drive serves its queued requests.
///
/// [`Queue::check`] checks the values. In order of precedence, the drive serves: head-of-queue
/// requests, the oldest request if it is ordered or has waited for `starvation_ns`, requests with
/// priority, and the scheduler's choice. Only head-of-queue requests overtake an ordered request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// Chooses the next request when neither a tag nor a long wait decides.
    pub scheduler: Scheduler,
    /// A request that has waited this long in the drive is served before all younger requests
    /// except those at the head of the queue. `None`: a request may wait forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starvation_ns: Option<u64>,
    /// For `satf-aging`: each millisecond of waiting reduces a request's access time by this many
    /// nanoseconds. 0 is `satf`; larger values approach `fifo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aging_ns_per_ms: Option<u64>,
    /// Whether the drive serves requests of high priority before all others. Otherwise they count
    /// as simple.
    pub priority: bool,
    /// Whether the drive lacks the ordered and head-of-queue tags of SCSI, as drives with NCQ do.
    /// Such requests then count as simple.
    pub simple_only: bool,
}

/// The rule that chooses the next request; ties go to the request that came first.
///
/// Inwards means towards higher cylinders. A request's position is the position of its first
/// sector.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The oldest request.
    #[default]
    Fifo,
    /// The request with the shortest seek in cylinders.
    Sstf,
    /// The next request in the direction of travel, at first inwards. If no request is left in this
    /// direction, it reverses.
    Scan,
    /// The next request inwards; if none is left, the outermost.
    CLook,
    /// The request with the shortest access time: seek and rotation.
    Satf,
    /// The request with the shortest access time after the reduction for its waiting time.
    ///
    /// # Source
    /// ASATF: Jacobson and Wilkes, Disk scheduling algorithms based on rotational position,
    /// HPL-CSP-91-7, 1991.
    SatfAging,
    /// The nearest request first; then `scan` in that direction until the queue is empty. An idle
    /// drive serves a batch that is sent as a whole in two sweeps.
    ///
    /// # Source
    /// Dissertation 7.4.1: the order that equation 7.4.1.6 assumes.
    ScanSstf,
}

impl Queue {
    /// Checks that the values do not contradict each other.
    ///
    /// # Errors
    /// Ageing without its parameter, the parameter without ageing, or a starvation bound of 0,
    /// which leaves the scheduler no choice.
    pub fn check(&self) -> Result<(), MechanicsError> {
        let is_aging = self.scheduler == Scheduler::SatfAging;
        match (is_aging, self.aging_ns_per_ms) {
            (true, None) => Err(wrong(
                "aging_ns_per_ms",
                "the scheduler `satf-aging` needs this parameter",
                "write by how many nanoseconds a millisecond of waiting reduces the access time, or \
                 choose `satf`",
            )),
            (false, Some(_)) => Err(wrong(
                "aging_ns_per_ms",
                "only the scheduler `satf-aging` uses this parameter",
                "delete it, or choose `satf-aging`",
            )),
            _ => self.check_starvation(),
        }
    }

    fn check_starvation(&self) -> Result<(), MechanicsError> {
        if self.starvation_ns == Some(0) {
            return Err(wrong(
                "starvation_ns",
                "0 treats every request as starved",
                "delete it for no bound, or choose the scheduler `fifo`",
            ));
        }
        Ok(())
    }
}

fn wrong(field: &str, message: &str, help: &str) -> MechanicsError {
    MechanicsError {
        place: format!("queue: {field}"),
        message: message.to_owned(),
        help: help.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(queue: &Queue) -> Option<String> {
        queue.check().err().map(|error| error.place)
    }

    #[test]
    fn queue_without_parameters_is_fifo_and_right() {
        assert_eq!(place(&Queue::default()), None);
        assert_eq!(Queue::default().scheduler, Scheduler::Fifo);
    }

    #[test]
    fn aging_and_its_parameter_go_together() {
        let aging = Queue { scheduler: Scheduler::SatfAging, ..Queue::default() };
        let parameter = Queue { aging_ns_per_ms: Some(5), ..Queue::default() };
        let both = Queue { scheduler: Scheduler::SatfAging, ..parameter.clone() };
        assert_eq!(place(&aging).as_deref(), Some("queue: aging_ns_per_ms"));
        assert_eq!(place(&parameter).as_deref(), Some("queue: aging_ns_per_ms"));
        assert_eq!(place(&both), None);
    }

    #[test]
    fn starvation_bound_of_nothing_is_refused() {
        let bound = |ns| Queue { starvation_ns: Some(ns), ..Queue::default() };
        assert_eq!(place(&bound(0)).as_deref(), Some("queue: starvation_ns"));
        assert_eq!(place(&bound(1)), None);
    }

    #[test]
    fn file_names_schedulers_with_dashes() {
        let text = "scheduler = 'scan-sstf'\nstarvation_ns = 2_030_000_000\nsimple_only = true\n";
        let queue: Queue = toml::from_str(text).unwrap();
        let expected = Queue {
            scheduler: Scheduler::ScanSstf,
            starvation_ns: Some(2_030_000_000),
            simple_only: true,
            ..Queue::default()
        };
        assert_eq!(queue, expected);
    }
}
