// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Limits the work spent on one question. The unit of work is a term: one task evaluated at one
//! instant.
//!
//! Bounds for many different tasks are expensive, and `auto` computes them for each z. A search
//! that exceeds the budget is abandoned, and the results of the other searches are used; abandoning
//! a search never makes a bound smaller. Work is counted, not timed, so the same question always
//! has the same answer.

use std::cell::Cell;

/// The largest number of terms for one question about many tasks, over all z and beta. Computing
/// that many terms takes less than a second.
const TERMS_MAX: u64 = 1 << 26;

/// The largest number of terms for a question about few tasks, where extra work sometimes finds a
/// proof. Computing that many terms takes a few seconds.
const TERMS_OF_FEW_MAX: u64 = 1 << 29;

/// The largest number of tasks that counts as few.
const FEW: usize = 128;

/// The divisor of the remaining budget that gives the most that one step may cost, so that the
/// first z cannot spend the whole budget.
const SHARE: u64 = 8;

/// The remaining work of a question.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    left: Cell<u64>,
}

impl Budget {
    /// Returns the budget of a question about `count` tasks.
    pub(crate) const fn of_tasks(count: usize) -> Self {
        Self { left: Cell::new(if count <= FEW { TERMS_OF_FEW_MAX } else { TERMS_MAX }) }
    }

    /// Returns the most that one step may cost.
    pub(crate) const fn share(&self) -> u64 {
        self.left.get() / SHARE
    }

    /// Takes `terms` from the budget.
    pub(crate) fn spend(&self, terms: u64) {
        // Saturation is intended: overspending leaves 0.
        self.left.set(self.left.get().saturating_sub(terms));
    }

    /// Takes `terms` from the budget and returns true if one step may cost that many; otherwise
    /// takes nothing.
    pub(crate) fn afford(&self, terms: u64) -> bool {
        let is_affordable = terms <= self.share();
        if is_affordable {
            self.spend(terms);
        }
        is_affordable
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{BatchTable, Duration};

    use super::*;
    use crate::{SporadicTask, System, Verdict, dq_edf, dqf};

    /// Returns a system of tasks with different periods, more tasks than a batch holds.
    fn system(tasks: u64, batch_max: u32, gap_ms: u64) -> System {
        let task = |number: u64| {
            let period = Duration::from_ms(70 + gap_ms * number);
            SporadicTask {
                period,
                requests: 1 + u32::from(number.is_multiple_of(3)),
                deadline: period,
            }
        };
        let times: Vec<Duration> = (1..=8).map(|n| Duration::from_ms(2 + n)).collect();
        System {
            tasks: (0..tasks).map(task).collect(),
            table: BatchTable::new(&times).unwrap(),
            batch_max,
            best_effort_fill: 2,
        }
    }

    fn of(terms: u64) -> Budget {
        Budget { left: Cell::new(terms) }
    }

    /// Goal: abandoning a search never makes a bound smaller. Method: take systems in which Theorem
    /// 1 decides and converges without a jump (a jump misses the least fixed point), and compare
    /// their bounds under decreasing budgets with those under an unlimited budget.
    #[test]
    fn less_work_never_gives_a_smaller_bound() {
        let mut is_any_larger = false;
        for (tasks, gap_ms) in [(6, 3), (9, 7), (12, 11), (14, 2)] {
            for batch_max in 1..=8 {
                let system = system(tasks, batch_max, gap_ms);
                for terms in [0, 1_000, 10_000, 100_000, 1_000_000] {
                    let pairs = [
                        (dqf::tight(&system).unwrap(), dqf::tight_within(&system, &of(terms))),
                        (
                            dq_edf::tight(&system).unwrap(),
                            dq_edf::tight_within(&system, &of(terms)),
                        ),
                    ];
                    for (full, less) in pairs {
                        for (full, less) in full.iter().zip(&less) {
                            let or_never =
                                |verdict: &Verdict| verdict.bound().unwrap_or(Duration::MAX);
                            assert!(or_never(less) >= or_never(full), "{terms} terms: {system:?}");
                            is_any_larger |= or_never(less) > or_never(full);
                        }
                    }
                }
            }
        }
        assert!(is_any_larger, "no budget changed a bound: the test shows nothing");
    }

    /// Goal: with an empty budget, the bound is the smaller of the two bounds that cost no work.
    /// Method: one task whose backlog takes its period or longer, z = 2 and b = (5, 6), so that
    /// only the caps hold.
    #[test]
    fn without_work_the_smaller_cap_is_the_bound() {
        let bound = |requests, period_ns| {
            let period = Duration::from_ns(period_ns);
            let system = System {
                tasks: vec![SporadicTask { requests, period, deadline: period }].into(),
                table: BatchTable::new(&[5, 6].map(Duration::from_ns)).unwrap(),
                batch_max: 2,
                best_effort_fill: 0,
            };
            dqf::tight_within(&system, &of(0))[0].bound().map(Duration::ns)
        };
        // Backlog 6 + 5 = 11, not below the period; linear 6 * 2 / 2 + 2 * 6 = 18; busy interval
        // (3 + 1) * 6 = 24, because 18 ns release 6 requests, which fill L = 3 batches.
        assert_eq!(bound(3, 10), Some(18));
        // Backlog 6 + 6 = 12, not below the period; linear 6 * 3 / 2 + 2 * 6 = 21; busy interval
        // (2 + 1) * 6 = 18, because 12 ns release 4 requests, which fill L = 2 batches.
        assert_eq!(bound(4, 12), Some((2 + 1) * 6));
    }

    #[test]
    fn one_step_gets_no_more_than_its_share() {
        let budget = of(800);
        assert!(!budget.afford(101));
        assert!(budget.afford(100));
        assert_eq!(budget.share(), 87);
        budget.spend(u64::MAX);
        assert!(!budget.afford(1) && budget.afford(0));
    }
}
