// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reasons why the kernel target cannot attach a disk or a workload, and the limits of its
//! guarantee.

use std::path::Path;

use tidegate_analysis::{Answer as Verdict, Assessment};
use tidegate_commands::quoted;
use tidegate_device::in_use::{self, Use};
use tidegate_mapping::{
    Attachment, Mapping, Obstacle, Way, groups_without_controller, has_tokens, held,
    missing_groups, name_of_own, of_disk, persistent_path,
};
use tidegate_model::{Duration, Workload};
use tidegate_tune::{Demand, Disk, NewFile, slug};

use crate::arguments::AttachArguments;
use crate::failure::Failure;

const FLUSHES: &str = "a flush passes the target at once, and its time is not in the plan: on a disk whose write \
                       cache is on, a program that calls fsync can delay a task";
const SUBMITTER: &str = "what a kernel thread submits for a unit is best effort: buffered writes, \
     requests through dm-crypt, and on a disk whose write cache is on, writes with O_SYNC; \
     reads and direct writes of the unit itself are covered";
const WHOLE_UNIT: &str = "every request of a unit on the disk counts as its task's, also logs, page \
     faults and readahead: size and period of the task must contain them";
const USB: &str = "the disk is behind a USB bridge, which can reorder requests and reset the disk";
const DISCARDS: &str = "discards and write-zeroes requests: no profile measures how long they take";
const NO_HOST: &str = "the workload states no time of the host, and the target's worker takes some: \
     state the times below [host], for example a `submit` of 1ms; `tidegate status` shows the longest";
const BEYOND: &str = "a unit that sends more than its contract delays the others: \
                      `regulators = [\"tokens-per-task\"]` keeps it from that";
const BESIDE: &str =
    "requests that do not come through the mapping, for example to a partition of the disk";

/// Returns the reason why the verdict is not a proof; `None` if it is one.
pub(super) fn unproved(assessment: &Assessment, path: &Path) -> Option<String> {
    match assessment.answer {
        Verdict::Proven => None,
        Verdict::NotProven => {
            let policy = assessment.policy.name();
            let path = quoted(&path.to_string_lossy());
            Some(format!("not proven under `{policy}`: `tidegate check {path}` has the bounds"))
        }
        Verdict::NotApplicable { reason } => Some(reason.to_owned()),
    }
}

/// Returns the reason against a workload that does not state the worker's time, `submit`.
pub(super) fn no_host(workload: &Workload) -> Option<String> {
    (workload.host.time().submit == Duration::ZERO).then(|| NO_HOST.to_owned())
}

/// Returns the reasons against a mapping on the disk, except those that [`users`] returns.
pub(super) fn in_the_way(
    disk: &Disk,
    demand: &Demand,
    measured: Option<&str>,
    attached: Option<&Attachment>,
) -> Vec<String> {
    let obstacles = of_disk(disk, demand, measured);
    let mut reasons: Vec<_> = obstacles.iter().map(Obstacle::to_string).collect();
    reasons.extend(super::super::taken(disk, Way::Kernel, attached));
    reasons
}

/// Returns the users of the disk, each as a reason.
pub(super) fn users(
    disk: &Disk,
    arguments: &AttachArguments,
    attached: Option<&Attachment>,
) -> Vec<String> {
    let holders = held(disk, &Mapping::uuid_of(disk));
    let user = user(disk, arguments, attached, !holders.is_empty());
    let user = user.map(|user| format!("`{}` is in use: {user}", disk.name()));
    holders.iter().map(Obstacle::to_string).chain(user).collect()
}

/// Refuses a change that the next start would undo.
pub(super) fn check_installed(
    disk: &Disk,
    arguments: &AttachArguments,
    attached: Option<&Attachment>,
) -> Result<(), Failure> {
    let is_installed = attached.is_some_and(|attached| attached.is_installed);
    if !is_installed || !arguments.change.apply {
        return Ok(());
    }
    let name = disk.name();
    Err(Failure::input(
        format!("`{name}` is attached at each start, and the next one would take the old plan"),
        "write --install instead of --apply",
    ))
}

