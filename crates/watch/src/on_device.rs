// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Follows the requests on the device, and compares the device with its tables.
//!
//! The comparison with the tables is the same as in `sim`, `run` and `serve` ([`ContractWatch`]).
//! It needs the number of requests on the device, but the trace begins while requests are already
//! there and can lose events. So the count is trusted only after a period in which every completion
//! had a dispatch:
//!
//! ```text
//!               a completion without a dispatch, or lost events
//!              +----------------------------------------------+
//!              v                                              |
//!   Unknown { until } --- a dispatch after `until` ---> Known |
//! ```

use tidegate_host::{ContractWatch, Observer as _};
use tidegate_model::{Class, DriveLimits, Duration, Lba, Op, Outcome, Request, RequestId, Time};

use crate::event::{Extent, Operation};

/// The period without a foreign completion after which the count is trusted. A request that stays
/// on the device for longer misses any deadline of up to a second.
const SETTLED: Duration = Duration::from_ms(1_000);

/// The device's activity since the watch began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceRecord {
    /// The maximum number of requests on the device at the same time.
    pub in_flight_max: u32,
    /// The number of flushes of its write cache.
    pub flushes: u64,
    /// The longest flush.
    pub flush_max: Option<Duration>,
    /// The number of passthrough commands, which bypass the scheduler.
    pub passthrough: u64,
    /// The longest passthrough command.
    pub passthrough_max: Option<Duration>,
    /// The number of requests that the kernel took back.
    pub requeued: u64,
    /// The number of completions whose dispatch was not observed.
    pub foreign: u64,
}

/// A request on the device.
#[derive(Debug)]
struct Sent {
    extent: Extent,
    /// The number of sectors that are not complete.
    left: u64,
    since: Time,
    /// The request in the form that `contracts` uses; `None` if it moves no data.
    request: Option<Request>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    /// The device may have requests that the trace does not show.
    Unknown {
        /// The instant at which this state ends; `None` if it ends `SETTLED` after the next
        /// dispatch.
        until: Option<Time>,
    },
    Known,
}

/// Follows the requests on the device.
#[derive(Debug)]
pub struct OnDevice {
    /// The requests, oldest first. Devices have at most a few hundred.
    sent: Vec<Sent>,
    count: Count,
    contracts: Option<ContractWatch>,
    record: DeviceRecord,
    last: Time,
}

impl OnDevice {
    /// Follows a device. With `limits`, also compares it with its tables.
    pub fn new(limits: Option<&DriveLimits>) -> Self {
        Self {
            sent: Vec::new(),
            count: Count::Unknown { until: None },
            contracts: limits.map(ContractWatch::new),
            record: DeviceRecord::default(),
            last: Time::ZERO,
        }
    }

    /// Returns the counts.
    pub const fn record(&self) -> &DeviceRecord {
        &self.record
    }

    /// Returns the comparison with the tables; `None` without limits.
    pub const fn contracts(&self) -> Option<&ContractWatch> {
        self.contracts.as_ref()
    }

    /// Records that a request was sent.
    pub fn issue(&mut self, at: Time, extent: Extent) {
        self.settle(at);
        if extent.op == Operation::Sync {
            return;
        }
        let slot = self.free_slot();
        let request = extent.op.moves_data().map(|op| request(slot, op, extent));
        self.sent.push(Sent { extent, left: extent.sectors, since: at, request });
        let in_flight = u32::try_from(self.sent.len()).unwrap_or(u32::MAX);
        self.record.in_flight_max = self.record.in_flight_max.max(in_flight);
        if self.count == Count::Known {
            self.tell_sent(at, self.sent.len() - 1);
        }
    }

    /// Records that the kernel took a request back, so that it is no longer on the device.
    pub fn requeue(&mut self, at: Time, extent: Extent) {
        self.record.requeued += 1;
        if let Some(index) = self.find(extent) {
            self.leave(at, index);
        }
        self.last = at;
    }

