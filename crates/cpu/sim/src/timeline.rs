// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The next event: one instant for each source of events, and the earliest of them.
//!
//! The sources form a tournament tree: each inner node stores the source with the earlier instant
//! of its two children, so a change costs one comparison per level. Of equal instants, the source
//! with the lowest number wins.

use tidegate_model::Time;

/// The next instant of each source; [`Time::MAX`] for never.
#[derive(Debug, Clone)]
pub(super) struct Timeline {
    /// The leaves of the tree; their number is a power of two.
    times: Vec<Time>,
    /// The winners of the inner nodes: the root is node 1, and the children of node i are 2i and
    /// 2i + 1.
    winners: Vec<u32>,
}

impl Timeline {
    pub(super) fn new(sources: usize) -> Self {
        let leaves = sources.next_power_of_two().max(2);
        let mut timeline = Self { times: vec![Time::MAX; leaves], winners: vec![0; leaves] };
        for node in (1..leaves).rev() {
            timeline.decide(node);
        }
        timeline
    }

    /// Returns the winner below a node: the leaf itself, or the inner node's winner.
    fn below(&self, child: usize) -> u32 {
        match child.checked_sub(self.times.len()) {
            Some(leaf) => u32::try_from(leaf).expect("fewer than 2^32 sources"),
            None => self.winners[child],
        }
    }

    fn decide(&mut self, node: usize) {
        let (left, right) = (self.below(2 * node), self.below(2 * node + 1));
        let is_right = self.times[right as usize] < self.times[left as usize];
        self.winners[node] = if is_right { right } else { left };
    }

    pub(super) fn set(&mut self, source: usize, at: Time) {
        if self.times[source] == at {
            return;
        }
        self.times[source] = at;
        let mut node = source + self.times.len();
        while node > 1 {
            node /= 2;
            self.decide(node);
        }
    }

    /// Returns the earliest instant and its source.
    pub(super) fn first(&self) -> (Time, usize) {
        let source = self.winners[1] as usize;
        (self.times[source], source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_is_first_and_of_equals_the_lowest() {
        let mut random = tidegate_model::Random::new(1, 0);
        for sources in [1, 2, 3, 5, 8, 13] {
            let mut timeline = Timeline::new(sources);
            let mut plain = vec![Time::MAX; sources];
            for _ in 0..500 {
                let (source, at) = (random.index(sources), Time::from_ns(random.below(20)));
                timeline.set(source, at);
                plain[source] = at;
                let first = (0..sources).min_by_key(|&source| plain[source]).unwrap();
                assert_eq!(timeline.first(), (plain[first], first));
            }
        }
    }
}
