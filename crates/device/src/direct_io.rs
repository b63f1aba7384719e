// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests whether direct I/O on a file bypasses the page cache.
//!
//! Some file systems accept `O_DIRECT` and still read through the cache (compressed btrfs, FUSE,
//! overlays). The test drops the file from the cache, reads some blocks with direct I/O, and checks
//! whether the kernel now holds them in memory.

use std::os::fd::OwnedFd;

use rustix::fs::{Advice, fadvise, fstat};
use rustix::io::{Errno, pread};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use tidegate_model::Bytes;

use crate::buffers::Buffers;

/// The number of bytes that a probe reads; a probe starts at a multiple of this number.
const PROBE_BYTES: u64 = 64 << 10;

/// The number of probes.
const PROBES: u64 = 8;

/// Where blocks were found after they were read with direct I/O.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Residency {
    /// The blocks are not in the page cache: direct I/O works.
    Bypassed,
    /// The blocks entered the page cache: direct I/O only seems to work.
    Cached,
    /// The blocks were in the page cache even before the read, although the kernel was asked to
    /// drop them.
    Stays,
    /// The kernel does not tell this user which blocks are in the page cache.
    Hidden,
}

/// Reads blocks of an open file of `size` with direct I/O and returns where they were found.
pub(crate) fn probe(file: &OwnedFd, size: Bytes) -> Result<Residency, Errno> {
    let length = PROBE_BYTES.min(size.get());
    let mut buffer = Buffers::new(1, length_of(length))?;
    // Drop the whole file: the kernel drops only folios that lie entirely in the range.
    fadvise(file, 0, None, Advice::DontNeed)?;
    let mut bypassed = false;
    for start in places(size.get()) {
        if is_resident(file, start, length)? {
            continue;
        }
        pread(file, &mut buffer.slot_mut(0)[..length_of(length)], start)?;
        if is_resident(file, start, length)? {
            return Ok(Residency::Cached);
        }
        bypassed = true;
    }
    match bypassed {
        true => Ok(Residency::Bypassed),
        false if is_visible(file)? => Ok(Residency::Stays),
        false => Ok(Residency::Hidden),
    }
}

/// Returns the start offsets of the probes in bytes, spread evenly.
fn places(size: u64) -> impl Iterator<Item = u64> {
    let blocks = (size / PROBE_BYTES).max(1);
    let probes = PROBES.min(blocks);
    (0..probes).map(move |probe| blocks * probe / probes * PROBE_BYTES)
}

/// Returns whether the kernel shows this user which pages are in memory. It shows them only to the
/// owner and root; for all others it reports every page as resident.
fn is_visible(file: &OwnedFd) -> Result<bool, Errno> {
    let user = rustix::process::geteuid();
    Ok(user.is_root() || user.as_raw() == fstat(file)?.st_uid)
}

/// Returns whether any page of a part of the file is in the page cache.
#[expect(unsafe_code, reason = "mincore wants a mapping")]
fn is_resident(file: &OwnedFd, start: u64, length: u64) -> Result<bool, Errno> {
    let length = length_of(length);
    let mut pages = vec![0_u8; length.div_ceil(rustix::param::page_size())];
    // SAFETY: a new mapping at an address that the kernel chooses; it is never dereferenced, so a
    // file that shrinks causes no fault.
    let address = unsafe {
        mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, file, start)?
    };
    // SAFETY: the range is the mapping just made, and `pages` has one byte for each of its pages.
    let answer = unsafe { libc::mincore(address, length, pages.as_mut_ptr()) };
    let error = std::io::Error::last_os_error();
    // SAFETY: nothing refers to the mapping.
    unsafe { munmap(address, length)? };
    if answer != 0 {
        return Err(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    }
    Ok(pages.iter().any(|page| page & 1 != 0))
}

fn length_of(length: u64) -> usize {
    usize::try_from(length).expect("at most PROBE_BYTES")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_spread_and_lie_within() {
        assert_eq!(places(4096).collect::<Vec<_>>(), [0]);
        assert_eq!(places(PROBE_BYTES * 2).collect::<Vec<_>>(), [0, PROBE_BYTES]);
        let many: Vec<_> = places(PROBE_BYTES * 80 + 512).collect();
        assert_eq!(many.len(), 8);
        assert_eq!(many[7], PROBE_BYTES * 70);
    }
}
