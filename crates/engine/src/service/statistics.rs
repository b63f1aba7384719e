// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a service tells about itself while it runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::mpsc::SyncSender;

use tidegate_device::IoError;
use tidegate_host::{BatchWatch, Observer};
use tidegate_model::{BatchTable, Duration, Outcome, Plan, Request, RequestCharges, Time};
use tidegate_stats::{Distribution, Memory};

use super::tenant::ExportStatistics;

/// What was seen of a service so far.
#[derive(Debug, Clone)]
pub struct ServiceStatistics {
    /// Since it began.
    pub now: Time,
    /// One for each export, in order.
    pub exports: Vec<ExportStatistics>,
    /// Requests on the drive.
    pub in_flight: u32,
    /// What the drive took for a batch that it got when idle, from its submission.
    pub batch_time: Distribution,
    /// Batches that were compared with the table.
    pub batches: u64,
    /// Those of them that took longer than it allows.
    pub overruns: u64,
    /// By how much they did in all.
    pub overrun_sum: Duration,
    /// The most by which one did.
    pub overrun_max: Duration,
    /// How often the drive gave nothing back for so long that it was said ([`Stall`]).
    pub stalls: u64,
    /// Whether the batch that is on the drive takes longer than the table allows, now.
    pub is_overdue: bool,
}

impl ServiceStatistics {
    /// Whether the drive did not keep to its table, or does not now.
    pub fn is_drive_late(&self) -> bool {
        self.overruns > 0 || self.stalls > 0 || self.is_overdue
    }
}

/// A batch that took longer than the drive's table says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overrun {
    /// The how manieth, from 1 on.
    pub number: u64,
    /// When it was done, since the service began.
    pub at: Time,
    /// What it took.
    pub time: Duration,
    /// By how much that was too long.
    pub excess: Duration,
}

/// A drive that has requests and gives none of them back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// When it was noticed, since the service began.
    pub at: Time,
    /// For how long nothing had come back.
    pub waited: Duration,
    /// How many requests the drive has.
    pub in_flight: u32,
}

/// What somebody should hear of: the service goes on, or ends.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trouble {
    /// A batch took longer than the table says.
    Overrun(Overrun),
    /// Nothing comes back; said once for each time.
    Stall(Stall),
    /// The first flush that failed: none succeeds after it.
    FlushFailed {
        /// When, since the service began.
        at: Time,
        /// Why.
        error: IoError,
    },
    /// The service ended without being told to.
    Ended {
        /// Why.
        reason: String,
    },
}

/// Nothing came back for the longest time of a batch and this: it is said, for nobody may see it
/// end.
const STALL: Duration = Duration::from_ms(5_000);

/// A stretch of time in which the service owed answers to contracts.
///
/// What is late in it delays all that comes until its end: what has piled up is worked off by then.
/// A request that its contract does not allow yet is owed nothing: who asks for too much makes no
/// interval longer.
#[derive(Debug, Default)]
struct BusyInterval {
    /// Requests that their contracts allow and that are not answered.
    owed: u64,
    /// When the others will be allowed, the soonest first.
    later: BinaryHeap<Reverse<Time>>,
    /// The longest that a request waited to be read in it.
    waited_max: Duration,
    /// The lateness of drive and host before it.
    late_before: Duration,
    /// The same when somebody last looked.
    late_seen: Duration,
}

impl BusyInterval {
    /// Until now; drive and host were so `late` so far.
    fn look(&mut self, now: Time, late: Duration) {
        while self.later.peek().is_some_and(|Reverse(eligible)| *eligible <= now) {
            self.later.pop();
            if self.owed == 0 {
                (self.late_before, self.waited_max) = (self.late_seen, Duration::ZERO);
            }
            self.owed += 1;
        }
        self.late_seen = late;
    }

    /// A request that came `since` then, is read now, and is allowed from `eligible` on.
    fn enter(&mut self, (now, since, eligible): (Time, Time, Time), late: Duration) {
        self.look(now, late);
        self.later.push(Reverse(eligible));
        self.look(now, late);
        self.waited_max = self.waited_max.max(now.since(since));
    }

    /// One of these is done with; how late it was in the interval.
    fn leave(&mut self, now: Time, eligible: Time, late: Duration) -> Duration {
        self.look(now, late);
        if eligible <= now {
            self.owed -= 1;
        } else {
            // It was refused before it was owed anything. Another may be allowed at the same instant.
            let mut is_found = false;
            self.later.retain(|Reverse(later)| {
                let is_it = !is_found && *later == eligible;
                is_found |= is_it;
                !is_it
            });
        }
        // What is sent after a batch that is late, and joins it, ends its account.
        self.waited_max + late.checked_sub(self.late_before).unwrap_or_default()
    }
}

