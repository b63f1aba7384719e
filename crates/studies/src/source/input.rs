// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A workload file bound to a drive, with the study's changes to both.

use serde::Deserialize;
use tidegate_commands::{Changes, DriveChoice, Input, NamedDrive, parse};
use tidegate_model::{DriveFile, DriveKind, PolicyName};

use super::{Failed, Surroundings};
use crate::axes::Point;

/// The parameters of every source that reads a workload.
#[derive(Debug, Deserialize)]
pub(super) struct Bound {
    /// The path of the workload file in the study's folder, a template.
    workload: String,
    /// The policy, instead of the file's.
    #[serde(default)]
    policy: Option<String>,
    /// The drive, instead of the file's.
    #[serde(default)]
    drive: Option<String>,
    /// Keys of the drive file with other values.
    #[serde(default)]
    drive_changes: toml::Table,
    /// Keys to leave out of the drive file, with dots between tables.
    #[serde(default)]
    drive_without: Vec<String>,
    /// The kind of simulated drive, instead of the drive's own.
    #[serde(default)]
    model: Option<String>,
    /// The largest batch, z, instead of the file's.
    #[serde(default)]
    batch: Option<u32>,
}

impl Bound {
    /// Reads the workload and its drive; `unknown` contains parameters that the source does not
    /// have.
    pub(super) fn read(
        &self,
        unknown: &toml::Table,
        point: &Point,
        surroundings: &Surroundings<'_>,
    ) -> Result<(Input, DriveKind, PolicyName), Failed> {
        if let Some(name) = unknown.keys().next() {
            return Err(Failed::Fault(format!("the source has no parameter `{name}`")));
        }
        let (path, text) = surroundings.text(&self.workload, point)?;
        let policy = self.policy.as_deref().map(|name| {
            PolicyName::from_name(name)
                .ok_or_else(|| Failed::Fault(format!("there is no policy `{name}`")))
        });
        let policy = policy.transpose()?;
        let changes = Changes { drive: self.drive()?, batch: self.batch, ..Changes::default() };
        let asked: Vec<PolicyName> = policy.into_iter().collect();
        let mut input = parse(&path, &text, &changes, &asked).map_err(Failed::of)?;
        let kind = match &self.model {
            None => input.drive.kind,
            Some(name) => DriveKind::from_name(name)
                .ok_or_else(|| Failed::Fault(format!("there is no model `{name}`")))?,
        };
        if kind != input.drive.kind {
            input.drive.kind = kind;
            input.workload = tidegate_drive::with_prediction(input.workload, &input.drive);
        }
        let policy = policy.unwrap_or(input.workload.policy);
        Ok((input, kind, policy))
    }

    fn drive(&self) -> Result<Option<DriveChoice>, Failed> {
        let is_changed = !self.drive_changes.is_empty() || !self.drive_without.is_empty();
        match &self.drive {
            None if is_changed => Err(Failed::of("a changed drive needs `drive`")),
            None => Ok(None),
            Some(name) if !is_changed => Ok(Some(DriveChoice::Named(name.clone()))),
            Some(name) => self.changed(name).map(|drive| Some(DriveChoice::Given(Box::new(drive)))),
        }
    }

    fn changed(&self, name: &str) -> Result<NamedDrive, Failed> {
        let mut drive = NamedDrive::new(name).map_err(Failed::of)?;
        let mut table: toml::Table = drive.text.parse().map_err(Failed::of)?;
        merge(&mut table, &self.drive_changes);
        for key in &self.drive_without {
            remove(&mut table, key)
                .ok_or_else(|| Failed::Fault(format!("`{name}` has no `{key}`")))?;
        }
        drive.text = toml::to_string(&table).map_err(Failed::of)?;
        drive.file = DriveFile::parse(&drive.text).map_err(Failed::of)?;
        Ok(drive)
    }
}

/// Assigns the values of `changes` to `table`, recursively for nested tables.
fn merge(table: &mut toml::Table, changes: &toml::Table) {
    for (key, change) in changes {
        match (table.get_mut(key), change) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(change)) => merge(inner, change),
            _ => {
                table.insert(key.clone(), change.clone());
            }
        }
    }
}

/// Removes a key such as `mechanics.faults`.
fn remove(table: &mut toml::Table, key: &str) -> Option<toml::Value> {
    match key.split_once('.') {
        None => table.remove(key),
        Some((first, rest)) => remove(table.get_mut(first)?.as_table_mut()?, rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_go_into_tables_and_leave_the_rest() {
        let mut table: toml::Table = "a = 1\n[m]\nb = 2\n[m.q]\nc = 3\nd = 4".parse().unwrap();
        merge(&mut table, &"e = 5\n[m.q]\nc = 6".parse().unwrap());
        assert_eq!(remove(&mut table, "m.b"), Some(2.into()));
        assert_eq!(remove(&mut table, "m.x.y"), None);
        assert_eq!(table, "a = 1\ne = 5\n[m.q]\nc = 6\nd = 4".parse().unwrap());
    }
}
