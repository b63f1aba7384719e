// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The measuring thread: pinned, with locked memory, at a real-time priority if granted.

use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Instant, SystemTime};

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;
use tidegate_cpu_model::CpuProfile;
use tidegate_model::Duration;
use tidegate_platform::affinity::Affinity;
use tidegate_platform::interrupts::Interrupts;
use tidegate_platform::realtime::{self, Throttling};
use tidegate_platform::steal::ProcessorTime;
use tidegate_platform::{Clock, RunDelay};

use super::hourglass::{self, Steps};
use super::measurement::{CpuMeasurement, CpuProfileEnd, CpuProfileParams, Found, HostShare};
use super::plan::{self, IntervalRange, PlanError};
use super::report;
use super::synthetic_load::{LoadEnd, SyntheticLoad, SyntheticLoadError};
use super::tally::Tally;
use super::trace::Trace;

/// The largest number of gaps in one measurement, at 24 bytes each. A measurement with more than
/// one gap every two microseconds ends early.
const GAPS_MAX: usize = 1 << 18;

/// The priorities of SCHED_FIFO that leave a higher one for the synthetic load.
const PRIORITIES: RangeInclusive<u8> = 1..=98;

/// The number of interrupts listed by name.
const INTERRUPTS_NAMED: usize = 6;

/// The time between progress reports to the caller.
const BETWEEN_REPORTS: std::time::Duration = std::time::Duration::from_millis(100);

/// The progress of a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuProgress {
    /// The number of intervals of the longest length that have been measured so far.
    pub trials: u64,
    /// The planned number of such intervals.
    pub trials_all: u64,
    /// The profile of the data so far; `None` in most progress reports.
    pub so_far: Option<CpuProfile>,
}

/// Why nothing was measured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CpuProfileError {
    /// The intervals are invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The synthetic load is invalid.
    #[error(transparent)]
    SyntheticLoad(#[from] SyntheticLoadError),
    /// The priority leaves none above for the synthetic load, or is not a SCHED_FIFO priority.
    #[error(
        "priority {priority} is not between {} and {}: the synthetic load has the priority above",
        PRIORITIES.start(),
        PRIORITIES.end()
    )]
    Priority {
        /// The priority.
        priority: u8,
    },
    /// The processor does not exist, or this thread may not use it.
    #[error("the thread cannot run on processor {cpu} ({reason}); this process may use {allowed}")]
    Processor {
        /// The processor's number.
        cpu: u32,
        /// The kernel's error.
        reason: String,
        /// The processors that this process may use.
        allowed: String,
    },
    /// The measurement was stopped before one interval was complete.
    #[error("stopped before one interval of {stretch} was measured")]
    NothingMeasured {
        /// The length of one measurement.
        stretch: Duration,
    },
    /// There were too many gaps to record even the shortest interval completely.
    #[error("the shortest interval already has more gaps than there is room for")]
    NoRoom,
}

