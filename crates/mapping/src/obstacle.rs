// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reasons why the kernel target cannot serve a disk.

use std::fs;

use tidegate_model::{Bytes, Lba};
use tidegate_tune::{Demand, Disk, Refusal, Root};

use crate::cgroup::MOUNT;
use crate::device_mapper::DeviceMapper;
use crate::sign::Sign;

/// The module's name in files.
const MODULE: &str = "dm-tidegate";
/// The module's folder in sysfs, where its name has an underscore.
const LOADED: &str = "sys/module/dm_tidegate";

/// Why a mapping is impossible: a sentence with the remedy, without its full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// The kernel lacks the module.
    #[error(
        "the module `{MODULE}` is neither loaded nor installed for Linux {release}: build it from `kernel/` and \
         run `make modules_install` there"
    )]
    NoModule {
        /// The kernel's release.
        release: String,
    },
    /// The program that talks to the device mapper is missing.
    #[error("`{program}` cannot be run: install the package `dmsetup`")]
    NoProgram {
        /// The program's path.
        program: String,
    },
    /// The device is built on other devices.
    #[error("`{name}` is built on {}, which serve other devices too: attach {} instead", list(.disks), list(.disks))]
    BuiltOn {
        /// The device's name.
        name: String,
        /// The devices below it.
        disks: Vec<String>,
    },
    /// The device is a file behind a loop device.
    #[error("`{name}` is a file that is attached as a device: attach the disk that the file is on")]
    Loop {
        /// The device's name.
        name: String,
    },
    /// Another device is built on the disk.
    #[error(
        "`{holder}` is built on this disk, and its requests would not pass the target: take `{holder}` down first"
    )]
    Held {
        /// The other device.
        holder: String,
    },
    /// The disks of a host adapter share its tags.
    #[error(
        "the disks of its host adapter share the adapter's tags, and this one may get fewer than the {depth} that the \
         plan sends at once: lower `device/queue_depth` of the others, or prove a smaller depth"
    )]
    SharedTags {
        /// The requests that the plan sends together.
        depth: u32,
    },
    /// The driver can split requests from scattered memory.
    #[error(
        "the driver splits a request with more than {segments} segments, and the largest of {size} can have one for \
         each page: use smaller requests"
    )]
    Segments {
        /// The driver's limit.
        segments: u64,
        /// The largest request.
        size: Bytes,
    },
    /// The target cuts larger requests into pieces that the disk does not accept.
    #[error(
        "the disk has blocks of {block}, and the largest request is no multiple of that ({size}): state a multiple"
    )]
    Block {
        /// The disk's block size.
        block: Bytes,
        /// The largest request.
        size: Bytes,
    },
    /// The kernel cannot name the cgroup of a bio by its path.
    #[error(
        "a task is known by its unit's cgroup, and this machine does not use version 2 alone of the cgroup \
         hierarchy: start it with `systemd.unified_cgroup_hierarchy=1`, or leave `unit` out"
    )]
    Cgroups,
    /// The disk's size is unknown.
    #[error("the kernel does not show the size of `{name}`")]
    NoSize {
        /// The disk's name.
        name: String,
    },
    /// A reason that holds for every way to attach a disk.
    #[error(transparent)]
    Disk(Refusal),
}

/// Returns why no mapping can be made on this machine.
pub fn of_machine(root: &Root, device_mapper: &DeviceMapper) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    if !has_module(root) {
        let release = release(root).unwrap_or_else(|| "of this machine".to_owned());
        obstacles.push(Obstacle::NoModule { release });
    }
    if !device_mapper.is_there() {
        obstacles.push(Obstacle::NoProgram { program: device_mapper.program() });
    }
    obstacles
}

/// Returns whether the module is loaded, or is where the kernel finds it when a table needs it.
fn has_module(root: &Root) -> bool {
    let listed = || {
        let list = root.at("lib/modules").join(release(root)?).join("modules.dep");
        let list = fs::read_to_string(list).ok()?;
        let mut paths = list.lines().filter_map(|line| line.split(':').next());
        Some(paths.any(|path| {
            let file = path.rsplit('/').next().unwrap_or(path);
            file.strip_prefix(MODULE).is_some_and(|rest| rest.starts_with(".ko"))
        }))
    };
    root.at(LOADED).is_dir() || listed().unwrap_or(false)
}

