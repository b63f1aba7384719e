// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the mounted file systems on a disk, and states whether requests for files kept their
//! bounds on such file systems.
//!
//! btrfs and bcachefs can have several devices, so their device numbers belong to no device. For
//! btrfs, the list of mounts names one of the devices, and sysfs names all; for bcachefs, the list
//! of mounts names all, separated by `:`.

use std::fs;
use std::path::Path;

use tidegate_device::{DeviceNumber, Mount};

use crate::disk::{Disk, names_in};

/// A mounted file system.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileSystem {
    /// The kernel's name of the disk, partition or volume on which it is.
    pub device: String,
    /// The type as `mount` prints it.
    pub kind: String,
}

/// The result of tests in a virtual machine for a type of file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experience {
    /// Requests in the real-time class kept their bounds.
    Kept,
    /// A request in the real-time class exceeded its bound; the reason is not known.
    Exceeded,
    /// The type was not tested.
    None,
}

impl FileSystem {
    /// Returns the test result for its type.
    ///
    /// # Source
    /// `docs/evidence/stock-kernel.md`, writers of files.
    pub fn experience(&self) -> Experience {
        match &*self.kind {
            "ext4" | "xfs" => Experience::Kept,
            "btrfs" => Experience::Exceeded,
            _ => Experience::None,
        }
    }
}

impl Disk {
    /// Returns the mounted file systems on the disk, on its partitions, and on volumes above them.
    /// ZFS does not tell the kernel which devices it uses, so its file systems are not found.
    pub fn file_systems(&self) -> Vec<FileSystem> {
        let members = Member::all_of(self);
        let list = fs::read_to_string(self.root().at("proc/self/mountinfo")).unwrap_or_default();
        let mounts = Mount::all_in(&list).into_iter();
        let found = mounts.filter_map(|mount| {
            let member = members.iter().find(|member| member.has(&mount))?;
            Some(FileSystem { device: member.name.clone(), kind: mount.kind })
        });
        let pools = self.root().at("sys/fs/btrfs");
        let listed: Vec<_> = names_in(&pools)
            .iter()
            .flat_map(|pool| names_in(&pools.join(pool).join("devices")))
            .collect();
        let pooled = members.iter().filter(|member| listed.contains(&member.name));
        let pooled = pooled.map(|it| FileSystem { device: it.name.clone(), kind: "btrfs".into() });
        let mut all: Vec<_> = found.chain(pooled).collect();
        all.sort();
        all.dedup();
        all
    }
}

/// A device that can contain a file system: the disk, a partition, or a volume.
struct Member {
    name: String,
    number: Option<DeviceNumber>,
    /// The device mapper's name of the device.
    mapped: Option<String>,
}

impl Member {
    fn all_of(disk: &Disk) -> Vec<Self> {
        let parts = disk.partitions();
        let mut members: Vec<_> = parts.iter().map(|part| Self::at(part)).collect();
        members.push(Self::at(&disk.path("")));
        members.extend(disk.holders().iter().flat_map(Self::all_of));
        members
    }

    fn at(directory: &Path) -> Self {
        let text = |file: &str| fs::read_to_string(directory.join(file)).ok();
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let number = text("dev").and_then(|text| text.trim().parse().ok());
        Self { name, number, mapped: text("dm/name").map(|text| text.trim().to_owned()) }
    }

    fn has(&self, mount: &Mount) -> bool {
        let source = mount.source.to_string_lossy();
        let is_own = |path: &str| {
            path.strip_prefix("/dev/").is_some_and(|path| {
                path == self.name
                    || path.strip_prefix("mapper/").is_some_and(|it| self.is_mapped(it))
            })
        };
        self.number == Some(mount.number)
            || match &*mount.kind {
                "btrfs" => is_own(&source),
                "bcachefs" => source.split(':').any(is_own),
                // The sources of other types are not devices of this machine: a server's path, or
                // any word.
                _ => false,
            }
    }

    fn is_mapped(&self, name: &str) -> bool {
        self.mapped.as_deref() == Some(name)
    }
}
