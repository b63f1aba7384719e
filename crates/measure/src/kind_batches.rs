// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Selects the batches of a drive file whose requests all belong to given kinds, and computes costs
//! that cover these batches.

use tidegate_model::drive_file::{MeasuredTable, MixedBatches};
use tidegate_model::{Bytes, CostModel, DriveFile, Duration, Op};

use crate::envelope::{self, EnvelopeError, Point};
use crate::kind::Kind;

/// The batches of given kinds in a drive file.
pub(crate) struct KindBatches<'a> {
    kinds: &'a [Kind],
    /// The tables of batches of one kind, each with the index of its kind.
    pure: Vec<(usize, &'a MeasuredTable)>,
    mixed: Vec<&'a MixedBatches>,
}

impl<'a> KindBatches<'a> {
    /// Returns the batches in `file` that contain only requests of these kinds.
    pub(crate) fn of(kinds: &'a [Kind], file: &'a DriveFile) -> Self {
        let of_table = |table: &'a MeasuredTable| Some((at(kinds, table.op?, table.size?)?, table));
        let has_all = |it: &&MixedBatches| {
            it.request.iter().all(|kind| at(kinds, kind.op, kind.size).is_some())
        };
        let pure = file.batch.iter().filter_map(of_table).collect();
        Self { kinds, pure, mixed: file.mixed.iter().filter(has_all).collect() }
    }

    /// Returns the number of samples of the table that has fewest; `None` if a table does not state
    /// it.
    pub(crate) fn samples(&self) -> Option<u64> {
        let of_pure = self.pure.iter().map(|(_, table)| table.samples);
        of_pure.chain(self.mixed.iter().map(|it| it.samples)).min().flatten()
    }

    /// Returns the least costs that cover all batches.
    ///
    /// # Errors
    /// [`envelope::fit`].
    pub(crate) fn costs(&self) -> Result<CostModel, EnvelopeError> {
        let pure = self.pure.iter().flat_map(|&(index, table)| {
            let times = table.ns_max.iter().copied().map(Duration::from_ns);
            times.zip(1..).map(move |(took, count)| (vec![(index, count)], took))
        });
        let mixed = self.mixed.iter().flat_map(|it| it.batches()).map(|(batch, took)| {
            let count = |(op, size, count)| Some((at(self.kinds, op, size)?, count));
            (batch.filter_map(count).collect(), took)
        });
        let point = |(batch, highest): (Vec<(usize, u32)>, Duration)| {
            let mut counts = vec![0; self.kinds.len()];
            for (index, count) in batch {
                counts[index] += count;
            }
            Point { counts, highest }
        };
        let points: Vec<Point> = pure.chain(mixed).map(point).collect();
        envelope::fit(self.kinds, &points).map(CostModel::from)
    }
}

fn at(kinds: &[Kind], op: Op, size: Bytes) -> Option<usize> {
    kinds.iter().position(|kind| *kind == Kind { op, size })
}
