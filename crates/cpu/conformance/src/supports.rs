// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The optional parts of the suite that an implementation supports, and cases adapted to them.

use tidegate_cpu_model::{Arrivals, CpuWorkload, Execution, ServerParams, TaskArrivals};
use tidegate_model::{Duration, Random};

use crate::case::Case;

/// The longest granularity that the suite can test; its longest streams then take an hour.
const GRANULARITY_MAX: Duration = Duration::from_ms(1_000);

/// The optional parts that an implementation supports. The invariants are not optional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supports {
    /// Whether the implementation charges preemptions to the budget.
    pub preemption_charge: bool,
    /// The least number of replenishments that a server can be limited to.
    pub replenishments_min: u32,
    /// The largest number of replenishments that a server can be limited to.
    pub replenishments_max: u32,
    /// The unit of the implementation's times: every time in its tests is a multiple of the unit.
    pub granularity: Duration,
}

/// Why a declaration is not usable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SupportsError {
    /// The numbers of replenishments are in the wrong order, or zero.
    #[error(
        "`supports` allows {min} to {max} replenishments; declare at least 1, and the least number first"
    )]
    Replenishments {
        /// The least number.
        min: u32,
        /// The largest number.
        max: u32,
    },
    /// The granularity is zero or too long.
    #[error("`supports` has a granularity of {granularity}; declare 1 ns to {GRANULARITY_MAX}")]
    Granularity {
        /// The granularity.
        granularity: Duration,
    },
}

impl Supports {
    /// A number of replenishments that no test exceeds.
    pub const REPLENISHMENTS_ALL: u32 = ServerParams::REPLENISHMENTS_LIMIT;

    /// Everything that the suite can test.
    pub const ALL: Self = Self {
        preemption_charge: true,
        replenishments_min: 1,
        replenishments_max: Self::REPLENISHMENTS_ALL,
        granularity: Duration::from_ns(1),
    };

    /// The assumption about a program that declares nothing: no preemption charge, and at least two
    /// replenishments. Several kernels need two, and POSIX has no charge.
    pub const UNDECLARED: Self =
        Self { preemption_charge: false, replenishments_min: 2, ..Self::ALL };

    /// Returns the declaration if it is usable.
    ///
    /// # Errors
    /// Returns the error of the first invalid part.
    pub fn checked(self) -> Result<Self, SupportsError> {
        let Self { replenishments_min: min, replenishments_max: max, granularity, .. } = self;
        if min == 0 || min > max {
            return Err(SupportsError::Replenishments { min, max });
        }
        if granularity.is_zero() || granularity > GRANULARITY_MAX {
            return Err(SupportsError::Granularity { granularity });
        }
        Ok(self)
    }

    /// Returns whether everything is supported, so that the suite omits nothing.
    pub fn is_all(&self) -> bool {
        *self == Self::ALL
    }

    /// Returns whether a server with these parameters is supported.
    pub fn admits(&self, params: &ServerParams) -> bool {
        (self.preemption_charge || params.preemption_charge.is_zero())
            && (self.replenishments_min..=self.replenishments_max)
                .contains(&params.replenishments_max)
    }

    /// Returns the factor by which times in whole microseconds are multiplied so that all are
    /// multiples of the granularity: the least common multiple of the two, in microseconds.
    pub(crate) fn factor(&self) -> u64 {
        let unit = self.granularity.ns();
        unit / greatest_common_divisor(unit, 1_000)
    }

    /// Changes a random case so that the implementation supports its server and its instants.
    pub(crate) fn fitted(&self, mut case: Case) -> Case {
        let params = &mut case.workload.servers[0].params;
        if !self.preemption_charge {
            params.preemption_charge = Duration::ZERO;
        }
        params.replenishments_max =
            params.replenishments_max.clamp(self.replenishments_min, self.replenishments_max);
        if self.granularity > Duration::from_ns(1) {
            make_discrete(&mut case);
            case = case.lengthened(self.factor());
        }
        case
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Replaces all random times in a case by whole microseconds, the suite's tick.
fn make_discrete(case: &mut Case) {
    let mut random = Random::new(case.seed, 1);
    let duration = case.duration;
    let CpuWorkload { work, tasks, .. } = &mut case.workload;
    for work in work {
        let (burst, gap) = match &work.arrivals {
            Arrivals::Periodic { period } => (1, *period),
            Arrivals::Sporadic { gap_min } => (1, *gap_min),
            Arrivals::Poisson { gap_mean } => (1, *gap_mean),
            Arrivals::Bursty { burst, gap_mean } => (*burst, *gap_mean),
            Arrivals::At(_) => continue,
        };
        // Gaps are uniform, up to twice the mean; a mean below a tick counts as one tick.
        let gap_us = gap.ns().div_ceil(1_000);
        let mut instants = Vec::new();
        let mut at = Duration::ZERO;
        while at <= duration {
            instants.extend((0..burst).map(|_| at));
            at += Duration::from_us(1 + random.below(2 * gap_us));
        }
        work.arrivals = Arrivals::At(instants);
        work.execution = Execution::Fixed(whole_us(work.execution.mean()));
    }
    for task in tasks {
        task.arrivals = TaskArrivals::Periodic;
    }
}

fn whole_us(time: Duration) -> Duration {
    Duration::from_us(time.ns().div_ceil(1_000))
}

impl Case {
    /// Returns the case with all times multiplied by `factor`.
    pub(crate) fn lengthened(mut self, factor: u64) -> Self {
        let workload = &mut self.workload;
        workload.timer_latency = workload.timer_latency * factor;
        for server in &mut workload.servers {
            let params = &mut server.params;
            params.budget = params.budget * factor;
            params.period = params.period * factor;
            params.preemption_charge = params.preemption_charge * factor;
        }
        for task in &mut workload.tasks {
            task.execution = task.execution * factor;
            task.period = task.period * factor;
            task.deadline = task.deadline * factor;
            task.offset = task.offset * factor;
        }
        for work in &mut workload.work {
            if let Arrivals::At(instants) = &mut work.arrivals {
                for at in instants {
                    *at = *at * factor;
                }
            }
            work.execution = Execution::Fixed(work.execution.mean() * factor);
        }
        self.duration = self.duration * factor;
        self
    }
}
