// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the writes that were reported durable with the data that a crash would leave.
//!
//! The store's journal is cut at each promise of durability. Only the worst image is checked: a
//! write that was not flushed before the cut may survive, but here none does, and a failed flush
//! loses all data that it covered. Each block must then hold the newest stamp that was reported
//! durable, or a newer one.

use super::store::Entry;

/// A promise of durability, and the number of journal entries before it.
#[derive(Debug)]
pub(crate) struct Durable {
    pub(crate) after: usize,
    /// Blocks of the store, each with the stamp that it must hold unless it holds a newer one.
    pub(crate) blocks: Vec<(usize, u32)>,
}

/// The data on the medium in the worst case, as the journal is replayed.
struct Image {
    durable: Vec<u32>,
    cache: Vec<u32>,
    /// The cache's contents when each flush was sent.
    sent: Vec<(tidegate_model::RequestId, Vec<u32>)>,
}

impl Image {
    fn apply(&mut self, entry: &Entry) {
        match entry {
            Entry::Written { block, stamps } => {
                self.cache[*block..block + stamps.len()].copy_from_slice(stamps);
            }
            Entry::FlushSent(id) => self.sent.push((*id, self.cache.clone())),
            Entry::Flushed(id) => {
                let covered = self.take(*id);
                // An earlier flush that completes later does not undo a later one.
                for (block, stamp) in self.durable.iter_mut().zip(covered) {
                    *block = (*block).max(stamp);
                }
            }
            Entry::FlushFailed(id) => {
                drop(self.take(*id));
                self.cache.clone_from(&self.durable);
                for (_, cache) in &mut self.sent {
                    cache.clone_from(&self.durable);
                }
            }
        }
    }

    fn take(&mut self, id: tidegate_model::RequestId) -> Vec<u32> {
        let sent = self.sent.iter().position(|(flush, _)| *flush == id).expect("it was sent");
        self.sent.swap_remove(sent).1
    }
}

/// Returns the number of promises that some cut breaks.
pub(crate) fn broken_promises(journal: &[Entry], durable: &[Durable], blocks: usize) -> usize {
    let mut promises: Vec<&Durable> = durable.iter().collect();
    promises.sort_by_key(|promise| promise.after);
    let (durable, cache) = (vec![0; blocks], vec![0; blocks]);
    let mut image = Image { durable, cache, sent: Vec::new() };
    let (mut applied, mut broken) = (0, 0);
    for promise in promises {
        journal[applied..promise.after].iter().for_each(|entry| image.apply(entry));
        applied = promise.after;
        // The image only gains data, so the cut at the reply is the worst.
        let is_lost = |&(block, stamp): &(usize, u32)| image.durable[block] < stamp;
        broken += usize::from(promise.blocks.iter().any(is_lost));
    }
    broken
}
