// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shows how long a simulation or a run will still take. Only a terminal shows it.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration as Wall, Instant};

use indicatif::ProgressBar;
use tidegate_host::{Length, Observer};
use tidegate_model::{Duration, PolicyName, Time, Workload};

use crate::progress::{self, OF_RUNNING};

/// The interval between two readings of the clock.
const TICK: Wall = Wall::from_millis(250);

/// The stack of the thread that draws; small, because memory may be locked.
const STACK_BYTES: usize = 256 << 10;

/// Returns the time until the last release.
fn time_of(length: Length, workload: &Workload) -> Duration {
    match length {
        Length::Duration(duration) => duration,
        Length::Jobs(jobs) => {
            let period = workload.tasks.iter().map(|task| task.period).max();
            period.unwrap_or_default().checked_mul(jobs).unwrap_or(Duration::MAX)
        }
    }
}

/// Returns a bar over milliseconds.
fn bar(what: &str, time: Duration) -> ProgressBar {
    let bar = progress::bar(OF_RUNNING);
    bar.set_length(time.ns() / 1_000_000);
    bar.set_message(what.to_owned());
    bar
}

/// The progress of a simulation in virtual time: the time left is estimated from its pace.
pub(crate) struct VirtualTime {
    bar: ProgressBar,
    shown_ms: u64,
    step_ms: u64,
}

impl VirtualTime {
    pub(crate) fn new(policy: PolicyName, length: Length, workload: &Workload) -> Self {
        let time = time_of(length, workload);
        let step_ms =
            if io::stderr().is_terminal() { time.ns() / 1_000_000 / 200 } else { u64::MAX };
        Self { bar: bar(policy.name(), time), shown_ms: 0, step_ms }
    }
}

impl Observer for VirtualTime {
    fn settled(&mut self, now: Time) {
        let now_ms = now.since(Time::ZERO).ns() / 1_000_000;
        if now_ms - self.shown_ms >= self.step_ms {
            self.shown_ms = now_ms;
            self.bar.set_position(now_ms);
        }
    }

    fn ended(&mut self, _now: Time) {
        self.bar.finish_and_clear();
    }
}

/// The progress of a run in real time, drawn by a thread of its own.
pub(crate) struct WallTime {
    bar: ProgressBar,
    is_over: Arc<AtomicBool>,
    drawing: Option<JoinHandle<()>>,
}

impl WallTime {
    pub(crate) fn start(length: Length, workload: &Workload) -> io::Result<Self> {
        let (bar, is_over) = (bar("", time_of(length, workload)), Arc::new(AtomicBool::new(false)));
        let drawing = if bar.is_hidden() {
            None
        } else {
            let (bar, is_over, begun) = (bar.clone(), Arc::clone(&is_over), Instant::now());
            let draw = move || {
                while !is_over.load(Ordering::Relaxed) {
                    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                    bar.set_position(ms);
                    thread::sleep(TICK);
                }
            };
            let builder = thread::Builder::new().name("progress".to_owned());
            Some(builder.stack_size(STACK_BYTES).spawn(draw)?)
        };
        Ok(Self { bar, is_over, drawing })
    }

    pub(crate) fn finish(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(drawing) = self.drawing.take() {
            // A bar that cannot be drawn is no failure of the run.
            let _ = drawing.join();
        }
        self.bar.finish_and_clear();
    }
}

impl Drop for WallTime {
    fn drop(&mut self) {
        self.end();
    }
}
