// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Traces with arrival times, in several common formats, and their replay in open loop.

use std::collections::VecDeque;

use tidegate_drive::Drive;
use tidegate_model::{Duration, Lba, Op, Outcome, Time, names};

use super::{ReplayError, SECTORS_MAX, TraceError, TraceRequest, request};

/// The longest trace: a hundred days.
const SPAN_NS_MAX: u64 = 100 * 86_400 * 1_000_000_000;

names! {
    /// A format of traces with arrival times.
    pub enum TraceFormat {
        /// DiskSim's ASCII: `arrival_ms device sector sectors flags`; flag 1 is a read.
        Disksim => "disksim",
        /// `MQSim`: `arrival_ns device sector sectors flag`; flag 1 is a read.
        Mqsim => "mqsim",
        /// SPC: `unit,sector,bytes,R|W,arrival_s`.
        Spc => "spc",
        /// MSR Cambridge: `ticks,host,disk,Read|Write,byte,bytes,response`, in ticks of 100 ns.
        Msr => "msr",
        /// The text output of blkparse: its `Q` lines, which report queued requests.
        Blkparse => "blkparse",
    }
}

impl TraceFormat {
    /// Returns advice on the lines that a trace in this format must contain.
    pub const fn help(self) -> &'static str {
        match self {
            Self::Disksim => "write `arrival_ms device sector sectors flags`; flag 1 is a read",
            Self::Mqsim => "write `arrival_ns device sector sectors flag`; flag 1 is a read",
            Self::Spc => "write `unit,sector,bytes,R|W,arrival_s`",
            Self::Msr => "write `ticks,host,disk,Read|Write,byte,bytes,response`",
            Self::Blkparse => "give the text output of blkparse with its Q lines",
        }
    }
}

/// A request with its arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// The arrival, measured from the first one of the trace.
    pub at: Time,
    /// Read or write.
    pub op: Op,
    /// First sector.
    pub start: Lba,
    /// Number of sectors.
    pub sectors: u64,
}

/// A line's arrival in nanoseconds since an arbitrary instant, and its request.
type Parsed = (u128, Op, u64, u64);

/// Reads a trace. Requests are put in order of arrival, and devices are not distinguished. Lines
/// that begin with `#`, empty lines, and lines of blkparse that are not the `Q` event of a read or
/// write are skipped.
///
/// # Errors
/// The first line that has another format.
pub fn read_arrivals(text: &str, format: TraceFormat) -> Result<Vec<Arrival>, TraceError> {
    let mut parsed: Vec<Parsed> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fault = |what| TraceError { line: index + 1, what };
        let request = match format {
            TraceFormat::Disksim => Some(of_columns(line, 1_000_000)),
            TraceFormat::Mqsim => Some(of_columns(line, 1)),
            TraceFormat::Spc => Some(of_spc(line)),
            TraceFormat::Msr => Some(of_msr(line)),
            TraceFormat::Blkparse => of_blkparse(line),
        };
        let Some(request) = request else { continue };
        let request = request.map_err(fault)?;
        if !(1..=SECTORS_MAX).contains(&request.3) {
            return Err(fault(format!("a request of {} sectors is impossible", request.3)));
        }
        parsed.push(request);
    }
    parsed.sort_by_key(|request| request.0);
    let first = parsed.first().map_or(0, |request| request.0);
    let arrival = |(at, op, start, sectors): Parsed| Arrival {
        at: Time::from_ns(u64::try_from(at - first).unwrap_or(SPAN_NS_MAX).min(SPAN_NS_MAX)),
        op,
        start: Lba::new(start),
        sectors,
    };
    Ok(parsed.into_iter().map(arrival).collect())
}

fn of_columns(line: &str, unit_ns: u128) -> Result<Parsed, String> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    let &[at, _, start, sectors, flags] = columns.as_slice() else {
        return Err(format!("{} columns instead of 5", columns.len()));
    };
    let flags = u64::from_str_radix(flags, 16).map_err(|_| format!("`{flags}` is not flags"))?;
    let op = if flags & 1 == 1 { Op::Read } else { Op::Write };
    Ok((decimal(at, unit_ns)?, op, whole(start)?, whole(sectors)?))
}

fn of_spc(line: &str) -> Result<Parsed, String> {
    let columns: Vec<&str> = line.split(',').map(str::trim).collect();
    let &[_, start, bytes, op, at, ..] = columns.as_slice() else {
        return Err(format!("{} columns instead of 5", columns.len()));
    };
    Ok((decimal(at, 1_000_000_000)?, op_of(op)?, whole(start)?, sectors_of(bytes)?))
}

fn of_msr(line: &str) -> Result<Parsed, String> {
    let columns: Vec<&str> = line.split(',').map(str::trim).collect();
    let &[ticks, _, _, op, start, bytes, _] = columns.as_slice() else {
        return Err(format!("{} columns instead of 7", columns.len()));
    };
    let at = u128::from(whole(ticks)?) * 100;
    Ok((at, op_of(op)?, whole(start)? / Lba::SECTOR_BYTES, sectors_of(bytes)?))
}

/// Reads `8,0 1 42 0.000012345 697 Q R 223490 + 8 [process]`; `None` for other lines.
fn of_blkparse(line: &str) -> Option<Result<Parsed, String>> {
    let columns: Vec<&str> = line.split_whitespace().collect();
    let [_, _, _, at, _, "Q", kind, start, "+", sectors, ..] = columns.as_slice() else {
        return None;
    };
    let op = if kind.contains('R') {
        Op::Read
    } else if kind.contains('W') {
        Op::Write
    } else {
        return None;
    };
    let parse = || Ok((decimal(at, 1_000_000_000)?, op, whole(start)?, whole(sectors)?));
    Some(parse())
}

