// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The requests among which a scheduler may choose.
//!
//! Tags are handled here, so that the schedulers need not handle them.

use tidegate_model::Tag;

use super::pending::Pending;

/// The requests among which a scheduler may choose.
///
/// # Shape
/// Sorted by arrival; an index refers to the slice given at creation.
///
/// # Invariants
/// - At least one request is eligible.
#[derive(Debug, Clone, Copy)]
pub(super) struct Eligible<'a> {
    /// The requests that arrived before the first ordered one.
    window: &'a [Pending],
    /// Whether only priority requests are eligible.
    priority_only: bool,
}

impl<'a> Eligible<'a> {
    /// Makes all of `pending`, sorted by arrival, eligible: no tag holds a request back.
    ///
    /// # Panics
    /// If `pending` is empty.
    pub(super) fn all(pending: &'a [Pending]) -> Self {
        assert!(!pending.is_empty(), "a scheduler needs at least one request");
        Self { window: pending, priority_only: false }
    }

    /// Makes eligible those requests of `pending`, sorted by arrival, that no tag holds back.
    ///
    /// # Panics
    /// If no request is eligible: `pending` is empty, or its first request is ordered.
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
        assert!(end > 0, "the scheduler must not choose an oldest ordered request");
        Self { window: &pending[..end], priority_only }
    }

    /// Returns each eligible request with its index.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &'a Pending)> + use<'a> {
        let priority_only = self.priority_only;
        let is_eligible =
            move |pending: &Pending| !priority_only || pending.request.tag == Tag::Priority;
        self.window.iter().enumerate().filter(move |(_, pending)| is_eligible(pending))
    }

    /// Returns the index of the eligible request that arrived first.
    pub(super) fn oldest(&self) -> usize {
        self.iter().next().expect("there is at least one").0
    }

    /// Returns the cylinder of the request with this index.
    pub(super) fn cylinder(&self, index: usize) -> u32 {
        self.window[index].target.cylinder
    }

    /// Returns the index of the request with the smallest key; among equals, the first to arrive.
    ///
    /// # Complexity
    /// One call of `key` for each eligible request.
    pub(super) fn least<K: Ord>(&self, key: impl Fn(&Pending) -> K) -> usize {
        let least = self.iter().min_by_key(|(_, pending)| key(pending));
        least.expect("there is at least one").0
    }

    /// Returns the index of the request with the smallest key; among equals, the first to arrive.
    /// `floor` is a cheaper lower bound of `key`: a request whose floor is not below the smallest
    /// key so far is skipped.
    ///
    /// # Complexity
    /// One call of `floor` for each eligible request, and one of `key` for each that is not
    /// skipped.
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

    /// Returns the index of the request with the smallest key among the requests that have a key;
    /// among equals, the first to arrive.
    pub(super) fn least_of<K: Ord>(&self, key: impl Fn(&Pending) -> Option<K>) -> Option<usize> {
        let keyed = self.iter().filter_map(|(index, pending)| Some((key(pending)?, index)));
        keyed.min().map(|(_, index)| index)
    }
}
