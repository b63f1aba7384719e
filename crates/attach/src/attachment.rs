// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated drive that is attached, and served by this process.

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
use crate::file_system::{DiskFileSystem, Waiter};
use crate::inbox::Inbox;
use crate::loop_device;
use crate::record::{Place, Record};
use crate::server::Server;
use crate::simulate;
use crate::statistics::Statistics;

/// How long the kernel may take to end what is unmounted.
const END_MAX: Duration = Duration::from_secs(2);

/// What to attach.
#[derive(Debug, Clone)]
pub struct AttachParams<'a> {
    /// The drive.
    pub drive: &'a DriveFile,
    /// What it is called while it is attached; none: as the drive, with a number where that is
    /// taken.
    pub name: Option<&'a str>,
    /// How much of the drive is the disk, from its first sector; none: all of it.
    pub size: Option<Bytes>,
    /// The file that keeps the data; none: memory, which takes room for what is written.
    pub store: Option<&'a Path>,
    /// Where this process says what it saw, for the record.
    pub log: Option<&'a Path>,
    /// Where records are: [`crate::record::ROOT`], unless a test has its own.
    pub root: &'a Path,
}

/// See the module's text. One that is dropped goes on until the process ends;
/// [`Attachment::detach`] takes it away.
#[derive(Debug)]
pub struct Attachment {
    place: Place,
    device: PathBuf,
    size: Bytes,
    depth: u32,
    inbox: Arc<Inbox<Waiter>>,
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
            // What went wrong first is what is told.
            let _ = clean_up(&place);
        }
        set_up
    }

    /// The block device.
    pub fn device(&self) -> &Path {
        &self.device
    }

    /// What it is called.
    pub fn name(&self) -> String {
        self.place.name()
    }

    /// How large it is.
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// K: how many requests the drive takes at once.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// What the host granted to the thread that has the drive.
    pub fn granted(&self) -> RealTime {
        self.server.granted
    }

    /// Whether it still answers: not when somebody unmounted it, or a thread failed.
    pub fn is_served(&self) -> bool {
        !self.server.is_finished() && !self.session.guard.is_finished()
    }

    /// Who has the device.
    pub fn holders(&self) -> Holders {
        detach::holders(&self.place)
    }

    /// Takes it away, after everything is answered; gives what was seen, unless a thread failed.
    ///
    /// # Errors
    /// [`DetachError`]; `tidegate drive detach` may still help.
    pub fn detach(self) -> Result<Option<Statistics>, DetachError> {
        // While it is still served: the kernel writes what it has not written yet.
        clean_up(&self.place)?;
        let is_over = wait(END_MAX, || self.session.guard.is_finished());
        if is_over {
            // What it says at its end is that there is no such file system any more.
            let _ = self.session.join();
        }
        self.inbox.close();
        Ok(self.server.join())
    }
}

/// What cannot work, before anything is touched.
fn check_host() -> Result<(), AttachError> {
    if !rustix::process::geteuid().is_root() {
        return Err(AttachError::NotRoot);
    }
    let open = |path| File::options().read(true).write(true).open(path).map(drop);
    open("/dev/fuse").map_err(|source| AttachError::NoFuse { source })?;
    open("/dev/loop-control").map_err(|source| AttachError::NoLoop { source })
}

/// The store, ours alone.
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

fn claim(params: &AttachParams<'_>, record: &Record) -> Result<Place, AttachError> {
    let name = params.name.map_or_else(|| file_name(&params.drive.name), ToOwned::to_owned);
    Place::claim(params.root, &name, params.name.is_some(), record).map_err(|source| {
        match source.kind() {
            io::ErrorKind::AlreadyExists => AttachError::NameTaken { name },
            _ => host(format!("make a folder in {}", params.root.display()))(source),
        }
    })
}

/// A drive's name as that of a folder.
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
    place: &Place,
    record: &mut Record,
) -> Result<Attachment, AttachError> {
    let (drive, looks) = simulate::simulate(file)?;
    let clock = Clock::start();
    let waker = Waker::new().map_err(io::Error::from).map_err(host("make an eventfd"))?;
    let inbox = Arc::new(Inbox::new(clock, waker.clone()));
    let disk: Disk<Waiter> = Disk::new(drive, looks.depth, store);
    let server = Server::start(disk, Arc::clone(&inbox), clock, waker);
    let server = server.map_err(host("start a thread"))?;

    let file_system = DiskFileSystem::new(size, Arc::clone(&inbox));
    let session = Session::new(file_system, place.mount(), &options());
    let session = session.and_then(Session::spawn).map_err(host("mount the file system"))?;

    let device = loop_device::make(&place.file())?;
    loop_device::dress(&device, looks)?;
    record.device = Some(device.clone());
    place.write(record).map_err(host("write the record"))?;
    let depth = looks.depth;
    Ok(Attachment { place: place.clone(), device, size, depth, inbox, server, session })
}

/// Root mounts by itself; `fusermount3` is needed for nothing here.
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
