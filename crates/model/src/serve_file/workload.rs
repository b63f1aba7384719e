// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The workload of the exports: contracts as tasks, all other requests as best effort.

use std::ops::Range;

use super::listen::{BackingReference, Named};
use super::written::Written;
use crate::drive_file::PlaceFamily;
use crate::export::{Beyond, ExportContract, ExportSpec};
use crate::task::{BestEffort, Class, Intensity, Op, Task};
use crate::units::Bytes;
use crate::workload_file::{DriveReference, Placed, Policy, WorkloadFile};

/// The number of best-effort requests that a proof assumes to be always outstanding, for each
/// export and operation.
const OUTSTANDING: u32 = 64;

/// The entry index of phantom tasks, which exist only so that a proof covers both operations.
pub(super) const PHANTOM: u32 = u32::MAX;

impl Written {
    /// Returns a task for the contract, and a phantom task if its requests may be reads or writes,
    /// so that both operations are covered.
    fn tasks(&self, entry: u32) -> Vec<Placed<Task>> {
        let Some(terms) = &self.spec.contract else { return Vec::new() };
        let ops: &[Op] = match terms.op {
            Some(Op::Read) => &[Op::Read],
            Some(Op::Write) => &[Op::Write],
            None if self.spec.is_read_only => &[Op::Read],
            None => &[Op::Write, Op::Read],
        };
        let placed = |(entry, &op): (u32, &Op)| Placed {
            source: task(&self.spec, terms, entry, op),
            size_span: self.size_span.clone(),
            op_span: self.op_span.clone(),
        };
        [entry, PHANTOM].into_iter().zip(ops).map(placed).collect()
    }

    /// Returns the export's best-effort requests: all operations if it has no contract or serves
    /// requests beyond its contract as best effort; otherwise the operations that the contract does
    /// not cover.
    fn best_effort(&self, size_max: Bytes) -> Vec<Placed<BestEffort>> {
        let waits = self.spec.contract.as_ref().filter(|terms| terms.beyond == Beyond::Wait);
        let is_left = |op: &Op| match waits {
            None => true,
            Some(terms) => terms.op.is_some_and(|agreed| agreed != *op),
        };
        let ops: &[Op] = if self.spec.is_read_only { &[Op::Read] } else { &[Op::Read, Op::Write] };
        // Calls are cut at the export's largest size, which may exceed the best-effort size.
        let allowed = self.spec.contract.as_ref().map_or(size_max, |terms| terms.size_max);
        let size = size_max.max(allowed);
        let span: Range<usize> = self.wanted.name_span();
        let placed = |&op: &Op| Placed {
            source: BestEffort {
                op,
                ..BestEffort::reads(
                    format!("{} ({}s)", self.spec.name, op.name()),
                    Intensity::Outstanding(OUTSTANDING),
                    size,
                )
            },
            size_span: span.clone(),
            op_span: span.clone(),
        };
        ops.iter().filter(|op| is_left(op)).map(placed).collect()
    }
}

/// Returns the workload of the exports, with best effort of at most `size_max`.
pub(super) fn of_exports(
    exports: &[Written],
    size_max: Bytes,
    absent_places: Vec<PlaceFamily>,
    policy: Policy,
    drive: DriveReference,
) -> WorkloadFile {
    let (mut tasks, mut best_effort, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for export in exports {
        if export.spec.contract.is_some() {
            let entry = u32::try_from(entries.len()).expect("fewer exports than 2^32");
            entries.push(export.spec.name.clone());
            tasks.extend(export.tasks(entry));
        }
        best_effort.extend(export.best_effort(size_max));
    }
    let count = exports.len();
    WorkloadFile::of_parts(drive, entries, absent_places, count, policy, tasks, best_effort)
}

/// Returns the drive of the proofs: the named drive, or the simulated drive.
pub(super) fn drive_of(named: Option<&Named>, backing: &BackingReference) -> DriveReference {
    let named = named.or(match backing {
        BackingReference::Simulated { drive, .. } => Some(drive),
        BackingReference::Path(_) => None,
    });
    let (name, span) =
        named.map_or((String::new(), 0..0), |drive| (drive.get_ref().clone(), drive.span()));
    DriveReference::Named { name, span }
}

fn task(export: &ExportSpec, terms: &ExportContract, entry: u32, op: Op) -> Task {
    Task {
        entry,
        deadline: terms.deadline,
        requests: terms.requests,
        op,
        class: if export.is_soft { Class::Soft } else { Class::Hard },
        ..Task::periodic(export.name.clone(), terms.period, terms.size_max)
    }
}
