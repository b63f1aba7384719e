// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A running service's statistics.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidegate_device::IoError;
use tidegate_host::{BatchWatch, Observer};
use tidegate_model::{DriveLimits, Duration, Outcome, Plan, Request, Time};
use tidegate_stats::{Distribution, Memory};

use super::export_statistics::ExportStatistics;
use super::guarantee::Guarantee;
use super::incidents::{Incident, IncidentSender, Overrun, Stall};
use super::offer::ExportId;
use super::request_sink::RequestReporter;

/// A service's statistics up to an instant.
#[derive(Debug, Clone)]
pub struct ServiceStatistics {
    /// The time since the service started.
    pub now: Time,
    /// The exports' statistics, in the order in which they were requested.
    pub exports: Vec<ExportStatistics>,
    /// The number of requests in flight.
    pub in_flight: u32,
    /// The times of batches that were submitted to an idle drive, from submission to completion.
    pub batch_time: Distribution,
    /// The number of batches compared with the table.
    pub batches: u64,
    /// The number of these batches that took longer than the table allows.
    pub overruns: u64,
    /// The number of these overruns that the proof tolerates.
    pub overruns_tolerated: u64,
    /// The sum of all overruns.
    pub overrun_sum: Duration,
    /// The largest overrun.
    pub overrun_max: Duration,
    /// The number of times that the drive completed nothing for so long that a stall was reported
    /// ([`Stall`]).
    pub stalls: u64,
    /// Whether the batch in flight has taken longer than the table allows.
    pub is_overdue: bool,
    /// Whether lateness of the drive can still delay in-contract requests of any export.
    pub is_drive_degraded: bool,
    /// The state of all bounds together.
    pub guarantee: Guarantee,
}

impl ServiceStatistics {
    /// Returns whether the drive has ever exceeded its table, or exceeds it now.
    pub fn was_drive_late(&self) -> bool {
        self.overruns > 0 || self.stalls > 0 || self.is_overdue
    }
}

/// The time, in addition to the longest batch time, after which a drive that completes nothing is
/// reported: the stall might never end.
const STALL: Duration = Duration::from_ms(5_000);

/// The lateness of the host and of the drive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lateness {
    /// The host's lateness: late timers, the time from reading a request to sending it, and the
    /// wait to be read.
    pub(crate) host: Duration,
    /// The time by which batches exceeded the table.
    pub(crate) drive: Duration,
}

impl Lateness {
    /// Returns the sum of the host's and the drive's lateness.
    pub(crate) fn total(self) -> Duration {
        self.host + self.drive
    }

    /// Returns the lateness since `earlier`. A dispatch that joins a late batch ends the timing of
    /// that batch, so the drive's total can become smaller; the difference is then zero.
    fn since(self, earlier: Self) -> Self {
        Self {
            host: self.host.checked_sub(earlier.host).unwrap_or_default(),
            drive: self.drive.checked_sub(earlier.drive).unwrap_or_default(),
        }
    }
}

/// An interval during which in-contract requests are always pending.
///
/// Lateness in the interval can delay all later requests of the interval, but none after its end,
/// when the backlog has been worked off. A request that its contract does not allow yet is not
/// pending in this sense, so excess demand does not lengthen the interval.
#[derive(Debug, Default)]
struct BusyInterval {
    /// The number of incomplete requests that their contracts allow.
    owed: u64,
    /// The instants at which the remaining requests will be allowed, the earliest first.
    later: BinaryHeap<Reverse<Time>>,
    /// The longest time that a request of the interval waited to be read.
    waited_max: Duration,
    /// The lateness of drive and host before the interval began.
    late_before: Lateness,
    /// The lateness of drive and host at the last update.
    late_seen: Lateness,
}

impl BusyInterval {
    /// Updates the interval to `now`; `late` is the total lateness of drive and host so far.
    fn look(&mut self, now: Time, late: Lateness) {
        while self.later.peek().is_some_and(|Reverse(eligible)| *eligible <= now) {
            self.later.pop();
            if self.owed == 0 {
                (self.late_before, self.waited_max) = (self.late_seen, Duration::ZERO);
            }
            self.owed += 1;
        }
        self.late_seen = late;
    }

    /// Adds a request that arrived at `since`, is read at `now`, and is allowed from `eligible` on.
    fn enter(&mut self, (now, since, eligible): (Time, Time, Time), late: Lateness) {
        self.look(now, late);
        self.later.push(Reverse(eligible));
        self.look(now, late);
        self.waited_max = self.waited_max.max(now.since(since));
    }

