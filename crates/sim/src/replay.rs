// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the accuracy of a simulated drive: it replays the requests of a measured trace one at a
//! time and compares the two distributions of response times.
//!
//! Even in a good model the times of single requests differ, because the real platters' positions
//! are unknown, but the distributions agree. The measure is the demerit figure of Ruemmler and
//! Wilkes, An introduction to disk drive modeling, IEEE Computer 1994.

mod arrivals;
mod residuals;

use tidegate_drive::Drive;
use tidegate_model::{
    Bytes, Class, Duration, Lba, Op, Outcome, Request, RequestId, Tag, TaskIndex, Time,
};

pub use arrivals::{Arrival, TraceFormat, read_arrivals, replay_open};
pub use residuals::{RequestKind, Residual, residuals};

/// The largest request of a trace: 2 TiB.
const SECTORS_MAX: u64 = 1 << 32;

/// The limit of response times and idle times in a trace, in microseconds: each is shorter than one
/// day.
const TIME_US_MAX: u64 = 86_400_000_000;

/// One request of a measured trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRequest {
    /// Read or write.
    pub op: Op,
    /// First sector.
    pub start: Lba,
    /// Number of sectors.
    pub sectors: u64,
    /// The response time of the real drive.
    pub measured: Duration,
    /// Time from the request's completion to the next request.
    pub idle_after: Duration,
}

/// A line of a trace that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TraceError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The fault.
    pub what: String,
}

/// A request that the simulated drive could not serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "request {number} of the trace, {sectors} sectors at {}, failed: this trace is of another drive",
    start.get()
)]
pub struct ReplayError {
    /// The number of the request, from 1.
    pub number: usize,
    /// The first sector of the request.
    pub start: Lba,
    /// Number of sectors.
    pub sectors: u64,
}

/// Reads a trace in the validation format. Each line has `R` or `W`, a tag without meaning, the
/// first sector, the number of sectors, the measured response time and the idle time after it, both
/// in microseconds. Empty lines and lines that begin with `#` are skipped.
///
/// # Errors
/// The first line that has another format.
pub fn read_trace(text: &str) -> Result<Vec<TraceRequest>, TraceError> {
    let mut requests = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let request = read_line(line).map_err(|what| TraceError { line: index + 1, what })?;
        requests.push(request);
    }
    Ok(requests)
}

fn read_line(line: &str) -> Result<TraceRequest, String> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    let &[op, _, start, sectors, measured, idle] = columns.as_slice() else {
        return Err(format!("{} columns instead of 6", columns.len()));
    };
    let op = match op {
        "R" | "r" => Op::Read,
        "W" | "w" => Op::Write,
        _ => return Err(format!("`{op}` is neither R nor W")),
    };
    let whole = |text: &str, what: &str| {
        text.parse::<u64>().map_err(|_| format!("`{text}` is not a number of {what}"))
    };
    let sectors = match whole(sectors, "sectors")? {
        sectors @ 1..=SECTORS_MAX => sectors,
        sectors => return Err(format!("a request of {sectors} sectors is impossible")),
    };
    Ok(TraceRequest {
        op,
        start: Lba::new(whole(start, "a sector")?),
        sectors,
        measured: microseconds(measured)?,
        idle_after: microseconds(idle)?,
    })
}

/// Reads a time in microseconds with decimals, rounded to a nanosecond.
fn microseconds(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a time in microseconds");
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(decimals) || whole.is_empty() {
        return Err(wrong());
    }
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let decimals = format!("{decimals:0<4}");
    let tenths: u64 = decimals[..4].parse().map_err(|_| wrong())?;
    if whole >= TIME_US_MAX {
        return Err(format!("`{text}` microseconds are a day or more"));
    }
    Ok(Duration::from_ns(whole * 1_000 + (tenths + 5) / 10))
}

/// Returns the response times of a drive that gets these requests one at a time, with the trace's
/// idle times between a completion and the next request.
///
/// # Errors
/// The first request that fails.
///
/// # Panics
/// If a request is larger than 2^64 bytes.
pub fn replay(drive: &mut dyn Drive, trace: &[TraceRequest]) -> Result<Vec<Duration>, ReplayError> {
    let mut now = Time::ZERO;
    let mut responses = Vec::with_capacity(trace.len());
    let mut completions = Vec::new();
    for (index, traced) in trace.iter().enumerate() {
        drive.advance(now, &mut completions);
        drive.submit(now, &[request(index, traced, now)]);
        while completions.is_empty() {
            let at = drive.next_event().expect("a request is outstanding");
            drive.advance(at, &mut completions);
        }
        let completion = completions.pop().expect("just seen");
        if completion.outcome == Outcome::Failed {
            let TraceRequest { start, sectors, .. } = *traced;
            return Err(ReplayError { number: index + 1, start, sectors });
        }
        responses.push(completion.at - now);
        now = completion.at + traced.idle_after;
    }
    Ok(responses)
}

fn request(index: usize, traced: &TraceRequest, now: Time) -> Request {
    let bytes = traced.sectors.checked_mul(Lba::SECTOR_BYTES).expect("a request of 2^64 bytes");
    Request {
        id: RequestId(index as u64),
        task: TaskIndex(0),
        class: Class::BestEffort,
        released: now,
        eligible: now,
        due: None,
        op: traced.op,
        start: traced.start,
        size: Bytes::new(bytes),
        fua: false,
        optional: false,
        tag: Tag::Simple,
    }
}

/// Returns the demerit figure: the root mean square horizontal distance between two distributions,
/// over their quantiles at 1, 2, .. 10,000 of 10,000; rounded down to a nanosecond.
///
/// # Panics
/// If one of the two lists is empty.
pub fn demerit(measured: &[Duration], simulated: &[Duration]) -> Duration {
    const POINTS: u64 = 10_000;
    let [measured, simulated] = [measured, simulated].map(sorted);
    let squares: u128 = (1..=POINTS)
        .map(|point| {
            let [one, other] =
                [&measured, &simulated].map(|sorted| quantile(sorted, point, POINTS));
            u128::from(one.abs_diff(other)).pow(2)
        })
        .sum();
    let root = (squares / u128::from(POINTS)).isqrt();
    Duration::from_ns(u64::try_from(root).expect("not above the largest distance"))
}

fn sorted(times: &[Duration]) -> Vec<u64> {
    assert!(!times.is_empty(), "a distribution of nothing");
    let mut sorted: Vec<u64> = times.iter().map(|time| time.ns()).collect();
    sorted.sort_unstable();
    sorted
}

/// Returns the quantile at `point` of `points`, linear between neighbours.
///
/// # Shape
/// `sorted[i - 1]` is the quantile at i of `sorted.len()`.
fn quantile(sorted: &[u64], point: u64, points: u64) -> u64 {
    let at = u128::from(point) * sorted.len() as u128;
    let (rank, rest) = (at / u128::from(points), at % u128::from(points));
    let rank = usize::try_from(rank).expect("within the list");
    let Some(lower) = rank.checked_sub(1).map(|index| sorted[index]) else { return sorted[0] };
    let upper = sorted.get(rank).copied().unwrap_or(lower);
    let part = u128::from(upper - lower) * rest / u128::from(points);
    lower + u64::try_from(part).expect("not above the upper one")
}