/// Watches the drive.
#[derive(Debug)]
pub(crate) struct Watch {
    /// None where nothing was measured.
    batches: Option<BatchWatch>,
    batch_time: Distribution,
    in_flight: u32,
    /// When the batch on the drive was sent, if an idle drive got it.
    sent: Option<Time>,
    /// For how long the drive may give nothing back, and since when it has.
    stall_after: Duration,
    progress: Time,
    is_stalled: bool,
    stalls: u64,
    busy: BusyInterval,
    /// How late the host was so far: timers, and the way from reading to sending.
    host_late: Duration,
    /// From when what is sent next might have been.
    read: Time,
    /// Who hears of trouble, and does not keep this thread waiting.
    heard_by: Option<SyncSender<Trouble>>,
}

impl Watch {
    pub(crate) fn new(table: Option<BatchTable>) -> Self {
        let longest = table.as_ref().map_or(Duration::ZERO, |b| b.time_max(b.batch_max()));
        Self {
            batches: table.map(BatchWatch::new),
            batch_time: Distribution::new(Memory::AsNeeded),
            in_flight: 0,
            sent: None,
            stall_after: longest.checked_add(STALL).unwrap_or(longest),
            progress: Time::ZERO,
            is_stalled: false,
            stalls: 0,
            busy: BusyInterval::default(),
            host_late: Duration::ZERO,
            read: Time::ZERO,
            heard_by: None,
        }
    }

    /// Batches are compared with A and what their requests are charged, where the proof does so.
    pub(crate) fn by_costs(mut self, charges: Option<RequestCharges>) -> Self {
        if let Some(charges) = charges {
            self.batches = self.batches.map(|batches| batches.by_costs(charges));
        }
        self
    }

    /// Batches are compared with this plan from now on, where they were compared at all; nothing is
    /// on the drive.
    pub(crate) fn compare_with(&mut self, plan: &Plan) {
        if let Some(batches) = &mut self.batches {
            batches.compare_with(plan.table.clone(), plan.charges.clone());
        }
    }

