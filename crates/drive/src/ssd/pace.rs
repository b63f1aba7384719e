// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Limits the host rows that a die accepts while it is short of blocks. The die accepts only as
//! many as garbage collection gains, spread evenly over the rows that are copied to gain them.
//! Without this limit the host would use up a block immediately and then wait until many rows were
//! copied.
//!
//! ```text
//!   copies    c c c c c c c c c c c c  erase        12 copied, 4 gained
//!   host           h     h     h     h
//! ```

/// The progress of a collection, and the rows that the host may still write (`credit`).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    /// The rows to copy from the present victim.
    copies: u32,
    copied: u32,
    /// The rows gained by erasing the victim.
    gain: u32,
    granted: u32,
    credit: u32,
}

impl Pace {
    /// Begins the collection of a block of `rows` rows; its valid units fill `copies` rows.
    pub(super) fn begin(&mut self, copies: u32, rows: u32) {
        *self = Self { copies, gain: rows - copies, copied: 0, granted: 0, credit: self.credit };
    }

    /// Records a copied row.
    pub(super) fn note_copies(&mut self) {
        self.copied += 1;
        self.grant(self.gain * self.copied / self.copies);
    }

    /// Records the erase and grants the rest of the gain: rows whose units were overwritten
    /// meanwhile were not copied.
    pub(super) fn end(&mut self) {
        self.grant(self.gain);
    }

    fn grant(&mut self, due: u32) {
        self.credit += due - self.granted;
        self.granted = due;
    }

    pub(super) fn has_credit(&self) -> bool {
        self.credit > 0
    }

    /// Records a host row. While blocks are plentiful it costs no credit, and no credit is saved.
    pub(super) fn spend(&mut self, is_short: bool) {
        self.credit = if is_short { self.credit - 1 } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credits(pace: &mut Pace, copies: u32) -> Vec<u32> {
        let note = |_| {
            pace.note_copies();
            pace.credit
        };
        (0..copies).map(note).collect()
    }

    #[test]
    fn gain_is_spread_over_the_copies() {
        let mut pace = Pace::default();
        pace.begin(12, 16);
        assert_eq!(credits(&mut pace, 12), [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]);
        pace.end();
        assert_eq!(pace.credit, 4, "nothing is granted twice");
    }

    #[test]
    fn rows_that_needed_no_copy_are_granted_at_the_end() {
        let mut pace = Pace::default();
        pace.begin(12, 16);
        assert_eq!(credits(&mut pace, 4).last(), Some(&1));
        pace.end();
        assert_eq!(pace.credit, 4);
        pace.begin(0, 16);
        pace.end();
        assert_eq!(pace.credit, 20, "a block without valid units");
    }

    #[test]
    fn credit_is_spent_where_blocks_are_short_and_lost_where_they_are_plenty() {
        let mut pace = Pace { credit: 3, ..Pace::default() };
        pace.spend(true);
        assert_eq!((pace.credit, pace.has_credit()), (2, true));
        pace.spend(false);
        assert_eq!((pace.credit, pace.has_credit()), (0, false));
    }
}
