// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The systemd units whose requests a workload describes: `unit = "recorder.service"`.

use toml::Spanned;

use super::raw::{RawBestEffort, RawTask};
use crate::file_error::FileError;

/// A unit of the service manager, and the I/O class that its requests need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The unit's name, for example `recorder.service`.
    pub name: String,
    /// Whether the unit belongs to a task, so that its requests need the real-time class.
    pub is_real_time: bool,
}

impl Unit {
    /// Returns whether a service can have this name.
    pub fn is_name(text: &str) -> bool {
        // systemd escapes other characters with a backslash, as in `\x20`.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || ":_.@-\\".contains(c);
        let stem = text.strip_suffix(".service").unwrap_or_default();
        !stem.is_empty() && !stem.starts_with('.') && stem.chars().all(is_plain)
    }
}

/// The units by entry, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct EntryUnits {
    pub(super) tasks: Vec<Option<String>>,
    pub(super) loads: Vec<Option<String>>,
}

impl EntryUnits {
    pub(super) fn of(tasks: &[RawTask], loads: &[RawBestEffort]) -> Self {
        let name =
            |unit: &Option<Spanned<String>>| unit.as_ref().map(|unit| unit.get_ref().clone());
        Self {
            tasks: tasks.iter().map(|task| name(&task.unit)).collect(),
            loads: loads.iter().map(|load| name(&load.unit)).collect(),
        }
    }
}

/// Reads the units of tasks and loads, each once.
pub(super) fn read(tasks: &[RawTask], loads: &[RawBestEffort]) -> Result<Vec<Unit>, FileError> {
    let mut units: Vec<Unit> = Vec::new();
    let of_tasks = tasks.iter().filter_map(|task| Some((task.unit.as_ref()?, true)));
    let of_loads = loads.iter().filter_map(|load| Some((load.unit.as_ref()?, false)));
    for (name, is_real_time) in of_tasks.chain(of_loads) {
        check(name)?;
        let unit = Unit { name: name.get_ref().clone(), is_real_time };
        match units.iter().find(|known| known.name == unit.name) {
            None => units.push(unit),
            Some(known) if *known == unit => {}
            Some(_) => {
                return Err(FileError::new(
                    name.span(),
                    format!("`{}` is the unit of a task and of best effort", unit.name),
                    "a unit has one I/O class: move the load into a unit of its own, or leave its `unit` out",
                ));
            }
        }
    }
    Ok(units)
}

fn check(name: &Spanned<String>) -> Result<(), FileError> {
    let text = name.get_ref();
    if Unit::is_name(text) {
        return Ok(());
    }
    Err(FileError::new(
        name.span(),
        format!("`{text}` is no name of a service"),
        "write the name as `systemctl` lists it, with .service at its end",
    ))
}
