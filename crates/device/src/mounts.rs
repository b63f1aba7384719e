// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kernel's list of mounts.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use crate::sysfs::DeviceNumber;

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The number that its files report as their device's.
    pub number: DeviceNumber,
    /// The file system's type, for example `ext4`.
    pub kind: String,
    /// The mount point.
    pub place: PathBuf,
    /// The source of the mount; for a file system on devices, the path of one of the devices.
    pub source: PathBuf,
}

impl Mount {
    /// Returns the mounts that a list in the format of `/proc/self/mountinfo` names.
    pub fn all_in(text: &str) -> Vec<Self> {
        text.lines().filter_map(read_mount).collect()
    }
}

/// Returns the mounts that this process sees.
pub(crate) fn mounts() -> Vec<Mount> {
    Mount::all_in(&std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
}

/// Parses `id parent major:minor root mount-point options [optional..] - type source options`.
pub(crate) fn read_mount(line: &str) -> Option<Mount> {
    let (head, tail) = line.split_once(" - ")?;
    let mut head = head.split(' ').skip(2);
    let number = head.next()?.parse().ok()?;
    let place = unescape(head.nth(1)?);
    let mut tail = tail.split(' ');
    let kind = tail.next()?.to_owned();
    let source = unescape(tail.next()?);
    Some(Mount { number, kind, place, source })
}

/// Decodes a path from the kernel, which writes spaces and backslashes as three octal digits.
pub(crate) fn unescape(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let octal = (*first == b'\\').then(|| tail.get(..3)).flatten();
        let code = octal.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(code) = code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(code);
            rest = &tail[3..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r"36 35 8:1 /root /mnt/my\040disk rw,noatime shared:1 - ext4 /dev/sda1 rw";

    #[test]
    fn mount_line_gives_number_place_and_source() {
        let mount = read_mount(LINE).expect("a well-formed line");
        assert_eq!(mount.number, DeviceNumber { major: 8, minor: 1 });
        assert_eq!(mount.place, PathBuf::from("/mnt/my disk"));
        assert_eq!(mount.source, PathBuf::from("/dev/sda1"));
        assert_eq!(mount.kind, "ext4");
    }

    #[test]
    fn a_backslash_without_digits_stays() {
        assert_eq!(unescape(r"a\b\134c"), PathBuf::from(r"a\b\c"));
    }
}
