// SPDX-License-Identifier: Apache-2.0 OR MIT
//! DiskSim's scheduling policies by number, with the nearest scheduler for each.

use tidegate_model::mechanics::{Queue, Scheduler};

/// First come, first served.
pub(super) const FCFS: u32 = 1;

/// A policy of DiskSim: its name, the nearest scheduler, and the difference.
type Policy = (&'static str, Scheduler, &'static str);

const NO_CACHE: &str = "it ignores data in the cache";
const AGE_FACTOR: &str = "it ignores waiting time";
const NO_BIAS: &str = "it has no graded preference for its direction";
const NO_PLAN: &str = "it does not plan ahead";

/// The policies by number, from 1.
const POLICIES: [Policy; 28] = [
    ("FCFS", Scheduler::Fifo, ""),
    ("ELEVATOR_LBN", Scheduler::Scan, ""),
    ("CYCLE_LBN", Scheduler::CLook, ""),
    ("SSTF_LBN", Scheduler::Sstf, ""),
    ("ELEVATOR_CYL", Scheduler::Scan, ""),
    ("CYCLE_CYL", Scheduler::CLook, ""),
    ("SSTF_CYL", Scheduler::Sstf, ""),
    ("SPTF_OPT", Scheduler::Satf, ""),
    ("SPCTF_OPT", Scheduler::Satf, NO_CACHE),
    ("SATF_OPT", Scheduler::Satf, ""),
    ("WPTF_OPT", Scheduler::Satf, AGE_FACTOR),
    ("WPCTF_OPT", Scheduler::Satf, AGE_FACTOR),
    ("WATF_OPT", Scheduler::Satf, AGE_FACTOR),
    ("ASPTF_OPT", Scheduler::SatfAging, ""),
    ("ASPCTF_OPT", Scheduler::SatfAging, NO_CACHE),
    ("ASATF_OPT", Scheduler::SatfAging, ""),
    ("VSCAN_LBN", Scheduler::Scan, NO_BIAS),
    ("VSCAN_CYL", Scheduler::Scan, NO_BIAS),
    ("PRI_VSCAN_LBN", Scheduler::Scan, NO_BIAS),
    ("PRI_ASPTF_OPT", Scheduler::SatfAging, "all requests age, not only urgent ones"),
    ("PRI_ASPCTF_OPT", Scheduler::SatfAging, "all requests age, not only urgent ones"),
    ("SDF_APPROX", Scheduler::Sstf, ""),
    ("SDF_EXACT", Scheduler::Sstf, ""),
    ("SPTF_ROT_OPT", Scheduler::Satf, "it has no weights"),
    ("SPTF_ROT_WEIGHT", Scheduler::Satf, "it has no weights"),
    ("SPTF_SEEK_WEIGHT", Scheduler::Satf, "it has no weights"),
    ("TSPS", Scheduler::Satf, NO_PLAN),
    ("BATCH_FCFS", Scheduler::Fifo, NO_PLAN),
];

/// The contents of a disk's `disksim_ioqueue` block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SchedulerSpecs {
    /// The number of the policy.
    pub(crate) policy: u32,
    /// How waiting raises a request's preference; 0: not at all.
    pub(crate) timeout_scheme: u32,
    /// The seconds after which a request is preferred, or the weight of waiting.
    pub(crate) timeout: u32,
    /// Whether requests of high priority have their own queue.
    pub(crate) has_priorities: bool,
}

/// Returns the nearest queue and a note for people about the difference; `None` for a number that
/// no policy has.
pub(super) fn queue(specs: &SchedulerSpecs) -> Option<(Queue, Option<String>)> {
    let index = usize::try_from(specs.policy.checked_sub(1)?).ok()?;
    let (name, nearest, difference) = *POLICIES.get(index)?;
    // One millisecond of waiting counts `timeout` microseconds.
    let aging_ns_per_ms = u64::from(specs.timeout) * 1_000;
    let is_aging = nearest == Scheduler::SatfAging && aging_ns_per_ms > 0;
    let scheduler =
        if nearest == Scheduler::SatfAging && !is_aging { Scheduler::Satf } else { nearest };
    let has_timeout = specs.timeout_scheme > 0 && specs.timeout > 0;
    let starvation_ns = has_timeout.then(|| u64::from(specs.timeout) * 1_000_000_000);
    let queue = Queue {
        scheduler,
        starvation_ns,
        aging_ns_per_ms: is_aging.then_some(aging_ns_per_ms),
        priority: specs.has_priorities,
        ..Queue::default()
    };
    Some((queue, note(name, scheduler, difference)))
}

fn note(name: &str, scheduler: Scheduler, difference: &str) -> Option<String> {
    let nearest = format!("{scheduler:?}");
    // Without a weight no request ages, so that difference does not matter.
    let is_exact =
        difference.is_empty() || (scheduler == Scheduler::Satf && difference.starts_with("all"));
    let note = format!("the scheduling policy {name} becomes {nearest}: {difference}");
    (!is_exact).then_some(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn specs(policy: u32, timeout: u32) -> SchedulerSpecs {
        SchedulerSpecs { policy, timeout, ..SchedulerSpecs::default() }
    }

    fn scheduler(policy: u32, timeout: u32) -> Option<Scheduler> {
        queue(&specs(policy, timeout)).map(|(queue, _)| queue.scheduler)
    }

    #[test]
    fn numbers_are_those_of_disksim() {
        assert_eq!(scheduler(1, 0), Some(Scheduler::Fifo));
        assert_eq!(scheduler(2, 0), Some(Scheduler::Scan));
        assert_eq!(scheduler(3, 0), Some(Scheduler::CLook));
        assert_eq!(scheduler(7, 0), Some(Scheduler::Sstf));
        assert_eq!(scheduler(8, 0), Some(Scheduler::Satf));
        assert_eq!(scheduler(28, 0), Some(Scheduler::Fifo));
        assert_eq!((scheduler(0, 0), scheduler(29, 0)), (None, None));
    }

    #[test]
    fn ageing_without_a_weight_is_none() {
        let (plain, note) = queue(&specs(21, 0)).unwrap();
        assert_eq!((plain.scheduler, plain.aging_ns_per_ms, note), (Scheduler::Satf, None, None));
        let (aging, note) = queue(&specs(21, 6)).unwrap();
        assert_eq!((aging.scheduler, aging.aging_ns_per_ms), (Scheduler::SatfAging, Some(6_000)));
        assert!(note.unwrap().contains("PRI_ASPCTF_OPT"));
    }

    #[test]
    fn every_policy_makes_a_queue_that_holds_together() {
        for policy in 1..=28 {
            for timeout in [0, 6] {
                for timeout_scheme in [0, 1] {
                    let specs = SchedulerSpecs { timeout_scheme, ..specs(policy, timeout) };
                    let (queue, _) = queue(&specs).unwrap();
                    assert_eq!(queue.check(), Ok(()), "{policy}");
                    assert_eq!(queue.starvation_ns.is_some(), timeout * timeout_scheme > 0);
                }
            }
        }
    }
}
