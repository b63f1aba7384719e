// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the parser and the replay of traces, and the demerit figure.

use tidegate_drive::{Completion, Drive, PseudoDisk};
use tidegate_model::{BatchTable, Duration, Lba, Op, Outcome, Request, RequestId, Time};
use tidegate_sim::replay::{
    TraceFormat, TraceRequest, demerit, read_arrivals, read_trace, replay, replay_open,
};

fn ms(times: &[u64]) -> Vec<Duration> {
    times.iter().copied().map(Duration::from_ms).collect()
}

#[test]
fn a_line_of_a_trace_is_read_to_the_nanosecond() {
    let text = "\n# a comment\n  R Hit 1390458 14 12434.375000 27307.3189996\nW x 0 1 5 0.0005\n";
    let trace = read_trace(text).unwrap();
    let first = TraceRequest {
        op: Op::Read,
        start: Lba::new(1_390_458),
        sectors: 14,
        measured: Duration::from_ns(12_434_375),
        idle_after: Duration::from_ns(27_307_319),
    };
    assert_eq!(trace[0], first);
    assert_eq!((trace[1].op, trace[1].idle_after), (Op::Write, Duration::from_ns(1)));
}

#[test]
fn a_faulty_line_is_named_with_what_is_wrong() {
    let wrong = |line: &str| read_trace(&format!("R a 1 1 1 1\n{line}\n")).unwrap_err().to_string();
    assert!(wrong("R a 1 1 1").starts_with("line 2: 5 columns instead of 6"));
    assert!(wrong("X a 1 1 1 1").contains("`X` is neither R nor W"));
    assert!(wrong("R a -1 1 1 1").contains("`-1` is not a number of a sector"));
    assert!(wrong("R a 1 0 1 1").contains("a request of 0 sectors"));
    assert!(wrong("R a 1 1 1e3 1").contains("`1e3` is not a time in microseconds"));
    assert!(wrong("R a 1 1 99999999999999999999 1").contains("is not a time"));
    assert!(wrong("R a 1 4294967297 1 1").contains("a request of 4294967297 sectors"));
    assert!(wrong("R a 1 1 1 86400000000").contains("a day or more"));
}

/// Requests follow each other after the idle time in the trace, never two at the same time.
#[test]
fn replay_is_closed_loop_with_one_outstanding() {
    let table = BatchTable::new(&ms(&[5])).unwrap();
    let mut disk = PseudoDisk::new(1, table, 1);
    let traced = read_trace("R a 0 8 1000 2000\nW a 8 8 1000 0\nR a 0 1 1 1\n").unwrap();
    assert_eq!(replay(&mut disk, &traced).unwrap(), ms(&[5, 5, 5]));
}

/// Requests are sent when they arrive, at most as many at the same time as the drive accepts; the
/// wait for room on the drive counts.
#[test]
fn open_replay_sends_requests_as_they_arrive() {
    let text = "0.0 0 0 8 1\n1.0 0 8 8 1\n50.0 0 8 8 0\n";
    let trace = read_arrivals(text, TraceFormat::Disksim).unwrap();
    let table = || BatchTable::new(&ms(&[5])).unwrap();
    let mut one = PseudoDisk::new(1, table(), 1);
    assert_eq!(replay_open(&mut one, 1, &trace).unwrap(), ms(&[5, 9, 5]));
}

#[test]
fn equal_distributions_have_no_demerit_in_whatever_order() {
    assert_eq!(demerit(&ms(&[1, 7, 3]), &ms(&[7, 3, 1])), Duration::ZERO);
}

#[test]
fn a_shifted_distribution_has_the_shift_as_its_demerit() {
    assert_eq!(demerit(&ms(&[1, 7, 3]), &ms(&[3, 5, 9])), Duration::from_ms(2));
}

/// Half of the quantiles differ by 2 ms, half are equal: the root of 4/2, except for the
/// interpolated quantiles between the two values.
#[test]
fn demerit_is_a_root_mean_square() {
    let half_and_half = |upper: u64| [vec![1; 5_000], vec![upper; 5_000]].concat();
    let (one, other) = (ms(&half_and_half(9)), ms(&half_and_half(11)));
    assert_eq!(demerit(&one, &other), Duration::from_ns(1_414_213));
}

/// 4 samples against 2: a quantile between samples lies on the line between them.
#[test]
fn distributions_of_different_size_are_compared_by_interpolation() {
    let one: Vec<u64> = (1..=10_000).collect();
    let other: Vec<u64> = (1..=5_000).map(|time| 2 * time).collect();
    let ns = |times: &[u64]| times.iter().copied().map(Duration::from_ns).collect::<Vec<_>>();
    let far = demerit(&ns(&one), &ns(&other));
    assert!(far <= Duration::from_ns(1), "{far}");
}

/// A drive that fails the request with this id.
struct Failing(PseudoDisk, RequestId);

impl Drive for Failing {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        self.0.submit(now, batch);
    }

    fn next_event(&self) -> Option<Time> {
        self.0.next_event()
    }

    fn flush(&mut self, now: Time, id: RequestId) {
        self.0.flush(now, id);
    }

    fn advance(&mut self, now: Time, completions: &mut Vec<Completion>) {
        self.0.advance(now, completions);
        for completion in completions.iter_mut().filter(|completion| completion.id == self.1) {
            completion.outcome = Outcome::Failed;
        }
    }
}

/// The number of a failed request counts from 1, as the lines of a trace do.
#[test]
fn a_failed_request_is_named() {
    let table = BatchTable::new(&ms(&[5])).unwrap();
    let mut disk = Failing(PseudoDisk::new(1, table, 1), RequestId(1));
    let traced = read_trace("R a 0 8 1000 0\nW a 24 16 1000 0\nR a 0 1 1 1\n").unwrap();
    let failed = replay(&mut disk, &traced).unwrap_err();
    assert_eq!((failed.number, failed.start, failed.sectors), (2, Lba::new(24), 16));
}
