// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Aperiodic work: the jobs that a server executes.

use tidegate_model::units::Duration;

/// When the jobs of a piece of work arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrivals {
    /// One job every `period`.
    Periodic {
        /// The time from one arrival to the next.
        period: Duration,
    },
    /// At least `gap_min` apart; a simulation draws gaps of one to two times `gap_min`.
    Sporadic {
        /// The least time between two arrivals.
        gap_min: Duration,
    },
    /// A Poisson process: arrivals are independent of each other.
    Poisson {
        /// The mean time between two arrivals.
        gap_mean: Duration,
    },
    /// `burst` jobs at a time; the bursts arrive as in [`Arrivals::Poisson`].
    Bursty {
        /// Jobs that arrive together, at least 1.
        burst: u32,
        /// The mean time between two bursts.
        gap_mean: Duration,
    },
    /// At these instants, in ascending order, counted from the start of the run plus the offset.
    At(Vec<Duration>),
}

/// How long one job executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// Always the same.
    Fixed(Duration),
    /// Exponentially distributed, at least 1 ns, with this mean.
    Exponential {
        /// The mean.
        mean: Duration,
    },
}

impl Execution {
    /// Returns the mean; for a fixed time the time itself.
    pub const fn mean(self) -> Duration {
        match self {
            Self::Fixed(execution) | Self::Exponential { mean: execution } => execution,
        }
    }
}

/// Jobs for one server, which executes them first come first served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuWork {
    /// The name, unique on its processor.
    pub name: String,
    /// The server that executes it: an index into [`super::CpuWorkload::servers`].
    pub server: usize,
    /// When jobs arrive.
    pub arrivals: Arrivals,
    /// How long a job executes.
    pub execution: Execution,
    /// The deadline, counted from the arrival; `None` if the jobs have no deadline.
    pub deadline: Option<Duration>,
    /// The time by which all arrivals are delayed.
    pub offset: Duration,
}

impl CpuWork {
    /// Creates work without a deadline whose first job arrives as soon as `arrivals` allow.
    pub fn new(
        name: impl Into<String>,
        server: usize,
        arrivals: Arrivals,
        execution: Execution,
    ) -> Self {
        let (deadline, offset) = (None, Duration::ZERO);
        Self { name: name.into(), server, arrivals, execution, deadline, offset }
    }
}
