// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a new file that can stand for a device: full of random data, no holes.
//!
//! An existing file is never touched, room is left on the file system, and a file that
//! could not be finished is removed.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rustix::fs::{
    FallocateFlags, Mode, OFlags, fallocate, fcntl_setfl, fsync, open, statfs, unlink,
};
use rustix::io::{Errno, pwrite};
use tidegate_model::Bytes;

use crate::buffers::Buffers;
use crate::open_error::OpenError;
use crate::target::{Access, Target, real_file_system};

/// How much is written at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Sizes are multiples of this, so that any file system can write them directly.
const SIZE_STEP: Bytes = Bytes::from_kib(4);

/// The most that is left free for others; on small file systems a twentieth.
const RESERVE_MAX: u64 = 1 << 30;

/// Why a file could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// There is something of that name.
    #[error("{} exists and is not overwritten: choose another name, or leave `--create` out", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// A size that no file here can have.
    #[error("a file of {size}: ask for a multiple of {SIZE_STEP}, at least {SIZE_STEP}")]
    SizeOdd {
        /// What was asked for.
        size: Bytes,
    },
    /// Not enough room.
    #[error(
        "{} has {} free, and {size} with a reserve of {} do not fit: ask for a smaller size, or choose another disk",
        directory.display(), rounded_down(*free), rounded_down(*reserve)
    )]
    NoRoom {
        /// Where the file was to be.
        directory: PathBuf,
        /// What is free.
        free: Bytes,
        /// What was asked for.
        size: Bytes,
        /// What is to stay free.
        reserve: Bytes,
    },
    /// The user ended it; the partial file is gone.
    #[error("stopped after {written} of {size}; the partial file was removed")]
    Cancelled {
        /// What was written.
        written: Bytes,
        /// What was asked for.
        size: Bytes,
    },
    /// The system refused a step; the partial file is gone.
    #[error("cannot {step} {}: {source}", path.display())]
    Refused {
        /// What was tried.
        step: &'static str,
        /// The path.
        path: PathBuf,
        /// What the system answered.
        source: Errno,
    },
    /// The file was made and is no target; it is gone again.
    #[error(transparent)]
    Unusable(#[from] OpenError),
}

impl Target {
    /// Makes a file of `size` with random data at `path` and opens it. `progress` is told
    /// how much is written; the work stops soon after `cancelled` becomes true.
    ///
    /// # Errors
    /// [`CreateError`]; no file is left then, and none that existed is changed.
    pub fn create(
        path: &Path,
        size: Bytes,
        access: Access,
        progress: impl FnMut(Bytes),
        cancelled: &AtomicBool,
    ) -> Result<Self, CreateError> {
        if size < SIZE_STEP || !size.get().is_multiple_of(SIZE_STEP.get()) {
            return Err(CreateError::SizeOdd { size });
        }
        let directory = directory_of(path);
        real_file_system(directory)?;
        check_room(directory, size)?;
        let (file, partial) = Partial::create(path)?;
        fill(path, &file, size, progress, cancelled)?;
        make_durable(path, &file, directory)?;
        // Whether anybody else has it open is asked next.
        drop(file);
        let target = Self::open(path, access)?;
        partial.keep();
        Ok(target)
    }
}

/// A file that is removed unless it is kept.
struct Partial<'a> {
    path: &'a Path,
    is_kept: bool,
}

