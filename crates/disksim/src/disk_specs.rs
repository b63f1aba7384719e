// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A `disksim_disk` block: a disk's command overheads, transfer, cache and queue.
//!
//! [`DiskSpecs`] holds every parameter that could matter. To represent one more switch in the
//! drive, add a line to `drive_parts` and move a row in `known`.

mod drive_parts;
mod inert;
mod known;
mod schedulers;

use std::collections::BTreeMap;

use tidegate_model::mechanics::Overhead;

use super::error::ImportError;
use super::report::Report;
use super::section::{Section, TIME_NS_MAX};
use super::tree::Value;
use known::{
    COMPLETIONS, KNOWN, OVERHEADS, PREPARATION, RECONNECT, SCHEDULER_KNOWN, SNEAKY_HITS, WRITE_SEEK,
};
use schedulers::SchedulerSpecs;

/// The contents of a `disksim_disk` block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the block's switches, one field each")]
pub(crate) struct DiskSpecs {
    /// The number of requests that the disk holds at the same time.
    pub(crate) depth: u32,
    pub(crate) scheduler: SchedulerSpecs,
    /// The overheads, with the scale and the time for each request applied.
    pub(crate) overhead: Overhead,
    /// The picoseconds that the disk's electronics take for a sector.
    pub(crate) sector_ps: u64,
    pub(crate) segments: u32,
    pub(crate) write_segments: u32,
    pub(crate) segment_sectors: u32,
    pub(crate) is_caching: bool,
    /// The read-ahead rule: 0 off, 1 track, 2 cylinder, 3 segment, 4 adaptive.
    pub(crate) read_ahead: u32,
    pub(crate) read_ahead_sectors_max: Option<u32>,
    pub(crate) read_ahead_on_idle_hit: bool,
    /// Whether writes complete from memory: 0 off, 1 restricted (appends), 2 on.
    pub(crate) fast_write: u32,
    pub(crate) read_hits_on_writes: bool,
    /// Whether full, partial or intermediate hits are served while another request uses the
    /// heads.
    pub(crate) sneaky_read_hits: bool,
    pub(crate) write_prebuffering: bool,
    pub(crate) immediate_read: bool,
    pub(crate) immediate_write: bool,
    /// The share of a read after which its transfer begins.
    pub(crate) read_watermark_ppm: u32,
    /// Whether read sectors make room for read-ahead.
    pub(crate) gives_up_read: bool,
    pub(crate) reads_on_arrival: bool,
    pub(crate) write_segment_apart: bool,
    pub(crate) write_seek_ns_min: u64,
}

impl DiskSpecs {
    /// Returns the specs of a disk for which only the mechanics are given.
    pub(crate) fn neutral() -> Self {
        let scheduler = SchedulerSpecs { policy: schedulers::FCFS, ..SchedulerSpecs::default() };
        Self { depth: 1, scheduler, ..Self::default() }
    }

    /// Reads a `disksim_disk` block.
    pub(crate) fn read(section: &Section, report: &mut Report) -> Result<Self, ImportError> {
        section.report_ignored_but(&KNOWN, |name| inert::is_inert(section, name), report);
        let mut reader = Reader { section, report, missing: BTreeMap::new() };
        let mut specs = Self {
            depth: reader.depth()?,
            scheduler: reader.scheduler()?,
            overhead: reader.overhead()?,
            sector_ps: reader.sector_ps()?,
            ..Self::default()
        };
        reader.memory(&mut specs)?;
        reader.report_missing();
        Ok(specs)
    }
}

struct Reader<'a> {
    section: &'a Section,
    report: &'a mut Report,
    /// Missing parameters, by the value used instead.
    missing: BTreeMap<i128, Vec<&'static str>>,
}

