// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs arbitrary sequences of calls, faults and disconnections, and checks the service's promises.
//!
//! # Invariants
//! - The service refuses requests that are not aligned or reach beyond the end, and no others.
//! - Reads return what the reference allows ([`super::reference`]); every call gets a reply.
//! - Writes reported durable survive a crash at any later instant; after a failed flush no write is
//!   reported durable.
//! - If contracts are proved, no response time exceeds its bound unless the drive was late, which
//!   the statistics then show.

use std::sync::Arc;

use tidegate_model::{BatchTable, Bytes, Duration, Time};
use tidegate_policy::NoticeKind;

use super::offered::{BATCH_MS, SPREAD, core_on, shared};
use super::promises::{Durable, broken_promises};
use super::reference::{Fate, Reference};
use super::scenario::{BlockRange, Scenario, Step};
use super::store::{BLOCK, EIO, Faults, Store, stamp_of};
use super::table;
use crate::service::call::{Awaited, Call, CallKind, CallPart, Reply, mailbox};
use crate::service::core::{Core, memory};
use crate::service::offer::ExportId;
use crate::service::statistics::Watch;
use crate::service::{CallError, Export, Shared};

/// The maximum number of iterations without progress; after them a request counts as lost.
const ITERATIONS_MAX: u32 = 100_000;

/// The numbers of events that the run checked.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Report {
    pub(crate) answered: usize,
    pub(crate) failed: usize,
    pub(crate) refused: usize,
    /// The number of blocks that reads returned (`seen`), and of blocks that were reported durable
    /// (`promised`).
    pub(crate) seen: usize,
    pub(crate) promised: usize,
    /// The number of requests with a bound.
    pub(crate) bounded: u64,
}

/// The faults that a canary injects; the harness must detect each.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct InjectedFaults {
    pub(crate) is_disordered: bool,
    /// Whether durability is claimed one journal entry too early.
    pub(crate) is_early: bool,
    /// Whether the drive exceeds its table while the statistics do not show it.
    pub(crate) is_late: bool,
}

/// Runs the scenario in `bytes`.
///
/// # Errors
/// The description of a broken promise.
pub(crate) fn run(bytes: &[u8], faults: InjectedFaults) -> Result<Report, String> {
    let scenario = Scenario::read(bytes);
    let mut fixture = Fixture::new(&scenario, faults);
    for &(step, export, is_together) in &scenario.steps {
        fixture.take(step, export)?;
        if !is_together {
            fixture.iterate()?;
        }
    }
    fixture.end()
}

/// A call that has not been answered yet.
struct Asked {
    awaited: Awaited,
    arrival: u64,
    export: usize,
    first: usize,
    what: What,
}

enum What {
    Read,
    Write { stamps: Vec<u32>, is_durable: bool },
    Zero { is_durable: bool },
    Flush { covered: Vec<(usize, u32)> },
}

/// A service with the calls that it received, and the reference with the expected replies.
pub(in crate::service) struct Fixture {
    shared: Arc<Shared>,
    pub(in crate::service) core: Core<Store>,
    reference: Reference,
    asked: Vec<Asked>,
    coming: Vec<Call>,
    is_flush_broken: bool,
    faults: InjectedFaults,
    pub(in crate::service) report: Report,
}

impl Fixture {
    fn new(scenario: &Scenario, faults: InjectedFaults) -> Self {
        let shared = shared(scenario.has_contracts, scenario.policy);
        // The drive takes up to b(i); a proof's table also includes the flush.
        let factor = if faults.is_late { 4 } else { 1 };
        let times = table(&BATCH_MS.map(|ms| ms * factor));
        let limits = scenario.has_contracts.then_some(&shared.params.arrangement.plan.limits);
        let watch = Watch::new(limits.filter(|_| !faults.is_late));
        Self::on(shared, &times, watch, scenario.seed, faults)
    }

    /// Makes a fixture of `shared` on a drive with these batch times.
    pub(in crate::service) fn on(
        shared: Arc<Shared>,
        times: &BatchTable,
        watch: Watch,
        seed: u64,
        faults: InjectedFaults,
    ) -> Self {
        let mut core = core_on(&shared.params, times, watch, seed);
        if faults.is_disordered {
            core.disorder();
        }
        let blocks = SPREAD * shared.params.exports.len();
        Self {
            shared,
            core,
            reference: Reference::new(blocks),
            asked: Vec::new(),
            coming: Vec::new(),
            is_flush_broken: false,
            faults,
            report: Report::default(),
        }
    }

