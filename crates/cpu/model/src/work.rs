// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a server executes: jobs that come when they like.

use tidegate_model::units::Duration;

/// When the jobs of a piece of work arrive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Arrivals {
    /// Every `period`.
    Periodic {
        /// From one arrival to the next.
        period: Duration,
    },
    /// No sooner than `gap_min` after the last; a simulation draws gaps of one to two of it.
    Sporadic {
        /// The least time between two arrivals.
        gap_min: Duration,
    },
    /// Independent of each other.
    Poisson {
        /// The mean time between two arrivals.
        gap_mean: Duration,
    },
    /// `burst` jobs at once, bursts as in [`Arrivals::Poisson`].
    Bursty {
        /// Jobs that arrive together, at least 1.
        burst: u32,
        /// The mean time between two bursts.
        gap_mean: Duration,
    },
    /// At these instants from the start of the run, in order, and then no more.
    At(Vec<Duration>),
}

/// How long one job executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Execution {
    /// Always as long.
    Fixed(Duration),
    /// Exponentially distributed, at least 1 ns, with this mean.
    Exponential {
        /// The mean.
        mean: Duration,
    },
}

impl Execution {
    /// The mean, which of a fixed one is itself.
    pub const fn mean(self) -> Duration {
        match self {
            Self::Fixed(execution) | Self::Exponential { mean: execution } => execution,
        }
    }
}

/// Jobs for one server, which executes them first come first served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuWork {
    /// Unique on its processor.
    pub name: String,
    /// Which server executes it: an index into [`super::CpuWorkload::servers`].
    pub server: usize,
    /// When jobs arrive.
    pub arrivals: Arrivals,
    /// How long one executes.
    pub execution: Execution,
    /// From arrival, where there is one.
    pub deadline: Option<Duration>,
    /// Added to the first arrival.
    pub offset: Duration,
}
