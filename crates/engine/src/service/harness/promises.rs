// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What was answered as durable, held against what a crash would leave.
//!
//! The store's journal is cut where each promise was made. What remains is the worst image: of
//! what was written and not flushed before the cut, an arbitrary part is there, here none; and a
//! flush that failed has lost all that it was to save. Each block must then hold the newest stamp
//! that was answered as durable, or a newer one.

use super::store::Entry;

/// What was answered, in the store's journal: after how many of its entries.
#[derive(Debug)]
pub(crate) struct Durable {
    pub(crate) after: usize,
    /// Blocks of the store, and the stamps that must be found there, or later ones.
    pub(crate) blocks: Vec<(usize, u32)>,
}

/// What is on the medium at least, as the journal goes on.
struct Image {
    durable: Vec<u32>,
    cache: Vec<u32>,
    /// The cache as it was when each flush was sent.
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
                // An earlier flush that comes back later does not undo it.
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

/// How many promises the image after some cut breaks.
pub(crate) fn broken_promises(journal: &[Entry], durable: &[Durable], blocks: usize) -> usize {
    let mut promises: Vec<&Durable> = durable.iter().collect();
    promises.sort_by_key(|promise| promise.after);
    let (durable, cache) = (vec![0; blocks], vec![0; blocks]);
    let mut image = Image { durable, cache, sent: Vec::new() };
    let (mut applied, mut broken) = (0, 0);
    for promise in promises {
        journal[applied..promise.after].iter().for_each(|entry| image.apply(entry));
        applied = promise.after;
        // The image only grows, so the cut right at the answer is the worst.
        let is_lost = |&(block, stamp): &(usize, u32)| image.durable[block] < stamp;
        broken += usize::from(promise.blocks.iter().any(is_lost));
    }
    broken
}
