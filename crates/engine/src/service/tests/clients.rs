// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Clients that send one call at a time, at random, and a reference with the expected replies.
//!
//! The reference applies requests in the order of their arrival. So a read must return the data of
//! every overlapping write that arrived before it, and of none that arrived later.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tidegate_model::{BatchTable, Bytes, Duration, Lba, Plan, PolicyName, Time};

use crate::service::call::{Awaited, Call, CallKind, CallPart, mailbox};
use crate::service::core::Core;
use crate::service::harness::plan;
use crate::service::harness::promises::Durable;
use crate::service::harness::store::{BLOCK, Entry, Store, stamp_of};
use crate::service::offer::{ExportId, Member};
use crate::service::statistics::{ServiceStatistics, Watch};
use tidegate_model::{BestEffortShare, ExportContract as Contract, ExportSpec};

/// The number of blocks of an export.
pub(super) const EXPORT_BLOCKS: usize = 24;

/// The number of blocks of the largest request.
const PART_BLOCKS: usize = 4;

/// A client's call without a reply.
struct Asked {
    awaited: Awaited,
    kind: CallKind,
    /// The first block in the store; `stamps`: the stamps that were written or are expected.
    first: usize,
    stamps: Vec<u32>,
}

/// The results of a run.
pub(super) struct Outcome {
    /// Reads that differ from the reference.
    pub(super) wrong: usize,
    pub(super) answered: usize,
    pub(super) failed: usize,
    pub(super) durable: Vec<Durable>,
    pub(super) journal: Vec<Entry>,
    pub(super) batches: Vec<usize>,
    pub(super) statistics: ServiceStatistics,
}

/// A service of exports with the same number of clients each.
pub(super) struct Bench {
    pub(super) exports: Vec<ExportSpec>,
    pub(super) clients: usize,
    pub(super) policy: PolicyName,
    pub(super) table: BatchTable,
    pub(super) seed: u64,
    /// The total number of calls.
    pub(super) calls: usize,
    /// The longest time between a reply and the client's next call.
    pub(super) pause_ms: u64,
    /// Whether clients trim too.
    pub(super) has_trims: bool,
    /// Whether overlapping requests are not kept in order, which the harness must detect.
    pub(super) is_disordered: bool,
}

pub(super) fn export(number: usize, contract: Option<Contract>) -> ExportSpec {
    let size = Bytes::new((EXPORT_BLOCKS * BLOCK) as u64);
    ExportSpec {
        name: format!("export-{number}"),
        offset: Bytes::new(size.get() * number as u64),
        size,
        contract,
        share: BestEffortShare::default(),
        is_read_only: false,
    }
}

impl Bench {
    pub(super) fn plan(&self) -> Plan {
        plan(&self.table)
    }

    pub(super) fn core(&self) -> Core<Store> {
        self.core_with(Watch::new(Some(self.table.clone())))
    }

    pub(super) fn core_with(&self, watch: Watch) -> Core<Store> {
        let plan = self.plan();
        let policy = tidegate_policy::build(self.policy, &plan, None).unwrap();
        let store = Store::pseudo(&self.table, EXPORT_BLOCKS * self.exports.len(), self.seed);
        let members = Member::of_exports(&self.exports, &[]);
        let mut core = Core::new(store, policy, &members, 2 * plan.depth as usize, watch);
        if self.is_disordered {
            core.disorder();
        }
        core
    }

    /// Runs until `calls` calls have their reply.
    pub(super) fn run(&self) -> Outcome {
        let mut core = self.core();
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        let mut world = World::new(self);
        let mut waits: Vec<Time> = vec![Time::ZERO; world.asked.len()];
        loop {
            let now = core.backend().now;
            let mut calls = Vec::new();
            for (client, &wait) in waits.iter().enumerate() {
                let is_free = world.asked[client].is_none();
                if is_free && wait <= now && world.asked_count < self.calls {
                    calls.push(world.ask(client, now, &mut random));
                }
            }
            core.run_iteration(calls.into_iter());
            let journal_length = core.backend().journal.len();
            for (client, wait) in waits.iter_mut().enumerate() {
                if world.collect(client, journal_length) {
                    *wait = now + Duration::from_us(random.random_range(0..=self.pause_ms * 1000));
                }
            }
            let is_done = world.answered == self.calls;
            if is_done && core.is_idle() {
                break;
            }
            let next = waits.iter().zip(&world.asked).filter(|(_, asked)| asked.is_none());
            let next = next.map(|(&wait, _)| wait).filter(|&wait| wait > now).min();
            core.wait_until(next.filter(|_| !is_done));
        }
        let statistics = core.statistics();
        let store = core.backend();
        Outcome {
            wrong: world.wrong,
            answered: world.answered,
            failed: world.failed,
            durable: world.durable,
            journal: store.journal.clone(),
            batches: store.batches.clone(),
            statistics,
        }
    }
}

