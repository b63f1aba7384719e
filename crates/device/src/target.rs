// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The block device or file to which requests go.
//!
//! A target that would be served from memory instead of the medium is refused, and so are writes to
//! a device or file that is in use; the error says why. A measurement of the page cache proves
//! nothing, and lost data is worse than no measurement.
//!
//! ```text
//!   path --> directory, pipe, character device ........ refused
//!        --> file --> file system in memory ............ refused
//!        |        --> no direct I/O, or not really ..... refused
//!        |        --> write: swap, below a loop ........ refused
//!        |        --> holes ............................ refused
//!        --> block device --> loop through page cache .. refused
//!        |                --> write: in use ............ refused
//!        --> too small ................................. refused
//! ```

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, SeekFrom, Statx, StatxFlags, open, seek, stat, statfs, statx,
};
use rustix::io::Errno;
use tidegate_model::Bytes;

use crate::direct_io::{self, Residency};
use crate::facts::{DeviceFacts, TargetKind};
use crate::file_system::{FileSystem, Storage};
use crate::in_use::{self, Use};
use crate::note::Note;
use crate::open_error::OpenError;
use crate::sysfs::{DeviceNumber, SysfsDevice};

/// Whether a target may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The target is never written.
    ReadOnly,
    /// The target's contents may be overwritten.
    ReadWrite,
}

/// A block device or file, open for direct I/O.
#[derive(Debug)]
pub struct Target {
    file: OwnedFd,
    access: Access,
    size: Bytes,
    alignment: Bytes,
    facts: DeviceFacts,
    notes: Vec<Note>,
}

impl Target {
    /// Opens a block device or a regular file for direct I/O.
    ///
    /// # Errors
    /// [`OpenError`] says why the target is refused and what to name instead.
    pub fn open(path: &Path, access: Access) -> Result<Self, OpenError> {
        let status = stat(path).map_err(|source| refused(path, source))?;
        match FileType::from_raw_mode(status.st_mode) {
            FileType::RegularFile => open_file(path, access),
            FileType::BlockDevice => {
                open_device(path, access, DeviceNumber::from_stat(status.st_rdev))
            }
            other => {
                Err(OpenError::NotStorage { path: path.to_owned(), what: with_article(other) })
            }
        }
    }

    /// Returns whether the target may be written.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Returns the target's size, in whole blocks.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Returns the alignment in bytes: requests start and end at multiples of it.
    pub fn alignment(&self) -> Bytes {
        self.alignment
    }

    /// Returns the facts about the target and the device below it.
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Returns whether the device can deallocate blocks, which then read as zeroes. A file could
    /// too, but a file with holes would not be opened again.
    pub fn can_deallocate(&self) -> bool {
        let is_device = self.facts.file_system.is_none();
        let device = self.facts.number.filter(|_| is_device).and_then(SysfsDevice::find);
        let is_positive =
            |device: &SysfsDevice, name: &str| device.number_attribute(name) > Some(0);
        device.is_some_and(|device| {
            is_positive(&device, "queue/discard_max_bytes")
                && is_positive(&device, "queue/write_zeroes_max_bytes")
        })
    }

