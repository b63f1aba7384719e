// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The measured contracts of a drive in addition to b(i), for the requests of one workload.
//!
//! Tables are measured separately, each with a finite number of samples, and may contradict each
//! other. If one contract is a case of another, the drive was observed to take the longer of the
//! two times, so the wider contract is raised to it:
//!
//! - q requests sent together to an idle device are one way to have q requests in flight just after
//!   a dispatch: drain(q) >= b(q).
//! - q requests with priority complete within priority(q) for *any other requests* on the device,
//!   including none: priority(q) >= b(q).
//! - The last request of a batch of i is on the device for b(i): starvation >= b(i), for each i.

use super::WorkloadFile;
use super::bind::{covering_table, mixed_unmeasured, ms_ceil};
use crate::batch_table::BatchTable;
use crate::contracts::{ContractPremise, Contracts, DeferredWrites, DriveContract};
use crate::cost::CostModel;
use crate::drive_file::{DriveFile, MeasuredTable};
use crate::premise::{Premise, PremiseCode, listed};
use crate::sampling;
use crate::task::Op;
use crate::units::{Bytes, Duration};

/// A contract that covers a batch as a special case.
struct Covered {
    contract: DriveContract,
    /// The object that one table entry times, in the singular, for messages.
    what: &'static str,
    /// The plural of `what`.
    plural: &'static str,
    /// The entries of the contract's table, in the plural, for messages.
    times: &'static str,
    /// The reason why this contract covers a batch too, so that its times must be at least b(i).
    case: &'static str,
}

const DRAINS: Covered = Covered {
    contract: DriveContract::Drain,
    what: "drain",
    plural: "drains",
    times: "drain times",
    case: "a batch given to an idle drive is one of its drains",
};

const PRIORITY: Covered = Covered {
    contract: DriveContract::Priority,
    what: "batch with priority",
    plural: "batches with priority",
    times: "times with priority",
    case: "a batch with priority may find the drive idle",
};

impl WorkloadFile {
    /// Returns the drive's other measured contracts for requests of up to `size`. A contract that
    /// was not measured for every operation of the workload counts as not measured.
    pub(super) fn contracts(&self, drive: &DriveFile, size: Bytes) -> Contracts {
        let mut premises = Vec::new();
        let drain = self.covering(drive, size, &drive.drain, &DRAINS, &mut premises);
        let priority = self.covering(drive, size, &drive.priority, &PRIORITY, &mut premises);
        Contracts {
            drain,
            priority,
            starvation_max: self.starvation(drive, size, &mut premises),
            starvation_depth: self.starvation_depth(drive, size),
            priority_depth: self.priority_depth(drive, size),
            covered: self.operations().iter().map(|asked| (asked.op, size)).collect(),
            premises,
            ..Contracts::default()
        }
    }

    /// Returns one table for all operations of the workload, raised to b(q) separately for each
    /// operation.
    fn covering(
        &self,
        drive: &DriveFile,
        size: Bytes,
        tables: &[MeasuredTable],
        kind: &Covered,
        premises: &mut Vec<ContractPremise>,
    ) -> Option<BatchTable> {
        let operations = self.operations();
        let pairs = operations.iter().map(|asked| {
            let table = covering_table(tables, asked.op, size)?;
            Some((table, covering_table(&drive.batch, asked.op, size)?))
        });
        let mut pairs = pairs.collect::<Option<Vec<_>>>()?;
        // As for batches, an inline table holds for both operations.
        pairs.dedup_by(|a, b| std::ptr::eq(a.0, b.0));
        if pairs.len() > 1 {
            let premise = mixed_unmeasured(drive, kind.what, kind.plural);
            premises.push(ContractPremise { contract: kind.contract, premise });
        }
        let measured: Vec<&MeasuredTable> = pairs.iter().map(|pair| pair.0).collect();
        premises.extend(self.contract_places(drive, kind.contract, &measured));
        let doubts = measured.iter().flat_map(|table| sampling::doubts(drive, table, kind.times));
        let of_contract = |premise| ContractPremise { contract: kind.contract, premise };
        premises.extend(doubts.map(of_contract));
        let mut least = |(measured, batch): (&MeasuredTable, &MeasuredTable)| {
            let table = measured.table.at_least(&batch.table);
            premises.extend(of_raised(kind, &measured.table, &table));
            table
        };
        let mut all: Option<BatchTable> = None;
        for pair in pairs {
            let table = least(pair);
            all = Some(match all {
                None => table,
                Some(first) => first.mixed_with(&table),
            });
        }
        all
    }

