// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares batch service times with the drive's batch table.
//!
//! A bound holds only if the drive stays within its table b(i). When a deadline is missed, the
//! first question is whether the drive exceeded its table. Only a batch that was dispatched to an
//! idle drive and that no other batch joined can be compared: `dqf` and `fifo` dispatch only such
//! batches, `noop` few.
//!
//! An overrun that the verdict tolerates voids no proof (`docs/theory/tolerance.md` section 27), so
//! such overruns are counted separately.
//!
//! The time runs from submission until the host sees the last completion, so on a real clock it
//! includes the host's lateness. A table that this host measured includes that lateness too.

use tidegate_model::{BatchTimes, DriveLimits, Duration, Outcome, Request, Time};

use crate::observer::Observer;

/// Counts the compared batches and those that took too long.
#[derive(Debug, PartialEq)]
pub struct BatchWatch {
    measured: BatchTimes,
    tolerated: BatchTimes,
    in_flight_count: u32,
    /// The batch in flight, if it can be compared.
    current: Option<Batch>,
    /// The number of compared batches: dispatched to an idle drive, and not joined by another
    /// batch.
    pub batches: u64,
    /// The number of dispatches that cannot be compared.
    pub untimed: u64,
    /// The number of compared batches that took longer than the table allows.
    pub overruns: u64,
    /// The number of these overruns that the verdict tolerates.
    pub tolerated_overruns: u64,
    /// The largest overrun.
    pub overrun_max: Duration,
    /// The sum of all overruns.
    pub overrun_sum: Duration,
}

#[derive(Debug, PartialEq)]
struct Batch {
    submitted: Time,
    /// The longest time that the drive file allows the batch: b(n) for its n requests, or A plus
    /// the requests' charges.
    time_max: Duration,
    /// The longest time that voids no proof.
    tolerated_max: Duration,
}

impl BatchWatch {
    /// Makes a watch that compares batches with these limits.
    pub fn new(limits: &DriveLimits) -> Self {
        Self {
            measured: limits.measured.batches.clone(),
            tolerated: limits.tolerated.batches.clone(),
            in_flight_count: 0,
            current: None,
            batches: 0,
            untimed: 0,
            overruns: 0,
            tolerated_overruns: 0,
            overrun_max: Duration::ZERO,
            overrun_sum: Duration::ZERO,
        }
    }

    /// Compares batches with these limits from now on; the counts stay.
    ///
    /// # Panics
    /// If a request is in flight.
    pub fn compare_with(&mut self, limits: &DriveLimits) {
        assert_eq!(self.in_flight_count, 0, "the limits change during a batch");
        self.measured.clone_from(&limits.measured.batches);
        self.tolerated.clone_from(&limits.tolerated.batches);
    }

    /// Returns whether an overrun was longer than the verdict tolerates.
    pub fn has_void(&self) -> bool {
        self.overruns > self.tolerated_overruns
    }

    /// Returns the last instant at which the batch in flight is not late; `None` if no batch is
    /// compared.
    pub fn late_from(&self) -> Option<Time> {
        self.current.as_ref().and_then(|batch| batch.submitted.checked_add(batch.time_max))
    }

    /// Returns the last instant at which the batch in flight voids no proof; `None` if no batch is
    /// compared.
    pub fn void_from(&self) -> Option<Time> {
        self.current.as_ref().and_then(|batch| batch.submitted.checked_add(batch.tolerated_max))
    }

    /// Compares the batch; called when no request is in flight any more.
    fn drained(&mut self, now: Time) {
        let Some(batch) = self.current.take() else { return };
        self.batches += 1;
        let time = now.since(batch.submitted);
        if time > batch.time_max {
            self.overruns += 1;
            self.tolerated_overruns += u64::from(time <= batch.tolerated_max);
            let overrun = time - batch.time_max;
            self.overrun_max = self.overrun_max.max(overrun);
            self.overrun_sum += overrun;
        }
    }
}