    /// Requests on the drive.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    pub(crate) fn telling(mut self, heard_by: SyncSender<Trouble>) -> Self {
        self.heard_by = Some(heard_by);
        self
    }

    /// When nothing will have come back for too long, if that was not said yet.
    pub(crate) fn stalls_at(&self) -> Option<Time> {
        let is_awaited = self.in_flight > 0 && !self.is_stalled;
        self.progress.checked_add(self.stall_after).filter(|_| is_awaited)
    }

    /// Takes note of a drive from which nothing comes back.
    pub(crate) fn look(&mut self, now: Time) {
        let late = self.lateness(now);
        self.busy.look(now, late);
        if self.stalls_at().is_some_and(|at| at <= now) {
            self.is_stalled = true;
            self.stalls += 1;
            let waited = now.since(self.progress);
            self.tell(Trouble::Stall(Stall { at: now, waited, in_flight: self.in_flight }));
        }
    }

    /// A turn begins, that was to begin at `asked` if nothing happened before.
    pub(crate) fn turned(&mut self, now: Time, asked: Option<Time>) {
        self.host_late += asked.map_or(Duration::ZERO, |asked| now.since(asked));
        self.read = now;
    }

    /// A request is read that came `since` then, and that its contract allows from `eligible` on.
    pub(crate) fn promised(&mut self, now: Time, since: Time, eligible: Time) {
        let late = self.lateness(now);
        self.busy.enter((now, since, eligible), late);
    }

    /// One of these is done with. Gives how late host and drive were in this busy interval: how
    /// long requests waited to be read, what the host took from there until they were sent, and
    /// by how much batches were longer than the table says.
    pub(crate) fn kept(&mut self, now: Time, eligible: Time) -> Duration {
        let late = self.lateness(now);
        self.busy.leave(now, eligible, late)
    }

    /// How late the host was so far, and by how much batches were too long, the one on the drive
    /// too.
    fn lateness(&self, now: Time) -> Duration {
        let Some(batches) = &self.batches else { return self.host_late };
        let overdue = batches.late_from().map_or(Duration::ZERO, |late| now.since(late));
        self.host_late + batches.overrun_sum + overdue
    }

    /// The first flush failed.
    pub(crate) fn flush_failed(&self, now: Time, error: IoError) {
        self.tell(Trouble::FlushFailed { at: now, error });
    }

    /// Lost where nobody listens, or listens too slowly: it is counted all the same.
    fn tell(&self, trouble: Trouble) {
        if let Some(heard_by) = &self.heard_by {
            let _ = heard_by.try_send(trouble);
        }
    }

    pub(crate) fn dispatched(&mut self, now: Time, batch: &[Request]) {
        // However long: the drive might have begun when the turn did.
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
    }

    pub(crate) fn completed(&mut self, now: Time, request: &Request, outcome: Outcome) {
        self.in_flight -= 1;
        (self.progress, self.is_stalled) = (now, false);
        if let Some(batches) = &mut self.batches {
            let (count, sum) = (batches.overruns, batches.overrun_sum);
            batches.completed(now, request, outcome);
            if batches.overruns > count
                && let Some(sent) = self.sent
            {
                let (number, excess) = (batches.overruns, batches.overrun_sum - sum);
                let time = now.since(sent);
                self.tell(Trouble::Overrun(Overrun { number, at: now, time, excess }));
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
            overrun_sum: batches.map(|seen| seen.overrun_sum).unwrap_or_default(),
            overrun_max: batches.map(|seen| seen.overrun_max).unwrap_or_default(),
            stalls: self.stalls,
            is_overdue: batches.and_then(BatchWatch::late_from).is_some_and(|late| late < now),
        }
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{Bytes, Class, RequestId};

    use super::*;

    /// Goal: what the host takes in a turn, or comes too late to it, is its lateness; what it took
    /// before the busy interval, or while it had nothing to send, is not.
    #[test]
    fn a_turn_that_takes_long_makes_the_host_late() {
        let (at, ms) = (|ms| Time::ZERO + Duration::from_ms(ms), Duration::from_ms);
        let request = Request::plain(RequestId(1), Class::Hard, Bytes::from_kib(4));
        for table in [None, Some(BatchTable::new(&[ms(5)]).unwrap())] {
            let mut watch = Watch::new(table);
            let turn = |watch: &mut Watch, now, asked: Option<u64>| {
                watch.look(at(now));
                watch.turned(at(now), asked.map(at));
            };
            let kept = |watch: &mut Watch, sent, eligible| {
                watch.dispatched(at(sent), &[request]);
                watch.completed(at(sent + 4), &request, Outcome::Done);
                watch.look(at(sent + 4));
                watch.kept(at(sent + 4), at(eligible))
            };
            // It comes, is read and is sent.
            turn(&mut watch, 10, None);
            watch.promised(at(10), at(9), at(9));
            assert_eq!(kept(&mut watch, 40, 9), ms(1 + 30));
            // At once, and long after it was asked for another one.
            turn(&mut watch, 60, Some(70));
            watch.promised(at(60), at(60), at(60));
            watch.promised(at(60), at(60), at(80));
            assert_eq!(kept(&mut watch, 60, 60), ms(0));
            turn(&mut watch, 87, Some(80));
            assert_eq!(kept(&mut watch, 90, 80), ms(7 + 3));
        }
    }

    /// Goal: what was late once explains nothing for ever, though one tenant always has a request that
    /// waits for its token.
    #[test]
    fn who_asks_for_too_much_makes_no_busy_interval_longer() {
        let (at, ms) = (|ms| Time::ZERO + Duration::from_ms(ms), Duration::from_ms);
        let mut busy = BusyInterval::default();
        busy.enter((at(2), at(0), at(0)), ms(0));
        busy.enter((at(2), at(0), at(100)), ms(0));
        busy.enter((at(2), at(0), at(200)), ms(0));
        busy.enter((at(2), at(1), at(200)), ms(0));
        // 2 ms until it was read, and 40 of a batch.
        assert_eq!(busy.leave(at(50), at(0), ms(40)), ms(42));
        assert_eq!((busy.owed, busy.later.len()), (0, 3));
        busy.look(at(90), ms(40));
        // Since it is allowed nothing was late but 1 ms of a batch.
        assert_eq!(busy.leave(at(120), at(100), ms(41)), ms(1));
        // Of two that are allowed at one instant one is refused, and the other is owed its answer.
        busy.leave(at(130), at(200), ms(41));
        busy.look(at(210), ms(41));
        assert_eq!((busy.owed, busy.later.len()), (1, 0));
        // In one interval what was late for one delays the next.
        busy.enter((at(220), at(220), at(220)), ms(51));
        assert_eq!(busy.leave(at(230), at(200), ms(51)), ms(10));
        assert_eq!(busy.leave(at(240), at(220), ms(51)), ms(10));
    }
}
