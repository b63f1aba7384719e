// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Limits the connections of each export, so that no export uses up the others' connections.
//!
//! ```text
//!   total = sum of the shares of all exports that exist or may be admitted
//! ```
//! If the process has too few descriptors for all shares, exports compete for the connections that
//! are left, but the first connection of each export always has a slot.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::service::connections::SlotGuard;

/// The connection slots of a service; clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    total: usize,
    per_export: usize,
    taken: Arc<Mutex<BTreeMap<String, usize>>>,
}

/// A connection's slot; dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct PlaceTaken {
    places: Places,
    export: String,
}

impl SlotGuard for PlaceTaken {}

/// The error if an export, which has `count` connections, cannot get another slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crowded {
    pub(crate) count: usize,
}

impl Places {
    /// Makes slots for `total` concurrent connections, at most `per_export` for each export.
    pub(crate) fn new(total: usize, per_export: usize) -> Self {
        Self { total, per_export, taken: Arc::default() }
    }

    /// Takes a slot for a connection of `export`; `export_count` is the current number of exports.
    ///
    /// # Errors
    /// [`Crowded`] if the export has used its share, or no slot is free.
    pub(crate) fn take(&self, export: &str, export_count: usize) -> Result<PlaceTaken, Crowded> {
        let mut taken = self.lock();
        let count = taken.get(export).copied().unwrap_or(0);
        let all: usize = taken.values().sum();
        // Each export without a connection keeps one slot.
        let kept = export_count.saturating_sub(taken.len());
        let is_full = if count == 0 { all >= self.total } else { all + kept >= self.total };
        if count >= self.per_export || is_full {
            return Err(Crowded { count });
        }
        taken.insert(export.to_owned(), count + 1);
        Ok(PlaceTaken { places: self.clone(), export: export.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PlaceTaken {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        if let Some(count) = taken.get_mut(&self.export) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.export);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes all slots that the export can get.
    fn flood(places: &Places, export: &str) -> Vec<PlaceTaken> {
        std::iter::from_fn(|| places.take(export, 3).ok()).collect()
    }

    #[test]
    fn each_export_has_its_share_and_nothing_of_the_others() {
        let places = Places::new(12, 4);
        let greedy = flood(&places, "a");
        assert_eq!(greedy.len(), 4);
        assert_eq!(places.take("a", 3).unwrap_err(), Crowded { count: 4 });
        assert_eq!((flood(&places, "b").len(), flood(&places, "c").len()), (4, 4));
        drop(greedy);
        assert_eq!(flood(&places, "a").len(), 4);
        assert!(places.lock().is_empty(), "names of removed exports are not kept");
    }

    #[test]
    fn with_too_few_slots_each_export_still_has_its_first() {
        let places = Places::new(5, 4);
        let greedy = flood(&places, "a");
        assert_eq!(greedy.len(), 3);
        let second = places.take("b", 3).unwrap();
        assert_eq!(places.take("b", 3).unwrap_err(), Crowded { count: 1 });
        let third = places.take("c", 3).unwrap();
        drop((greedy, second, third));
    }
}
