// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A thief whose execution time and period are known: what the method is checked against
//! (figure 5.8).

use std::sync::atomic::{AtomicBool, Ordering};

use device::affinity::Affinity;
use device::{Clock, Scheduling};
use model::{Duration, Time};

use super::hourglass::{self, Steps};

/// Executes for so long once in each period, on the measured processor and above the thread that
/// measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntheticThief {
    /// e.
    pub execution: Duration,
    /// p: the next execution begins this long after the last began, or later.
    pub period: Duration,
}

/// What it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThiefReport {
    /// Jobs.
    pub jobs: u64,
    /// How long it executed in all of them together, gaps not counted.
    pub executed: Duration,
    /// Its SCHED_FIFO priority, if it was granted one.
    pub priority: Option<u8>,
}

impl SyntheticThief {
    /// Steals until told to stop. Where it wakes up late its next period begins late: so it
    /// is a sporadic task without jitter, whatever the host does.
    pub(super) fn run(
        self,
        cpu: &Affinity,
        priority: Option<u8>,
        stop: &AtomicBool,
    ) -> ThiefReport {
        let clock = Clock::start();
        // Where it may not be above the others it steals like any of them.
        let granted =
            priority.filter(|&it| Scheduling::fifo(it).with_reset_on_fork().apply(None).is_ok());
        // Whoever measures is there already.
        let _ = cpu.apply(None);
        let steps = Steps::measure(clock);
        let mut report = ThiefReport { jobs: 0, executed: Duration::ZERO, priority: granted };
        while !stop.load(Ordering::Relaxed) {
            let begin = clock.now();
            report.executed += hourglass::execute(clock, self.execution, steps, Time::MAX);
            report.jobs += 1;
            clock.sleep_until(begin + self.period);
        }
        report
    }
}
