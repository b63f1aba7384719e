// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The states that no other state makes superfluous.
//!
//! A state is packed into one word of fields, each of which is the better for the adversary
//! the smaller it is. A point below another in every field can do all that the other can,
//! so the other need not be searched. The highest bit of every field is a guard and stays
//! clear, which lets one subtraction compare all fields.

/// The lowest points seen, none of them below another.
///
/// # Invariants
/// - Guard bits are clear in every point.
#[derive(Debug)]
pub struct Frontier {
    guards: u64,
    points: Vec<u64>,
}

impl Frontier {
    /// Nothing seen yet; `guards` has the highest bit of every field set.
    #[must_use]
    pub fn new(guards: u64) -> Self {
        Self { guards, points: Vec::new() }
    }

    /// Notes a point, unless one that is not above it anywhere is known; whether it is new.
    ///
    /// # Complexity
    /// Linear in the points held.
    ///
    /// # Panics
    /// When a field has overflown into its guard.
    pub fn insert(&mut self, point: u64) -> bool {
        assert_eq!(point & self.guards, 0, "a field is too small for its value");
        let guards = self.guards;
        if self.points.iter().any(|&known| is_below(guards, known, point)) {
            return false;
        }
        self.points.retain(|&known| !is_below(guards, point, known));
        self.points.push(point);
        true
    }

    /// Whether the point is still one of the lowest.
    #[must_use]
    pub fn contains(&self, point: u64) -> bool {
        self.points.contains(&point)
    }
}

/// Whether every field of `low` is at most that of `high`: then no field borrows its guard.
fn is_below(guards: u64, low: u64, high: u64) -> bool {
    ((high | guards) - low) & guards == guards
}
