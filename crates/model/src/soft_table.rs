// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A batch table that holds most of the time: b at a measured quantile, for soft guarantees.
//!
//! The table records its samples but draws no conclusions from them: that takes statistics, which
//! only crates with floating point may compute.

use crate::batch_table::BatchTable;
use crate::drive_file::MeasuredTable;
use crate::units::Duration;

/// b(i) at one quantile, for the requests of a workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoftTable {
    /// The quantile of the samples, in parts per million.
    pub level_ppm: u32,
    /// The running maximum of b at this quantile.
    pub table: BatchTable,
    /// The measurements behind the table: one table, or one of reads and one of writes.
    pub sources: Vec<SampleCount>,
}

/// The number of measurements behind one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleCount {
    /// The smallest number of samples of a batch.
    pub samples: u64,
    /// The number of entries of the table.
    pub entries: u32,
}

impl SoftTable {
    /// The lowest useful quantile: at the next lower one, 90 %, one job in ten could break the
    /// guarantee.
    pub const LEVEL_MIN_PPM: u32 = 990_000;

    /// Returns the tables at each useful quantile that all of `measured` have, the lowest first.
    /// The list is empty if the number of samples is unknown. Mixed batches are charged as in
    /// [`BatchTable::mixed_with`].
    pub fn of(measured: &[&MeasuredTable]) -> Vec<Self> {
        let levels = MeasuredTable::LEVELS_PPM.into_iter().enumerate();
        levels
            .filter(|&(_, level_ppm)| level_ppm >= Self::LEVEL_MIN_PPM)
            .filter_map(|(index, level_ppm)| Self::at(measured, index, level_ppm))
            .collect()
    }

    fn at(measured: &[&MeasuredTable], index: usize, level_ppm: u32) -> Option<Self> {
        let mut table: Option<BatchTable> = None;
        let mut sources = Vec::with_capacity(measured.len());
        for of_op in measured {
            let times = of_op.quantiles_ns[index].iter().copied().map(Duration::from_ns);
            let own = BatchTable::new(&times.collect::<Vec<_>>()).ok()?;
            sources.push(SampleCount { samples: of_op.samples?, entries: own.batch_max() });
            table = Some(match table {
                None => own,
                Some(known) => known.mixed_with(&own),
            });
        }
        Some(Self { level_ppm, table: table?, sources })
    }
}
