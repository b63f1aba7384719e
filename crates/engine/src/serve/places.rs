// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Limits the connections of each export, so that no export uses up the others' connections.
//!
//! ```text
//!   total = each export's reserved slots | shared slots
//!   a connection takes a reserved slot of its export, or a shared one if those are taken
//! ```

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of concurrent connections reserved for each export.
pub const PLACES_PER_EXPORT: usize = 4;

/// The connection slots of a service; clones share them.
#[derive(Debug, Clone)]
pub struct Places {
    total: usize,
    taken: Arc<Mutex<BTreeMap<String, usize>>>,
}

/// A connection's slot; dropping it frees the slot.
#[derive(Debug)]
pub struct PlaceTaken {
    places: Places,
    export: String,
}

/// No slot is left for another connection of an export.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "export `{export}` has {count} connections already, and the connections that all exports share \
     are taken: close some of them"
)]
pub struct Crowded {
    /// The export's name.
    pub export: String,
    /// The number of its connections.
    pub count: usize,
}

impl Places {
    /// Makes slots for `total` concurrent connections, all free.
    pub fn new(total: usize) -> Self {
        Self { total, taken: Arc::default() }
    }

    /// Takes a slot for a connection of `export`; `export_count` is the current number of exports.
    ///
    /// # Errors
    /// [`Crowded`] if the export's reserved slots and all shared slots are taken.
    pub fn take(&self, export: &str, export_count: usize) -> Result<PlaceTaken, Crowded> {
        let mut taken = self.lock();
        let count = taken.get(export).copied().unwrap_or(0);
        let common = self.total.saturating_sub(PLACES_PER_EXPORT * export_count);
        let common_taken: usize =
            taken.values().map(|count| count.saturating_sub(PLACES_PER_EXPORT)).sum();
        if count >= PLACES_PER_EXPORT && common_taken >= common {
            return Err(Crowded { export: export.to_owned(), count });
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
        std::iter::from_fn(|| places.take(export, 2).ok()).collect()
    }

    #[test]
    fn whoever_takes_all_there_is_leaves_the_others_theirs() {
        let places = Places::new(2 * PLACES_PER_EXPORT + 16);
        let greedy = flood(&places, "a");
        assert_eq!(greedy.len(), PLACES_PER_EXPORT + 16);
        let refused = places.take("a", 2).unwrap_err();
        assert_eq!((refused.export.as_str(), refused.count), ("a", 20));
        assert_eq!(flood(&places, "b").len(), PLACES_PER_EXPORT);
    }

    #[test]
    fn a_place_is_free_again_and_none_twice() {
        let places = Places::new(2 * PLACES_PER_EXPORT + 1);
        for _ in 0..3 {
            assert_eq!(flood(&places, "a").len(), PLACES_PER_EXPORT + 1);
        }
        assert!(places.lock().is_empty(), "names of removed exports are not kept");
    }

    #[test]
    fn the_common_places_are_of_all() {
        let places = Places::new(2 * PLACES_PER_EXPORT + 3);
        let mut b = flood(&places, "b");
        let a = flood(&places, "a");
        assert_eq!((a.len(), b.len()), (PLACES_PER_EXPORT, PLACES_PER_EXPORT + 3));
        b.truncate(PLACES_PER_EXPORT + 1);
        assert_eq!(flood(&places, "a").len(), 2);
    }
}
