// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A separate trace instance in the kernel's tracefs, so that other users of tracing are not
//! disturbed. It is removed when dropped. Instances of processes that have ended are removed at the
//! next start.

mod error;
mod instances;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::time::{ClockId, clock_gettime};
use tidegate_model::Time;

use crate::decode::{EVENTS, Formats};
use crate::ring_page::{PageLayout, records};
use crate::streams::Streams;
use crate::yielding::Pacer;

pub use error::TracefsError;

/// The directories where tracefs can be mounted.
const MOUNTS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
/// The size of the buffers of all processors together, in KiB. Each processor has an equal share.
const BUFFERS_KIB: usize = 64 << 10;
/// The smallest and the largest buffer of one processor, in KiB. The largest holds the events of a
/// tenth of a second at half a million requests per second, the smallest at thirty thousand.
const BUFFER_KIB: std::ops::RangeInclusive<usize> = 512..=8 << 10;
/// The maximum number of pages that one call reads from a processor, about twice its largest
/// buffer. Without a limit, a call might never end, because a processor can write pages as fast as
/// they are read.
const PAGES_MAX: usize = 4_096;
/// The largest page size of any kernel.
const PAGE_MAX: usize = 64 << 10;

/// A trace instance.
#[derive(Debug)]
pub struct Instance {
    path: PathBuf,
    /// The open buffers, one for each processor.
    readers: Vec<File>,
    stats: Vec<PathBuf>,
    layout: PageLayout,
    formats: Formats,
    page: Vec<u8>,
    /// The number of events lost so far.
    lost: u64,
}

impl Instance {
    /// Finds the tracefs of this machine.
    ///
    /// # Errors
    /// If no tracefs is mounted, or this process may not enter it.
    pub fn find_tracefs() -> Result<PathBuf, TracefsError> {
        for mount in MOUNTS {
            let instances = Path::new(mount).join("instances");
            match fs::metadata(&instances) {
                Ok(_) => return Ok(mount.into()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(TracefsError::new(&instances, error)),
            }
        }
        Err(TracefsError::NotMounted)
    }

    /// Begins to trace the devices with these kernel numbers: the disk and its partitions.
    ///
    /// # Errors
    /// If the kernel lacks a tracepoint or refuses; then nothing is left behind.
    pub fn begin(tracefs: &Path, devices: &[u32]) -> Result<Self, TracefsError> {
        instances::remove_stale(tracefs);
        let format = |event: &'static str| {
            let path = tracefs.join("events/block").join(event).join("format");
            fs::read_to_string(&path).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => TracefsError::NoEvent { event },
                _ => TracefsError::new(&path, error),
            })
        };
        let [queue, issue, requeue, complete, end] = EVENTS.map(format);
        let texts = [queue?, issue?, requeue?, complete?, end?];
        let formats = Formats::new(texts.each_ref().map(String::as_str))?;
        let header = fs::read_to_string(tracefs.join("events/header_page")).unwrap_or_default();
        let path = instances::own(tracefs);
        instances::create(&path).map_err(|error| TracefsError::new(&path, error))?;
        let mut instance = Self {
            path,
            readers: Vec::new(),
            stats: Vec::new(),
            layout: PageLayout::parse(&header),
            formats,
            page: vec![0; PAGE_MAX],
            lost: 0,
        };
        instance.start(devices)?;
        Ok(instance)
    }

    fn start(&mut self, devices: &[u32]) -> Result<(), TracefsError> {
        self.write("trace_clock", "mono")?;
        let per_cpu = self.path.join("per_cpu");
        let cpus = fs::read_dir(&per_cpu).map_err(|error| TracefsError::new(&per_cpu, error))?;
        let cpus: Vec<_> = cpus.flatten().map(|entry| entry.path()).collect();
        self.write("buffer_size_kb", &buffer_kib(cpus.len()).to_string())?;
        for cpu in cpus {
            let path = cpu.join("trace_pipe_raw");
            let flags = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag of open");
            let reader = OpenOptions::new().read(true).custom_flags(flags).open(&path);
            self.readers.push(reader.map_err(|error| TracefsError::new(&path, error))?);
            self.stats.push(cpu.join("stats"));
        }
        let filter: Vec<_> = devices.iter().map(|device| format!("dev == {device}")).collect();
        let filter = filter.join(" || ");
        for event in EVENTS {
            self.write(&format!("events/block/{event}/filter"), &filter)?;
            self.write(&format!("events/block/{event}/enable"), "1")?;
        }
        Ok(())
    }

    fn write(&self, file: &str, text: &str) -> Result<(), TracefsError> {
        let path = self.path.join(file);
        let mut opened = OpenOptions::new().write(true).open(&path);
        let written = opened.as_mut().map(|file| file.write_all(text.as_bytes()));
        match written {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(TracefsError::new(&path, error)),
            Err(_) => Err(TracefsError::new(&path, opened.expect_err("it was not opened"))),
        }
    }

    /// Returns whether the kernel reports the class of each request.
    pub const fn tells_class(&self) -> bool {
        self.formats.tell_class()
    }

    /// Stops tracing. Events that were already traced can still be read.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn stop(&self) -> Result<(), TracefsError> {
        self.write("tracing_on", "0")
    }

    /// Passes the events since the last call to `streams`. Returns how many were lost since then,
    /// and whether any processor still has events.
    ///
    /// # Errors
    /// If the kernel's buffer cannot be read.
    pub fn read(
        &mut self,
        streams: &mut Streams,
        pacer: &mut Pacer,
    ) -> Result<(u64, bool), TracefsError> {
        let Self { readers, page, layout, formats, path, .. } = self;
        let mut is_rest = false;
        for reader in readers {
            let is_empty = read_pages(reader, page, |page| {
                let found = records(page, *layout).into_iter();
                for event in found.filter_map(|it| formats.event(it)) {
                    streams.push(event);
                    pacer.pace();
                }
            });
            is_rest |= !is_empty.map_err(|error| TracefsError::new(path, error))?;
        }
        let lost: u64 = self.stats.iter().map(|path| lost_in(path)).sum();
        let since = lost.saturating_sub(self.lost); // the kernel's count never falls
        self.lost = lost;
        Ok((since, is_rest))
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // The kernel does not remove an instance while a file of it is open.
        self.readers.clear();
        // This fails only if another process reads the instance; the next watch then removes it.
        let _ = fs::remove_dir(&self.path);
    }
}

