// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Binds a workload to its drive: selects the batch table of its requests, and reports misfits.

use std::ops::Range;

use super::{Placed, WorkloadFile};
use crate::batch_table::BatchTable;
use crate::contracts::Contracts;
use crate::cost::CostModel;
use crate::drive_file::{DriveFile, MeasuredTable};
use crate::file_error::FileError;
use crate::host_section::HostSection;
use crate::measurement::Measurement;
use crate::premise::{Premise, PremiseCode, Premises, listed};
use crate::sampling::{self, Sampling};
use crate::soft_table::SoftTable;
use crate::task::{Op, Place};
use crate::typical_times::TypicalTimes;
use crate::units::{Bytes, Duration};
use crate::workload::{BatchChoice, Workload};

/// An operation that the workload needs, with its first source's position for messages.
pub(super) struct Asked {
    pub(super) op: Op,
    span: Range<usize>,
}

impl WorkloadFile {
    /// Returns the workload on this drive.
    ///
    /// All batches are charged from the table of the largest request of any source; if that size
    /// was not measured, from the next larger size. Times at places that the file states as absent
    /// do not count.
    ///
    /// # Errors
    /// If the drive's measurements do not cover the workload, or if the batch size exceeds the
    /// table; with the position in the workload file.
    pub fn bind(&self, drive: &DriveFile) -> Result<Workload, FileError> {
        if self.absent_places.is_empty() {
            return self.bind_all_places(drive);
        }
        self.bind_all_places(&drive.without_places(&self.absent_places))
    }

    fn bind_all_places(&self, drive: &DriveFile) -> Result<Workload, FileError> {
        self.policy.check_use(&self.asked)?;
        let mut premises = drive.premises.clone();
        let (size_max, size_span) = self.largest_request();
        let mut tables: Vec<&MeasuredTable> = Vec::new();
        for asked in self.operations() {
            let measured = measured_for(drive, &asked, size_max, &size_span)?;
            note_table(measured, size_max, &mut premises);
            tables.push(measured);
        }
        // An inline table holds for reads, for writes, and for batches that mix them.
        tables.dedup_by(|a, b| std::ptr::eq(*a, *b));
        if !tables.iter().any(|table| sampling::is_of_data_sheet(drive, table)) {
            premises.remove(&[PremiseCode::DataSheet]);
        }
        premises.extend(self.premises_of_places(drive, &tables));
        let doubts = |table: &&MeasuredTable| sampling::doubts(drive, table, "batch times");
        premises.extend(tables.iter().flat_map(doubts));
        let table = match tables[..] {
            [measured] => measured.table.clone(),
            [first, second, ..] => {
                premises.push(mixed_unmeasured(drive, "batch", "batches"));
                first.table.mixed_with(&second.table)
            }
            [] => unreachable!("a workload has a source"),
        };
        let costs = self.costs(drive, &mut premises);
        let (table, deferred_writes) = self.beside_deferred(drive, table, costs.as_ref());
        self.check_batch(&table, drive)?;
        // The samples and quantiles of a table were taken at random places.
        let is_random =
            self.has_random_places() && tables.iter().all(|it| it.is_of_random_places());
        let sampled: &[&MeasuredTable] = if is_random { &tables } else { &[] };
        let contracts = Contracts {
            costs,
            deferred_writes,
            is_measured: tables.iter().any(|table| !sampling::are_claims(drive, table)),
            sampling: Sampling::of(sampled),
            soft: SoftTable::of(sampled),
            samples_withheld: !is_random && !Sampling::of(&tables).is_empty(),
            ..self.contracts(drive, size_max)
        };
        let host = HostSection::of(self.host.as_ref())?;
        premises.extend(self.host.iter().flat_map(|section| section.premises.clone()));
        let tasks = self.tasks.iter().map(|placed| placed.source.clone()).collect();
        let best_effort = self.best_effort.iter().map(|placed| placed.source.clone()).collect();
        let workload = Workload {
            tasks,
            best_effort,
            entries: self.entries.clone(),
            policy: self.policy.name,
            batch: self.policy.batch,
            best_effort_depth: self.policy.best_effort_depth,
            best_effort_order: self.policy.best_effort_order,
            rotates: drive.rotates(),
            typical: self.typical_times(drive),
            regulators: self.policy.regulators.clone(),
            parameters: self.policy.parameters.clone(),
            contracts,
            margin_ppm: self.policy.margin_ppm,
            host,
            premises,
            ..Workload::new(drive.name.clone(), drive.depth, table)
        };
        self.check_batch_cost(&workload)?;
        Ok(workload)
    }

