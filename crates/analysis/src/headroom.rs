// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How many more tasks of each kind would still be proven.

use model::Workload;

use crate::SporadicTask;

/// Entries beyond which headroom is not computed: nobody reads hundreds of answers, and
/// each of them costs a dozen analyses.
const ENTRIES_MAX: usize = 64;

/// Counts beyond which nobody asks: the search stops there.
const COUNT_MAX: u64 = 1 << 16;

/// How many tasks like those of one `[[task]]` entry fit beside everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headroom {
    /// Index of the entry in the workload file.
    pub entry: u32,
    /// The first task of the entry.
    pub first_task: usize,
    /// How many more there may be; 0 where the workload is not proven as it is.
    pub more: u64,
    /// How many there may be in all; at least one less than there are if not proven.
    pub count_max: u64,
}

/// The headroom of every entry, best effort yielding to the new tasks; empty for a workload
/// of more than 64 entries.
///
/// `proves` must not accept a set and refuse a smaller one.
pub(crate) fn headroom(
    workload: &Workload,
    tasks: &[SporadicTask],
    proves: impl Fn(&[SporadicTask]) -> bool,
) -> Vec<Headroom> {
    let mut entries: Vec<(u32, usize, u64)> = Vec::new();
    for (index, task) in workload.tasks.iter().enumerate() {
        match entries.iter_mut().find(|(entry, ..)| *entry == task.entry) {
            Some((.., count)) => *count += 1,
            None => entries.push((task.entry, index, 1)),
        }
        if entries.len() > ENTRIES_MAX {
            return Vec::new();
        }
    }
    let of_entry = |(entry, first_task, count): (u32, usize, u64)| {
        let others: Vec<SporadicTask> = workload
            .tasks
            .iter()
            .zip(tasks)
            .filter(|(task, _)| task.entry != entry)
            .map(|(_, task)| *task)
            .collect();
        let fits = |count: u64| {
            let mut set = others.clone();
            let count = usize::try_from(count).expect("at most COUNT_MAX");
            set.resize(others.len() + count, tasks[first_task]);
            proves(&set)
        };
        let count_max = largest(fits);
        Headroom { entry, first_task, more: count_max.saturating_sub(count), count_max }
    };
    entries.into_iter().map(of_entry).collect()
}

/// The largest count from 0 to `COUNT_MAX` that fits: doubling, then bisection. 0 where
/// even none of them fits beside the others.
fn largest(fits: impl Fn(u64) -> bool) -> u64 {
    let mut too_many = 1;
    while too_many < COUNT_MAX && fits(too_many) {
        too_many *= 2;
    }
    let mut enough = too_many / 2;
    while enough + 1 < too_many {
        let middle = enough + (too_many - enough) / 2;
        if fits(middle) {
            enough = middle;
        } else {
            too_many = middle;
        }
    }
    enough
}
