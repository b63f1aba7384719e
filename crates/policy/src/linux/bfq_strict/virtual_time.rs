// SPDX-License-Identifier: Apache-2.0 OR MIT
//! B-WF2Q+ in integers: the start and finish of each queue, and the clock that makes a queue
//! eligible.
//!
//! Unit: 2^32 parts of a sector per unit of weight. Divisions round down, so each service is
//! charged up to one part less. Only the order of service matters, and it is the same on every
//! machine.

use tidegate_model::TaskIndex;

/// The number of parts of a sector.
const SCALE: u128 = 1 << 32;

/// The start and end of a queue's service in virtual time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tags {
    start: u128,
    finish: u128,
}

impl Tags {
    /// Ends a service: its finish reflects the sectors served, not the whole budget.
    pub(super) fn charge(&mut self, served: u64, weight: u64) {
        self.finish = self.start + u128::from(served) * SCALE / u128::from(weight);
    }
}

/// The virtual clock of one class.
#[derive(Debug, Default)]
pub(super) struct VirtualTime {
    /// V, the virtual time of the class.
    now: u128,
    /// The weights of all queues that compete or are in service.
    weights_sum: u64,
}

impl VirtualTime {
    /// Records that a queue competes for a service of `budget` sectors.
    pub(super) fn enter(&mut self, tags: &mut Tags, budget: u64, weight: u64) {
        tags.start = tags.finish.max(self.now);
        tags.finish = tags.start + u128::from(budget) * SCALE / u128::from(weight);
        self.weights_sum += weight;
    }

    /// Records that a queue no longer competes.
    pub(super) fn leave(&mut self, weight: u64) {
        self.weights_sum -= weight;
    }

    /// Records that `sectors` sectors are served.
    pub(super) fn serve(&mut self, sectors: u64) {
        self.now += u128::from(sectors) * SCALE / u128::from(self.weights_sum.max(1));
    }

    /// Returns the eligible queue that finishes first; the first source wins ties. If none is
    /// eligible, the clock jumps to the first start.
    pub(super) fn next(
        &mut self,
        competing: impl Iterator<Item = (Tags, TaskIndex)> + Clone,
    ) -> Option<TaskIndex> {
        let first_start = competing.clone().map(|(tags, _)| tags.start).min()?;
        self.now = self.now.max(first_start);
        let eligible = competing.filter(|(tags, _)| tags.start <= self.now);
        eligible.min_by_key(|&(tags, source)| (tags.finish, source)).map(|(_, source)| source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_equal_starts_the_larger_weight_finishes_first() {
        let (mut clock, [mut light, mut heavy]) = (VirtualTime::default(), [Tags::default(); 2]);
        clock.enter(&mut light, 100, 10);
        clock.enter(&mut heavy, 100, 40);
        let competing = [(light, TaskIndex(0)), (heavy, TaskIndex(1))];
        assert_eq!(clock.next(competing.into_iter()), Some(TaskIndex(1)));
    }
}
