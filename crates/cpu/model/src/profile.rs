// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The processor profile (`*.cpu.toml`): the longest processor time that other execution took from
//! a thread, in intervals of many lengths.
//!
//! `tidegate cpu profile` writes it; `tidegate cpu check` counts it as interference above every
//! task. Times are integer nanoseconds and utilisations parts per billion, because programs write
//! them. Reading checks the fits against the points, so that a bound below the measurement cannot
//! be used.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use tidegate_model::file_error::FileError;
use tidegate_model::units::Duration;

/// The whole processor, in parts per billion.
pub const WHOLE_PPB: u64 = 1_000_000_000;

/// The longest interval of a profile: a day.
const INTERVAL_NS_MAX: u64 = 86_400_000_000_000;

/// A profile of one processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuProfile {
    /// The profile's name, for human readers.
    pub name: String,
    /// The conditions of the measurement.
    pub conditions: CpuConditions,
    /// The longest stolen times, by ascending length of the interval; at least one.
    pub points: Vec<StolenPoint>,
    /// The fitted line that bounds the demand.
    pub demand_fit: Option<DemandFit>,
    /// The fitted hyperbola that bounds the load.
    pub load_fit: Option<LoadFit>,
}

/// The conditions of a profile's measurement. Each free text is one line, for human readers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuConditions {
    /// The processor's number on its host.
    pub cpu: u32,
    /// The measuring thread's SCHED_FIFO priority; `None` if it had no real-time priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// The smallest number of intervals that were measured for any one length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trials: Option<u64>,
    /// The synthetic load that ran during the measurement, such as `2ms/10ms`; `None` if there was
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thief: Option<String>,
    /// The date of the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The measured machine and its kernel.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The method of the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Other programs that ran, and conditions of the host that may have disturbed or shaped the
    /// measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<String>,
}

/// The longest time stolen in intervals of one length: a point of the demand or, divided by the
/// length, of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StolenPoint {
    /// The length of the interval.
    pub interval: Duration,
    /// The longest measured stolen time in such an interval.
    pub stolen_max: Duration,
}

/// A line above the demand: at most `min(D, offset + utilization_ppb / 10^9 * D)` is stolen in
/// every window of length D.
///
/// The equivalent sporadic task (5.3.0.6): u = `utilization_ppb`, e = `offset` / (1 - u), p = e /
/// u.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DemandFit {
    /// The slope, rounded up.
    pub utilization_ppb: u64,
    /// The demand at length zero, rounded up.
    pub offset_ns: u64,
}

/// A hyperbola above the load (5.3.0.9): in every window of length D, the stolen share is at most
/// `min(1, u (1 + (p - e) / D))`, with e = u p.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadFit {
    /// u, rounded up.
    pub utilization_ppb: u64,
    /// p, rounded up.
    pub period_ns: u64,
}

impl LoadFit {
    /// Returns the equivalent line above the demand (5.3.0.9 times D is 5.3.0.6), rounded up.
    pub fn to_demand(self) -> DemandFit {
        let whole = u128::from(WHOLE_PPB);
        let utilization = u128::from(self.utilization_ppb.min(WHOLE_PPB));
        let offset = utilization * (whole - utilization) * u128::from(self.period_ns);
        // The offset is at most a quarter of a period, so it fits in 64 bits.
        let offset_ns = u64::try_from(offset.div_ceil(whole * whole)).unwrap_or(u64::MAX);
        DemandFit { utilization_ppb: self.utilization_ppb, offset_ns }
    }
}

impl DemandFit {
    /// Returns the demand in a window of this length, rounded up and not limited to the window;
    /// `None` on overflow.
    pub fn demand_ns(self, window_ns: u64) -> Option<u64> {
        let part = u128::from(self.utilization_ppb) * u128::from(window_ns);
        let part = u64::try_from(part.div_ceil(u128::from(WHOLE_PPB))).ok()?;
        part.checked_add(self.offset_ns)
    }
}

impl StolenPoint {
    /// Returns the stolen share of the interval, rounded up.
    pub fn load_ppb(self) -> u64 {
        let stolen = u128::from(self.stolen_max.ns()) * u128::from(WHOLE_PPB);
        let load = stolen.div_ceil(u128::from(self.interval.ns().max(1)));
        u64::try_from(load).unwrap_or(u64::MAX)
    }
}

/// Returns the points with every stolen time raised to the longest of all shorter intervals: time
/// stolen in an interval can also be stolen in a longer one (Theorem 5.4.1).
pub fn running_max(points: &[StolenPoint]) -> Vec<StolenPoint> {
    let mut longest = Duration::ZERO;
    let raised = points.iter().map(|point| {
        longest = longest.max(point.stolen_max);
        StolenPoint { stolen_max: longest, ..*point }
    });
    raised.collect()
}

