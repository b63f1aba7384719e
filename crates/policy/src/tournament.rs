// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A tournament tree, which finds the least of a fixed number of changing keys.
//!
//! ```text
//!              3            each inner node holds the place of the lesser of its two
//!          /       \        children, the lower place of equal ones
//!        0           3
//!      /   \       /   \
//!   [7]     -    [9]    [4]      keys by place; a place without a key loses to all
//! ```
//!
//! Unlike a search tree it never allocates after construction.

/// Keys by place, with quick access to the least.
///
/// # Invariants
/// - `winners[node]` for each node >= 1 is the place of the least key below that node; the leaves
///   are implicit after the inner nodes.
#[derive(Debug, Clone)]
pub(crate) struct Tournament {
    keys: Vec<Option<u64>>,
    winners: Vec<u32>,
}

impl Tournament {
    /// Returns a tree for `places` keys, all unset.
    pub(crate) fn with_places(places: u32) -> Self {
        let leaves = places.max(1).next_power_of_two();
        let mut tree =
            Self { keys: vec![None; leaves as usize], winners: vec![0; leaves as usize] };
        for node in (1..leaves as usize).rev() {
            tree.play(node);
        }
        tree
    }

    /// Sets or removes the key of a place. O(log places).
    pub(crate) fn set(&mut self, place: u32, key: Option<u64>) {
        self.keys[place as usize] = key;
        let mut node = usize::midpoint(self.keys.len(), place as usize);
        while node >= 1 {
            self.play(node);
            node /= 2;
        }
    }

    /// Returns the least key and its place. O(1).
    pub(crate) fn least(&self) -> Option<(u64, u32)> {
        // With one place there is no inner node, and winners[0] is that place.
        let place = self.winners[usize::from(self.winners.len() > 1)];
        self.keys[place as usize].map(|key| (key, place))
    }

    fn play(&mut self, node: usize) {
        let [a, b] = [self.winner(2 * node), self.winner(2 * node + 1)];
        // A missing key ranks after every key.
        let rank = |place: u32| self.keys[place as usize].map_or((1, 0), |key| (0, key));
        self.winners[node] = if rank(b) < rank(a) { b } else { a };
    }

    fn winner(&self, node: usize) -> u32 {
        match node.checked_sub(self.keys.len()) {
            Some(leaf) => u32::try_from(leaf).expect("as many leaves as places"),
            None => self.winners[node],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tournament;

    /// Goal: the winner is the least key. Method: a fixed pseudo-random sequence of changes at
    /// every size, compared with a scan.
    #[test]
    fn the_winner_is_the_least_of_a_scan() {
        for places in 1..=9_u32 {
            let mut tree = Tournament::with_places(places);
            let mut keys = vec![None; places as usize];
            assert_eq!(tree.least(), None);
            let mut state = u64::from(places);
            for _ in 0..500 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let place = u32::try_from((state >> 33) % u64::from(places)).unwrap();
                let key = (state >> 60 > 4).then_some((state >> 40) % 7);
                tree.set(place, key);
                keys[place as usize] = key;
                let scanned =
                    (0_u32..).zip(&keys).filter_map(|(place, key)| Some((*key.as_ref()?, place)));
                assert_eq!(tree.least(), scanned.min());
            }
        }
    }
}