    /// Returns b(i) on a drive that carries out writes later, and the facts about these deferred
    /// writes. The table is raised to the costs of mixed batches if these costs were measured.
    pub(super) fn beside_deferred(
        &self,
        drive: &DriveFile,
        table: BatchTable,
        costs: Option<&CostModel>,
    ) -> (BatchTable, DeferredWrites) {
        let operations = self.operations();
        if !drive.defers_writes() || operations.iter().all(|asked| asked.op != Op::Write) {
            return (table, DeferredWrites::None);
        }
        let of_drive = drive.cost.as_ref().and(costs).filter(|_| operations.len() > 1);
        let raised = of_drive.and_then(|costs| {
            let known_max = costs.batch_max.unwrap_or(u32::MAX).min(table.batch_max());
            let costliest = self.kinds().map(|(op, size, _)| costs.cost(op, size));
            let costliest = costliest.collect::<Option<Vec<_>>>()?.into_iter().max()?;
            let times = (1..=known_max).map(|requests| time_by_costs(costs, costliest, requests));
            let floor = BatchTable::new(&times.collect::<Option<Vec<_>>>()?).ok()?;
            Some(table.truncated(known_max).at_least(&floor))
        });
        match raised {
            Some(raised) => (raised, DeferredWrites::Measured),
            None => (table, DeferredWrites::Unmeasured),
        }
    }

    /// Returns the largest number of requests on the drive that the drive's starvation bound
    /// covers, for all operations of the workload; `None` if it was not measured for all of them.
    fn starvation_depth(&self, drive: &DriveFile, size: Bytes) -> Option<u32> {
        let operations = self.operations();
        let depths = operations.iter().map(|asked| drive.starvation_depth_of(asked.op, size));
        depths.collect::<Option<Vec<_>>>()?.into_iter().min()
    }

    /// Returns the largest number of requests on the drive that the drive's times with priority
    /// cover; `None` if no table states it.
    fn priority_depth(&self, drive: &DriveFile, size: Bytes) -> Option<u32> {
        let operations = self.operations();
        let of = |op| covering_table(&drive.priority, op, size)?.depth;
        operations.iter().filter_map(|asked| of(asked.op)).min()
    }

    /// Returns the starvation bound, at least the longest batch of one kind.
    fn starvation(
        &self,
        drive: &DriveFile,
        size: Bytes,
        premises: &mut Vec<ContractPremise>,
    ) -> Option<Duration> {
        let operations = self.operations();
        self.starvation_depth(drive, size)?;
        let measured = drive.starvation_max.filter(|_| !drive.is_starvation_endless)?;
        let is_inline = drive.batch.iter().all(|table| table.op.is_none());
        if !is_inline {
            premises.extend(self.contract_places(drive, DriveContract::Starvation, &[]));
        }
        let batches =
            operations.iter().filter_map(|asked| covering_table(&drive.batch, asked.op, size));
        let longest = batches.map(|batch| batch.table.time_max(batch.table.batch_max())).max();
        let Some(longest) = longest.filter(|&longest| longest > measured) else {
            return Some(measured);
        };
        let text = format!(
            "the drive's starvation bound of {} is below its longest batch, whose last request is on \
             the drive for {}; the longer time is used",
            ms_ceil(measured),
            ms_ceil(longest)
        );
        premises.push(raised(DriveContract::Starvation, text));
        Some(longest)
    }
}

/// Returns the longest time, by the costs, of a batch of `requests` requests of the most expensive
/// kind, with a change of direction between any two.
fn time_by_costs(costs: &CostModel, costliest: Duration, requests: u32) -> Option<Duration> {
    let own = costliest.checked_mul(u64::from(requests))?;
    let switches = costs.switch_max.unwrap_or_default().checked_mul(u64::from(requests - 1))?;
    costs.positioning_max.checked_add(own)?.checked_add(switches)
}

/// Returns the premise about a contract that was raised to one of its cases.
fn raised(contract: DriveContract, text: String) -> ContractPremise {
    let subject = format!("raised {}", contract.what());
    ContractPremise { contract, premise: Premise::new(PremiseCode::RaisedContract, subject, text) }
}

/// Returns the premise about a table that was raised; `None` if it was not.
fn of_raised(
    &Covered { contract, case, .. }: &Covered,
    measured: &BatchTable,
    table: &BatchTable,
) -> Option<ContractPremise> {
    let excess = |requests: u32| table.time_max(requests) - measured.time_max(requests);
    let is_raised = |requests: &u32| !excess(*requests).is_zero();
    let name = contract.name();
    let raised_entries: Vec<String> = (1..=table.batch_max())
        .filter(is_raised)
        .map(|requests| format!("{name}({requests})"))
        .collect();
    if raised_entries.is_empty() {
        return None;
    }
    let most = (1..=table.batch_max()).map(excess).max()?;
    let text = format!(
        "{} measured shorter than batches of as many requests, by up to {}; {case}, \
         so b(q) is used there",
        listed(&raised_entries),
        ms_ceil(most)
    );
    Some(raised(contract, text))
}