    fn faults(&mut self) -> &mut Faults {
        self.reference.has_faults = true;
        &mut self.core.backend_mut().faults
    }

    pub(in crate::service) fn now(&self) -> Time {
        self.core.backend().now
    }

    /// Returns the arrival number of the latest call.
    #[cfg(test)]
    pub(in crate::service) fn latest(&self) -> u64 {
        self.asked.last().expect("a call was sent").arrival
    }

    /// Returns whether the call with this arrival number has been answered.
    #[cfg(test)]
    pub(in crate::service) fn has_reply(&self, arrival: u64) -> bool {
        self.asked.iter().all(|asked| asked.arrival != arrival)
    }

    fn take(&mut self, step: Step, export: usize) -> Result<(), String> {
        match step {
            Step::Read(range) => return self.ask(export, CallKind::Read, range, false),
            Step::Write { range, is_durable } => {
                return self.ask(export, CallKind::Write { is_durable }, range, false);
            }
            Step::Zero { range, is_durable } => {
                return self.ask(export, CallKind::Write { is_durable }, range, true);
            }
            Step::Flush => self.flush(export),
            Step::Pause(time) => return self.pause(time),
            Step::Settle => return self.settle(),
            Step::FailTransfers(count) => self.faults().transfers = count,
            Step::FailFlush => self.faults().flushes = 1,
            Step::FailRegion(first) => {
                let region = first.and_then(|first| usize::try_from(first).ok());
                self.faults().region = region.map(|first| (first..first + 2, EIO));
            }
            // This step is skipped, because the statistics would show the stall.
            Step::Stall(_) if self.faults.is_late => {}
            Step::Stall(time) => {
                let until = self.now() + time;
                self.core.backend_mut().faults.stalled_until = until;
            }
            Step::Forget(number) => self.forget(number),
            Step::Notice { is_end } => {
                let kind =
                    if is_end { NoticeKind::StreamEnded } else { NoticeKind::DeadlineMissed };
                self.core.notice(id(export), kind);
            }
        }
        Ok(())
    }

    /// Sends a client's call to the inbox.
    pub(in crate::service) fn ask(
        &mut self,
        export: usize,
        kind: CallKind,
        range: BlockRange,
        is_zero: bool,
    ) -> Result<(), String> {
        let of = self.export(export);
        let (size, block) = (of.spec().size.get(), BLOCK as u64);
        let begin = if range.is_beyond { size - block } else { range.block * block };
        let offset = begin + if range.is_odd { 512 } else { 0 };
        let length = if range.is_beyond { (range.count + 2) * block } else { range.count * block };
        let first = usize::try_from((of.spec().offset.get() + begin) / block).expect("small");
        let count = usize::try_from(range.count).expect("small");
        let is_refused = range.is_beyond || offset + length > size || range.is_odd;
        let mut stamps = Vec::new();
        let arrival = self.reference.arrive();
        if !is_refused && kind != CallKind::Read && !is_zero {
            stamps = self.reference.write(arrival, first, count);
        } else if !is_refused && is_zero {
            self.reference.zero(arrival, first, count);
        }
        let fill = |at: usize, memory: &mut [u8]| {
            memory.fill(if is_zero { 0 } else { 0xff });
            let places = memory.chunks_exact_mut(BLOCK).zip(stamps.iter().skip(at / BLOCK));
            places.for_each(|(piece, stamp)| piece[..4].copy_from_slice(&stamp.to_le_bytes()));
        };
        let cut = of.cut(offset, usize::try_from(length).expect("small"), fill);
        let parts = match (cut, is_refused) {
            (Ok(parts), false) => parts,
            (Err(CallError::Unaligned { .. } | CallError::BeyondEnd { .. }), true) => {
                self.report.refused += 1;
                return Ok(());
            }
            (cut, _) => return Err(format!("{range:?}: {:?}", cut.map(|parts| parts.len()))),
        };
        check_parts(&parts, &of, length)?;
        if parts.is_empty() {
            return Ok(());
        }
        let what = match kind {
            CallKind::Write { is_durable } if is_zero => What::Zero { is_durable },
            CallKind::Write { is_durable } => What::Write { stamps, is_durable },
            _ => What::Read,
        };
        self.send(Asked { awaited: mailbox().1, arrival, export, first, what }, kind, parts);
        Ok(())
    }