/// Measures until all trials are made, the time limit is reached, or `cancelled` is set; then uses
/// the data so far.
///
/// The calling thread waits, and receives progress several times a second. The measurement takes
/// `trials` times the longest interval, plus a tenth to a fifth for pauses (more with a synthetic
/// load), and 6 MiB of memory.
///
/// # Errors
/// If a parameter is invalid, or nothing was measured.
///
/// # Panics
/// If the system cannot start a thread.
pub fn profile(
    params: &CpuProfileParams,
    mut progress: impl FnMut(CpuProgress),
    cancelled: &AtomicBool,
) -> Result<CpuMeasurement, CpuProfileError> {
    let lengths = params.intervals.lengths()?;
    params.synthetic_load.map(SyntheticLoad::checked).transpose()?;
    if let Some(priority) = params.priority.filter(|it| !PRIORITIES.contains(it)) {
        return Err(CpuProfileError::Priority { priority });
    }
    let affinity = reachable(params.cpu)?;
    let (done, is_over) = (&AtomicU64::new(0), &AtomicBool::new(false));
    let (so_far, mut kept) = (&Mutex::new(None), Instant::now());
    let keep_every = std::time::Duration::from_nanos(params.keep_every.ns());
    let on = &affinity;
    let measured_at = SystemTime::now();
    let (found, synthetic_load) = thread::scope(|scope| {
        let synthetic_load = params.synthetic_load.map(|synthetic_load| {
            let above = params.priority.map(|priority| priority + 1);
            let (_, pause_max) = pause(params, Throttling::read());
            let IntervalRange { longest, .. } = params.intervals;
            let lasts_max = plan::lasts_max(longest, pause_max, params.trials, params.time_limit);
            let end = LoadEnd { is_over, is_cancelled: cancelled, lasts_max };
            scope.spawn(move || synthetic_load.run(on, above, end))
        });
        let work = || Hourglass::new(params, on, &lengths).run(done, so_far, cancelled);
        let builder = thread::Builder::new().name("hourglass".to_owned());
        let work = builder.spawn_scoped(scope, work).expect("threads can be started");
        while !work.is_finished() {
            let mut found = None;
            if kept.elapsed() >= keep_every {
                found = so_far.lock().ok().and_then(|mut so_far| so_far.take());
                kept = Instant::now();
            }
            progress(CpuProgress {
                trials: done.load(Ordering::Relaxed),
                trials_all: params.trials,
                so_far: found.map(|found| report::profile(params, &found, None, measured_at)),
            });
            thread::park_timeout(BETWEEN_REPORTS);
        }
        is_over.store(true, Ordering::Relaxed);
        let synthetic_load = synthetic_load
            .map(|synthetic_load| synthetic_load.join().expect("a synthetic load does not panic"));
        (work.join().expect("an hourglass does not panic"), synthetic_load)
    });
    if found.tally.stretches() == 0 {
        return Err(CpuProfileError::NothingMeasured { stretch: found.stretch });
    }
    if found.tally.points().is_empty() {
        return Err(CpuProfileError::NoRoom);
    }
    Ok(report::measurement(params, found, synthetic_load, measured_at))
}

/// Returns the affinity to this processor alone, if the calling thread may run there. To find out,
/// the thread moves there and back.
fn reachable(cpu: u32) -> Result<Affinity, CpuProfileError> {
    let refused = |reason: String| CpuProfileError::Processor {
        cpu,
        reason,
        allowed: Affinity::of(None).map_or_else(|_| "none".to_owned(), |all| format!("{all:?}")),
    };
    let only = Affinity::only(cpu).ok_or_else(|| refused("no such number".to_owned()))?;
    let moved = Affinity::of(None).and_then(|before| {
        only.apply(None)?;
        before.apply(None)
    });
    moved.map_err(|error| refused(error.to_string()))?;
    Ok(only)
}

/// The measuring thread.
struct Hourglass<'a> {
    params: &'a CpuProfileParams,
    clock: Clock,
    run_delay: Option<RunDelay>,
    trace: Trace,
    pause: (Duration, Duration),
    found: Found,
}

impl<'a> Hourglass<'a> {
    /// Makes the calling thread the measuring thread.
    fn new(params: &'a CpuProfileParams, affinity: &Affinity, lengths: &[Duration]) -> Self {
        // The processor existed a moment ago. If it went offline since then, the scheduler has
        // moved all threads.
        let _ = affinity.apply(None);
        let real_time = params.priority.map(realtime::request);
        let throttling = Throttling::read();
        let run_delay = RunDelay::of_this_thread();
        let clock = Clock::start();
        let stretch = plan::stretch(params.intervals.longest);
        let host = HostShare {
            waited: run_delay.as_ref().map(|_| Duration::ZERO),
            steal: None,
            throttling,
            gaps_like_throttling: 0,
            interrupts: Vec::new(),
        };
        let found = Found {
            tally: Tally::new(lengths),
            steps: Steps::measure(clock),
            stretch,
            real_time,
            host,
            cut: 0,
            took: Duration::ZERO,
            end: CpuProfileEnd::Complete,
        };
        let pause = pause(params, throttling);
        Self { params, clock, run_delay, trace: Trace::with_room(GAPS_MAX), pause, found }
    }

