// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Formats sentences about a tail. No sentence makes an estimate look like a bound.

use std::fmt;

use tidegate_model::Duration;

use crate::extremes::{Fit, Fitted, Goodness, LevelRange, Refusal, Tail};

/// Rounds an estimate up, to three significant digits, for printing. More digits would suggest a
/// precision that the estimate lacks.
pub(super) fn told(time: Duration) -> Duration {
    let step = step(time);
    // Saturation is harmless: no time is longer than the largest `Duration`.
    Duration::from_ns(time.ns().div_ceil(step).saturating_mul(step))
}

/// Rounds the lower end of a range down to three significant digits.
fn told_floor(time: Duration) -> Duration {
    Duration::from_ns(time.ns() / step(time) * step(time))
}

/// Returns the unit of the third significant digit, in ns.
fn step(time: Duration) -> u64 {
    10_u64.pow(time.ns().checked_ilog10().unwrap_or(0).saturating_sub(2))
}

/// Writes one sentence that says that the estimate is not a bound. It does not state the end of the
/// tail: in half of all cases, other samples exceed an end that was fitted to 1,000 samples of a
/// disk.
impl fmt::Display for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fitted(fit) => write!(f, "{}: {fit}", fit.fitted),
            Self::Refused(fitted, refusal) => write!(f, "{fitted}: no estimate, {refusal}"),
        }
    }
}

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Blocks { block, count } => {
                let maxima = if count == 1 { "maximum" } else { "maxima" };
                write!(f, "{count} {maxima} of {}", tidegate_model::count(block, "sample"))
            }
            Self::Excesses { threshold_ppm, count, .. } => {
                let level = f64::from(threshold_ppm) / 10_000.0;
                let samples = tidegate_model::count(count, "sample");
                write!(f, "{samples} above the {level} % quantile")
            }
        }
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level(self.exceedance) {
            Some(level) => write!(
                f,
                "one sample in {:.0} is estimated to take longer than {}",
                1.0 / self.exceedance,
                told(level)
            )?,
            None => write!(f, "no time is estimated for a probability of {}", self.exceedance)?,
        }
        if let Some(range) = self.range {
            write!(f, ", {range}")?;
        }
        f.write_str(", if independent; not a bound")
    }
}

impl fmt::Display for LevelRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let low = told_floor(self.low);
        match self.high {
            Some(high) => write!(f, "in a range of {low} to {}", told(high)),
            None => write!(f, "in a range from {low} without end"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { count, needed } => {
                write!(f, "too few values: {count} of at least {needed}")
            }
            Self::TooFewDistinct { distinct, count } => {
                write!(
                    f,
                    "the {count} values are only {distinct} different ones: the times are rounded or fixed"
                )
            }
            Self::NoFit => f.write_str("no parameters of the law were found"),
            Self::NoLikeliest { shape } => {
                write!(
                    f,
                    "the times pile up at the longest (shape {shape:.2}): the law has no likeliest parameters"
                )
            }
            Self::NoMean { shape } => {
                write!(f, "the tail is so heavy (shape {shape:.2}) that it has no finite mean")
            }
            Self::BeyondEnd { highest, end } => {
                write!(f, "{highest} was measured and the fitted tail ends at {}", told(*end))
            }
            Self::PoorFit(Goodness { statistic, p }) => {
                write!(
                    f,
                    "the times do not follow the law (Anderson-Darling {statistic:.2}, p = {p:.3})"
                )
            }
        }
    }
}