    /// Returns the cost model if the requests are of different kinds: the drive file's model, or
    /// the envelope of the tables of these kinds. `None` if all requests are charged from one
    /// table, which is then more precise.
    fn costs(&self, drive: &DriveFile, premises: &mut Premises) -> Option<CostModel> {
        let kinds: Vec<(Op, Bytes, u64)> = self.kinds().collect();
        let mut tables: Vec<&MeasuredTable> = Vec::new();
        let mut weights: Vec<u64> = Vec::new();
        for &(op, size, requests) in &kinds {
            let table = covering_table(&drive.batch, op, size)?;
            if let Some(known) = tables.iter().position(|known| std::ptr::eq(*known, table)) {
                weights[known] += requests;
            } else {
                tables.push(table);
                weights.push(requests);
            }
        }
        if tables.len() < 2 {
            return None;
        }
        let Some(costs) = &drive.cost else {
            let costs = CostModel::envelope(&tables, &weights)?;
            premises.push(of_envelope(&costs, drive));
            return Some(costs);
        };
        let uncovered = kinds.iter().find(|&&(op, size, _)| costs.cost(op, size).is_none());
        if let Some((op, size, _)) = uncovered {
            let requests = format!("{}s of {size}", op.name());
            premises.push(Premise::new(
                PremiseCode::LargerSize,
                format!("no costs of {requests}"),
                format!(
                    "[cost] of `{}` does not cover {requests}: all requests are charged as the largest",
                    drive.name
                ),
            ));
            return None;
        }
        Some(costs.clone())
    }

    /// Returns the typical times of the drive; `None` unless all sources have requests of one kind
    /// at random places.
    fn typical_times(&self, drive: &DriveFile) -> Option<TypicalTimes> {
        let is_random = |place: Place| match place {
            Place::Random => true,
            Place::Sequential | Place::Runs { .. } | Place::Range { .. } => false,
        };
        let tasks = self.tasks.iter().map(|placed| placed.source.place);
        let loads = self.best_effort.iter().map(|placed| placed.source.place);
        let mut kinds = self.kinds().map(|(op, size, _)| (op, size));
        let (op, size) = kinds.next()?;
        let is_of_one_kind =
            tasks.chain(loads).all(is_random) && kinds.all(|kind| kind == (op, size));
        is_of_one_kind.then(|| TypicalTimes::of(drive, op, size))?
    }

    /// Returns the operation, size and number of requests of every source.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (Op, Bytes, u64)> {
        let tasks = self.tasks.iter().map(|placed| &placed.source);
        let tasks = tasks.map(|task| (task.op, task.size, u64::from(task.requests)));
        let loads = self.best_effort.iter().map(|placed| &placed.source);
        tasks.chain(loads.map(|load| (load.op, load.size, 1)))
    }

    /// Returns the size of the largest request, with its position in the text.
    fn largest_request(&self) -> (Bytes, Range<usize>) {
        let tasks = self.tasks.iter().map(|task| (task.source.size, &task.size_span));
        let loads = self.best_effort.iter().map(|load| (load.source.size, &load.size_span));
        let (size, span) =
            tasks.chain(loads).max_by_key(|&(size, _)| size).expect("a workload has a source");
        (size, span.clone())
    }

    /// Returns the operations for which the drive has no table that covers the workload, with the
    /// size of the workload's largest request.
    pub fn without_table(&self, drive: &DriveFile) -> Vec<(Op, Bytes)> {
        let (size_max, _) = self.largest_request();
        let is_missing = |op: &Op| covering_table(&drive.batch, *op, size_max).is_none();
        let ops = self.operations().into_iter().map(|asked| asked.op);
        ops.filter(is_missing).map(|op| (op, size_max)).collect()
    }

    /// Returns the operations that the workload needs, each once.
    pub(super) fn operations(&self) -> Vec<Asked> {
        fn asked<T>(placed: &Placed<T>, op: Op) -> Asked {
            Asked { op, span: placed.op_span.clone() }
        }
        let tasks = self.tasks.iter().map(|task| asked(task, task.source.op));
        let loads = self.best_effort.iter().map(|load| asked(load, load.source.op));
        let mut operations: Vec<Asked> = Vec::new();
        for asked in tasks.chain(loads) {
            if operations.iter().all(|known| known.op != asked.op) {
                operations.push(asked);
            }
        }
        operations
    }

    fn check_batch(&self, table: &BatchTable, drive: &DriveFile) -> Result<(), FileError> {
        let BatchChoice::Fixed(batch_max) = self.policy.batch else { return Ok(()) };
        if batch_max <= table.batch_max() {
            return Ok(());
        }
        Err(FileError::new(
            self.policy.batch_span.clone(),
            format!(
                "a batch of {batch_max} is larger than the table of `{}`, which ends at {}",
                drive.name,
                table.batch_max()
            ),
            format!("write at most {}, or batch = \"auto\"", table.batch_max()),
        ))
    }
}