impl<'a> Partial<'a> {
    /// A new file for direct I/O; never one that exists.
    fn create(path: &'a Path) -> Result<(OwnedFd, Self), CreateError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = open(path, flags, Mode::RUSR | Mode::WUSR).map_err(|source| match source {
            Errno::EXIST => CreateError::Exists { path: path.to_owned() },
            source => refused("create", path)(source),
        })?;
        let partial = Self { path, is_kept: false };
        // Not on opening: that would fail with the file made and nobody knowing by whom.
        fcntl_setfl(&file, OFlags::DIRECT).map_err(refused("write directly to", path))?;
        Ok((file, partial))
    }

    fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Partial<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            // Nothing more can be done about a file that cannot be removed.
            let _ = unlink(self.path);
        }
    }
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn check_room(directory: &Path, size: Bytes) -> Result<(), CreateError> {
    let status = statfs(directory).map_err(refused("ask for free room in", directory))?;
    let block = u64::try_from(status.f_bsize).unwrap_or(0);
    let free = Bytes::new(status.f_bavail.saturating_mul(block));
    let reserve = Bytes::new((status.f_blocks.saturating_mul(block) / 20).min(RESERVE_MAX));
    if free.get().saturating_sub(reserve.get()) < size.get() {
        return Err(CreateError::NoRoom { directory: directory.to_owned(), free, size, reserve });
    }
    Ok(())
}

/// Writes random data directly, so that the page cache stays out of it.
fn fill(
    path: &Path,
    file: &OwnedFd,
    size: Bytes,
    mut progress: impl FnMut(Bytes),
    cancelled: &AtomicBool,
) -> Result<(), CreateError> {
    // Reserved at once, a file has few pieces; a file system that cannot writes all the same.
    let _ = fallocate(file, FallocateFlags::empty(), 0, size.get());
    let mut buffer = Buffers::new(1, CHUNK_BYTES).map_err(refused("find memory for", path))?;
    let mut random = Pcg64Mcg::seed_from_u64(size.get());
    let mut written = 0;
    while written < size.get() {
        if cancelled.load(Ordering::Relaxed) {
            return Err(CreateError::Cancelled { written: Bytes::new(written), size });
        }
        let left = usize::try_from(size.get() - written).unwrap_or(usize::MAX);
        let chunk = &mut buffer.slot_mut(0)[..CHUNK_BYTES.min(left)];
        random.fill_bytes(chunk);
        written += write_chunk(path, file, chunk, written)?;
        progress(Bytes::new(written));
    }
    Ok(())
}

/// Writes a chunk, or the part of it that goes; how much that was.
fn write_chunk(path: &Path, file: &OwnedFd, chunk: &[u8], offset: u64) -> Result<u64, CreateError> {
    match pwrite(file, chunk, offset) {
        Ok(0) => Err(refused("write to", path)(Errno::NOSPC)),
        Ok(count) => Ok(u64::try_from(count).expect("at most a chunk")),
        Err(Errno::INTR) => Ok(0),
        Err(source) => Err(refused("write to", path)(source)),
    }
}

fn make_durable(path: &Path, file: &OwnedFd, directory: &Path) -> Result<(), CreateError> {
    fsync(file).map_err(refused("sync", path))?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open_directory =
        open(directory, flags, Mode::empty()).map_err(refused("open", directory))?;
    fsync(open_directory).map_err(refused("sync", directory))
}

/// A size for people, in GiB or MiB with one decimal.
fn rounded_down(size: Bytes) -> String {
    let (unit, suffix) = if size.get() >= 1 << 30 { (1 << 30, "GiB") } else { (1 << 20, "MiB") };
    let (whole, rest) = (size.get() / unit, size.get() % unit);
    format!("{whole}.{}{suffix}", rest * 10 / unit)
}

fn refused(step: &'static str, path: &Path) -> impl FnOnce(Errno) -> CreateError {
    let path = path.to_owned();
    move |source| CreateError::Refused { step, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_room_is_said_in_figures_that_people_compare() {
        let no_room = |free| CreateError::NoRoom {
            directory: PathBuf::from("/data"),
            free,
            size: Bytes::from_kib(100 << 20),
            reserve: Bytes::new(RESERVE_MAX),
        };
        let text = no_room(Bytes::from_kib(74_098_712)).to_string();
        assert!(text.contains("has 70.6GiB free, and 100GiB"), "{text}");
        assert!(text.contains("a reserve of 1.0GiB do not fit"), "{text}");
        let text = no_room(Bytes::new((1 << 30) - 1)).to_string();
        assert!(text.contains("has 1023.9MiB free"), "{text}");
        assert!(no_room(Bytes::new(99)).to_string().contains("has 0.0MiB free"));
    }
}