    /// Records a completion.
    pub fn complete(&mut self, at: Time, extent: Extent) {
        if let Some(index) = self.find(extent) {
            let sent = &mut self.sent[index];
            sent.left = sent.left.saturating_sub(extent.sectors); // a flush has none
            if sent.left == 0 {
                let took = at.since(sent.since);
                self.record.count(sent.extent.op, took);
                self.leave(at, index);
            } else {
                sent.extent.start = Lba::new(extent.end());
                sent.extent.sectors = sent.left;
            }
        } else if extent.op != Operation::Sync {
            self.record.foreign += 1;
            self.doubt(at);
        }
        self.last = at;
    }

    /// Forgets all requests, because events were lost.
    pub fn give_up(&mut self) {
        self.doubt(self.last);
        // The period begins with the next dispatch, because the time of the loss is unknown.
        self.count = Count::Unknown { until: None };
        self.sent.clear();
    }

    /// Returns the index of the request that an event belongs to.
    fn find(&self, extent: Extent) -> Option<usize> {
        let same = |sent: &Sent| sent.extent.op == extent.op;
        match extent.op {
            // The kernel reports different places for the dispatch and the completion of these
            // commands.
            Operation::Flush | Operation::Other => self.sent.iter().position(same),
            Operation::Sync => None,
            Operation::Read | Operation::Write | Operation::Discard | Operation::Zero => {
                let begins = |sent: &Sent| same(sent) && sent.extent.start == extent.start;
                let exact = |sent: &Sent| begins(sent) && sent.left == extent.sectors;
                let part = |sent: &Sent| begins(sent) && sent.left > extent.sectors;
                let sent = &self.sent;
                sent.iter().position(exact).or_else(|| sent.iter().position(part))
            }
        }
    }

    fn leave(&mut self, at: Time, index: usize) {
        let Sent { request, .. } = self.sent.remove(index);
        if let (Some(request), Count::Known, Some(contracts)) =
            (request, self.count, &mut self.contracts)
        {
            contracts.completed(at, &request, Outcome::Done);
        }
    }

    /// Stops the comparison. Requests in flight count as complete at the last event, because they
    /// were on the device until then.
    fn doubt(&mut self, at: Time) {
        let last = self.last;
        if let (Count::Known, Some(contracts)) = (self.count, &mut self.contracts) {
            for request in self.sent.iter().filter_map(|sent| sent.request.as_ref()) {
                contracts.completed(last, request, Outcome::Done);
            }
        }
        self.count = Count::Unknown { until: at.checked_add(SETTLED) };
    }

    /// Begins the comparison once no foreign request can be on the device.
    fn settle(&mut self, at: Time) {
        self.last = at;
        let Count::Unknown { until } = self.count else { return };
        let until = until.unwrap_or_else(|| at.checked_add(SETTLED).unwrap_or(Time::MAX));
        self.count = Count::Unknown { until: Some(until) };
        if at >= until {
            self.count = Count::Known;
            for index in 0..self.sent.len() {
                self.tell_sent(at, index);
            }
        }
    }

    fn tell_sent(&mut self, at: Time, index: usize) {
        if let (Some(request), Some(contracts)) = (&self.sent[index].request, &mut self.contracts) {
            contracts.dispatched(at, std::slice::from_ref(request));
        }
    }

    /// Returns the smallest number that no request on the device has.
    fn free_slot(&self) -> u64 {
        let mut used: Vec<u64> =
            self.sent.iter().filter_map(|sent| Some(sent.request.as_ref()?.id.0)).collect();
        used.sort_unstable();
        (0..)
            .zip(&used)
            .find(|(slot, used)| slot != *used)
            .map_or(used.len() as u64, |(slot, _)| slot)
    }
}

impl DeviceRecord {
    fn count(&mut self, op: Operation, took: Duration) {
        match op {
            Operation::Flush => {
                self.flushes += 1;
                self.flush_max = self.flush_max.max(Some(took));
            }
            Operation::Other => {
                self.passthrough += 1;
                self.passthrough_max = self.passthrough_max.max(Some(took));
            }
            Operation::Read
            | Operation::Write
            | Operation::Discard
            | Operation::Zero
            | Operation::Sync => {}
        }
    }
}

fn request(slot: u64, op: Op, extent: Extent) -> Request {
    let plain = Request::plain(RequestId(slot), Class::BestEffort, extent.bytes());
    Request { op, start: extent.start, ..plain }
}
