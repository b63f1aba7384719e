// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Drain times that a drive with evenly spaced completions provably keeps, and workloads that
//! depend on them.

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_model::{BatchTable, Duration, Workload};

use crate::workloads;

/// Returns drain(q) of a pseudo-disk of depth `table.batch_max()` with the batch times `table`.
///
/// # Bound
/// `drain(1) = b(1)`; for q >= 2 `drain(q) = max(b(q), g + b(q - 1))`, where
/// `g = max over c <= K of ceil(b(c) / c)` is the longest gap between two completions.
///
/// *Proof.* Consider a dispatch at t after which q requests are in flight. First case: the drive
/// was idle, or had begun a batch at this very instant and not yet served any of it. Then all q
/// requests form one batch, complete within b(q). With q = 1 the drive was idle. Second case: the
/// request joins a burst of some c <= K requests that takes at most b(c). Its timer stays and
/// expires within a gap, because completion k is at `floor(k b(c) / c)` and two consecutive
/// completions differ by at most `ceil(b(c) / c)`. At its expiry one request completes, whichever
/// requests joined before under the same timer, and the q - 1 remaining requests form a new batch,
/// complete within b(q - 1). By the contract no request is sent in between. A drive whose batches
/// are faster than b keeps these times too.
///
/// The bound is exact except for the nanosecond between a submission and a joining request.
///
/// # Panics
/// If a sum exceeds [`Duration::MAX`].
#[must_use]
pub fn drain_table(table: &BatchTable) -> BatchTable {
    let depth = table.batch_max();
    let gap = |count: u32| table.time_max(count).ns().div_ceil(u64::from(count));
    let gap_max = Duration::from_ns((1..=depth).map(gap).max().expect("a table has an entry"));
    let drain = |requests: u32| match requests {
        1 => table.time_max(1),
        _ => table.time_max(requests).max(gap_max + table.time_max(requests - 1)),
    };
    let times: Vec<Duration> = (1..=depth).map(drain).collect();
    BatchTable::new(&times).expect("no entry is zero")
}

/// Returns the table shifted by one request: for q it states a time that holds only for q - 1.
///
/// # Panics
/// Never, because no entry is zero.
#[must_use]
pub fn optimistic(drain: &BatchTable) -> BatchTable {
    let one_less = |requests: u32| drain.time_max((requests - 1).max(1));
    let times: Vec<Duration> = (1..=drain.batch_max()).map(one_less).collect();
    BatchTable::new(&times).expect("no entry is zero")
}

/// Returns `workload` with no more tasks than fit on the drive together, each released as often as
/// the drain times allow, or almost as often.
#[must_use]
pub fn leaning_on_drains(random: &mut Pcg64, mut workload: Workload) -> Workload {
    let drain = drain_table(&workload.table);
    let together = random.random_range(1..=drain.batch_max());
    workloads::keep_what_fits(&mut workload, together);
    // Approximately the time of two rounds with some best effort.
    let depth = random.random_range(together..=drain.batch_max());
    let tightest_ns = match workload.tasks.len() {
        1 if workload.tasks[0].requests == 1 => drain.time_max(depth).ns(),
        _ => drain.time_max(depth).ns() * 2,
    };
    workloads::release_about_every(random, &mut workload, tightest_ns);
    workload.contracts.drain = Some(drain);
    workload
}