/// Returns the table of the smallest measured size that covers `size`.
fn measured_for<'a>(
    drive: &'a DriveFile,
    asked: &Asked,
    size: Bytes,
    size_span: &Range<usize>,
) -> Result<&'a MeasuredTable, FileError> {
    let of_op = || drive.batch.iter().filter(|table| table.op.is_none_or(|op| op == asked.op));
    let op = asked.op.name();
    if of_op().next().is_none() {
        return Err(FileError::new(
            asked.span.clone(),
            format!("drive `{}` has no measurements of {op}s", drive.name),
            how_to_measure(asked.op, size),
        ));
    }
    covering_table(&drive.batch, asked.op, size).ok_or_else(|| {
        let sizes: Vec<String> =
            of_op().filter_map(|table| table.size).map(|size| size.to_string()).collect();
        FileError::new(
            size_span.clone(),
            format!(
                "a request of {size} is larger than every measured size of `{}`: {op}s of {}",
                drive.name,
                sizes.join(", ")
            ),
            format!("write a smaller size, or {}", how_to_measure(asked.op, size)),
        )
    })
}

/// Returns the table of this operation for the smallest measured size that covers `size`.
pub(super) fn covering_table(
    tables: &[MeasuredTable],
    op: Op,
    size: Bytes,
) -> Option<&MeasuredTable> {
    let covers = |table: &&MeasuredTable| {
        table.op.is_none_or(|of| of == op) && table.size.is_none_or(|measured| measured >= size)
    };
    tables.iter().filter(covers).min_by_key(|table| table.size)
}

/// Returns the advice to measure requests; the command line replaces `TARGET` and `FILE`.
fn how_to_measure(op: Op, size: Bytes) -> String {
    let measurement = Measurement::of("batch").with([(op, size)]);
    format!("measure it with `{measurement}`, or name another drive")
}

/// Prints a time as results show it: in milliseconds, rounded up to the microsecond.
pub(super) fn ms_ceil(time: Duration) -> String {
    let us = time.ns().div_ceil(1_000);
    format!("{}.{:03}ms", us / 1_000, us % 1_000)
}

/// Returns the doubt about tables that charge requests of both operations.
pub(super) fn mixed_unmeasured(drive: &DriveFile, one: &str, several: &str) -> Premise {
    let support = if drive.mixed.is_empty() {
        "no measurement supports this"
    } else {
        "the measured [[mixed]] batches support [cost] and its bound `mixed`, not this sum"
    };
    Premise::new(
        PremiseCode::MixedUnmeasured,
        format!("mixed {several} charged by sums"),
        format!(
            "the workload reads and writes, and the bound does not rest on measured mixed {several}: a \
             mixed {one} is charged as its reads and its writes one after the other; {support}"
        ),
    )
}

/// Returns the doubt about derived costs.
fn of_envelope(costs: &CostModel, drive: &DriveFile) -> Premise {
    let of_kind = |cost: &crate::cost::RequestCost| {
        format!("{} for a {} of {}", ms_ceil(cost.time_max), cost.op.name(), cost.size)
    };
    let kinds: Vec<String> = costs.requests.iter().map(of_kind).collect();
    let text = format!(
        "the requests differ: the bound `mixed` charges {} for a batch and {}. These charges \
         cover every measured batch of one kind. The bound assumes that a mixed batch takes no \
         longer than these batches on average; {}",
        ms_ceil(costs.positioning_max),
        kinds.join(", "),
        if drive.mixed.is_empty() {
            "no measurement supports this"
        } else {
            "the drive's [[mixed]] batches do not tell, as they gave it no [cost]"
        }
    );
    Premise::new(PremiseCode::CostsUnmeasured, "unmeasured costs", text)
}

fn note_table(measured: &MeasuredTable, size: Bytes, premises: &mut Premises) {
    let what = match (measured.op, measured.size) {
        (Some(op), Some(measured_size)) => {
            if measured_size != size {
                let charged = format!("charged as {measured_size}");
                let (what, next) = (op.name(), "the next larger measured size");
                premises.push(Premise::new(
                    PremiseCode::LargerSize,
                    format!("{what}s {charged}"),
                    format!("{what}s of up to {size} are {charged}, {next}"),
                ));
            }
            format!("{}s of {measured_size}", op.name())
        }
        _ => "the inline drive".to_owned(),
    };
    if !measured.table.raised().is_empty() {
        let raised = raised_entries(measured.table.raised());
        premises.push(Premise::new(
            PremiseCode::RunningMaximum,
            format!("{raised} raised"),
            format!(
                "the table for {what} is not monotone: {raised} measured faster than a smaller \
                 batch; the smaller batch's time is used"
            ),
        ));
    }
}

/// Formats batch sizes as `b(3), b(4) and 7 more`.
fn raised_entries(raised: &[u32]) -> String {
    listed(&raised.iter().map(|requests| format!("b({requests})")).collect::<Vec<_>>())
}
