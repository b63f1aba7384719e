// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds the cgroups of systemd services.

use std::fs;
use std::path::Path;

use tidegate_model::Workload;
use tidegate_model::workload_file::WorkloadFile;
use tidegate_tune::Root;

use crate::sign::Sign;

/// The mount point of the cgroup hierarchy, relative to the root.
pub(crate) const MOUNT: &str = "sys/fs/cgroup";

/// The largest number of nested slices that are searched, such as the two of
/// `system.slice/system-getty.slice/getty@tty1.service`.
const SLICES_MAX: usize = 4;

/// Returns the sign by which each task's requests are recognised: the cgroup of its unit, or else a
/// level of the real-time I/O class.
pub fn signs(file: &WorkloadFile, workload: &Workload, root: &Root) -> Vec<Sign> {
    let units = file.unit_of_entries();
    let unit_of = |entry: u32| units.get(usize::try_from(entry).ok()?)?.as_deref();
    let tasks = workload.tasks.iter();
    tasks
        .map(|task| {
            unit_of(task.entry).map_or(Sign::Level, |unit| Sign::Cgroup(cgroup_of(root, unit)))
        })
        .collect()
}

/// Returns the path of a service's cgroup in the hierarchy. If the service does not run, this is
/// the path that systemd gives to a unit without `Slice=`.
pub fn cgroup_of(root: &Root, unit: &str) -> String {
    let found = search(&root.at(MOUNT), unit, SLICES_MAX);
    found.map_or_else(|| usual(unit), |path| format!("/{path}"))
}

/// Returns the path of a folder with this name below slices, relative to `folder`. The units of a
/// user's own service manager are not services of the system, so `user.slice` is left out.
fn search(folder: &Path, unit: &str, depth: usize) -> Option<String> {
    if folder.join(unit).is_dir() {
        return Some(unit.to_owned());
    }
    if depth == 0 {
        return None;
    }
    let entries = fs::read_dir(folder).ok()?.flatten();
    let mut names: Vec<_> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    // A slice's name becomes part of a word in the table, so it must not contain spaces.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:@\\".contains(c);
    names.retain(|name| name.chars().all(is_plain));
    names.retain(|name| name.strip_suffix(".slice").is_some_and(|stem| stem != "user"));
    names.sort();
    names.into_iter().find_map(|name| {
        let path = search(&folder.join(&name), unit, depth - 1)?;
        Some(format!("{name}/{path}"))
    })
}

/// Returns the path of a unit without `Slice=`. The instances of a template are in the template's
/// slice.
fn usual(unit: &str) -> String {
    match unit.split_once('@') {
        Some((template, _)) => {
            format!("/system.slice/system-{}.slice/{unit}", template.replace('-', "\\x2d"))
        }
        None => format!("/system.slice/{unit}"),
    }
}

/// Returns a sentence, without its full stop, for each cgroup in a table whose `io` controller is
/// off: the kernel counts the requests of such a group as its parent's.
pub fn groups_without_controller(root: &Root, table: &str) -> Vec<String> {
    let is_off = |folder: &Path| folder.is_dir() && !folder.join("io.stat").exists();
    let say = |path: &str| {
        format!(
            "the `io` controller is off for the cgroup {path}, so its requests count as its parent's: it needs \
             IOAccounting=yes in its unit"
        )
    };
    groups(root, table, is_off).iter().map(|path| say(path)).collect()
}

/// Returns a sentence, without its full stop, for each cgroup in a table whose service runs in
/// another cgroup.
pub fn moved_groups(root: &Root, table: &str) -> Vec<String> {
    let say = |path: &&str| {
        let unit = path.rsplit('/').next()?;
        let found = search(&root.at(MOUNT), unit, SLICES_MAX)?;
        Some(format!(
            "the service of the cgroup {path} runs in /{found}, so its requests are best effort: attach the disk again"
        ))
    };
    groups(root, table, |folder| !folder.is_dir()).iter().filter_map(say).collect()
}

/// Returns a sentence, without its full stop, for each cgroup in a table that does not exist now.
pub fn missing_groups(root: &Root, table: &str) -> Vec<String> {
    let say = |path: &str| {
        format!(
            "nothing runs in the cgroup {path} now; if the service has a `Slice=` of its own, attach the disk again \
             once it runs"
        )
    };
    groups(root, table, |folder| !folder.is_dir()).iter().map(|path| say(path)).collect()
}

/// Returns the cgroups in a table for whose folder `is_it` is true.
fn groups<'a>(root: &Root, table: &'a str, is_it: impl Fn(&Path) -> bool) -> Vec<&'a str> {
    let words: Vec<&str> = table.split_whitespace().collect();
    let named = words.windows(3).filter(|words| words[0] == "cgroup").map(|words| words[2]);
    let folder = |path: &str| root.at(MOUNT).join(path.trim_start_matches('/'));
    named.filter(|path| is_it(&folder(path))).collect()
}