    fn run(
        mut self,
        done: &AtomicU64,
        so_far: &Mutex<Option<Found>>,
        cancelled: &AtomicBool,
    ) -> Found {
        let mut random = Pcg64Mcg::seed_from_u64(self.params.seed);
        let steal = ProcessorTime::read_of(self.params.cpu);
        let interrupts = Interrupts::read_of(self.params.cpu);
        let begin = self.clock.now();
        self.found.end = loop {
            if let Some(end) = self.end(cancelled) {
                break end;
            }
            let pause = random.random_range(self.pause.0.ns()..=self.pause.1.ns());
            self.stretch(self.clock.now() + Duration::from_ns(pause));
            done.store(self.found.tally.trials(), Ordering::Relaxed);
            // Do not wait for the caller: the next iteration provides the same data and more.
            if let Ok(mut so_far) = so_far.try_lock() {
                *so_far = Some(self.found.clone()).filter(|it| !it.tally.points().is_empty());
            }
        };
        self.found.took = self.clock.now().since(begin);
        let interrupts_now = Interrupts::read_of(self.params.cpu);
        let most = interrupts_now.most_since(&interrupts, INTERRUPTS_NAMED);
        self.found.host.interrupts =
            most.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        let steal_now = ProcessorTime::read_of(self.params.cpu);
        self.found.host.steal = steal.zip(steal_now).map(|(before, now)| now.since(before));
        self.found
    }

    fn end(&self, cancelled: &AtomicBool) -> Option<CpuProfileEnd> {
        let is_late = |limit| self.clock.now().since(tidegate_model::Time::ZERO) >= limit;
        // A measurement with too many gaps to record can be too short for a trial.
        let trials = self.found.tally.trials().max(self.found.tally.stretches());
        if trials >= self.params.trials {
            return Some(CpuProfileEnd::Complete);
        }
        if cancelled.load(Ordering::Relaxed) {
            return Some(CpuProfileEnd::Cancelled);
        }
        self.params.time_limit.is_some_and(is_late).then_some(CpuProfileEnd::TimeOver)
    }

    fn stretch(&mut self, begin: tidegate_model::Time) {
        let waited = self.run_delay.as_ref().and_then(RunDelay::read);
        let found = &mut self.found;
        hourglass::measure(self.clock, begin, found.stretch, found.steps, &mut self.trace);
        let waited_now = self.run_delay.as_ref().and_then(RunDelay::read);
        found.host.waited =
            found.host.waited.zip(waited.zip(waited_now)).map(|(sum, (before, now))| {
                sum + now.checked_sub(before).unwrap_or(Duration::ZERO)
            });
        if self.trace.length() < found.stretch {
            // The data counts for intervals that fit into the trace; the longest ones need more
            // room.
            found.cut += 1;
        }
        found.host.gaps_like_throttling += gaps_like(&self.trace, found.host.throttling);
        found.tally.add(&self.trace);
    }
}

/// Returns the least and the greatest length of a pause.
fn pause(params: &CpuProfileParams, throttling: Option<Throttling>) -> (Duration, Duration) {
    let alone = plan::pause(plan::stretch(params.intervals.longest), throttling);
    params.synthetic_load.map_or(alone, |synthetic_load| plan::pause_beside(alone, synthetic_load))
}

