// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a new file that can be measured in place of a device: full of random data, without holes.
//!
//! It never touches an existing file, leaves free space on the file system, and removes a file that
//! it could not finish.

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

/// The number of bytes per write.
const CHUNK_BYTES: usize = 1 << 20;

/// File sizes must be a multiple of this, so that every file system accepts direct writes.
const SIZE_STEP: Bytes = Bytes::from_kib(4);

/// The largest space, in bytes, that a new file must leave free: it leaves this, or a twentieth of
/// the file system if that is less.
const RESERVE_MAX: u64 = 1 << 30;

/// An error while a file was created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The path exists.
    #[error("{} exists and is not overwritten: choose another name, or leave `--create` out", path.display())]
    Exists {
        /// The path.
        path: PathBuf,
    },
    /// The size is zero or not a multiple of 4 KiB.
    #[error("cannot create a file of {size}: give a multiple of {SIZE_STEP}, at least {SIZE_STEP}")]
    SizeOdd {
        /// The requested size.
        size: Bytes,
    },
    /// The file system has too little free space.
    #[error(
        "{} has {} free, and {size} with a reserve of {} do not fit: ask for a smaller size, or choose another disk",
        directory.display(), rounded_down(*free), rounded_down(*reserve)
    )]
    NoRoom {
        /// The directory of the new file.
        directory: PathBuf,
        /// The free space.
        free: Bytes,
        /// The requested size.
        size: Bytes,
        /// The reserve that must stay free.
        reserve: Bytes,
    },
    /// The user cancelled; the partial file was removed.
    #[error("stopped after {written} of {size}; the partial file was removed")]
    Cancelled {
        /// The size that was written.
        written: Bytes,
        /// The requested size.
        size: Bytes,
    },
    /// The system refused an operation; the partial file was removed.
    #[error("cannot {step} {}: {source}", path.display())]
    Refused {
        /// The operation, as a verb.
        step: &'static str,
        /// The path.
        path: PathBuf,
        /// The system's error.
        source: Errno,
    },
    /// The file was created but cannot be a target; it was removed.
    #[error(transparent)]
    Unusable(#[from] OpenError),
}

impl Target {
    /// Creates a file of `size` with random data at `path` and opens it. Calls `progress` with the
    /// size written so far; stops soon after `cancelled` becomes true.
    ///
    /// # Errors
    /// [`CreateError`]; then no file is left, and no existing file is changed.
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
        // `open` checks whether the file is open anywhere else, so close it first.
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
    /// Creates a new file for direct I/O; fails if the path exists.
    fn create(path: &'a Path) -> Result<(OwnedFd, Self), CreateError> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = open(path, flags, Mode::RUSR | Mode::WUSR).map_err(|source| match source {
            Errno::EXIST => CreateError::Exists { path: path.to_owned() },
            source => refused("create", path)(source),
        })?;
        let partial = Self { path, is_kept: false };
        // The flag is set after opening: if `open` refused it, the file would exist and no value
        // would own it.
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
            // If the removal fails, nothing more can be done.
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
    let status = statfs(directory).map_err(refused("find the free space of", directory))?;
    let block = u64::try_from(status.f_bsize).unwrap_or(0);
    let free = Bytes::new(status.f_bavail.saturating_mul(block));
    let reserve = Bytes::new((status.f_blocks.saturating_mul(block) / 20).min(RESERVE_MAX));
    if free.get().saturating_sub(reserve.get()) < size.get() {
        return Err(CreateError::NoRoom { directory: directory.to_owned(), free, size, reserve });
    }
    Ok(())
}

/// Writes random data with direct I/O, so that the page cache does not hold it.
fn fill(
    path: &Path,
    file: &OwnedFd,
    size: Bytes,
    mut progress: impl FnMut(Bytes),
    cancelled: &AtomicBool,
) -> Result<(), CreateError> {
    // Reserving the space first makes the file less fragmented; a file system without this support
    // can still be written.
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

/// Writes a chunk or a part of it; returns the number of bytes written.
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

/// Formats a size for people: in GiB or MiB, rounded down to one decimal.
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
