// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Summarizes a service: one line per export.

use std::fmt;

use std::sync::Arc;

use tidegate_model::{Duration, count};

use super::Service;
use super::export_statistics::ExportStatistics;
use super::offer::Offer;
use super::statistics::ServiceStatistics;

/// A service's statistics and its offer.
#[derive(Debug)]
pub struct Summary {
    offer: Arc<Offer>,
    statistics: ServiceStatistics,
}

impl Service {
    /// Returns the summary so far; `None` if the service ended.
    pub fn summary(&self) -> Option<Summary> {
        let offer = self.offer();
        let statistics = self.shared.inbox.ask(offer.ids().to_vec(), None)?;
        Some(Summary { offer, statistics })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exports = self.offer.exports().iter().zip(self.offer.bounds());
        for ((export, bound), seen) in exports.zip(&self.statistics.exports) {
            write!(f, "{}: ", export.name)?;
            if let Some(contract) = &export.contract {
                write_contract(f, seen, *bound, contract.deadline)?;
            } else {
                let elapsed = self.statistics.now.since(tidegate_model::Time::ZERO);
                let what = if export.is_soft { "soft" } else { "best effort" };
                write_without_contract(f, seen, elapsed, what)?;
            }
            if seen.failed > 0 {
                write!(f, "; {} failed", seen.failed)?;
            }
            writeln!(f)?;
        }
        let ServiceStatistics {
            batches, overruns, overruns_tolerated, overrun_max, guarantee, ..
        } = self.statistics;
        if guarantee.degradations > 0 {
            let now = if guarantee.is_degraded { "degraded" } else { "stands again" };
            writeln!(f, "guarantee: {now}; degradations so far: {}", guarantee.degradations)?;
        }
        if batches > 0 {
            let batches = count(batches, "batch");
            write!(f, "drive: {batches}, {overruns} longer than its file says")?;
            if overruns > 0 {
                write!(f, ", by at most {overrun_max}")?;
            }
            if overruns_tolerated > 0 {
                write!(f, " ({overruns_tolerated} of them within what the proof tolerates)")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn write_contract(
    f: &mut fmt::Formatter<'_>,
    seen: &ExportStatistics,
    bound: Option<Duration>,
    deadline: Duration,
) -> fmt::Result {
    write!(
        f,
        "{}, {} after their deadline of {deadline}",
        count(seen.bounded.count(), "request"),
        seen.misses
    )?;
    if let Some(longest) = seen.bounded.max() {
        write!(f, "; longest {}", rounded(longest))?;
    }
    if let Some(bound) = bound {
        write!(f, ", proved {}", rounded(bound))?;
    }
    if seen.exceeded > 0 {
        let late = seen.exceeded - seen.unexplained;
        write!(
            f,
            "; {} above it, by at most {}, {late} of them within the lateness of drive and host",
            seen.exceeded,
            rounded(seen.excess_max)
        )?;
    }
    if seen.beyond > 0 {
        write!(f, "; {} beyond the contract", seen.beyond)?;
    }
    Ok(())
}

fn write_without_contract(
    f: &mut fmt::Formatter<'_>,
    seen: &ExportStatistics,
    elapsed: Duration,
    what: &str,
) -> fmt::Result {
    let kb_per_s = u128::from(seen.bytes) * 1_000_000 / u128::from(elapsed.ns().max(1));
    write!(f, "{}, {what}, {kb_per_s} kB/s", count(seen.responses.count(), "request"))
}

/// Rounds up to the next microsecond, for display.
fn rounded(time: Duration) -> Duration {
    Duration::from_us(time.ns().div_ceil(1_000))
}
