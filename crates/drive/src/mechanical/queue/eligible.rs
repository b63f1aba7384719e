// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The requests among which a scheduler may choose.
//!
//! Apart from the schedulers, so that none of them has to know what a tag is.

use tidegate_model::Tag;

use super::Pending;

/// The requests among which a scheduler may choose.
///
/// # Shape
/// In order of arrival; an index counts in the slice that they were taken from.
///
/// # Invariants
/// - There is at least one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Eligible<'a> {
    /// What came before the first ordered request.
    window: &'a [Pending],
    /// Only those of priority.
    priority_only: bool,
}

impl<'a> Eligible<'a> {
    /// All of `pending`, in order of arrival: no tag keeps any back.
    ///
    /// # Panics
    /// When there are none.
    pub(super) fn all(pending: &'a [Pending]) -> Self {
        assert!(!pending.is_empty(), "a scheduler chooses among some");
        Self { window: pending, priority_only: false }
    }

    /// Those of `pending`, in order of arrival, that no tag keeps back.
    ///
    /// # Panics
    /// When there are none: `pending` is empty, or its first is ordered.
    pub(super) fn of(pending: &'a [Pending]) -> Self {
        let mut priority_only = false;
        let mut end = pending.len();
        for (index, Pending { request, .. }) in pending.iter().enumerate() {
            if request.tag == Tag::Ordered {
                end = index;
                break;
            }
            priority_only |= request.tag == Tag::Priority;
        }
        assert!(end > 0, "an ordered request that is the oldest is not for the scheduler");
        Self { window: &pending[..end], priority_only }
    }

    /// Each of them with its index.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &'a Pending)> + use<'a> {
        let priority_only = self.priority_only;
        let is_eligible =
            move |pending: &Pending| !priority_only || pending.request.tag == Tag::Priority;
        self.window.iter().enumerate().filter(move |(_, pending)| is_eligible(pending))
    }

    /// The one that came first.
    pub(super) fn oldest(&self) -> usize {
        self.iter().next().expect("there is at least one").0
    }

    /// The cylinder of the one with this index.
    pub(super) fn cylinder(&self, index: usize) -> u32 {
        self.window[index].target.cylinder
    }

    /// The one with the least key; of equals, the one that came first.
    ///
    /// # Complexity
    /// One call of `key` for each.
    pub(super) fn least<K: Ord>(&self, key: impl Fn(&Pending) -> K) -> usize {
        let least = self.iter().min_by_key(|(_, pending)| key(pending));
        least.expect("there is at least one").0
    }

    /// The one with the least key; of equals, the one that came first. `floor` is at most the
    /// key and less work: who has a floor that is not below the least key so far is out.
    ///
    /// # Complexity
    /// One call of `floor` for each, and one of `key` for those that are not out.
    pub(super) fn least_above<K: Ord>(
        &self,
        floor: impl Fn(&Pending) -> K,
        key: impl Fn(&Pending) -> K,
    ) -> usize {
        let mut all = self.iter();
        let (mut least_at, first) = all.next().expect("there is at least one");
        let mut least = key(first);
        for (index, pending) in all {
            if floor(pending) < least {
                let key = key(pending);
                if key < least {
                    (least, least_at) = (key, index);
                }
            }
        }
        least_at
    }

    /// The one with the least key among those that have one; of equals, the one that came
    /// first.
    pub(super) fn least_of<K: Ord>(&self, key: impl Fn(&Pending) -> Option<K>) -> Option<usize> {
        let keyed = self.iter().filter_map(|(index, pending)| Some((key(pending)?, index)));
        keyed.min().map(|(_, index)| index)
    }
}
