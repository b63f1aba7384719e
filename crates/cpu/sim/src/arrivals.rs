// SPDX-License-Identifier: Apache-2.0 OR MIT
//! When jobs arrive and how long they execute, drawn from a seed.

use tidegate_cpu_model::{Arrivals, CpuTask, CpuWork, Execution, TaskArrivals};
use tidegate_model::{Duration, Random, Time};

/// 2^53: the number of equally spaced fractions below 1 that a double distinguishes.
const FRACTIONS: f64 = 9_007_199_254_740_992.0;

/// The longest time drawn: 73 years, longer than any run.
const DRAWN_NS_MAX: u64 = 1 << 61;

/// Draws an exponentially distributed time, at least 1 ns.
///
/// The logarithm is `libm`'s, which is the same on every machine.
fn exponential(random: &mut Random, mean: Duration) -> Duration {
    // The fraction has 53 bits and is never 0, which has no logarithm.
    let fraction = (float(random.bits() >> 11) + 1.0) / FRACTIONS;
    let drawn = -libm::log(fraction) * float(mean.ns());
    Duration::from_ns(whole(drawn).clamp(1, DRAWN_NS_MAX))
}

#[expect(clippy::cast_precision_loss, reason = "a random time to 53 bits")]
fn float(number: u64) -> f64 {
    number as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and a conversion of floats saturates"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// Draws a time of one to two times `least`.
fn at_least(random: &mut Random, least: Duration) -> Duration {
    least + Duration::from_ns(random.below(least.ns()))
}

/// The arrivals of a task.
#[derive(Debug, Clone)]
pub(super) struct TaskReleases {
    period: Duration,
    jitter: Duration,
    arrivals: TaskArrivals,
    random: Random,
    /// The next arrival, and its release, which jitter can delay.
    next: (Time, Time),
}

impl TaskReleases {
    pub(super) fn new(task: &CpuTask, random: Random) -> Self {
        let mut releases = Self {
            period: task.period,
            jitter: task.jitter,
            arrivals: task.arrivals,
            random,
            next: (Time::ZERO, Time::ZERO),
        };
        releases.set_next(Time::ZERO + task.offset);
        releases
    }

    /// Returns the release time of the next job.
    pub(super) fn next(&self) -> Time {
        self.next.1
    }

    /// Removes the job that is released now; returns its arrival.
    pub(super) fn take(&mut self) -> Time {
        let arrival = self.next.0;
        let gap = match self.arrivals {
            TaskArrivals::Periodic => self.period,
            TaskArrivals::Sporadic => at_least(&mut self.random, self.period),
        };
        self.set_next(arrival + gap);
        arrival
    }

    fn set_next(&mut self, arrival: Time) {
        let delay = match self.jitter.ns() {
            0 => 0,
            jitter => self.random.below(jitter + 1),
        };
        // Jobs of a task are released in order, for any jitter.
        let release = (arrival + Duration::from_ns(delay)).max(self.next.1);
        self.next = (arrival, release);
    }
}

/// The arrivals of a piece of work.
#[derive(Debug, Clone)]
pub(super) struct WorkArrivals {
    arrivals: Arrivals,
    execution: Execution,
    random: Random,
    next: Time,
    /// The number of instants already taken from an [`Arrivals::At`] list.
    taken: usize,
    offset: Duration,
}

impl WorkArrivals {
    pub(super) fn new(work: &CpuWork, random: Random) -> Self {
        let mut arrivals = Self {
            arrivals: work.arrivals.clone(),
            execution: work.execution,
            random,
            next: Time::ZERO + work.offset,
            taken: 0,
            offset: work.offset,
        };
        if let Arrivals::Poisson { .. } | Arrivals::Bursty { .. } | Arrivals::At(_) =
            arrivals.arrivals
        {
            arrivals.step();
        }
        arrivals
    }

    /// Returns the arrival time of the next jobs.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Removes the jobs that arrive now; returns their number.
    pub(super) fn take(&mut self) -> u32 {
        let jobs = match &self.arrivals {
            Arrivals::Bursty { burst, .. } => *burst,
            _ => 1,
        };
        self.step();
        jobs
    }

    fn step(&mut self) {
        self.next = match &self.arrivals {
            Arrivals::Periodic { period } => self.next + *period,
            Arrivals::Sporadic { gap_min } => self.next + at_least(&mut self.random, *gap_min),
            Arrivals::Poisson { gap_mean } | Arrivals::Bursty { gap_mean, .. } => {
                self.next + exponential(&mut self.random, *gap_mean)
            }
            Arrivals::At(instants) => {
                let instant = instants.get(self.taken);
                self.taken += 1;
                instant.map_or(Time::MAX, |&instant| Time::ZERO + self.offset + instant)
            }
        };
    }

    /// Draws how long the next job executes.
    pub(super) fn draw_execution(&mut self) -> Duration {
        match self.execution {
            Execution::Fixed(execution) => execution,
            Execution::Exponential { mean } => exponential(&mut self.random, mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_times_have_their_mean_and_their_tail() {
        let mut random = Random::new(1, 1);
        let mean = Duration::from_us(10);
        let times: Vec<u64> = (0..100_000).map(|_| exponential(&mut random, mean).ns()).collect();
        let average = times.iter().sum::<u64>() / 100_000;
        assert!((9_900..10_100).contains(&average), "{average}");
        // A share of e^-3 of the times exceeds three means.
        let tail = times.iter().filter(|&&ns| ns > 30_000).count();
        assert!((4_700..5_300).contains(&tail), "{tail}");
    }
}