/// The clients' state: their calls, and the reference.
struct World {
    clients: usize,
    reference: Vec<u32>,
    asked: Vec<Option<Asked>>,
    /// Blocks reported written and not yet known to be durable, with their stamps.
    written: Vec<(usize, u32)>,
    /// The blocks in `written` at the arrival of each client's flush.
    covered: Vec<Vec<(usize, u32)>>,
    next_stamp: u32,
    has_trims: bool,
    asked_count: usize,
    answered: usize,
    failed: usize,
    wrong: usize,
    durable: Vec<Durable>,
}

impl World {
    fn new(bench: &Bench) -> Self {
        let clients = bench.exports.len() * bench.clients;
        Self {
            clients: bench.clients,
            reference: vec![0; bench.exports.len() * EXPORT_BLOCKS],
            asked: (0..clients).map(|_| None).collect(),
            written: Vec::new(),
            covered: vec![Vec::new(); clients],
            next_stamp: 1,
            has_trims: bench.has_trims,
            asked_count: 0,
            answered: 0,
            failed: 0,
            wrong: 0,
            durable: Vec::new(),
        }
    }

    fn ask(&mut self, client: usize, now: Time, random: &mut Pcg64Mcg) -> Call {
        self.asked_count += 1;
        let export = client / self.clients;
        let count = random.random_range(1..=2 * PART_BLOCKS);
        let first = export * EXPORT_BLOCKS + random.random_range(0..=EXPORT_BLOCKS - count);
        let kind = match random.random_range(0..10) {
            0..4 => CallKind::Read,
            4..8 => CallKind::Write { is_durable: false },
            8 => CallKind::Write { is_durable: true },
            _ if self.has_trims && random.random_range(0..3) > 0 => CallKind::Trim,
            _ => CallKind::Flush,
        };
        let stamps = match kind {
            CallKind::Read => self.reference[first..first + count].to_vec(),
            CallKind::Write { .. } => self.write(first, count),
            CallKind::Trim => {
                self.reference[first..first + count].fill(0);
                Vec::new()
            }
            CallKind::Flush => {
                self.covered[client].clone_from(&self.written);
                Vec::new()
            }
        };
        let (answer, awaited) = mailbox();
        let parts = parts(kind, first, &stamps, count);
        self.asked[client] = Some(Asked { awaited, kind, first, stamps });
        Call { export: ExportId(export as u64), kind, released: now, parts, answer }
    }

    fn write(&mut self, first: usize, count: usize) -> Vec<u32> {
        let stamps: Vec<u32> = (self.next_stamp..).take(count).collect();
        self.next_stamp += u32::try_from(count).unwrap();
        self.reference[first..first + count].copy_from_slice(&stamps);
        stamps
    }

    /// Returns whether this client got its reply now.
    fn collect(&mut self, client: usize, journal_length: usize) -> bool {
        let Some(asked) = &self.asked[client] else { return false };
        let Some((result, parts)) = asked.awaited.poll() else { return false };
        let asked = self.asked[client].take().expect("just seen");
        self.answered += 1;
        if result.is_err() {
            self.failed += 1;
            return true;
        }
        let places = (asked.first..).zip(asked.stamps.iter().copied());
        match asked.kind {
            CallKind::Read => {
                let pieces = parts.iter().flat_map(|part| {
                    let bytes = usize::try_from(part.size.get()).unwrap();
                    part.data.as_ref().unwrap().bytes()[..bytes].chunks_exact(BLOCK)
                });
                let seen: Vec<u32> = pieces.map(stamp_of).collect();
                self.wrong += usize::from(seen != asked.stamps);
            }
            CallKind::Trim => {}
            CallKind::Write { is_durable: false } => self.written.extend(places),
            CallKind::Write { is_durable: true } => {
                self.durable.push(Durable { after: journal_length, blocks: places.collect() });
            }
            CallKind::Flush => {
                let blocks = std::mem::take(&mut self.covered[client]);
                self.durable.push(Durable { after: journal_length, blocks });
            }
        }
        true
    }
}

/// Makes the parts of a call, at most `PART_BLOCKS` blocks each.
fn parts(kind: CallKind, first: usize, stamps: &[u32], count: usize) -> Vec<CallPart> {
    let lba = |block: usize| Lba::new((block * BLOCK / 512) as u64);
    let size = |blocks: usize| Bytes::new((blocks * BLOCK) as u64);
    if kind == CallKind::Flush {
        return vec![CallPart { start: lba(first), size: size(1), data: None }];
    }
    if kind == CallKind::Trim {
        return vec![CallPart { start: lba(first), size: size(count), data: None }];
    }
    (0..count)
        .step_by(PART_BLOCKS)
        .map(|at| {
            let blocks = PART_BLOCKS.min(count - at);
            let mut data = tidegate_device::IoBuffer::new(size(blocks));
            let pieces = data.bytes_mut().chunks_exact_mut(BLOCK);
            for (piece, stamp) in pieces.zip(stamps[at..at + blocks].iter()) {
                let stamp = if kind == CallKind::Read { &0xdead_beef } else { stamp };
                piece[..4].copy_from_slice(&stamp.to_le_bytes());
            }
            CallPart { start: lba(first + at), size: size(blocks), data: Some(data) }
        })
        .collect()
}
