// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a created file is complete or absent, and no file is overwritten. Method: create, cancel
//! and refuse files in a scratch directory.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{at, created, scratch};
use tidegate_device::create::CreateError;
use tidegate_device::{Access, OpenError, Target};
use tidegate_model::Bytes;

fn failure(path: &Path, size: Bytes, cancelled: &AtomicBool) -> CreateError {
    Target::create(path, size, Access::ReadOnly, |_| (), cancelled).expect_err("it must fail")
}

#[test]
fn existing_file_is_never_overwritten() {
    let directory = scratch();
    if created(&at(&directory, "probe"), Bytes::from_kib(64), Access::ReadOnly).is_none() {
        return;
    }
    let path = at(&directory, "precious");
    std::fs::write(&path, "precious").expect("a file");
    let error = failure(&path, Bytes::from_kib(64), &AtomicBool::new(false));
    assert!(matches!(error, CreateError::Exists { .. }), "{error}");
    assert_eq!(std::fs::read(&path).expect("the file"), b"precious");
}

#[test]
fn cancelled_file_is_removed() {
    let directory = scratch();
    if created(&at(&directory, "probe"), Bytes::from_kib(64), Access::ReadOnly).is_none() {
        return;
    }
    let path = at(&directory, "cancelled");
    let cancelled = AtomicBool::new(false);
    let after_some = |_written| cancelled.store(true, Ordering::Relaxed);
    let size = Bytes::from_kib(8 << 10);
    let error = Target::create(&path, size, Access::ReadOnly, after_some, &cancelled)
        .expect_err("it was cancelled");
    let CreateError::Cancelled { written, .. } = error else { panic!("{error}") };
    assert!(written.get() > 0 && written < size);
    assert!(!path.exists());
}

#[test]
fn file_that_does_not_fit_is_not_begun() {
    let directory = scratch();
    if created(&at(&directory, "probe"), Bytes::from_kib(64), Access::ReadOnly).is_none() {
        return;
    }
    let path = at(&directory, "huge");
    let error = failure(&path, Bytes::new(1 << 60), &AtomicBool::new(false));
    assert!(matches!(error, CreateError::NoRoom { .. }), "{error}");
    assert!(!path.exists());
}

#[test]
fn odd_size_is_refused() {
    let path = Path::new("/nonexistent/file");
    for size in [0, 1, 4097] {
        let error = failure(path, Bytes::new(size), &AtomicBool::new(false));
        assert!(matches!(error, CreateError::SizeOdd { .. }), "{error}");
    }
}

#[test]
fn memory_is_no_place_for_it() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        return eprintln!("skipped: /dev/shm is not writable");
    };
    let path = at(&directory, "file");
    let error = failure(&path, Bytes::from_kib(64), &AtomicBool::new(false));
    let unusable = CreateError::Unusable(OpenError::MemoryFileSystem {
        path: directory.path().to_owned(),
        file_system: "tmpfs".to_owned(),
    });
    assert_eq!(error.to_string(), unusable.to_string());
    assert!(!path.exists());
}

#[test]
fn file_is_full_of_different_blocks() {
    let directory = scratch();
    let path = at(&directory, "file");
    let mut told = Vec::new();
    let size = Bytes::from_kib(2564);
    let never = AtomicBool::new(false);
    let target = Target::create(&path, size, Access::ReadOnly, |done| told.push(done), &never);
    let Ok(target) = target else { return eprintln!("skipped: {target:?}") };
    assert_eq!(target.size(), size);
    assert_eq!(told.last(), Some(&size));
    let data = std::fs::read(&path).expect("the file");
    let mut blocks: Vec<_> = data.chunks(512).collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len(), 2564 * 2);
}
