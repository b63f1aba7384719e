// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The set of states that no other state dominates.
//!
//! A state is packed into one word of fields; in each field a smaller value is better for the
//! adversary. A point that is at most another point in every field can do all that the other can,
//! so the other point need not be searched. The highest bit of every field is a guard and stays
//! clear, so one subtraction compares all fields.

/// The lowest points seen; no point is below another.
///
/// # Invariants
/// - Guard bits are clear in every point.
#[derive(Debug)]
pub struct Frontier {
    guards: u64,
    points: Vec<u64>,
}

impl Frontier {
    /// Creates an empty set; `guards` has the highest bit of every field set.
    #[must_use]
    pub fn new(guards: u64) -> Self {
        Self { guards, points: Vec::new() }
    }

    /// Inserts a point unless a known point is below it or equal. Returns whether the point is new.
    ///
    /// # Complexity
    /// Linear in the number of points.
    ///
    /// # Panics
    /// If a field has overflowed into its guard.
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

    /// Returns whether the point is still one of the lowest.
    #[must_use]
    pub fn contains(&self, point: u64) -> bool {
        self.points.contains(&point)
    }
}

/// Returns whether every field of `low` is at most the field of `high`: no field then borrows its
/// guard.
fn is_below(guards: u64, low: u64, high: u64) -> bool {
    ((high | guards) - low) & guards == guards
}
