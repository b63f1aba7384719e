// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A file system with one file, which is the disk.
//!
//! It does not complete reads and writes itself. It passes the kernel's request and its reply
//! handle to the drive's thread, then reads the next request. The kernel caches none of the file's
//! data and may have any number of requests in flight.

use std::cell::Cell;
use std::ffi::OsStr;
use std::io;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite, Request, WriteFlags,
};
use tidegate_model::{Bytes, Lba};
use tidegate_platform::realtime;

use crate::disk::{Ask, Reply};
use crate::inbox::Inbox;

/// The file's name.
pub(crate) const FILE_NAME: &str = "disk";

/// The largest request that the kernel sends in one piece: 256 pages.
pub(crate) const REQUEST_MAX: Bytes = Bytes::from_kib(1024);

/// The number of requests that the kernel may have in flight here: more than a loop device's tags
/// (128).
const BACKGROUND_MAX: u16 = 512;

const FILE: INodeNo = INodeNo(2);

/// The time for which the kernel may cache the file's attributes, which never change.
const EVER: Duration = Duration::from_hours(1);

/// The kernel's handle for the reply to a request.
#[derive(Debug)]
pub(crate) enum ReplyHandle {
    Read(ReplyData),
    Write(ReplyWrite, u32),
    Flush(ReplyEmpty),
}

impl ReplyHandle {
    fn refuse(self, error: Errno) {
        match self {
            Self::Read(reply) => reply.error(error),
            Self::Write(reply, _) => reply.error(error),
            Self::Flush(reply) => reply.error(error),
        }
    }
}

impl Reply for ReplyHandle {
    fn answer(self, result: io::Result<&[u8]>) {
        match (self, result) {
            (Self::Read(reply), Ok(data)) => reply.data(data),
            (Self::Write(reply, size), Ok(_)) => reply.written(size),
            (Self::Flush(reply), Ok(_)) => reply.ok(),
            (reply, Err(error)) => reply.refuse(error.into()),
        }
    }
}

thread_local! {
    /// Whether this thread, one of fuser's, has requested real-time scheduling.
    static IS_REAL_TIME: Cell<bool> = const { Cell::new(false) };
}

/// Gives this thread the priority of the drive's thread: a request that this thread reads late gets
/// a late arrival time.
fn be_urgent() {
    if !IS_REAL_TIME.replace(true) {
        // If the host refuses this thread, it refuses the drive's thread too, which reports it.
        let _ = realtime::request(realtime::PRIORITY);
    }
}

/// The file system with the disk file; passes requests to the drive's thread.
#[derive(Debug)]
pub(crate) struct DiskFileSystem {
    size: Bytes,
    inbox: Arc<Inbox<ReplyHandle>>,
}

impl DiskFileSystem {
    /// Makes a file system whose file has this size.
    pub(crate) fn new(size: Bytes, inbox: Arc<Inbox<ReplyHandle>>) -> Self {
        Self { size, inbox }
    }

    fn put(&self, ask: Ask, reply: ReplyHandle) {
        be_urgent();
        if let Err(reply) = self.inbox.put(ask, reply) {
            reply.refuse(Errno::EIO);
        }
    }

    /// Returns the sector at an offset. Refuses requests that are empty, not whole sectors, or not
    /// within the disk.
    fn place(&self, offset: u64, length: u64) -> Result<Lba, Errno> {
        let is_whole =
            offset.is_multiple_of(Lba::SECTOR_BYTES) && length.is_multiple_of(Lba::SECTOR_BYTES);
        if !is_whole || length == 0 {
            return Err(Errno::EINVAL);
        }
        match offset.checked_add(length) {
            Some(end) if end <= self.size.get() => Ok(Lba::new(offset / Lba::SECTOR_BYTES)),
            _ => Err(Errno::ENOSPC),
        }
    }

    fn attributes(&self, inode: INodeNo) -> FileAttr {
        let is_file = inode == FILE;
        FileAttr {
            ino: inode,
            size: if is_file { self.size.get() } else { 0 },
            blocks: if is_file { self.size.get() / Lba::SECTOR_BYTES } else { 0 },
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: if is_file { FileType::RegularFile } else { FileType::Directory },
            perm: if is_file { 0o600 } else { 0o700 },
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

impl Filesystem for DiskFileSystem {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        let refused = |what: &str| io::Error::other(format!("the kernel's FUSE lacks {what}"));
        config
            .add_capabilities(InitFlags::FUSE_ASYNC_DIO)
            .map_err(|_| refused("asynchronous direct I/O"))?;
        let size = u32::try_from(REQUEST_MAX.get()).expect("a megabyte");
        config.set_max_write(size).map_err(|_| refused("writes of 1 MiB"))?;
        config.set_max_background(BACKGROUND_MAX).map_err(|_| refused("512 requests at once"))?;
        config
            .set_congestion_threshold(BACKGROUND_MAX)
            .map_err(|_| refused("512 requests at once"))?;
        Ok(())
    }

    fn destroy(&mut self) {
        self.inbox.close();
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == FILE_NAME {
            reply.entry(&EVER, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: Option<FileHandle>,
        reply: ReplyAttr,
    ) {
        reply.attr(&EVER, &self.attributes(inode));
    }

    fn open(&self, _request: &Request, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        // The data bypasses the page cache, writes do not wait for each other, and closing sends no
        // flush.
        let flags = FopenFlags::FOPEN_DIRECT_IO
            | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
            | FopenFlags::FOPEN_NOFLUSH;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        // A read is cut at the end of the disk.
        let length = u64::from(size).min(self.size.get().saturating_sub(offset));
        if length == 0 {
            return reply.data(&[]);
        }
        match self.place(offset, length) {
            Ok(start) => {
                self.put(Ask::Read { start, size: Bytes::new(length) }, ReplyHandle::Read(reply));
            }
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let Ok(size) = u32::try_from(data.len()) else { return reply.error(Errno::EINVAL) };
        match self.place(offset, u64::from(size)) {
            Ok(start) => {
                let ask = Ask::Write { start, data: data.to_vec() };
                self.put(ask, ReplyHandle::Write(reply, size));
            }
            Err(error) => reply.error(error),
        }
    }

    fn fsync(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        _is_data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.put(Ask::Flush, ReplyHandle::Flush(reply));
    }

    // `fallocate` is not implemented: the drives have no discard, and ENOSYS tells the kernel so.
}