impl Reader<'_> {
    /// Returns a parameter; for a missing one, its neutral value, which is reported.
    fn number(
        &mut self,
        name: &'static str,
        power: i32,
        neutral: i128,
    ) -> Result<i128, ImportError> {
        let number = self.section.scaled(name, power)?;
        if inert::is_inert(self.section, name) {
            return Ok(neutral);
        }
        if number.is_none() {
            let unit = 10_i128.pow(power.unsigned_abs());
            self.missing.entry(neutral / unit).or_default().push(name);
        }
        Ok(number.unwrap_or(neutral))
    }

    /// Reports missing parameters: one sentence for each default that was used.
    fn report_missing(&mut self) {
        let place = self.section.document.name();
        for (neutral, names) in &self.missing {
            let names = names.join("`, `");
            self.report
                .missing
                .push(format!("{place}: {neutral} is used for the missing `{names}`"));
        }
    }

    fn count(&mut self, name: &'static str, neutral: u32) -> Result<u32, ImportError> {
        let number = self.number(name, 0, i128::from(neutral))?;
        u32::try_from(number).map_err(|_| match self.section.find(name) {
            Some(value) => self.section.refuse(value, name, "a whole number, not negative"),
            None => unreachable!("the neutral value is a count"),
        })
    }

    fn switch(&mut self, name: &'static str) -> Result<bool, ImportError> {
        Ok(self.count(name, 0)? != 0)
    }

    /// Returns a level from 0 to `level_max`.
    fn level(&mut self, name: &'static str, level_max: u32) -> Result<u32, ImportError> {
        let level = self.count(name, 0)?;
        match self.section.find(name) {
            Some(value) if level > level_max => {
                Err(self.section.refuse(value, name, format!("a level from 0 to {level_max}")))
            }
            _ => Ok(level),
        }
    }

    fn depth(&mut self) -> Result<u32, ImportError> {
        let depth = self.count("Max queue length", 1)?;
        if depth == 0 {
            self.report
                .note("the queue length is 0, so 1 is used: the disk serves one request at a time");
        }
        Ok(depth.max(1))
    }

    fn scheduler(&mut self) -> Result<SchedulerSpecs, ImportError> {
        let section = match self.section.find("Scheduler") {
            Some(Value::Block(block)) => self.section.inner(block),
            Some(value) => {
                return Err(self.section.refuse(value, "Scheduler", "a block disksim_ioqueue"));
            }
            None => {
                let place = self.section.document.name();
                self.report.missing.push(format!(
                    "{place}: first come, first served is used for the missing `Scheduler`"
                ));
                return Ok(DiskSpecs::neutral().scheduler);
            }
        };
        section.report_ignored(&SCHEDULER_KNOWN, self.report);
        Ok(SchedulerSpecs {
            policy: section.whole_required("Scheduling policy")?,
            timeout_scheme: section.whole("Scheduling timeout scheme")?.unwrap_or(0),
            timeout: section.whole("Timeout time/weight")?.unwrap_or(0),
            has_priorities: section.whole::<u32>("Scheduling priority scheme")?.unwrap_or(0) != 0,
        })
    }

    fn overhead(&mut self) -> Result<Overhead, ImportError> {
        let request_ns = self.number("Per-request overhead time", 6, 0)?;
        let scale_ppm = self.number("Time scale for overheads", 6, 1_000_000)?;
        let mut command = |name| self.time(name, request_ns, scale_ppm);
        let [read_hits, read_misses, write_hits, write_misses] = [
            [command(OVERHEADS[0])?, command(OVERHEADS[1])?],
            [command(OVERHEADS[2])?, command(OVERHEADS[3])?],
            [command(OVERHEADS[4])?, command(OVERHEADS[5])?],
            [command(OVERHEADS[6])?, command(OVERHEADS[7])?],
        ];
        Ok(Overhead {
            read_hit_after_read_ns: read_hits[0],
            read_hit_after_write_ns: read_hits[1],
            read_miss_after_read_ns: read_misses[0],
            read_miss_after_write_ns: read_misses[1],
            write_hit_after_read_ns: write_hits[0],
            write_hit_after_write_ns: write_hits[1],
            write_miss_after_read_ns: write_misses[0],
            write_miss_after_write_ns: write_misses[1],
            read_completion_ns: self.time(COMPLETIONS[0], 0, scale_ppm)?,
            write_completion_ns: self.time(COMPLETIONS[1], 0, scale_ppm)?,
            reconnect_ns: self.time(RECONNECT, 0, scale_ppm)?,
            data_preparation_ns: self.time(PREPARATION, 0, scale_ppm)?,
        })
    }

    /// Returns the time of a parameter plus `more_ns`, scaled; a negative time becomes 0.
    fn time(
        &mut self,
        name: &'static str,
        more_ns: i128,
        scale_ppm: i128,
    ) -> Result<u64, ImportError> {
        let time_ns = self.number(name, 6, 0)? + more_ns;
        let time_ns = (time_ns * scale_ppm + 500_000).div_euclid(1_000_000);
        self.not_negative(name, time_ns, TIME_NS_MAX)
    }

    fn sector_ps(&mut self) -> Result<u64, ImportError> {
        let name = "Bulk sector transfer time";
        let time_ps = self.number(name, 9, 0)?;
        self.not_negative(name, time_ps, 1_000 * TIME_NS_MAX)
    }

    /// Returns a time; a negative one becomes 0.
    fn not_negative(&mut self, name: &str, time: i128, time_max: i128) -> Result<u64, ImportError> {
        if time < 0 {
            self.report.note(format!("`{name}` is negative, so 0 is used"));
            return Ok(0);
        }
        let time = u64::try_from(time).ok().filter(|_| time <= time_max);
        time.ok_or_else(|| {
            match self.section.find(name) {
                Some(value) => self.section.refuse(value, name, "a time in milliseconds"),
                // A scale or a time for each request makes it too long.
                None => self.section.document.fault(
                    self.section.block.kind,
                    format!("`{name}` amounts to more than a minute"),
                    "correct the scale and the time for each request",
                ),
            }
        })
    }

    fn watermark(&mut self) -> Result<u32, ImportError> {
        let name = "High (read) water mark";
        let share = self.number(name, 6, 0)?;
        let share = u32::try_from(share).ok().filter(|share| *share <= 1_000_000);
        share.ok_or_else(|| {
            let value = self.section.find(name).expect("what is missing is 0");
            self.section.refuse(value, name, "a share from 0 to 1")
        })
    }

    fn memory(&mut self, specs: &mut DiskSpecs) -> Result<(), ImportError> {
        specs.segments = self.count("Number of buffer segments", 0)?;
        specs.write_segments = self.count("Maximum number of write segments", 0)?;
        specs.segment_sectors = self.count("Segment size (in blks)", 0)?;
        specs.is_caching = self.switch("Enable caching in buffer")?;
        specs.read_ahead = self.level("Buffer continuous read", 4)?;
        let ahead_max = "Maximum read-ahead (blks)";
        specs.read_ahead_sectors_max = self.section.whole(ahead_max)?;
        if inert::is_inert(self.section, ahead_max) {
            specs.read_ahead_sectors_max = None;
        }
        specs.read_ahead_on_idle_hit = self.switch("Read-ahead on idle hit")?;
        specs.fast_write = self.level("Fast write level", 2)?;
        specs.read_hits_on_writes = self.switch("Allow read hits on write data")?;
        for name in SNEAKY_HITS {
            specs.sneaky_read_hits |= self.switch(name)?;
        }
        specs.write_prebuffering = self.switch("Allow write prebuffering")?;
        specs.immediate_read = self.switch("Immediate buffer read")?;
        specs.immediate_write = self.switch("Immediate buffer write")?;
        specs.read_watermark_ppm = self.watermark()?;
        specs.gives_up_read = self.number("Read-ahead over requested", 0, 0)? != 0;
        specs.reads_on_arrival = self.switch("Read any free blocks")?;
        specs.write_segment_apart = self.switch("Use separate write segment")?;
        specs.write_seek_ns_min = self.time(WRITE_SEEK, 0, 1_000_000)?;
        Ok(())
    }
}