fn release(root: &Root) -> Option<String> {
    let text = fs::read_to_string(root.at("proc/sys/kernel/osrelease")).ok()?;
    Some(text.trim().to_owned())
}

/// Returns why this disk cannot be attached; [`held`] reports the devices that are built on it.
pub fn of_disk(disk: &Disk, demand: &Demand, measured: Option<&str>) -> Vec<Obstacle> {
    let mut obstacles: Vec<_> =
        disk.refusals(demand, measured).into_iter().filter_map(of).collect();
    let depth = demand.depth;
    let is_shared = disk.adapter_tags().is_some_and(|tags| u64::from(depth) <= tags)
        && !disk.has_spare_tags(depth);
    obstacles.extend(is_shared.then_some(Obstacle::SharedTags { depth }));
    obstacles.extend(segments(disk, demand.size_max));
    obstacles.extend(block(disk, demand.size_max));
    if disk.sectors().unwrap_or(0) == 0 {
        obstacles.push(Obstacle::NoSize { name: disk.name().to_owned() });
    }
    obstacles
}

/// Returns the devices that are built on the disk, except the mapping with the device-mapper UUID
/// `own`.
pub fn held(disk: &Disk, own: &str) -> Vec<Obstacle> {
    let is_other = |holder: &Disk| holder.text("dm/uuid").as_deref() != Some(own);
    let holders = disk.holders().into_iter().filter(is_other);
    holders.map(|holder| Obstacle::Held { holder: holder.name().to_owned() }).collect()
}

/// Returns the name below `/dev/mapper` of the mapping with the device-mapper UUID `own`, if sysfs
/// shows it on the disk.
pub fn name_of_own(disk: &Disk, own: &str) -> Option<String> {
    let mut holders = disk.holders().into_iter();
    let holder = holders.find(|holder| holder.text("dm/uuid").as_deref() == Some(own))?;
    holder.text("dm/name")
}

/// Returns why the target cannot recognise a task by its cgroup on this machine.
pub fn of_signs(root: &Root, signs: &[Sign]) -> Option<Obstacle> {
    let has_groups = signs.iter().any(|sign| sign.path().is_some());
    // Only a hierarchy of version 2 has this file at its root.
    let is_second = root.at(MOUNT).join("cgroup.controllers").exists();
    (has_groups && !is_second).then_some(Obstacle::Cgroups)
}

/// Returns the obstacle if the driver may split requests of this size: a request from scattered
/// memory has one segment for each page.
fn segments(disk: &Disk, size: Bytes) -> Option<Obstacle> {
    const PAGE: u64 = 4_096;
    let segments = disk.number("queue/max_segments")?;
    (size.get() > segments.saturating_mul(PAGE)).then_some(Obstacle::Segments { segments, size })
}

fn block(disk: &Disk, size: Bytes) -> Option<Obstacle> {
    let block = disk.number("queue/logical_block_size").filter(|&block| block != 0)?;
    // The table line counts whole sectors.
    let is_multiple = (size.sectors_ceil() * Lba::SECTOR_BYTES).is_multiple_of(block);
    (!is_multiple).then_some(Obstacle::Block { block: Bytes::new(block), size })
}

/// Returns the obstacle if this refusal also applies to the target. The other refusals are about
/// the kernel's own scheduler, which the target does not use.
fn of(refusal: Refusal) -> Option<Obstacle> {
    match refusal {
        Refusal::BuiltOn { name, disks } => Some(Obstacle::BuiltOn { name, disks }),
        Refusal::Loop { name } => Some(Obstacle::Loop { name }),
        // `held` reports every holder, and `of_disk` checks shared tags itself.
        Refusal::ClassLost { .. }
        | Refusal::NoDepth
        | Refusal::SharedTags { .. }
        | Refusal::Usb
        | Refusal::HardwareQueues { .. }
        | Refusal::NoScheduler { .. }
        | Refusal::OldKernel
        | Refusal::WriteCache
        | Refusal::Places { .. } => None,
        other => Some(Obstacle::Disk(other)),
    }
}

/// Returns the names separated by commas: `sda, sdb`.
fn list(names: &[String]) -> String {
    names.join(", ")
}
