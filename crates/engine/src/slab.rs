// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Values under small reusable keys: requests and jobs that are under way.
//!
//! A key is an index, so finding a value costs nothing; removed keys are given out again,
//! so the memory is that of the most values held at once, and none is taken in steady state.

/// Values by key.
///
/// # Invariants
/// - `free` holds exactly the indices of the empty entries.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    entries: Vec<Option<T>>,
    free: Vec<u32>,
    entries_max: u32,
}

impl<T> Slab<T> {
    /// Room for `expected` values before memory is taken, and for `entries_max` at all.
    pub(crate) fn new(expected: usize, entries_max: u32) -> Self {
        Self {
            entries: Vec::with_capacity(expected),
            free: Vec::with_capacity(expected),
            entries_max,
        }
    }

    /// Keeps `value`; `None` when the slab is full.
    pub(crate) fn insert(&mut self, value: T) -> Option<u32> {
        if let Some(key) = self.free.pop() {
            self.entries[key as usize] = Some(value);
            return Some(key);
        }
        let key = u32::try_from(self.entries.len()).expect("bounded by entries_max");
        if key >= self.entries_max {
            return None;
        }
        self.entries.push(Some(value));
        Some(key)
    }

    /// The value under `key`.
    pub(crate) fn get(&self, key: u32) -> &T {
        self.entries[key as usize].as_ref().expect("a value under this key")
    }

    /// The value under `key`, to be changed.
    pub(crate) fn get_mut(&mut self, key: u32) -> &mut T {
        self.entries[key as usize].as_mut().expect("a value under this key")
    }

    /// Takes the value under `key` out.
    pub(crate) fn remove(&mut self, key: u32) -> T {
        let value = self.entries[key as usize].take().expect("a value under this key");
        self.free.push(key);
        value
    }

    /// All values, in no order that means anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().flatten()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.free.len() == self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_keys_are_given_out_again_and_the_bound_holds() {
        let mut slab = Slab::new(1, 2);
        let (first, second) = (slab.insert('a').unwrap(), slab.insert('b').unwrap());
        assert_eq!(slab.insert('c'), None);
        assert_eq!(slab.remove(first), 'a');
        assert_eq!(slab.insert('c'), Some(first));
        assert_eq!((slab.get(first), slab.get(second)), (&'c', &'b'));
        slab.remove(first);
        slab.remove(second);
        assert!(slab.is_empty());
    }
}