/// Returns the number of gaps that are as long, within a fifth, as the wait of a throttled thread.
fn gaps_like(trace: &Trace, throttling: Option<Throttling>) -> u64 {
    let wait = throttling.and_then(|it| it.period.checked_sub(it.runtime?)).map(Duration::ns);
    let Some(wait) = wait.filter(|&wait| wait > 0) else { return 0 };
    let is_like = |ns: u64| ns.abs_diff(wait) <= wait / 5;
    trace.gaps().iter().filter(|gap| is_like(gap.end.since(gap.begin).ns())).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(synthetic_load: Option<SyntheticLoad>) -> CpuProfileParams {
        CpuProfileParams {
            name: "test".to_owned(),
            cpu: Affinity::of(None).unwrap().cpus().last().unwrap(),
            priority: Some(60),
            intervals: IntervalRange { longest: Duration::from_ms(20), count: 20 },
            trials: 25,
            time_limit: None,
            seed: 1,
            synthetic_load,
            keep_every: Duration::from_ms(1),
        }
    }

    #[test]
    fn a_measured_profile_can_be_written_and_read() {
        let (mut seen, mut kept) = (0, None);
        let progress = |progress: CpuProgress| {
            seen = progress.trials_all;
            kept = progress.so_far.or(kept.take());
        };
        let found = profile(&params(None), progress, &AtomicBool::new(false)).unwrap();
        assert_eq!(seen, 25);
        assert!(found.tally.trials() >= 25 && found.end == CpuProfileEnd::Complete);
        // A killed run would have left a profile: one was reported every 100 ms, and the run took
        // more than 500 ms.
        let kept = kept.unwrap();
        assert!(kept.conditions.trials > Some(0) && CpuProfile::parse(&kept.to_toml()).is_ok());
        assert!(
            kept.points
                .iter()
                .zip(&found.profile.points)
                .all(|(kept, all)| kept.stolen_max <= all.stolen_max)
        );
        assert_eq!(CpuProfile::parse(&found.profile.to_toml()).unwrap(), found.profile);
        let is_granted = found.real_time.is_some_and(|it| it.scheduling.is_ok());
        assert_eq!(found.profile.conditions.priority.is_some(), is_granted);
        let says_so = |text: &String| text.contains("without real-time priority");
        assert_eq!(found.warnings.iter().any(says_so), !is_granted);
    }

    /// Goal: all time that a more urgent load took is counted as stolen, except outside the
    /// measured intervals. The goal does not depend on the host. The test is skipped without
    /// permission for real-time priorities, because then no load is more urgent.
    #[test]
    fn the_time_of_a_synthetic_load_is_seen() {
        let ms = Duration::from_ms;
        let synthetic_load = SyntheticLoad { execution: ms(5), period: ms(10) };
        let clock = Clock::start();
        let found =
            profile(&params(Some(synthetic_load)), |_| (), &AtomicBool::new(false)).unwrap();
        let took = clock.now().since(tidegate_model::Time::ZERO);
        let report = found.synthetic_load.unwrap();
        assert!(report.jobs > 0);
        if report.priority.is_none() || found.profile.conditions.priority.is_none() {
            eprintln!("skipped: no permission for real-time priorities");
            return;
        }
        let outside = took.checked_sub(found.tally.measured()).unwrap();
        assert!(found.tally.stolen() + outside >= report.executed, "{found:?}");
    }

    #[test]
    fn the_time_limit_is_no_interruption() {
        let time_limit = Some(Duration::from_ms(1_000));
        let params = CpuProfileParams { time_limit, trials: u64::MAX, ..params(None) };
        let found = profile(&params, |_| (), &AtomicBool::new(false)).unwrap();
        assert_eq!(found.end, CpuProfileEnd::TimeOver);
    }

    #[test]
    fn a_measurement_that_is_not_possible_is_refused() {
        let with = |change: &dyn Fn(&mut CpuProfileParams)| {
            let mut params = params(None);
            change(&mut params);
            profile(&params, |_| (), &AtomicBool::new(true)).unwrap_err()
        };
        assert!(matches!(
            with(&|it| it.cpu = 1_000),
            CpuProfileError::Processor { cpu: 1_000, .. }
        ));
        assert!(matches!(with(&|it| it.intervals.count = 0), CpuProfileError::Plan(_)));
        for priority in [0, 99, 255] {
            let refused = with(&|it| it.priority = Some(priority));
            assert!(refused.to_string().contains("not between 1 and 98"), "{refused}");
        }
        let greedy =
            SyntheticLoad { execution: Duration::from_us(9_900), period: Duration::from_ms(10) };
        assert!(matches!(
            with(&|it| it.synthetic_load = Some(greedy)),
            CpuProfileError::SyntheticLoad(_)
        ));
        let stopped = with(&|_| ());
        assert!(matches!(stopped, CpuProfileError::NothingMeasured { .. }), "{stopped}");
    }
}
