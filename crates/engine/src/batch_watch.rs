// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares what batches take with what the device's table allows them.
//!
//! A bound holds only as far as the device keeps its table b(i). When a deadline is missed,
//! the first question is whether the device broke it. Only a batch that an idle device got
//! and that nothing joined can be compared: `dqf` and `fifo` send no others, `noop` few.
//!
//! The time runs from submission to when the host saw the last completion, so it contains
//! how late the host was. A table measured by this host contains the same.

use model::{BatchTable, Duration, Time};

/// How many batches were compared, and how many took too long.
#[derive(Debug, Default, PartialEq)]
pub struct BatchWatch {
    /// The batch on the device, if it can be compared.
    current: Option<Batch>,
    /// Batches compared: an idle device got them and nothing joined them.
    pub batches: u64,
    /// Those of them that took longer than the table allows.
    pub overruns: u64,
    /// The most by which one did.
    pub overrun_max: Duration,
}

#[derive(Debug, PartialEq)]
struct Batch {
    submitted: Time,
    /// b(n) of its n requests.
    time_max: Duration,
}

impl BatchWatch {
    /// A batch of `count` requests went to the device, which held `in_flight_count` others.
    pub(crate) fn submitted(
        &mut self,
        submitted: Time,
        count: u32,
        in_flight_count: u32,
        table: &BatchTable,
    ) {
        let is_comparable = in_flight_count == 0 && count <= table.batch_max();
        self.current = is_comparable.then(|| Batch { submitted, time_max: table.time_max(count) });
    }

    /// The device was seen to hold nothing any more.
    pub(crate) fn drained(&mut self, now: Time) {
        let Some(batch) = self.current.take() else { return };
        self.batches += 1;
        let time = now.since(batch.submitted);
        if time > batch.time_max {
            self.overruns += 1;
            self.overrun_max = self.overrun_max.max(time - batch.time_max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch_one(count: u32, in_flight_count: u32, took_ms: u64) -> BatchWatch {
        let table = BatchTable::new(&[Duration::from_ms(5), Duration::from_ms(8)]).unwrap();
        let mut watch = BatchWatch::default();
        watch.submitted(Time::from_ns(1), count, in_flight_count, &table);
        watch.drained(Time::from_ns(1) + Duration::from_ms(took_ms));
        watch
    }

    #[test]
    fn batch_is_compared_with_the_entry_of_its_size() {
        assert_eq!((watch_one(2, 0, 8).batches, watch_one(2, 0, 8).overruns), (1, 0));
        let late = watch_one(1, 0, 8);
        assert_eq!((late.batches, late.overruns, late.overrun_max.ns()), (1, 1, 3_000_000));
    }

    #[test]
    fn batch_that_was_not_alone_or_is_beyond_the_table_is_not_compared() {
        assert_eq!(watch_one(1, 1, 100).batches, 0);
        assert_eq!(watch_one(3, 0, 100).batches, 0);
    }
}
