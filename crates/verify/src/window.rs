// SPDX-License-Identifier: Apache-2.0 OR MIT
//! W of Theorem 1, `docs/theory/dual-queue-fifo.md`, section 3, computed exactly as it is written
//! there.

use std::collections::BTreeSet;

use crate::system::{HORIZON, System, Task};

/// The maximum number of releases in a window that is checked.
const RELEASES_MAX: usize = 1 << 20;

/// Returns `W_k` for the responses in the certificate; `None` if a window does not close, or has
/// too many releases.
pub(crate) fn response(system: &System, task: usize) -> Option<u128> {
    let mut worst = 0;
    let is_within = system.tasks.iter().all(|task| task.r.is_some_and(|r| r <= task.p));
    for carried in carry_ins(system, is_within) {
        let window = Window::of(system, carried, is_within)?;
        let releases = if window.has_room() { window.releases()? } else { BTreeSet::new() };
        for release in releases {
            worst = worst.max(window.response(task, release));
        }
    }
    Some(worst)
}

/// Returns the sizes of the carry-in batch that must be checked. `is_within` means that no task can
/// have two jobs in the carry-in.
fn carry_ins(system: &System, is_within: bool) -> BTreeSet<u128> {
    if !is_within {
        return (0..=system.z).collect();
    }
    let mut sizes = system.totals(system.sum().min(system.z), None);
    if system.sum() > system.z {
        sizes.insert(system.z);
    }
    sizes
}

/// A window of full batches after a carry-in batch.
struct Window<'a> {
    system: &'a System,
    carried: u128,
    /// b(s), the time of the carry-in batch.
    lead: u128,
    /// For each task, the values of theta with one of its jobs in the carry-in, with two, and so
    /// on.
    again: Vec<Vec<u128>>,
    /// The latest release in the window.
    end: u128,
}

impl<'a> Window<'a> {
    fn of(system: &'a System, carried: u128, is_within: bool) -> Option<Self> {
        let lead = system.cost(carried);
        let mut batches: u128 = 1;
        let end = loop {
            let length = lead + (batches - 1) * system.full();
            if length > HORIZON.into() {
                return None;
            }
            let needed = system.half_open(length).div_ceil(system.z);
            if needed <= batches {
                break length;
            }
            batches = needed;
        };
        let thetas = |task: &Task| {
            let response = task.r?;
            // Further jobs would not fit into the carry-in, so they change nothing.
            let most = if is_within { 1 } else { carried.div_ceil(task.e) };
            let is_in_time = |jobs: &u128| is_within || lead + (jobs - 1) * task.p <= response;
            let theta = |jobs: u128| (lead + jobs * task.p).saturating_sub(response);
            Some((1..=most).take_while(is_in_time).map(theta).collect())
        };
        let again = system.tasks.iter().map(thetas).collect::<Option<_>>()?;
        Some(Self { system, carried, lead, again, end })
    }

    /// Returns whether the jobs of the tasks can form a carry-in of `carried` requests.
    fn has_room(&self) -> bool {
        let tasks = self.system.tasks.iter().zip(&self.again);
        tasks.map(|(task, again)| task.e * again.len() as u128).sum::<u128>() >= self.carried
    }

    /// Returns the release times to check: those at which the number of jobs in the window changes.
    /// `None` if there are too many.
    fn releases(&self) -> Option<BTreeSet<u128>> {
        let mut releases = BTreeSet::from([0]);
        for (index, task) in self.system.tasks.iter().enumerate() {
            for start in std::iter::once(&0).chain(&self.again[index]) {
                let mut release = *start;
                while release <= self.end {
                    releases.insert(release);
                    if releases.len() > RELEASES_MAX {
                        return None;
                    }
                    release += task.p;
                }
            }
        }
        Some(releases)
    }

    /// Returns the response of a job of `task` that is released at `release`, by equations 3.1 to
    /// 3.4.
    fn response(&self, task: usize, release: u128) -> u128 {
        let System { tasks, z, .. } = self.system;
        let jobs = |length: u128, p: u128| length / p + 1;
        let before_it: u128 = tasks.iter().map(|it| it.e * jobs(release, it.p)).sum();
        let ahead = before_it.saturating_sub(self.loss(release, None));
        if ahead == 0 {
            return 0;
        }
        let full_batches = (ahead - 1) / z;
        let dispatch = self.lead + full_batches * self.system.full();
        if dispatch < release {
            return 0;
        }
        let own = &tasks[task];
        let others = tasks.iter().enumerate().filter(|&(index, _)| index != task);
        let released: u128 = others.map(|(_, it)| it.e * jobs(dispatch, it.p)).sum::<u128>()
            + own.e * (jobs(release, own.p) + (dispatch - release) / own.p);
        let queued = released.saturating_sub(self.loss(dispatch, Some((task, release)))).max(ahead);
        let last = (*z).min(queued - full_batches * z);
        dispatch + self.system.cost(last) - release
    }

    /// Returns the smallest number of requests that the carry-in removes from the window. For the
    /// job's own task, only jobs up to the job's release count.
    fn loss(&self, length: u128, own: Option<(usize, u128)>) -> u128 {
        let mut lost: Vec<(u128, u128)> = Vec::new();
        for (index, (task, again)) in self.system.tasks.iter().zip(&self.again).enumerate() {
            let length = own.filter(|own| own.0 == index).map_or(length, |own| own.1);
            let mut of_fewer = 0;
            for again in again {
                let after = length.checked_sub(*again).map_or(0, |rest| rest / task.p + 1);
                let jobs = length / task.p + 1 - after;
                lost.push((jobs - of_fewer, task.e));
                of_fewer = jobs;
            }
        }
        lost.sort_unstable();
        let (mut left, mut sum) = (self.carried, 0);
        for (jobs, requests) in lost {
            let taken = requests.min(left);
            sum += jobs * taken;
            left -= taken;
        }
        sum
    }
}
