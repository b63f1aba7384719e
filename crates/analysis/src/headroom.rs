// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Computes how many more tasks of each kind would still be proven.

use tidegate_model::{PolicyName, Workload};

use crate::search;
use crate::select::is_provable;
use crate::shaping::sporadic;

/// The largest number of entries for which headroom is computed: each entry needs dozens of
/// analyses.
pub(crate) const ENTRIES_MAX: usize = 16;

/// The count below which the search stops.
const COUNT_MAX: u32 = 1 << 14;

/// The number of further tasks of one `[[task]]` entry that can be proven beside everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headroom {
    /// Index of the entry in the workload file.
    pub entry: u32,
    /// The first task of the entry.
    pub first_task: usize,
    /// The number of additional tasks; 0 if the workload is not proven as it is.
    pub more: usize,
    /// The largest provable number of tasks of this entry; less than the current number if the
    /// workload is not proven.
    pub count_max: usize,
    /// Whether the search stopped at `count_max`, so that there may be more.
    pub is_at_least: bool,
}

/// Returns the headroom of every entry, if best effort yields to the new tasks; `None` for a
/// workload of more than 16 entries, for which it is not computed.
///
/// # Complexity
/// About 28 analyses per entry, for each z if the batch size is `auto`.
pub fn headroom(workload: &Workload, policy: PolicyName) -> Option<Vec<Headroom>> {
    let workload = &*workload.planned();
    let tasks = sporadic(&workload.tasks);
    let entries: Vec<std::ops::Range<usize>> = entries(workload);
    if entries.len() > ENTRIES_MAX {
        return None;
    }
    let of_entry = |entry: std::ops::Range<usize>| {
        let (first_task, count) = (entry.start, entry.len());
        let others = [&tasks[..entry.start], &tasks[entry.end..]].concat();
        let sources: Vec<usize> = (0..first_task).chain(entry.end..tasks.len()).collect();
        let own = &tasks[entry.clone()];
        let count_max = largest(|count| {
            let mut set = others.clone();
            // Further tasks have the shortest period of the entry, that of its first task.
            set.extend(own.iter().copied().take(count));
            set.extend(std::iter::repeat_n(own[0], count.saturating_sub(own.len())));
            let mut sources = sources.clone();
            sources.extend(std::iter::repeat_n(first_task, count));
            is_provable(workload, policy, &set.into(), &sources)
        });
        Headroom {
            entry: workload.tasks[first_task].entry,
            first_task,
            more: count_max.saturating_sub(count),
            count_max,
            is_at_least: count_max + 1 >= COUNT_MAX as usize,
        }
    };
    Some(entries.into_iter().map(of_entry).collect())
}

/// Returns whether every deadline is proven under `policy`, like [`assess`](crate::assess) but
/// without bounds and reasons: a search calls it thousands of times.
///
/// # Complexity
/// One analysis for each z up to the first that proves the deadlines; the analysis of any other z
/// ends as soon as it fails.
pub fn proves(workload: &Workload, policy: PolicyName) -> bool {
    let planned = workload.planned();
    let tasks = sporadic(&planned.tasks);
    let sources: Vec<usize> = (0..tasks.len()).collect();
    is_provable(&planned, policy, &tasks, &sources)
}

/// Returns the task range of each entry; a workload lists its tasks in file order.
pub(crate) fn entries(workload: &Workload) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    let runs = workload.tasks.chunk_by(|a, b| a.entry == b.entry);
    runs.map(|run| {
        let range = start..start + run.len();
        start = range.end;
        range
    })
    .collect()
}

/// Returns the largest count below `COUNT_MAX` that fits, by doubling, then bisection. Returns 0 if
/// not even one fits with the others.
fn largest(fits: impl Fn(usize) -> bool) -> usize {
    let fits = |count: u32| fits(count as usize);
    let mut too_many = 1;
    while too_many < COUNT_MAX && fits(too_many) {
        too_many *= 2;
    }
    search::largest(too_many / 2..=too_many - 1, fits) as usize
}
