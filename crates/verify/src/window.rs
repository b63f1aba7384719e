// SPDX-License-Identifier: Apache-2.0 OR MIT
//! W of Theorem 1, `docs/theory/dual-queue-fifo.md` section 3, evaluated as it is written there.

use std::collections::BTreeSet;

use crate::system::{HORIZON, System, Task};

/// Releases in a window beyond which nothing is claimed.
const RELEASES_MAX: usize = 1 << 20;

/// Returns `W_k` for the responses of the certificate; `None` if a window does not close.
pub(crate) fn response(system: &System, task: usize) -> Option<u128> {
    let mut worst = 0;
    let is_within = system.tasks.iter().all(|task| task.r.is_some_and(|r| r <= task.p));
    for carried in carry_ins(system, is_within) {
        let window = Window::of(system, carried, is_within)?;
        for release in window.releases()? {
            worst = worst.max(window.response(task, release));
        }
    }
    Some(worst)
}

/// Returns the sizes of the carry-in batch.
fn carry_ins(system: &System, is_within: bool) -> BTreeSet<u128> {
    if !is_within {
        return (0..=system.z).collect();
    }
    if system.sum() <= system.z {
        return system.totals(system.sum(), None);
    }
    let common = system.tasks.iter().fold(system.z, |a, task| gcd(a, task.e));
    (0..=system.z / common).map(|multiple| multiple * common).collect()
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A window of full batches after a carry-in.
struct Window<'a> {
    system: &'a System,
    carried: u128,
    /// b(s).
    lead: u128,
    /// theta of each task; empty if two jobs of a task can be in the carry-in.
    again: Vec<u128>,
    /// No later release is in the window.
    end: u128,
}

impl<'a> Window<'a> {
    fn of(system: &'a System, carried: u128, is_within: bool) -> Option<Self> {
        let lead = system.cost(carried);
        let mut batches: u128 = if lead > 0 { 1 } else { 2 };
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
        let theta = |task: &Task| Some(lead + task.p - task.r?);
        let again = if is_within {
            system.tasks.iter().map(theta).collect::<Option<Vec<u128>>>()?
        } else {
            Vec::new()
        };
        Some(Self { system, carried, lead, again, end })
    }

    /// Returns the releases at which a count changes.
    fn releases(&self) -> Option<BTreeSet<u128>> {
        let mut releases = BTreeSet::from([0]);
        for (index, task) in self.system.tasks.iter().enumerate() {
            for start in [Some(&0), self.again.get(index)].into_iter().flatten() {
                let mut release = *start;
                while release < self.end {
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

    /// Returns the response of a job of `task` released at this instant, equations 3.1 to 3.4.
    fn response(&self, task: usize, release: u128) -> u128 {
        let System { tasks, z, .. } = self.system;
        let jobs = |length: u128, p: u128| length / p + 1;
        let before_it: u128 = tasks.iter().map(|it| it.e * jobs(release, it.p)).sum();
        let ahead = before_it.saturating_sub(self.loss(release));
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
        let queued = released.saturating_sub(self.loss(dispatch)).max(ahead);
        let last = (*z).min(queued - full_batches * z);
        dispatch + self.system.cost(last) - release
    }

    /// Returns the least number of requests that the carry-in takes away from the window.
    fn loss(&self, length: u128) -> u128 {
        let lost = |(task, &again): (&Task, &u128)| {
            let after = length.checked_sub(again).map_or(0, |rest| rest / task.p + 1);
            (length / task.p + 1 - after, task.e)
        };
        let mut lost: Vec<(u128, u128)> =
            self.system.tasks.iter().zip(&self.again).map(lost).collect();
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