    fn export(&self, number: usize) -> Export {
        let name = &self.shared.params.exports[number].name;
        Export::named(&self.shared, name).expect("it is offered")
    }

    pub(in crate::service) fn flush(&mut self, export: usize) {
        let what = What::Flush { covered: self.reference.covered() };
        self.send_without_data(export, CallKind::Flush, what, 0, 1);
    }

    /// Trims blocks, which then read as zeroes in this store.
    #[cfg(test)]
    pub(in crate::service) fn trim(&mut self, export: usize, block: u64, count: u64) {
        let what = What::Zero { is_durable: false };
        let (first, arrival) = self.send_without_data(export, CallKind::Trim, what, block, count);
        self.reference.zero(arrival, first, usize::try_from(count).expect("small"));
    }

    /// Sends a call without data; returns the range's first block in the store, and the call's
    /// arrival number.
    fn send_without_data(
        &mut self,
        export: usize,
        kind: CallKind,
        what: What,
        block: u64,
        count: u64,
    ) -> (usize, u64) {
        let arrival = self.reference.arrive();
        let size = BLOCK as u64;
        let offset = self.shared.params.exports[export].offset.get() + block * size;
        let start = crate::service::export::lba(offset);
        let parts = vec![CallPart { start, size: Bytes::new(count * size), data: None }];
        let first = usize::try_from(offset / size).expect("small");
        self.send(Asked { awaited: mailbox().1, arrival, export, first, what }, kind, parts);
        (first, arrival)
    }

    fn send(&mut self, asked: Asked, kind: CallKind, parts: Vec<CallPart>) {
        let (answer, awaited) = mailbox();
        let (export, released) = (asked.export, self.now());
        self.coming.push(Call { export: id(export), kind, released, parts, answer });
        self.asked.push(Asked { awaited, ..asked });
    }

    /// Disconnects a client, which never reads the reply to its call.
    fn forget(&mut self, number: usize) {
        if self.asked.is_empty() {
            return;
        }
        let asked = self.asked.swap_remove(number % self.asked.len());
        if matches!(asked.what, What::Write { .. } | What::Zero { .. }) {
            self.reference.settle(asked.arrival, Fate::Unknown);
        }
    }

    pub(in crate::service) fn iterate(&mut self) -> Result<(), String> {
        let calls = std::mem::take(&mut self.coming);
        self.core.run_iteration(calls.into_iter());
        self.collect()
    }

    fn pause(&mut self, time: Duration) -> Result<(), String> {
        let until = self.now() + time;
        self.iterate()?;
        let mut iterations = 0;
        while self.now() < until {
            self.wait(Some(until), &mut iterations)?;
        }
        Ok(())
    }

    fn settle(&mut self) -> Result<(), String> {
        self.iterate()?;
        let mut iterations = 0;
        while !self.core.is_idle() {
            self.wait(None, &mut iterations)?;
        }
        if self.asked.is_empty() { Ok(()) } else { Err("idle, but a call has no reply".to_owned()) }
    }

    fn wait(&mut self, until: Option<Time>, iterations: &mut u32) -> Result<(), String> {
        *iterations += 1;
        if *iterations > ITERATIONS_MAX {
            return Err("the service does not finish".to_owned());
        }
        self.core.wait_until(until);
        self.iterate()
    }

    /// Takes all replies. A failed flush affects the checks from the next iteration on.
    fn collect(&mut self) -> Result<(), String> {
        let (mut index, mut is_flush_broken) = (0, self.is_flush_broken);
        while index < self.asked.len() {
            let Some(answered) = self.asked[index].awaited.poll() else {
                index += 1;
                continue;
            };
            let asked = self.asked.swap_remove(index);
            is_flush_broken |= self.answered(asked, answered)?;
        }
        self.is_flush_broken = is_flush_broken;
        Ok(())
    }