    /// Removes a finished request; returns the lateness in the interval so far.
    fn leave(&mut self, now: Time, eligible: Time, late: Lateness) -> Lateness {
        self.look(now, late);
        if eligible <= now {
            self.owed -= 1;
        } else {
            // The request was refused before its contract allowed it. Another request can have the
            // same instant.
            let mut is_found = false;
            self.later.retain(|Reverse(later)| {
                let is_it = !is_found && *later == eligible;
                is_found |= is_it;
                !is_it
            });
        }
        let late = late.since(self.late_before);
        Lateness { host: self.waited_max + late.host, ..late }
    }
}

/// Measures the drive's and the host's lateness, and keeps the state of the guarantee.
#[derive(Debug)]
pub(crate) struct Watch {
    /// `None` if the drive has no measured table.
    batches: Option<BatchWatch>,
    batch_time: Distribution,
    in_flight: u32,
    /// The submission time of the batch in flight, if the drive was idle at that time.
    sent: Option<Time>,
    /// The time without progress after which a stall is reported (`stall_after`), and the instant
    /// of the last completion or of a later dispatch to the idle drive (`progress`).
    stall_after: Duration,
    progress: Time,
    is_stalled: bool,
    stalls: u64,
    busy: BusyInterval,
    /// Whether the drive was late and the guarantee has not been restored yet.
    is_degraded: bool,
    guarantee: Guarantee,
    /// The host's lateness so far: late timers, and the time from reading a request to sending it.
    host_late: Duration,
    /// The instant from which the next dispatch could have been sent.
    read: Time,
    /// Where incidents are reported; sending does not block this thread.
    heard_by: Option<IncidentSender>,
    /// Reports each request that has ended; `None` if these reports have no receiver.
    reporter: Option<RequestReporter>,
}

impl Watch {
    pub(crate) fn new(limits: Option<&DriveLimits>) -> Self {
        let table = limits.map(|limits| &limits.measured.batches.table);
        let longest = table.map_or(Duration::ZERO, |b| b.time_max(b.batch_max()));
        Self {
            batches: limits.map(BatchWatch::new),
            batch_time: Distribution::new(Memory::AsNeeded),
            in_flight: 0,
            sent: None,
            stall_after: longest.checked_add(STALL).unwrap_or(longest),
            progress: Time::ZERO,
            is_stalled: false,
            stalls: 0,
            busy: BusyInterval::default(),
            is_degraded: false,
            guarantee: Guarantee::default(),
            host_late: Duration::ZERO,
            read: Time::ZERO,
            heard_by: None,
            reporter: None,
        }
    }

    /// Compares batches with this plan from now on, if batches are compared at all. No request may
    /// be in flight.
    pub(crate) fn compare_with(&mut self, plan: &Plan) {
        if let Some(batches) = &mut self.batches {
            batches.compare_with(&plan.limits);
        }
    }

