// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The set of processors on which a thread may run.

use std::fmt;

use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

use crate::threads::ThreadId;

/// A set of processors on which a thread may run.
#[derive(Clone, PartialEq, Eq)]
pub struct Affinity(CpuSet);

impl Affinity {
    /// Returns the set of this processor alone; `None` for a number beyond the kernel's limit.
    pub fn only(cpu: u32) -> Option<Self> {
        let index = usize::try_from(cpu).ok().filter(|&index| index < CpuSet::MAX_CPU)?;
        let mut set = CpuSet::new();
        set.set(index);
        Some(Self(set))
    }

    /// Returns the set of these processors; `None` if a number is beyond the kernel's limit.
    pub fn of_cpus(cpus: &[u32]) -> Option<Self> {
        let mut set = CpuSet::new();
        for &cpu in cpus {
            set.set(usize::try_from(cpu).ok().filter(|&index| index < CpuSet::MAX_CPU)?);
        }
        Some(Self(set))
    }

    /// Reads the affinity of `thread`, or of the calling thread.
    ///
    /// # Errors
    /// If the thread is gone.
    pub fn of(thread: Option<ThreadId>) -> Result<Self, Errno> {
        sched_getaffinity(thread.map(ThreadId::pid)).map(Self)
    }

    /// Restricts `thread`, or the calling thread, to this set of processors.
    ///
    /// # Errors
    /// If permission is missing, no processor of the set exists, or the thread is a kernel thread
    /// bound to its processor.
    pub fn apply(&self, thread: Option<ThreadId>) -> Result<(), Errno> {
        sched_setaffinity(thread.map(ThreadId::pid), &self.0)
    }

    /// Returns whether a processor is in the set.
    pub fn contains(&self, cpu: u32) -> bool {
        let index = usize::try_from(cpu).ok().filter(|&index| index < CpuSet::MAX_CPU);
        index.is_some_and(|index| self.0.is_set(index))
    }

    /// Returns the processors in ascending order.
    pub fn cpus(&self) -> impl Iterator<Item = u32> + '_ {
        (0..CpuSet::MAX_CPU)
            .filter(|&index| self.0.is_set(index))
            .filter_map(|index| index.try_into().ok())
    }
}

impl fmt::Debug for Affinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.cpus()).finish()
    }
}

/// Returns the processor on which the calling thread currently runs.
///
/// # Panics
/// If there are more than 2^32 processors.
pub fn current_cpu() -> u32 {
    u32::try_from(sched_getcpu()).expect("few processors")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_where_it_is_put_and_goes_back() {
        std::thread::spawn(|| {
            let before = Affinity::of(None).unwrap();
            let last = before.cpus().last().unwrap();
            Affinity::only(last).unwrap().apply(None).unwrap();
            assert_eq!(
                (current_cpu(), Affinity::of(None).unwrap()),
                (last, Affinity::only(last).unwrap())
            );
            before.apply(None).unwrap();
            assert_eq!(Affinity::of(None).unwrap(), before);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_processor_that_is_not_there_is_refused() {
        assert!(Affinity::only(1_000).unwrap().apply(None).is_err());
        assert_eq!(Affinity::only(u32::MAX), None);
    }
}