fn op_of(text: &str) -> Result<Op, String> {
    match text {
        "R" | "r" | "Read" => Ok(Op::Read),
        "W" | "w" | "Write" => Ok(Op::Write),
        _ => Err(format!("`{text}` is neither a read nor a write")),
    }
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number"))
}

fn sectors_of(bytes: &str) -> Result<u64, String> {
    Ok(whole(bytes)?.div_ceil(Lba::SECTOR_BYTES))
}

/// Reads a decimal number of units as nanoseconds, rounded down.
fn decimal(text: &str, unit_ns: u128) -> Result<u128, String> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let wrong = || format!("`{text}` is not a time");
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 20 || !is_digits(whole) || !is_digits(decimals) {
        return Err(wrong());
    }
    let decimals = &decimals[..decimals.len().min(9)];
    let part: u128 = format!("{decimals:0<9}").parse().map_err(|_| wrong())?;
    let whole: u128 = whole.parse().map_err(|_| wrong())?;
    Ok(whole * unit_ns + part * unit_ns / 1_000_000_000)
}

/// Returns the response times of a drive that gets these requests when they arrive, at most `depth`
/// at the same time and the others in order of arrival.
///
/// # Errors
/// The first request that fails.
///
/// # Panics
/// If `depth` is 0.
pub fn replay_open(
    drive: &mut dyn Drive,
    depth: u32,
    trace: &[Arrival],
) -> Result<Vec<Duration>, ReplayError> {
    assert!(depth > 0, "a drive that accepts nothing");
    let mut responses = vec![Duration::ZERO; trace.len()];
    let (mut next, mut waiting, mut in_flight) = (0, VecDeque::new(), 0);
    let mut completions = Vec::new();
    loop {
        let arrival = trace.get(next).map(|it| it.at);
        let event = drive.next_event();
        let Some(now) = arrival.into_iter().chain(event).min() else { return Ok(responses) };
        drive.advance(now, &mut completions);
        for completion in completions.drain(..) {
            let index = usize::try_from(completion.id.0).expect("an index of the trace");
            let Arrival { at, start, sectors, .. } = trace[index];
            if completion.outcome == Outcome::Failed {
                return Err(ReplayError { number: index + 1, start, sectors });
            }
            responses[index] = completion.at - at;
            in_flight -= 1;
        }
        while trace.get(next).is_some_and(|it| it.at <= now) {
            waiting.push_back(next);
            next += 1;
        }
        let room = usize::try_from(depth).expect("a u32 is a usize") - in_flight;
        let batch: Vec<_> = waiting.drain(..room.min(waiting.len())).collect();
        in_flight += batch.len();
        let batch: Vec<_> = batch.iter().map(|&index| of_arrival(index, &trace[index])).collect();
        drive.submit(now, &batch);
    }
}

fn of_arrival(index: usize, arrival: &Arrival) -> tidegate_model::Request {
    let Arrival { at, op, start, sectors } = *arrival;
    let zero = Duration::ZERO;
    request(index, &TraceRequest { op, start, sectors, measured: zero, idle_after: zero }, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: TraceFormat, text: &str) -> Vec<(u64, Op, u64, u64)> {
        let arrivals = read_arrivals(text, format).unwrap();
        arrivals.iter().map(|it| (it.at.ns(), it.op, it.start.get(), it.sectors)).collect()
    }

    /// Goal: the same two requests in every format, with the times relative to the first.
    #[test]
    fn formats_agree() {
        let expected = [(0, Op::Read, 100, 16), (1_500_000, Op::Write, 7, 8)];
        for (format, text) in [
            (TraceFormat::Disksim, "10.0 0 100 16 1\n11.5 0 7 8 0\n"),
            (TraceFormat::Mqsim, "# head\n3000000 4 100 16 1\n4500000 0 7 8 0\n"),
            (TraceFormat::Spc, "0,100,8192,r,0.5\n0,7,4096,W,0.5015\n"),
            (
                TraceFormat::Msr,
                "128166372003061629,hm,1,Read,51200,8192,50\n128166372003076629,hm,1,Write,3584,4096,1\n",
            ),
            (
                TraceFormat::Blkparse,
                "8,0 1 1 0.000000000 697 Q RA 100 + 16 [a]\n8,0 1 2 0.0001 697 C RA 100 + 16 [0]\n\
                 8,0 1 3 0.001500000 697 Q WS 7 + 8 [a]\n\nCPU1 (8,0):\n",
            ),
        ] {
            assert_eq!(read(format, text), expected, "{format:?}");
        }
        let late = "11.5 0 7 8 0\n10.0 0 100 16 1\n";
        assert_eq!(read(TraceFormat::Disksim, late), expected, "in order of arrival");
    }

    #[test]
    fn faulty_lines_are_named() {
        for (format, text, says) in [
            (TraceFormat::Disksim, "1.0 0 5 8 1\n1.0 0 5 8\n", "line 2: 4 columns"),
            (TraceFormat::Spc, "0,1,4096,x,0.5\n", "`x` is neither"),
            (TraceFormat::Msr, "1,h,0,Read,0,0,1\n", "0 sectors"),
            (TraceFormat::Mqsim, "-1 0 5 8 1\n", "`-1` is not a time"),
        ] {
            let error = read_arrivals(text, format).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