/// Passes at most `PAGES_MAX` pages of a processor to `take`. Returns whether the buffer is empty.
fn read_pages(
    reader: &mut impl io::Read,
    page: &mut [u8],
    mut take: impl FnMut(&[u8]),
) -> io::Result<bool> {
    for _ in 0..PAGES_MAX {
        match reader.read(page) {
            Ok(0) => return Ok(true),
            Ok(length) => take(&page[..length]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

/// Returns the size of each processor's buffer for this number of processors, in KiB.
fn buffer_kib(cpus: usize) -> usize {
    (BUFFERS_KIB / cpus.max(1)).clamp(*BUFFER_KIB.start(), *BUFFER_KIB.end())
}

/// Returns the current time of the trace's clock.
pub(crate) fn now() -> Time {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
    Time::from_ns(seconds.saturating_mul(1_000_000_000).saturating_add(nanos)) // saturates after 584 years
}

/// Returns the number of lost events from a processor's statistics; 0 if the processor is gone.
fn lost_in(path: &Path) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let value = |line: &str| {
        let keys = ["overrun:", "commit overrun:", "dropped events:"];
        let value = keys.into_iter().find_map(|key| line.strip_prefix(key))?;
        value.trim().parse::<u64>().ok()
    };
    text.lines().filter_map(value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: a kernel without the tracepoints is reported, and nothing is left behind. Method:
    /// folders that look like a tracefs.
    #[test]
    fn a_tracefs_that_lacks_something_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let tracefs = folder.path();
        fs::create_dir(tracefs.join("instances")).unwrap();
        fs::create_dir(tracefs.join("instances/tidegate-4294967295")).unwrap();
        fs::create_dir(tracefs.join("instances/other")).unwrap();
        let message = Instance::begin(tracefs, &[8 << 20]).unwrap_err().to_string();
        assert!(message.starts_with("the kernel has no tracepoint block_bio_queue"), "{message}");
        let left: Vec<_> = fs::read_dir(tracefs.join("instances")).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "the instance of a dead process is removed: {left:?}");
    }

    /// Goal: a buffer that is filled as fast as it is read does not block the watch. Method: a
    /// reader without an end, and a reader with an interruption and an end.
    #[test]
    fn reading_ends() {
        let mut pages = 0;
        assert!(!read_pages(&mut io::repeat(7), &mut [0; 8], |_| pages += 1).unwrap());
        assert_eq!(pages, PAGES_MAX);
        let mut bytes = 0;
        let mut short: &[u8] = &[1; 20];
        assert!(read_pages(&mut short, &mut [0; 8], |page| bytes += page.len()).unwrap());
        assert_eq!(bytes, 20);
    }

    #[test]
    fn processors_share_a_budget() {
        let sizes = [1, 8, 64, 256].map(buffer_kib);
        assert_eq!(sizes, [8_192, 8_192, 1_024, 512]);
    }

    #[test]
    fn lost_events_are_summed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = "entries: 9\noverrun: 3\ncommit overrun: 1\nbytes: 8\ndropped events: 2\nread events: 7\n";
        fs::write(file.path(), text).unwrap();
        assert_eq!(lost_in(file.path()), 6);
        assert_eq!(lost_in(Path::new("/nonexistent")), 0);
    }
}