/// For nondecreasing points, returns the shortest interval in which each point's time can have been
/// stolen, and the last point. A line above all of these is above the demand in every interval up
/// to the longest, not only in the measured ones.
///
/// A window that is longer by x loses at most x more. So if y was stolen in D and y' in the next
/// longer D', a stolen time of y' needs an interval of at least D + y' - y, and a longer stolen
/// time needs at least D'.
///
/// # Panics
/// If a point's stolen time is below that of the previous point or exceeds the point's interval.
pub fn corners(raised: &[StolenPoint]) -> Vec<StolenPoint> {
    let mut before = StolenPoint { interval: Duration::ZERO, stolen_max: Duration::ZERO };
    let corners = raised.iter().map(|&point| {
        let earliest = before.interval + (point.stolen_max - before.stolen_max);
        before = point;
        StolenPoint { interval: earliest.min(point.interval), ..point }
    });
    corners.chain(raised.last().copied()).collect()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProfile {
    name: String,
    conditions: CpuConditions,
    stolen: RawStolen,
    #[serde(default)]
    fit: RawFit,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStolen {
    interval_ns: Spanned<Vec<u64>>,
    ns_max: Spanned<Vec<u64>>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFit {
    #[serde(skip_serializing_if = "Option::is_none")]
    demand: Option<Spanned<DemandFit>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load: Option<Spanned<LoadFit>>,
}

impl CpuProfile {
    /// Reads the text of a processor profile.
    ///
    /// # Errors
    /// The first fault, with its place and what to write instead; a fit below a point, or below the
    /// corners between points ([`corners`]), is a fault.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let raw: RawProfile = toml::from_str(text).map_err(|error| FileError::from_toml(&error))?;
        if raw.name.is_empty() || raw.name.chars().any(char::is_control) {
            return Err(FileError::new(
                0..0,
                "the profile's name is empty or contains control characters",
                "write a printable name",
            ));
        }
        let profile = Self {
            name: raw.name,
            conditions: raw.conditions,
            points: read_points(&raw.stolen)?,
            demand_fit: raw.fit.demand.as_ref().map(|fit| *fit.get_ref()),
            load_fit: raw.fit.load.as_ref().map(|fit| *fit.get_ref()),
        };
        let demand = raw.fit.demand.map(|fit| (fit.span(), *fit.get_ref()));
        let load = raw.fit.load.map(|fit| (fit.span(), fit.get_ref().to_demand()));
        for (span, fit) in demand.into_iter().chain(load) {
            profile.check_fit(fit).map_err(|fault| {
                FileError::new(
                    span,
                    fault,
                    "measure it again with `tidegate cpu profile -o NEW.cpu.toml`",
                )
            })?;
        }
        Ok(profile)
    }

    /// Returns the text of the file.
    ///
    /// # Panics
    /// If a number exceeds 2^63, which no profile that was read contains.
    pub fn to_toml(&self) -> String {
        let list = |of: fn(&StolenPoint) -> Duration| {
            Spanned::new(0..0, self.points.iter().map(|point| of(point).ns()).collect())
        };
        let raw = RawProfile {
            name: self.name.clone(),
            conditions: self.conditions.clone(),
            stolen: RawStolen {
                interval_ns: list(|point| point.interval),
                ns_max: list(|point| point.stolen_max),
            },
            fit: RawFit {
                demand: self.demand_fit.map(|fit| Spanned::new(0..0, fit)),
                load: self.load_fit.map(|fit| Spanned::new(0..0, fit)),
            },
        };
        toml::to_string(&raw).expect("a profile has nothing that TOML cannot express")
    }

    /// Returns [`running_max`] of the points.
    pub fn running_max(&self) -> Vec<StolenPoint> {
        running_max(&self.points)
    }

    /// Returns the bound `points` for each length: the running maximum plus `margin`, and at most
    /// the length itself.
    pub fn raised_by(&self, margin: Duration) -> Vec<StolenPoint> {
        let mut points = self.running_max();
        for point in &mut points {
            let raised = point.stolen_max.checked_add(margin).unwrap_or(Duration::MAX);
            point.stolen_max = raised.min(point.interval);
        }
        points
    }

    /// Returns an error if the fit is below the time that can have been stolen in some interval up
    /// to the longest, measured or not, or if its utilisation exceeds the whole processor.
    fn check_fit(&self, fit: DemandFit) -> Result<(), String> {
        if fit.utilization_ppb > WHOLE_PPB {
            return Err(format!("the utilisation of {} ppb exceeds 1", fit.utilization_ppb));
        }
        let is_below = |point: &&StolenPoint| {
            let demand = fit.demand_ns(point.interval.ns());
            demand.is_some_and(|demand| demand < point.stolen_max.ns())
        };
        let raised = self.running_max();
        if let Some(StolenPoint { interval, stolen_max }) = raised.iter().find(is_below) {
            return Err(format!(
                "the fit is below the measurement: {stolen_max} were stolen in {interval}"
            ));
        }
        match corners(&raised).iter().find(is_below) {
            None => Ok(()),
            Some(StolenPoint { interval, stolen_max }) => Err(format!(
                "the fit is below what is possible between the measured intervals: \
                 {stolen_max} stolen in {interval}"
            )),
        }
    }
}

fn read_points(raw: &RawStolen) -> Result<Vec<StolenPoint>, FileError> {
    let (intervals, stolen) = (raw.interval_ns.get_ref(), raw.ns_max.get_ref());
    if intervals.is_empty() || intervals.len() != stolen.len() {
        return Err(FileError::new(
            raw.ns_max.span(),
            format!("{} stolen times for {} intervals", stolen.len(), intervals.len()),
            "give one stolen time for each interval, and at least one",
        ));
    }
    let is_ascending = intervals.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_ascending || intervals[0] == 0 || intervals[intervals.len() - 1] > INTERVAL_NS_MAX {
        return Err(FileError::new(
            raw.interval_ns.span(),
            "the intervals are not in ascending order between 1 ns and a day",
            "list each length once, the shortest first",
        ));
    }
    let points = intervals.iter().zip(stolen).map(|(&interval, &stolen)| StolenPoint {
        interval: Duration::from_ns(interval),
        stolen_max: Duration::from_ns(stolen),
    });
    let points: Vec<StolenPoint> = points.collect();
    match points.iter().find(|point| point.stolen_max > point.interval) {
        None => Ok(points),
        Some(point) => Err(FileError::new(
            raw.ns_max.span(),
            format!("{} were stolen in {}", point.stolen_max, point.interval),
            "measure it again: stolen time cannot exceed the interval",
        )),
    }
}
