// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shows the time left of a simulation or a run, and that a proof is still running; only on a
//! terminal.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration as Wall, Instant};

use indicatif::ProgressBar;
use tidegate_cpu_sim::{CpuObserver, Thread};
use tidegate_host::{Length, Observer};
use tidegate_model::{Duration, PolicyName, Task, Time, Workload};

use crate::progress::{self, OF_RUNNING, OF_WORK};

/// The interval between two updates of a bar.
const TICK: Wall = Wall::from_millis(250);

/// The stack size of the thread that draws; small, because memory may be locked.
const STACK_BYTES: usize = 256 << 10;

/// Returns the time until the last release.
fn time_of(length: Length, workload: &Workload) -> Duration {
    match length {
        Length::Duration(duration) => duration,
        Length::Jobs(jobs) => {
            let period = |task: &Task| task.period_stated().unwrap_or(task.deadline);
            let period = workload.tasks.iter().map(period).max();
            period.unwrap_or_default().checked_mul(jobs).unwrap_or(Duration::MAX)
        }
    }
}

/// Returns a progress bar that counts milliseconds.
fn bar(what: &str, time: Duration) -> ProgressBar {
    let bar = progress::bar(OF_RUNNING);
    bar.set_length(time.ns() / 1_000_000);
    bar.set_message(what.to_owned());
    bar
}

/// The progress of a simulation in virtual time; the time left is estimated from the simulation's
/// speed.
pub(crate) struct VirtualTime {
    bar: ProgressBar,
    shown_ms: u64,
    step_ms: u64,
}

impl VirtualTime {
    pub(crate) fn of_disk(policy: PolicyName, length: Length, workload: &Workload) -> Self {
        Self::new(policy.name(), time_of(length, workload))
    }

    pub(crate) fn new(what: &str, time: Duration) -> Self {
        let step_ms =
            if io::stderr().is_terminal() { time.ns() / 1_000_000 / 200 } else { u64::MAX };
        Self { bar: bar(what, time), shown_ms: 0, step_ms }
    }

    fn reach(&mut self, now: Time) {
        let now_ms = now.since(Time::ZERO).ns() / 1_000_000;
        if now_ms - self.shown_ms >= self.step_ms {
            self.shown_ms = now_ms;
            self.bar.set_position(now_ms);
        }
    }
}

impl Observer for VirtualTime {
    fn settled(&mut self, now: Time) {
        self.reach(now);
    }
}

impl CpuObserver for VirtualTime {
    fn completed(&mut self, _thread: Thread, _arrival: Time, now: Time) {
        self.reach(now);
    }
}

impl Drop for VirtualTime {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar that a separate thread draws until this value is dropped. If the work takes less than a
/// [`TICK`], nothing is drawn.
pub(crate) struct WallTime {
    bar: ProgressBar,
    /// The thread ends when this sender is dropped.
    is_over: Option<Sender<()>>,
    drawing: Option<JoinHandle<()>>,
}

impl WallTime {
    /// Shows the time left of a run.
    pub(crate) fn of_run(length: Length, workload: &Workload) -> io::Result<Self> {
        let begun = Instant::now();
        Self::start(bar("", time_of(length, workload)), move |bar| {
            bar.set_position(u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX));
        })
    }

    /// Shows that work of unknown length is still running.
    pub(crate) fn of_work(what: &'static str) -> io::Result<Self> {
        let bar = progress::bar(OF_WORK);
        bar.set_message(what);
        Self::start(bar, ProgressBar::tick)
    }

    fn start(bar: ProgressBar, draw: impl Fn(&ProgressBar) + Send + 'static) -> io::Result<Self> {
        if bar.is_hidden() {
            return Ok(Self { bar, is_over: None, drawing: None });
        }
        let (is_over, over) = mpsc::channel();
        let drawn = bar.clone();
        let draw = move || {
            while over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                draw(&drawn);
            }
        };
        let builder = thread::Builder::new().name("progress".to_owned());
        let drawing = Some(builder.stack_size(STACK_BYTES).spawn(draw)?);
        Ok(Self { bar, is_over: Some(is_over), drawing })
    }
}

impl Drop for WallTime {
    fn drop(&mut self) {
        drop(self.is_over.take());
        if let Some(drawing) = self.drawing.take() {
            // If the bar cannot be drawn, the work still succeeds.
            let _ = drawing.join();
        }
        self.bar.finish_and_clear();
    }
}