    /// Returns the number of requests in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub(crate) fn telling(mut self, heard_by: IncidentSender) -> Self {
        self.heard_by = Some(heard_by);
        self
    }

    pub(crate) fn reporting(self, reporter: Option<RequestReporter>) -> Self {
        Self { reporter, ..self }
    }

    /// Reports a request of this export that has ended.
    pub(crate) fn report(
        &mut self,
        now: Time,
        export: ExportId,
        request: &Request,
        outcome: Outcome,
    ) {
        if let Some(reporter) = &mut self.reporter {
            reporter.completed(now, export, request, outcome);
        }
    }

    /// Returns the instant at which a stall must be reported; `None` if nothing is in flight or the
    /// stall has been reported.
    pub(crate) fn stalls_at(&self) -> Option<Time> {
        let is_awaited = self.in_flight > 0 && !self.is_stalled;
        self.progress.checked_add(self.stall_after).filter(|_| is_awaited)
    }

    /// Updates the busy interval, degrades the guarantee if the drive is late, and reports a stall.
    pub(crate) fn look(&mut self, now: Time) {
        let late = self.lateness(now);
        self.busy.look(now, late);
        if self.is_void(now) {
            self.degrade_drive(now);
        }
        if self.stalls_at().is_some_and(|at| at <= now) {
            self.is_stalled = true;
            self.stalls += 1;
            self.degrade_drive(now);
            let waited = now.since(self.progress);
            self.tell(Incident::Stall(Stall { at: now, waited, in_flight: self.in_flight }));
        }
    }

    /// Degrades every export's bound because the drive is late.
    fn degrade_drive(&mut self, now: Time) {
        self.is_degraded = true;
        self.guarantee.degrade(now);
    }

    /// Records that a response exceeded its export's bound.
    pub(crate) fn exceeded(&mut self, now: Time) {
        self.guarantee.degrade(now);
    }

    /// Returns whether a degraded guarantee can be restored: no in-contract request is pending, and
    /// the drive is idle or its batch has not yet taken longer than the proof tolerates. No table
    /// gives times for requests that joined others on the drive, so they must complete first.
    pub(crate) fn may_stand_again(&self, now: Time) -> bool {
        let void_from = self.batches.as_ref().and_then(BatchWatch::void_from);
        self.guarantee.is_degraded
            && self.busy.owed == 0
            && (self.in_flight == 0 || void_from.is_some_and(|void| now <= void))
    }

    /// Ends the degradation that the drive caused; if no export stays degraded, the guarantee is
    /// restored.
    pub(crate) fn stand_again(&mut self, now: Time, is_every_export_restored: bool) {
        self.is_degraded = false;
        if is_every_export_restored {
            self.guarantee.restore(now);
        }
    }

    /// Returns whether the lateness of every batch so far is known.
    pub(crate) fn has_timed_all(&self) -> bool {
        self.batches.as_ref().is_some_and(|seen| seen.untimed == 0)
    }

    /// Returns whether the batch in flight has taken longer than the proof tolerates.
    fn is_void(&self, now: Time) -> bool {
        self.batches.as_ref().and_then(BatchWatch::void_from).is_some_and(|void| void < now)
    }

    /// Begins an iteration, which was due at `asked` unless an event came earlier.
    pub(crate) fn turned(&mut self, now: Time, asked: Option<Time>) {
        self.host_late += asked.map_or(Duration::ZERO, |asked| now.since(asked));
        self.read = now;
    }

    /// Records a request that arrived at `since`, is read at `now`, and is allowed from `eligible`
    /// on.
    pub(crate) fn promised(&mut self, now: Time, since: Time, eligible: Time) {
        let late = self.lateness(now);
        self.busy.enter((now, since, eligible), late);
    }

    /// Records the end of a request that [`Self::promised`] recorded. Returns the lateness of host
    /// and drive in this busy interval: the longest wait of a request to be read, the host's time
    /// from reading to sending, and the time by which batches exceeded the table.
    pub(crate) fn kept(&mut self, now: Time, eligible: Time) -> Lateness {
        let late = self.lateness(now);
        self.busy.leave(now, eligible, late)
    }

    /// Returns the total lateness so far: the host's lateness, and all overruns including that of
    /// the batch in flight.
    fn lateness(&self, now: Time) -> Lateness {
        let drive = self.batches.as_ref().map_or(Duration::ZERO, |batches| {
            let overdue = batches.late_from().map_or(Duration::ZERO, |late| now.since(late));
            batches.overrun_sum + overdue
        });
        Lateness { host: self.host_late, drive }
    }

    /// Reports the first failed flush.
    pub(crate) fn flush_failed(&self, now: Time, error: IoError) {
        self.tell(Incident::FlushFailed { at: now, error });
    }

    fn tell(&self, incident: Incident) {
        if let Some(heard_by) = &self.heard_by {
            heard_by.send(incident);
        }
    }

    pub(crate) fn dispatched(&mut self, now: Time, batch: &[Request]) {
        // The whole iteration counts: the drive could have started when the iteration began.
        self.host_late += now.since(self.read);
        self.read = now;
        self.sent = (self.in_flight == 0).then_some(now);
        if self.in_flight == 0 {
            (self.progress, self.is_stalled) = (now, false);
        }
        self.in_flight += u32::try_from(batch.len()).expect("at most the depth");
        if let Some(batches) = &mut self.batches {
            batches.dispatched(now, batch);
        }
        if let Some(reporter) = &mut self.reporter {
            reporter.dispatched(now, batch);
        }
    }

    pub(crate) fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        self.in_flight -= 1;
        (self.progress, self.is_stalled) = (now, false);
        if let Some(batches) = &mut self.batches {
            let (count, sum) = (batches.overruns, batches.overrun_sum);
            let tolerated = batches.tolerated_overruns;
            batches.completed(now, request, outcome);
            if batches.overruns > count
                && let Some(sent) = self.sent
            {
                let (number, excess) = (batches.overruns, batches.overrun_sum - sum);
                let time = now.since(sent);
                let is_tolerated = batches.tolerated_overruns > tolerated;
                let overrun = Overrun { number, at: now, time, excess, is_tolerated };
                self.tell(Incident::Overrun(overrun));
                if !is_tolerated {
                    self.degrade_drive(now);
                }
            }
        }
        if self.in_flight == 0
            && let Some(sent) = self.sent.take()
        {
            self.batch_time.record(now.since(sent));
        }
    }

    pub(crate) fn statistics(
        &self,
        now: Time,
        exports: Vec<ExportStatistics>,
    ) -> ServiceStatistics {
        let batches = self.batches.as_ref();
        ServiceStatistics {
            now,
            exports,
            in_flight: self.in_flight,
            batch_time: self.batch_time.clone(),
            batches: batches.map_or(0, |seen| seen.batches),
            overruns: batches.map_or(0, |seen| seen.overruns),
            overruns_tolerated: batches.map_or(0, |seen| seen.tolerated_overruns),
            overrun_sum: batches.map(|seen| seen.overrun_sum).unwrap_or_default(),
            overrun_max: batches.map(|seen| seen.overrun_max).unwrap_or_default(),
            stalls: self.stalls,
            is_overdue: batches.and_then(BatchWatch::late_from).is_some_and(|late| late < now),
            is_drive_degraded: self.is_degraded || self.is_void(now),
            guarantee: self.guarantee,
        }
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{BatchTable, Bytes, Class, RequestId};

    use super::*;

    /// Goal: the host's lateness contains the duration of an iteration and its late start, but
    /// neither the time before the busy interval nor time without a request to send. Method:
    /// invented instants.
    #[test]
    fn a_turn_that_takes_long_makes_the_host_late() {
        let (at, ms) = (|ms| Time::ZERO + Duration::from_ms(ms), Duration::from_ms);
        let request = Request::plain(RequestId(1), Class::Hard, Bytes::from_kib(4));
        for table in [None, Some(BatchTable::new(&[ms(5)]).unwrap())] {
            let limits = table.map(DriveLimits::of_table);
            let mut watch = Watch::new(limits.as_ref());
            let turn = |watch: &mut Watch, now, asked: Option<u64>| {
                watch.look(at(now));
                watch.turned(at(now), asked.map(at));
            };
            let kept = |watch: &mut Watch, sent, eligible| {
                watch.dispatched(at(sent), &[request]);
                watch.completed(at(sent + 4), &request, Outcome::Done);
                watch.look(at(sent + 4));
                watch.kept(at(sent + 4), at(eligible)).total()
            };
            // A request arrives, is read and is sent.
            turn(&mut watch, 10, None);
            watch.promised(at(10), at(9), at(9));
            assert_eq!(kept(&mut watch, 40, 9), ms(1 + 30));
            // The first request is sent immediately; the second is sent long after the iteration
            // was due.
            turn(&mut watch, 60, Some(70));
            watch.promised(at(60), at(60), at(60));
            watch.promised(at(60), at(60), at(80));
            assert_eq!(kept(&mut watch, 60, 60), ms(0));
            turn(&mut watch, 87, Some(80));
            assert_eq!(kept(&mut watch, 90, 80), ms(7 + 3));
        }
    }

    /// Goal: earlier lateness does not excuse later requests forever, even though one export always
    /// has a request that waits for its token. Method: invented instants.
    #[test]
    fn who_asks_for_too_much_makes_no_busy_interval_longer() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let ms = |ms| Lateness { drive: Duration::from_ms(ms), ..Lateness::default() };
        let total = |late: Lateness| late.total().ns() / 1_000_000;
        let mut busy = BusyInterval::default();
        busy.enter((at(2), at(0), at(0)), ms(0));
        busy.enter((at(2), at(0), at(100)), ms(0));
        busy.enter((at(2), at(0), at(200)), ms(0));
        busy.enter((at(2), at(1), at(200)), ms(0));
        // The request waited 2 ms to be read, and a batch was 40 ms late.
        assert_eq!(total(busy.leave(at(50), at(0), ms(40))), 42);
        assert_eq!((busy.owed, busy.later.len()), (0, 3));
        busy.look(at(90), ms(40));
        // Since the request was allowed, a batch was late by only 1 ms.
        assert_eq!(total(busy.leave(at(120), at(100), ms(41))), 1);
        // Two requests become allowed at the same instant; one was refused before, and the other
        // remains.
        busy.leave(at(130), at(200), ms(41));
        busy.look(at(210), ms(41));
        assert_eq!((busy.owed, busy.later.len()), (1, 0));
        // Within one interval, the lateness of one request delays the next.
        busy.enter((at(220), at(220), at(220)), ms(51));
        assert_eq!(total(busy.leave(at(230), at(200), ms(51))), 10);
        assert_eq!(total(busy.leave(at(240), at(220), ms(51))), 10);
    }
}
