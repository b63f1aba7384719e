// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated drive that this process has attached and serves.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fuser::{BackgroundSession, Config, MountOption, Session};
use tidegate_device::{Waker, memory_file};
use tidegate_model::{Bytes, DriveFile};
use tidegate_platform::Clock;
use tidegate_platform::realtime::RealTime;

use crate::detach::{self, clean_up, wait};
use crate::disk::Disk;
use crate::error::{AttachError, DetachError, Holders, host};
use crate::file_system::{DiskFileSystem, ReplyHandle};
use crate::inbox::Inbox;
use crate::loop_device;
use crate::record::{AttachmentFolder, Record};
use crate::server::Server;
use crate::simulate;
use crate::statistics::Statistics;

/// The longest time that the kernel may take to end an unmounted file system.
const END_MAX: Duration = Duration::from_secs(2);

/// The parameters of an attachment.
#[derive(Debug, Clone)]
pub struct AttachParams<'a> {
    /// The drive file.
    pub drive: &'a DriveFile,
    /// The attachment's name; `None`: the drive's name, with a number appended if that name is
    /// taken.
    pub name: Option<&'a str>,
    /// The disk's size, counted from the drive's first sector; `None`: the whole drive.
    pub size: Option<Bytes>,
    /// The file that keeps the data; `None`: memory, which is used only for written data.
    pub store: Option<&'a Path>,
    /// The file to which this process writes its log, for the record.
    pub log: Option<&'a Path>,
    /// The directory of the records: [`crate::record::ROOT`], except in tests.
    pub root: &'a Path,
}

/// An attached drive. If it is dropped, the drive is still served until the process ends;
/// [`Attachment::detach`] detaches it.
#[derive(Debug)]
pub struct Attachment {
    place: AttachmentFolder,
    device: PathBuf,
    size: Bytes,
    depth: u32,
    inbox: Arc<Inbox<ReplyHandle>>,
    server: Server,
    session: BackgroundSession,
}

impl Attachment {
    /// Attaches a drive.
    ///
    /// # Errors
    /// [`AttachError`]; then nothing is left behind.
    pub fn new(params: &AttachParams<'_>) -> Result<Self, AttachError> {
        check_host()?;
        let size = simulate::size(params.drive, params.size)?;
        let store = open_store(params.store, size)?;
        let mut record = Record::of_this_process(&params.drive.name, size.get(), params.log);
        let place = claim(params, &record)?;
        let set_up = set_up(params.drive, size, store, &place, &mut record);
        if set_up.is_err() {
            // The first error is the one that is reported.
            let _ = clean_up(&place);
        }
        set_up
    }

    /// Returns the path of the block device.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// Returns the attachment's name.
    pub fn name(&self) -> String {
        self.place.name()
    }

    /// Returns the disk's size.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Returns K, the number of requests that the drive accepts at the same time.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the real-time settings that the host granted to the drive's thread.
    pub fn granted(&self) -> RealTime {
        self.server.granted
    }

    /// Returns whether the drive is still served: false if it was unmounted or a thread failed.
    pub fn is_served(&self) -> bool {
        !self.server.is_finished() && !self.session.guard.is_finished()
    }

    /// Returns the users of the device.
    pub fn holders(&self) -> Holders {
        detach::holders(&self.place)
    }

    /// Detaches the drive after all outstanding requests are complete. Returns the statistics;
    /// `None` if a thread failed.
    ///
    /// # Errors
    /// [`DetachError`]; `tidegate drive detach` may still succeed.
    pub fn detach(self) -> Result<Option<Statistics>, DetachError> {
        // Clean up while the drive is still served: the kernel first writes its dirty data to the
        // drive.
        clean_up(&self.place)?;
        let is_over = wait(END_MAX, || self.session.guard.is_finished());
        if is_over {
            // The session's error only says that the file system is no longer mounted.
            let _ = self.session.join();
        }
        self.inbox.close();
        Ok(self.server.join())
    }
}

