// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A stack through which ordinary threads pass items to a real-time thread that waits for none of
//! them: many producers, one consumer.
//!
//! With a lock, a preempted low-priority thread that holds it would delay the real-time thread
//! without limit. So would lock-free queues that first claim a slot and fill it later. Here one
//! atomic step adds an item and one takes all: a thread that is preempted at any point has either
//! added its item or not.
//!
//! ```text
//!   put:  [c] -> b -> a        one exchange of the top
//!   take: top := nothing       then the links are reversed: a, b, c
//! ```
//! This is Treiber's stack. Items are only taken all together, so no item is read after it was
//! freed.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A lock-free stack of items that were put and not taken.
///
/// # Invariants
/// - `top` is null or heads a list of boxes whose only owner is the stack.
#[derive(Debug)]
pub struct MpscStack<T> {
    top: AtomicPtr<Node<T>>,
}

#[derive(Debug)]
struct Node<T> {
    item: T,
    /// The item that was put before this one.
    below: *mut Node<T>,
}

impl<T> MpscStack<T> {
    /// Makes an empty stack.
    pub const fn new() -> Self {
        Self { top: AtomicPtr::new(ptr::null_mut()) }
    }

    /// Adds `item` on top. Never blocks; allocates once.
    #[expect(unsafe_code, reason = "the list is made of raw links")]
    pub fn put(&self, item: T) {
        let node = Box::into_raw(Box::new(Node { item, below: ptr::null_mut() }));
        let mut top = self.top.load(Ordering::Relaxed);
        loop {
            // SAFETY: the node was just made, and no other thread can reach it before the exchange.
            unsafe { (*node).below = top };
            // SeqCst: a thread that puts and then reads a flag, and one that sets the flag and then
            // takes, cannot miss each other.
            match self.top.compare_exchange_weak(top, node, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => top = now,
            }
        }
    }

    /// Moves all items to the end of `items`, in the order in which they were put. Never blocks.
    pub fn take(&self, items: &mut Vec<T>) {
        let first = items.len();
        let mut top = self.top.swap(ptr::null_mut(), Ordering::SeqCst);
        while let Some(node) = owned(top) {
            top = node.below;
            items.push(node.item);
        }
        items[first..].reverse();
    }
}

/// Returns the node that a link owns; `None` for a null link.
#[expect(unsafe_code, reason = "the list is made of raw links")]
fn owned<T>(link: *mut Node<T>) -> Option<Box<Node<T>>> {
    // SAFETY: the link came from `Box::into_raw` in `put`, from a list that a single exchange took
    // off the stack: no other thread has it, and each link is followed once.
    (!link.is_null()).then(|| unsafe { Box::from_raw(link) })
}

impl<T> Default for MpscStack<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Drop for MpscStack<T> {
    fn drop(&mut self) {
        self.take(&mut Vec::new());
    }
}

// SAFETY: items move from the thread that puts to the one that takes; no reference is shared.
#[expect(unsafe_code, reason = "raw links have no owner that the compiler sees")]
unsafe impl<T: Send> Send for MpscStack<T> {}
// SAFETY: as for `Send`.
#[expect(unsafe_code, reason = "raw links have no owner that the compiler sees")]
unsafe impl<T: Send> Sync for MpscStack<T> {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn comes_back_in_the_order_in_which_it_was_put() {
        let stack = MpscStack::new();
        stack.put(2);
        stack.put(3);
        let mut items = vec![1];
        stack.take(&mut items);
        assert_eq!(items, [1, 2, 3]);
        stack.take(&mut items);
        assert_eq!(items.len(), 3);
    }

    #[test]
    fn many_threads_lose_nothing_and_each_keeps_its_order() {
        let (threads, each) = (4_u64, 20_000_u64);
        let stack = MpscStack::new();
        let mut items = Vec::new();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let stack = &stack;
                scope.spawn(move || (0..each).for_each(|number| stack.put((thread, number))));
            }
            while items.len() < usize::try_from(threads * each).unwrap() {
                stack.take(&mut items);
            }
        });
        for thread in 0..threads {
            let of_thread = items.iter().filter(|item| item.0 == thread).map(|item| item.1);
            assert!(of_thread.eq(0..each), "thread {thread}");
        }
    }

    #[test]
    fn what_nobody_took_is_dropped() {
        let item = Arc::new(());
        let stack = MpscStack::new();
        stack.put(item.clone());
        stack.put(item.clone());
        drop(stack);
        assert_eq!(Arc::strong_count(&item), 1);
    }
}