/// Returns a user of the disk other than its own mapping. `None` in a rehearsal.
fn user(
    disk: &Disk,
    arguments: &AttachArguments,
    attached: Option<&Attachment>,
    is_held: bool,
) -> Option<Use> {
    if arguments.machine.disk.root != Path::new("/") {
        return None;
    }
    let path = Path::new("/dev").join(disk.name());
    let is_own = attached.is_some() && name_of_own(disk, &Mapping::uuid_of(disk)).is_some();
    let user =
        if is_own { in_use::of_device_at(&path) } else { in_use::of_device_or_elsewhere(&path) };
    // Holders that sysfs shows have already been reported.
    user.filter(|user| !(matches!(user, Use::Held { .. }) && (is_own || is_held)))
}

/// Returns the disk's path for the mapping's table; an installation needs a permanent path.
pub(super) fn path(disk: &Disk, arguments: &AttachArguments) -> Option<String> {
    if arguments.change.install {
        return persistent_path(disk.root(), disk).filter(|_| NewFile::can_name(disk));
    }
    Some(format!("/dev/{}", disk.name()))
}

/// Returns the reason against installing on a disk that has no unique name after a restart.
pub(super) fn nameless(disk: &Disk) -> String {
    let name = disk.name();
    format!(
        "`{name}` has no name in /dev/disk/by-id that stays the same, or no rule can name it alone: its \
         `device/wwid` is missing, or contains `|`, a quotation mark or a control character. Attach it with \
         --apply after each start"
    )
}

/// Returns the name of the mapping. An existing mapping keeps its name.
pub(super) fn name(
    disk: &Disk,
    arguments: &AttachArguments,
    attached: Option<&Attachment>,
    path: Option<&str>,
) -> Result<String, Failure> {
    let kept = attached.and_then(|attached| attached.mapping.as_ref());
    let kept = kept.map(|mapping| mapping.name.clone());
    let name = arguments.name.clone().or_else(|| kept.clone());
    // After a restart, the kernel's name can belong to another disk; the name of a permanent path
    // cannot.
    let last = path.and_then(|path| path.rsplit('/').next()).unwrap_or(disk.name());
    let name = name.unwrap_or_else(|| format!("tidegate-{}", slug(last)));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.len() < 128;
    if !is_name || !name.chars().all(is_plain) {
        let help = "write letters, digits, `.`, `_` and `-`, a letter or digit first";
        return Err(Failure::input(format!("`{name}` is no name of a mapping"), help));
    }
    match kept.filter(|kept| *kept != name) {
        None => Ok(name),
        Some(kept) => {
            let disk = disk.name();
            Err(Failure::input(
                format!("`{disk}` is attached as `{kept}`"),
                format!("leave --name out, or run `tidegate detach {disk}` first"),
            ))
        }
    }
}

pub(super) fn not_covered(
    disk: &Disk,
    workload: &Workload,
    units: &[String],
    table: &str,
) -> Vec<String> {
    let mut causes = groups_without_controller(disk.root(), table);
    causes.extend(missing_groups(disk.root(), table));
    causes.push(BESIDE.to_owned());
    causes.push(DISCARDS.to_owned());
    let is_cached = disk.text("queue/write_cache").as_deref() != Some("write through");
    causes.extend(is_cached.then(|| FLUSHES.to_owned()));
    let has_units = !units.is_empty();
    causes.extend(has_units.then(|| SUBMITTER.to_owned()));
    causes.extend(has_units.then(|| WHOLE_UNIT.to_owned()));
    causes.extend(disk.is_behind("usb").then(|| USB.to_owned()));
    let has_tokens = has_tokens(&workload.regulators);
    causes.extend((has_units && !has_tokens).then(|| BEYOND.to_owned()));
    causes
}