impl Observer for BatchWatch {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let count = u32::try_from(batch.len()).expect("at most the depth");
        let limits = self.measured.time_max(batch).zip(self.tolerated.time_max(batch));
        let limits = limits.filter(|_| self.in_flight_count == 0);
        self.untimed += u64::from(limits.is_none());
        self.current = limits.map(|(time_max, tolerated_max)| Batch {
            submitted: now,
            time_max,
            tolerated_max,
        });
        self.in_flight_count += count;
    }

    fn completed(&mut self, now: Time, _request: &Request, _outcome: Outcome) {
        self.in_flight_count -= 1;
        if self.in_flight_count == 0 {
            self.drained(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::cost::RequestCost;
    use tidegate_model::{
        BatchTable, Bytes, Class, CostModel, RequestCharges, RequestId, Slowdown,
    };

    use super::*;

    const REQUEST: Request = Request::plain(RequestId(1), Class::Hard, Bytes::from_kib(4));

    fn table() -> BatchTable {
        BatchTable::new(&[Duration::from_ms(5), Duration::from_ms(8)]).unwrap()
    }

    /// Dispatches batches of these sizes at one instant; the drive completes all after `took_ms`.
    fn watch(batches: &[usize], took_ms: u64) -> BatchWatch {
        let mut watch = BatchWatch::new(&DriveLimits::of_table(table()));
        for &size in batches {
            watch.dispatched(Time::from_ns(1), &vec![REQUEST; size]);
        }
        for _ in 0..batches.iter().sum() {
            watch.completed(Time::from_ns(1) + Duration::from_ms(took_ms), &REQUEST, Outcome::Done);
        }
        watch
    }

    #[test]
    fn batch_is_compared_with_the_entry_of_its_size() {
        assert_eq!((watch(&[2], 8).batches, watch(&[2], 8).overruns), (1, 0));
        let late = watch(&[1], 8);
        assert_eq!((late.batches, late.overruns, late.overrun_max.ns()), (1, 1, 3_000_000));
    }

    /// With A = 3 ms and 2 ms per request, two requests may take 7 ms, whereas b(2) is 8 ms.
    #[test]
    fn batch_is_compared_with_its_costs_where_a_proof_charges_them() {
        let cost =
            RequestCost { op: REQUEST.op, size: REQUEST.size, time_max: Duration::from_ms(2) };
        let costs = CostModel {
            positioning_max: Duration::from_ms(3),
            requests: vec![cost],
            switch_max: None,
            fua_max: None,
            batch_max: None,
            how: None,
            samples: None,
        };
        let mut limits = DriveLimits::of_table(table());
        limits.measured.batches.charges = Some(RequestCharges::of(&costs, None));
        limits.tolerated.batches.charges = Some(RequestCharges::of(&costs, None));
        let mut watch = BatchWatch::new(&limits);
        let unknown = Request { size: Bytes::from_kib(8), ..REQUEST };
        for (batch, took_ms) in [(&[REQUEST; 2][..], 8), (&[REQUEST], 5), (&[unknown], 100)] {
            watch.dispatched(Time::ZERO, batch);
            for request in batch {
                watch.completed(Time::ZERO + Duration::from_ms(took_ms), request, Outcome::Done);
            }
        }
        assert_eq!((watch.batches, watch.overruns), (2, 1), "the last batch's cost is unknown");
        assert_eq!(watch.overrun_max, Duration::from_ms(1));
    }

    #[test]
    fn batch_that_was_not_alone_or_is_beyond_the_table_is_not_compared() {
        assert_eq!(watch(&[1, 1], 100).batches, 0);
        assert_eq!(watch(&[3], 100).batches, 0);
    }

    /// b(1) is 5 ms, and 2 ms more are tolerated.
    #[test]
    fn an_overrun_within_the_tolerance_is_counted_apart() {
        let mut limits = DriveLimits::of_table(table());
        limits.tolerated.batches.table = Slowdown::by(Duration::from_ms(2)).of_table(&table());
        for (took_ms, overruns) in [(5, (0, 0)), (6, (1, 1)), (7, (1, 1)), (8, (1, 0))] {
            let mut watch = BatchWatch::new(&limits);
            watch.dispatched(Time::ZERO, &[REQUEST]);
            let now = Time::ZERO + Duration::from_ms(took_ms);
            watch.completed(now, &REQUEST, Outcome::Done);
            assert_eq!((watch.overruns, watch.tolerated_overruns), overruns, "{took_ms} ms");
            assert_eq!(watch.has_void(), took_ms == 8);
        }
    }
}
