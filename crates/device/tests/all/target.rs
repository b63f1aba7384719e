// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: unusable targets are refused with the reason and advice; usable ones are opened, with
//! facts. Method: real files and devices of the machine.

use std::path::{Path, PathBuf};

use crate::common::{at, created, scratch};
use tidegate_device::in_use::Use;
use tidegate_device::{Access, OpenError, Target};
use tidegate_model::{Bytes, Op};

fn refusal(path: &Path, access: Access) -> OpenError {
    Target::open(path, access).expect_err("it must be refused")
}

#[test]
fn character_device_is_refused_by_name() {
    let error = refusal(Path::new("/dev/null"), Access::ReadOnly);
    assert!(matches!(error, OpenError::NotStorage { what: "a character device", .. }), "{error}");
    assert!(error.to_string().contains("name a block device"), "{error}");
}

#[test]
fn directory_is_refused_by_name() {
    let error = refusal(Path::new("/"), Access::ReadOnly);
    assert!(matches!(error, OpenError::NotStorage { what: "a directory", .. }), "{error}");
}

#[test]
fn absent_file_is_refused() {
    let error = refusal(Path::new("/nonexistent/file"), Access::ReadOnly);
    assert!(matches!(error, OpenError::Refused { .. }), "{error}");
}

#[test]
fn file_in_memory_is_refused_with_the_name_of_its_file_system() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        return eprintln!("skipped: /dev/shm is not writable");
    };
    let path = at(&directory, "file");
    std::fs::write(&path, vec![7; 1 << 20]).expect("a file");
    let error = refusal(&path, Access::ReadOnly);
    let OpenError::MemoryFileSystem { file_system, .. } = &error else { panic!("{error}") };
    assert_eq!(file_system, "tmpfs");
    assert!(error.to_string().contains("name a file on a disk"), "{error}");
}

#[test]
fn proc_is_refused_with_its_name() {
    let error = refusal(Path::new("/proc/version"), Access::ReadOnly);
    let OpenError::MemoryFileSystem { file_system, .. } = &error else { panic!("{error}") };
    assert_eq!(file_system, "proc");
}

#[test]
fn file_with_a_hole_is_refused_with_its_place() {
    let directory = scratch();
    let path = at(&directory, "sparse");
    if created(&path, Bytes::from_kib(64), Access::ReadOnly).is_none() {
        return;
    }
    let file = std::fs::File::options().write(true).open(&path).expect("the file");
    file.set_len(1 << 20).expect("a longer file");
    let error = refusal(&path, Access::ReadOnly);
    let OpenError::Sparse { offset, .. } = error else { panic!("{error}") };
    assert_eq!(offset, 64 << 10);
}

#[test]
fn reserved_and_unwritten_file_is_refused() {
    let directory = scratch();
    let path = at(&directory, "unwritten");
    if created(&at(&directory, "probe"), Bytes::from_kib(64), Access::ReadOnly).is_none() {
        return;
    }
    let file = std::fs::File::create_new(&path).expect("a new file");
    let flags = rustix::fs::FallocateFlags::empty();
    if let Err(error) = rustix::fs::fallocate(&file, flags, 0, 1 << 20) {
        return eprintln!("skipped: no fallocate here: {error}");
    }
    let error = refusal(&path, Access::ReadOnly);
    assert!(matches!(error, OpenError::Sparse { offset: 0, .. }), "{error}");
}

#[test]
fn empty_file_is_refused() {
    let directory = scratch();
    if created(&at(&directory, "probe"), Bytes::from_kib(64), Access::ReadOnly).is_none() {
        return;
    }
    let path = at(&directory, "empty");
    std::fs::write(&path, "").expect("a file");
    let error = refusal(&path, Access::ReadOnly);
    assert!(matches!(error, OpenError::TooSmall { .. }), "{error}");
}

#[test]
fn mounted_device_is_refused_for_writing() {
    let Some((device, _)) = mounted_device() else {
        return eprintln!("skipped: no block device is mounted that can be named");
    };
    let error = refusal(&device, Access::ReadWrite);
    let OpenError::InUse { used: Use::Mounted { .. }, .. } = &error else { panic!("{error}") };
    assert!(error.to_string().contains("umount"), "{error}");
}

#[test]
fn file_tells_what_it_lies_on() {
    let directory = scratch();
    let path = at(&directory, "file");
    let Some(target) = created(&path, Bytes::from_kib(256), Access::ReadOnly) else { return };
    assert_eq!(target.size(), Bytes::from_kib(256));
    assert_eq!(target.access(), Access::ReadOnly);
    let facts = target.facts();
    assert_eq!(facts.path, path);
    assert!(facts.file_system.is_some() && !facts.kernel.is_empty());
    assert!(target.size().get().is_multiple_of(target.alignment().get()));
    println!("{facts:#?}");
    println!("{:?} {:?}", Op::Read, facts.splits(Bytes::from_kib(64 << 10)));
}

/// Returns a mounted block device and its mount point, from the kernel's list.
fn mounted_device() -> Option<(PathBuf, PathBuf)> {
    let text = std::fs::read_to_string("/proc/mounts").ok()?;
    let mounts = text.lines().filter_map(|line| {
        let mut words = line.split(' ').map(PathBuf::from);
        Some((words.next()?, words.next()?))
    });
    let is_device = |path: &Path| path.starts_with("/dev") && path.exists();
    mounts.into_iter().find(|(source, _)| is_device(source))
}