    /// Checks a reply; returns whether it reports a failed flush.
    fn answered(&mut self, asked: Asked, (result, parts): Reply) -> Result<bool, String> {
        self.report.answered += 1;
        let is_durable = match &asked.what {
            What::Read => false,
            What::Write { is_durable, .. } | What::Zero { is_durable } => *is_durable,
            What::Flush { .. } => true,
        };
        if is_durable && self.is_flush_broken && result.is_ok() {
            return Err("reported durable after a failed flush".to_owned());
        }
        if let Err(error) = result {
            self.report.failed += 1;
            self.shared.pool.give(memory(parts));
            let is_write = matches!(asked.what, What::Write { .. } | What::Zero { .. });
            if is_write {
                self.reference.settle(asked.arrival, Fate::Unknown);
            }
            let is_flush = matches!(asked.what, What::Flush { .. });
            return match error {
                _ if !self.reference.has_faults => {
                    Err(format!("{error} from a store without faults"))
                }
                CallError::Store(EIO) => Ok(is_flush),
                CallError::FlushBroken if is_durable => Ok(true),
                other => Err(format!("unexpected error: {other}")),
            };
        }
        let after = self.core.backend().journal.len();
        match asked.what {
            What::Read => self.check_read(asked.arrival, asked.first, &parts)?,
            What::Write { stamps, is_durable } => {
                self.reference.settle(asked.arrival, Fate::Done);
                if is_durable {
                    let blocks = (asked.first..).zip(stamps).collect();
                    self.reference.durable.push(Durable { after, blocks });
                } else {
                    self.reference.acknowledged(asked.first, &stamps);
                }
            }
            What::Zero { .. } => self.reference.settle(asked.arrival, Fate::Done),
            What::Flush { covered: blocks } => {
                self.reference.durable.push(Durable { after, blocks });
            }
        }
        self.shared.pool.give(memory(parts));
        Ok(false)
    }

    fn check_read(&mut self, arrival: u64, first: usize, parts: &[CallPart]) -> Result<(), String> {
        let mut block = first;
        for part in parts {
            let memory = part.data.as_ref().ok_or("a reply without its memory")?;
            let bytes = usize::try_from(part.size.get()).expect("small");
            for piece in memory.bytes()[..bytes].chunks_exact(BLOCK) {
                let stamp = stamp_of(piece);
                if !self.reference.may_see(arrival, block, stamp) {
                    return Err(format!("call {arrival} saw {stamp} in block {block}"));
                }
                block += 1;
                self.report.seen += 1;
            }
        }
        Ok(())
    }

    /// Waits for all replies, and returns the number of promises of durability that a crash breaks.
    pub(in crate::service) fn broken_promises(&mut self) -> Result<usize, String> {
        self.settle()?;
        let mut promises = self.reference.promises();
        if self.faults.is_early {
            for promise in &mut promises {
                promise.after = promise.after.saturating_sub(1);
            }
        }
        self.report.promised = promises.iter().map(|promise| promise.blocks.len()).sum();
        let blocks = SPREAD * self.shared.params.exports.len();
        Ok(broken_promises(&self.core.backend().journal, &promises, blocks))
    }

    pub(in crate::service) fn end(mut self) -> Result<Report, String> {
        let broken = self.broken_promises()?;
        let seen = self.core.statistics();
        if seen.in_flight > 0 || seen.exports.iter().any(|export| export.outstanding > 0) {
            return Err("idle, but requests are counted as outstanding".to_owned());
        }
        if broken > 0 {
            return Err(format!("{broken} promises of durability are broken"));
        }
        for (export, bound) in seen.exports.iter().zip(&self.shared.params.arrangement.bounds) {
            let Some(bound) = bound else { continue };
            self.report.bounded += export.bounded.count();
            if export.bounded.max() > Some(*bound) && !seen.was_drive_late() {
                return Err(format!("{:?} above {bound}", export.bounded.max()));
            }
        }
        Ok(self.report)
    }
}

fn id(export: usize) -> ExportId {
    ExportId(export as u64)
}

/// Checks that the parts are consecutive, as large as possible, and together make up the call.
fn check_parts(parts: &[CallPart], export: &Export, length: u64) -> Result<(), String> {
    let sum: u64 = parts.iter().map(|part| part.size.get()).sum();
    let is_whole = parts.windows(2).all(|pair| {
        pair[0].size == export.size_max()
            && pair[0].start.offset_bytes() + pair[0].size.get() == pair[1].start.offset_bytes()
    });
    if sum == length && is_whole {
        Ok(())
    } else {
        Err("the parts do not make up the call".to_owned())
    }
}