/// Checks that the host can attach drives, before anything is changed.
fn check_host() -> Result<(), AttachError> {
    if !rustix::process::geteuid().is_root() {
        return Err(AttachError::NotRoot);
    }
    let open = |path| File::options().read(true).write(true).open(path).map(drop);
    open("/dev/fuse").map_err(|source| AttachError::NoFuse { source })?;
    open("/dev/loop-control").map_err(|source| AttachError::NoLoop { source })
}

/// Opens the store and locks it for this process.
fn open_store(path: Option<&Path>, size: Bytes) -> Result<File, AttachError> {
    let Some(path) = path else {
        return memory_file(size).map_err(host("make a store in memory"));
    };
    let file = tidegate_device::open_store(path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(AttachError::StoreInUse { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => {
            Err(host(format!("lock the store {}", path.display()))(source))
        }
    }
}

fn claim(params: &AttachParams<'_>, record: &Record) -> Result<AttachmentFolder, AttachError> {
    let name = params.name.map_or_else(|| file_name(&params.drive.name), ToOwned::to_owned);
    AttachmentFolder::claim(params.root, &name, params.name.is_some(), record).map_err(|source| {
        match source.kind() {
            io::ErrorKind::AlreadyExists => AttachError::NameTaken { name },
            _ => host(format!("make a folder in {}", params.root.display()))(source),
        }
    })
}

/// Makes a folder name from a drive's name.
fn file_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    match name.trim_matches(['-', '.']) {
        "" => "drive".to_owned(),
        name => name.to_owned(),
    }
}

fn set_up(
    file: &DriveFile,
    size: Bytes,
    store: File,
    place: &AttachmentFolder,
    record: &mut Record,
) -> Result<Attachment, AttachError> {
    let (drive, settings) = simulate::simulate(file)?;
    let clock = Clock::start();
    let waker = Waker::new().map_err(io::Error::from).map_err(host("make an eventfd"))?;
    let inbox = Arc::new(Inbox::new(clock, waker.clone()));
    let disk: Disk<ReplyHandle> = Disk::new(drive, settings.depth, store);
    let server = Server::start(disk, Arc::clone(&inbox), clock, waker);
    let server = server.map_err(host("start a thread"))?;

    let file_system = DiskFileSystem::new(size, Arc::clone(&inbox));
    let session = Session::new(file_system, place.mount(), &options());
    let session = session.and_then(Session::spawn).map_err(host("mount the file system"))?;

    let device = loop_device::make(&place.file())?;
    loop_device::apply_settings(&device, settings)?;
    record.device = Some(device.clone());
    place.write(record).map_err(host("write the record"))?;
    let depth = settings.depth;
    Ok(Attachment { place: place.clone(), device, size, depth, inbox, server, session })
}

/// The mount options. Root mounts directly, so `fusermount3` is not needed.
fn options() -> Config {
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("tidegate".to_owned()),
        MountOption::Subtype("drive".to_owned()),
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::NoExec,
        MountOption::NoAtime,
    ];
    config
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_have_nothing_that_leads_elsewhere() {
        let names = ["sata-ssd", "Maxtor Atlas 10K V, 73 GB", "../../etc", "//", "\u{fc}"];
        let wanted = ["sata-ssd", "Maxtor-Atlas-10K-V--73-GB", "etc", "drive", "drive"];
        assert_eq!(names.map(file_name), wanted);
    }

    #[test]
    fn store_is_kept_and_belongs_to_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("store");
        std::fs::write(&path, "kept").expect("a file");
        let first = open_store(Some(&path), Bytes::new(512)).expect("nobody has it");
        let second = open_store(Some(&path), Bytes::new(512)).expect_err("somebody has it");
        assert!(matches!(second, AttachError::StoreInUse { .. }));
        drop(first);
        open_store(Some(&path), Bytes::new(512)).expect("nobody has it any more");
        assert_eq!(std::fs::read(&path).expect("a file"), b"kept");
    }
    #[test]
    fn store_is_a_regular_file() {
        let error = open_store(Some(Path::new("/dev/null")), Bytes::new(512)).expect_err("no file");
        assert!(error.to_string().contains("/dev/null is a character device"), "{error}");
    }
}
