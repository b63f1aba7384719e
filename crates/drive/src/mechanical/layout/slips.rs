// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Slips: slots that are skipped, so that all later data move to later slots.
//!
//! ```text
//! slot   0  1  2  3  4  5  6  7      slots include unusable ones
//!        .  .  x  x  .  .  x  .      x: skipped
//! data   0  1        2  3     4      data count the others
//! ```

use super::steps::Steps;

/// Slips in ascending order.
///
/// # Shape
/// The n-th element of each list belongs to the n-th run of skipped slots.
#[derive(Debug, Clone)]
pub(super) struct Slips {
    /// The first slot of each run.
    slots: Steps,
    /// The number of data sectors before each run.
    data: Steps,
    /// The first slot of each run again, with the number of skipped slots that is looked up with
    /// it.
    runs: Vec<Run>,
}

/// Consecutive skipped slots.
#[derive(Debug, Clone, Copy)]
struct Run {
    slot: u64,
    /// The number of slots skipped up to the end of the run.
    slipped: u64,
}

impl Slips {
    /// Creates slips from ascending, disjoint runs of (first slot, number of slots).
    ///
    /// # Errors
    /// The first run that is out of order or overlaps.
    pub(super) fn new(runs: impl IntoIterator<Item = (u64, u64)>) -> Result<Self, (u64, u64)> {
        let mut kept: Vec<Run> = Vec::new();
        let (mut data, mut end, mut slipped) = (Vec::new(), 0, 0);
        for (slot, count) in runs {
            if count == 0 {
                continue;
            }
            if slot < end {
                return Err((slot, count));
            }
            end = slot.checked_add(count).ok_or((slot, count))?;
            data.push(slot - slipped);
            slipped += count;
            kept.push(Run { slot, slipped });
        }
        let slots = Steps::new(kept.iter().map(|run| run.slot).collect());
        Ok(Self { slots, data: Steps::new(data), runs: kept })
    }

    /// Returns whether no slot is skipped.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the slot of a data sector, and the number of runs before it.
    pub(super) fn locate(&self, data: u64) -> (u64, usize) {
        if self.runs.is_empty() {
            return (data, 0);
        }
        match self.data.count_up_to(data) {
            0 => (data, 0),
            runs => (data + self.runs[runs - 1].slipped, runs),
        }
    }

    /// Returns the number of data sectors before a slot.
    pub(super) fn data_before(&self, slot: u64) -> u64 {
        let runs = slot.checked_sub(1).map_or(0, |before| self.slots.count_up_to(before));
        self.data_after_runs(slot, runs)
    }

    /// Returns the same as [`Slips::data_before`], but faster, from the number of runs (`runs`)
    /// before a nearby slot.
    ///
    /// # Complexity
    /// Linear in the number of runs between the two slots: 0 for most tracks.
    pub(super) fn data_before_near(&self, slot: u64, mut runs: usize) -> u64 {
        while runs > 0 && self.runs[runs - 1].slot >= slot {
            runs -= 1;
        }
        while self.runs.get(runs).is_some_and(|next| next.slot < slot) {
            runs += 1;
        }
        self.data_after_runs(slot, runs)
    }

    fn data_after_runs(&self, slot: u64, runs: usize) -> u64 {
        let Some(last) = runs.checked_sub(1) else { return slot };
        // For a slot inside the run this is too low: the number of data sectors is constant there.
        slot.saturating_sub(self.runs[last].slipped).max(self.data.get(last))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn data_stand_still_inside_of_a_run() {
        let slips = Slips::new([(0, 10), (20, 5)]).unwrap();
        assert_eq!(slips.data_before(3), 0);
        assert_eq!(slips.data_before(10), 0);
        assert_eq!(slips.data_before(11), 1);
        assert_eq!(slips.data_before(23), 10);
        assert_eq!(slips.locate(0).0, 10);
        assert_eq!(slips.locate(10), (25, 2));
    }

    #[test]
    fn runs_that_overlap_are_refused() {
        assert_eq!(Slips::new([(5, 3), (7, 1)]).unwrap_err(), (7, 1));
        assert_eq!(Slips::new([(5, u64::MAX)]).unwrap_err(), (5, u64::MAX));
        assert!(Slips::new([(5, 3), (8, 1)]).is_ok());
        assert!(Slips::new([(5, 3), (1, 0)]).unwrap().runs.len() == 1, "an empty run");
    }

    proptest! {
        #[test]
        fn slots_and_data_agree_with_counting(left_out in proptest::collection::vec(any::<bool>(), 1..200), hint in any::<prop::sample::Index>()) {
            let runs = (0_u64..).zip(&left_out).filter(|(_, out)| **out).map(|(slot, _)| (slot, 1));
            let slips = Slips::new(runs).unwrap();
            let mut data = 0;
            for (slot, out) in (0_u64..).zip(&left_out) {
                prop_assert_eq!(slips.data_before(slot), data);
                prop_assert_eq!(slips.data_before_near(slot, hint.index(slips.runs.len() + 1)), data);
                if !out {
                    prop_assert_eq!(slips.locate(data).0, slot);
                    data += 1;
                }
            }
        }
    }
}