    /// Returns remarks about the target's use.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

impl AsFd for Target {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl AsRawFd for Target {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// Returns the file system of `path`; refuses one that keeps its data in memory.
pub(crate) fn real_file_system(path: &Path) -> Result<FileSystem, OpenError> {
    let file_system = FileSystem::of(&statfs(path).map_err(|source| refused(path, source))?);
    match file_system.storage {
        Storage::Memory => Err(OpenError::MemoryFileSystem {
            path: path.to_owned(),
            file_system: file_system.name,
        }),
        Storage::Device | Storage::Remote => Ok(file_system),
    }
}

fn open_file(path: &Path, access: Access) -> Result<Target, OpenError> {
    let file_system = real_file_system(path)?;
    let file = open_direct(path, flags_of(access), &file_system.name)?;
    if access == Access::ReadWrite {
        refuse_use(path, in_use::of_file(&file))?;
    }
    let alignment = file_alignment(path, &file, &file_system.name)?;
    let size = size_of(path, &file, alignment)?;
    refuse_holes(path, &file, size)?;
    let mut notes = Vec::new();
    if file_system.storage == Storage::Remote {
        notes.push(Note::Remote { file_system: file_system.name.clone() });
    }
    notes.extend(proof_of_direct_io(path, &file, size, &file_system.name)?);
    let kind =
        TargetKind::File { file_system: file_system.name, number: file_device(path, &file)? };
    Ok(Target { file, access, size, alignment, facts: DeviceFacts::read(path, kind), notes })
}

fn open_device(path: &Path, access: Access, number: DeviceNumber) -> Result<Target, OpenError> {
    let device = SysfsDevice::find(number);
    if let Some(device) = device.as_ref().filter(|device| reads_through_page_cache(device)) {
        return Err(OpenError::LoopThroughPageCache { device: device.name() });
    }
    if access == Access::ReadWrite {
        refuse_use(path, in_use::of_device(number))?;
    }
    let driver = device.as_ref().and_then(SysfsDevice::driver);
    let driver = driver.as_deref().unwrap_or("a block driver");
    let file = open_direct(path, device_flags_of(access), driver)?;
    let alignment = device_alignment(&file);
    let size = size_of(path, &file, alignment)?;
    let mount = in_use::mount_of(number).map(|mount_point| Note::Mounted { mount_point });
    let memory = device.and_then(|device| memory_device(&device));
    let facts = DeviceFacts::read(path, TargetKind::Device { number });
    let notes = mount.into_iter().chain(memory).collect();
    Ok(Target { file, access, size, alignment, facts, notes })
}

fn flags_of(access: Access) -> OFlags {
    match access {
        Access::ReadOnly => OFlags::RDONLY,
        Access::ReadWrite => OFlags::RDWR,
    }
}

/// Returns the flags to open a block device. Opening it for writing claims it, so that no file
/// system on it can be mounted while it is open.
fn device_flags_of(access: Access) -> OFlags {
    match access {
        Access::ReadOnly => OFlags::RDONLY,
        Access::ReadWrite => OFlags::RDWR | OFlags::EXCL,
    }
}

fn open_direct(path: &Path, flags: OFlags, file_system: &str) -> Result<OwnedFd, OpenError> {
    let flags = flags | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NOCTTY;
    open(path, flags, Mode::empty()).map_err(|source| match source {
        Errno::INVAL => no_direct_io(path, file_system),
        Errno::BUSY => OpenError::InUse { path: path.to_owned(), used: Use::Claimed },
        source => refused(path, source),
    })
}

/// Returns the alignment that direct I/O on an open file requires; `None` if the kernel does not
/// report it.
fn direct_io_alignment(file: &OwnedFd) -> Option<Statx> {
    let status = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    (status.stx_mask & StatxFlags::DIOALIGN.bits() != 0).then_some(status)
}

fn file_alignment(path: &Path, file: &OwnedFd, file_system: &str) -> Result<Bytes, OpenError> {
    match direct_io_alignment(file) {
        Some(status) if status.stx_dio_offset_align == 0 || status.stx_dio_mem_align == 0 => {
            Err(no_direct_io(path, file_system))
        }
        Some(status) => Ok(at_least_a_sector(status.stx_dio_offset_align)),
        // No file system requires more than a page.
        None => Ok(Bytes::new(4096)),
    }
}

fn device_alignment(file: &OwnedFd) -> Bytes {
    let asked = || rustix::fs::ioctl_blksszget(file).ok();
    let told = direct_io_alignment(file).map(|status| status.stx_dio_offset_align);
    at_least_a_sector(told.filter(|&align| align != 0).or_else(asked).unwrap_or(4096))
}

/// Rounds up to a sector of 512 bytes, because addresses are counted in sectors.
fn at_least_a_sector(alignment: u32) -> Bytes {
    Bytes::new(u64::from(alignment.max(512)))
}

/// Returns the size in whole blocks.
fn size_of(path: &Path, file: &OwnedFd, alignment: Bytes) -> Result<Bytes, OpenError> {
    let end = seek(file, SeekFrom::End(0)).map_err(|source| refused(path, source))?;
    if end < alignment.get() {
        let (size, size_min) = (Bytes::new(end), alignment);
        return Err(OpenError::TooSmall { path: path.to_owned(), size, size_min });
    }
    Ok(Bytes::new(end - end % alignment.get()))
}

fn refuse_holes(path: &Path, file: &OwnedFd, size: Bytes) -> Result<(), OpenError> {
    match seek(file, SeekFrom::Hole(0)) {
        Ok(offset) if offset < size.get() => {
            Err(OpenError::Sparse { path: path.to_owned(), offset, size })
        }
        // A file system that cannot find holes reports none.
        Ok(_) | Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
        Err(source) => Err(refused(path, source)),
    }
}

/// Refuses a file whose direct I/O uses the page cache; returns a note if that cannot be checked.
fn proof_of_direct_io(
    path: &Path,
    file: &OwnedFd,
    size: Bytes,
    file_system: &str,
) -> Result<Option<Note>, OpenError> {
    let (path, file_system) = (path.to_owned(), file_system.to_owned());
    match direct_io::probe(file, size).map_err(|source| refused(&path, source))? {
        Residency::Bypassed => Ok(None),
        Residency::Hidden => Ok(Some(Note::DirectIoUnproven { file_system })),
        Residency::Cached => Err(OpenError::DirectIoPretended { path, file_system }),
        Residency::Stays => Err(OpenError::StaysInMemory { path, file_system }),
    }
}

/// Returns the device number that a file's file system reports.
fn file_device(path: &Path, file: &OwnedFd) -> Result<DeviceNumber, OpenError> {
    let status = rustix::fs::fstat(file).map_err(|source| refused(path, source))?;
    Ok(DeviceNumber::from_stat(status.st_dev))
}

fn reads_through_page_cache(device: &SysfsDevice) -> bool {
    device.whole().attribute("loop/dio").as_deref() == Some("0")
}

fn memory_device(device: &SysfsDevice) -> Option<Note> {
    let name = device.name();
    let in_memory = ["ram", "zram", "pmem", "nullb"].iter().any(|kind| name.starts_with(kind));
    in_memory.then_some(Note::MemoryDevice { device: name })
}

pub(crate) fn refuse_use(path: &Path, used: Option<Use>) -> Result<(), OpenError> {
    used.map_or(Ok(()), |used| Err(OpenError::InUse { path: path.to_owned(), used }))
}

pub(crate) fn refused(path: &Path, source: Errno) -> OpenError {
    let path = path.to_owned();
    match source {
        Errno::PERM | Errno::ACCESS => OpenError::NoPermission { path, source },
        source => OpenError::Refused { path, source },
    }
}

fn no_direct_io(path: &Path, file_system: &str) -> OpenError {
    OpenError::NoDirectIo { path: path.to_owned(), file_system: file_system.to_owned() }
}

pub(crate) fn with_article(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a directory",
        FileType::BlockDevice => "a block device",
        FileType::CharacterDevice => "a character device",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "no storage",
    }
}
