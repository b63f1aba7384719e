// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Queries the C code for the task to which a bio belongs.

use std::ffi::{CStr, CString};

use crate::library::{Library, ShimSign};

/// A sign of a task, in the form for C.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CSign {
    /// A level of the real-time class.
    Level(u32),
    /// The path of a cgroup.
    Group(String),
    /// The first sector, and the number of sectors.
    Place(u64, u64),
}

/// Returns the task of a bio; `level` is 8 for a bio without a level.
///
/// # Errors
/// The reason, if a sign is refused.
///
/// # Panics
/// If a path contains a NUL, or there are too many signs.
#[expect(unsafe_code, reason = "calls C")]
pub fn owner(
    library: Library,
    signs: &[(u32, CSign)],
    path: &str,
    sector: u64,
    level: u32,
) -> Result<Option<u32>, String> {
    let path = CString::new(path).expect("a path without NUL");
    let paths: Vec<CString> = signs
        .iter()
        .map(|(_, sign)| match sign {
            CSign::Group(path) => CString::new(path.as_str()).expect("a path without NUL"),
            CSign::Level(_) | CSign::Place(..) => CString::default(),
        })
        .collect();
    let signs: Vec<ShimSign> = signs
        .iter()
        .zip(&paths)
        .map(|((task, sign), path)| {
            let (kind, first, count) = match *sign {
                CSign::Level(level) => (0, u64::from(level), 0),
                CSign::Group(_) => (1, 0, 0),
                CSign::Place(first, count) => (2, first, count),
            };
            ShimSign { kind, task: *task, path: path.as_ptr(), first, count }
        })
        .collect();
    let count = u32::try_from(signs.len()).expect("few signs");
    let mut fault = std::ptr::null();
    // SAFETY: shim.c defines this function; all pointers are valid during the call.
    let task = unsafe {
        (library.owner)(signs.as_ptr(), count, path.as_ptr(), sector, level, &raw mut fault)
    };
    if fault.is_null() {
        return Ok((task != u32::MAX).then_some(task));
    }
    // SAFETY: the reason is a constant string of the library, which is never unloaded.
    let reason = unsafe { CStr::from_ptr(fault) };
    Err(reason.to_string_lossy().into_owned())
}
