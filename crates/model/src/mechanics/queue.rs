// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The `[mechanics.queue]` section: the order in which a drive serves what it holds.
//!
//! What each scheduler does in time, and how it goes together with tags, is told where the
//! mechanical drive's queue is built. Here are the names, and what a file may say.

use serde::{Deserialize, Serialize};

use super::MechanicsError;

/// The order in which the drive serves what it holds.
///
/// [`Queue::check`] says what is wrong with it. In order of precedence: head-of-queue
/// requests, the oldest if it is ordered or has waited for `starvation_ns`, requests of
/// priority, the scheduler; nothing but head-of-queue goes past an ordered request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Queue {
    /// Which request is next, where no tag and no waiting says otherwise.
    pub scheduler: Scheduler,
    /// A request that has waited so long in the drive is served before all younger ones but
    /// those at the head of the queue; none: it may wait forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starvation_ns: Option<u64>,
    /// For `satf-aging`: how many nanoseconds of access time a request is forgiven for each
    /// millisecond of waiting. 0 is `satf`; the more, the nearer to `fifo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aging_ns_per_ms: Option<u64>,
    /// The drive honours requests of high priority: they are served before all others.
    /// Otherwise they count as simple.
    pub priority: bool,
    /// The drive does not know the ordered and head-of-queue tags of SCSI, as drives with
    /// NCQ do not: such requests count as simple.
    pub simple_only: bool,
}

/// Which request is next; of equals, the one that came first.
///
/// Inwards is towards higher cylinders. A request lies where its first sector lies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The oldest.
    #[default]
    Fifo,
    /// The one with the shortest seek in cylinders.
    Sstf,
    /// The next in the direction of travel, at first inwards; where none is left in this
    /// direction, it turns.
    Scan,
    /// The next one inwards; where none is left, the outermost.
    CLook,
    /// The one with the shortest access, seek and rotation.
    Satf,
    /// The one with the shortest access, less what its waiting is worth.
    ///
    /// # Source
    /// ASATF: Jacobson and Wilkes, Disk scheduling algorithms based on rotational position,
    /// HPL-CSP-91-7, 1991.
    SatfAging,
    /// The nearest first, whose direction is then kept as by `scan`, until the queue is
    /// empty: what an idle drive is given at once it serves in two sweeps.
    ///
    /// # Source
    /// Dissertation 7.4.1: the order that equation 7.4.1.6 is about.
    ScanSstf,
}

impl Queue {
    /// Finds what contradicts itself.
    ///
    /// # Errors
    /// Ageing without its parameter, the parameter without ageing, or a starvation bound
    /// that leaves nothing to the scheduler.
    pub fn check(&self) -> Result<(), MechanicsError> {
        let is_aging = self.scheduler == Scheduler::SatfAging;
        match (is_aging, self.aging_ns_per_ms) {
            (true, None) => Err(wrong(
                "aging_ns_per_ms",
                "the scheduler `satf-aging` needs it",
                "say how many nanoseconds of access time a millisecond of waiting is worth, or \
                 choose `satf`",
            )),
            (false, Some(_)) => Err(wrong(
                "aging_ns_per_ms",
                "it means something to the scheduler `satf-aging` only",
                "leave it out, or choose `satf-aging`",
            )),
            _ => self.check_starvation(),
        }
    }

    fn check_starvation(&self) -> Result<(), MechanicsError> {
        if self.starvation_ns == Some(0) {
            return Err(wrong(
                "starvation_ns",
                "0 means that every request has waited too long",
                "leave it out for no bound, or choose the scheduler `fifo`",
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
