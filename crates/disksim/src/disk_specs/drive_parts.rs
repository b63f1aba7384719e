// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Converts a `disksim_disk` block to the parts of a drive.

use tidegate_model::mechanics::{Cache, Queue, ReadAhead, WriteBack};

use super::{DiskSpecs, schedulers};
use crate::report::{IgnoredParameter, Report};

impl DiskSpecs {
    /// Returns the drive's queue; `None` if no scheduling policy has this number.
    pub(crate) fn queue(&self, report: &mut Report) -> Option<Queue> {
        let (queue, note) = schedulers::queue(&self.scheduler)?;
        if let Some(note) = note {
            report.note(note);
        }
        Some(queue)
    }

    /// Returns whether transfers may begin in the middle of a request.
    pub(crate) fn zero_latency(&self, report: &mut Report) -> bool {
        if self.immediate_write != self.immediate_read {
            report.ignored.push(IgnoredParameter {
                block: "disksim_disk".to_owned(),
                name: "Immediate buffer write".to_owned(),
                value: u32::from(self.immediate_write).to_string(),
            });
        }
        self.immediate_read
    }

    /// Returns the drive's memory; `None` if the drive neither caches nor reads ahead.
    pub(crate) fn cache(&self) -> Option<Cache> {
        let write_back = self.write_back();
        let is_used = self.is_caching || write_back != WriteBack::Off;
        if self.segments == 0 || self.segment_sectors == 0 || !is_used {
            return None;
        }
        Some(Cache {
            segments: self.segments,
            segment_sectors: self.segment_sectors,
            // A disk that takes writes has room for at least one.
            write_segments: self.write_segments.clamp(1, self.segments),
            read: self.is_caching,
            read_ahead: self.read_ahead(),
            read_ahead_sectors_max: self.read_ahead_sectors_max,
            write_back,
            read_hits_on_writes: self.read_hits_on_writes,
            gives_up_read: self.gives_up_read,
            reads_on_arrival: self.reads_on_arrival,
            write_segment_apart: self.write_segment_apart,
            read_ahead_after_hits: self.read_ahead_on_idle_hit,
            hits_while_busy: self.sneaky_read_hits,
            writes_while_busy: self.write_prebuffering,
        })
    }

    fn read_ahead(&self) -> ReadAhead {
        match self.read_ahead {
            // Without a cache there is no room for read-ahead.
            _ if !self.is_caching => ReadAhead::Off,
            1 => ReadAhead::Track,
            2 => ReadAhead::Cylinder,
            3 => ReadAhead::Segment,
            4 => ReadAhead::Adaptive,
            _ => ReadAhead::Off,
        }
    }

    fn write_back(&self) -> WriteBack {
        match self.fast_write {
            0 => WriteBack::Off,
            // Level 1 also completes writes immediately; the only difference is that it takes no
            // second write beside the first.
            _ => WriteBack::On,
        }
    }
}
