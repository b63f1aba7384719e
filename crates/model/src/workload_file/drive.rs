// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drive of a workload file: a name, or a `[drive]` table.

use std::ops::Range;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess};
use toml::Spanned;

use super::written::{Written, deserialize_written};
use crate::drive_file::tables::{MeasuredTable, batch_table};
use crate::drive_file::{DriveFile, DriveKind};
use crate::file_error::FileError;
use crate::premise::{Premise, PremiseCode};
use crate::units::Duration;

/// The drive of a workload.
#[derive(Debug, Clone, PartialEq)]
pub enum DriveReference {
    /// A built-in name or a path relative to the file.
    Named {
        /// The name as written.
        name: String,
        /// The position of the name.
        span: Range<usize>,
    },
    /// A `[drive]` table in the file itself.
    Inline(Box<DriveFile>),
}

/// A drive as written: a name, a `[drive]` table with a name, or one with times.
pub(super) enum RawDrive {
    Named(String),
    NamedInTable(Spanned<String>),
    Inline(InlineDrive),
}

/// A `[drive]` table, as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DriveTable {
    name: Option<Spanned<String>>,
    kind: Option<Spanned<DriveKind>>,
    depth: Option<Spanned<u32>>,
    batch_ns_max: Option<Spanned<Vec<u64>>>,
    drain_ns_max: Option<Spanned<Vec<u64>>>,
    priority_ns_max: Option<Spanned<Vec<u64>>>,
    starvation_ns_max: Option<u64>,
}

/// A drive with the times of its `[drive]` table.
pub(super) struct InlineDrive {
    kind: Spanned<DriveKind>,
    depth: Option<Spanned<u32>>,
    batch_ns_max: Spanned<Vec<u64>>,
    drain_ns_max: Option<Spanned<Vec<u64>>>,
    priority_ns_max: Option<Spanned<Vec<u64>>>,
    starvation_ns_max: Option<u64>,
}

impl Written for RawDrive {
    const EXPECTED: &'static str =
        "the name of a built-in drive, the path of a drive file, or a [drive] table";

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        Ok(Self::Named(text.to_owned()))
    }
    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        let missing = |field| move || A::Error::missing_field(field);
        Ok(match DriveTable::deserialize(MapAccessDeserializer::new(table))? {
            DriveTable {
                name: Some(name),
                kind: None,
                depth: None,
                batch_ns_max: None,
                drain_ns_max: None,
                priority_ns_max: None,
                starvation_ns_max: None,
            } => Self::NamedInTable(name),
            DriveTable { name: Some(name), .. } => {
                return Err(A::Error::custom(format!(
                    "[drive] names `{}` and states times too\ndelete the name, or everything else",
                    name.get_ref()
                )));
            }
            times => Self::Inline(InlineDrive {
                kind: times.kind.ok_or_else(missing("kind"))?,
                depth: times.depth,
                batch_ns_max: times.batch_ns_max.ok_or_else(missing("batch_ns_max"))?,
                drain_ns_max: times.drain_ns_max,
                priority_ns_max: times.priority_ns_max,
                starvation_ns_max: times.starvation_ns_max,
            }),
        })
    }
}

deserialize_written!(RawDrive);

/// Reads the drive: the name of a drive file, or an inline table, which becomes a drive file with
/// one table for every operation and every size.
pub(super) fn read_drive(raw: Spanned<RawDrive>) -> Result<DriveReference, FileError> {
    let span = raw.span();
    let inline = match raw.into_inner() {
        RawDrive::Named(name) => return Ok(DriveReference::Named { name, span }),
        RawDrive::NamedInTable(name) => {
            let span = name.span();
            return Ok(DriveReference::Named { name: name.into_inner(), span });
        }
        RawDrive::Inline(inline) => inline,
    };
    if !inline.kind.get_ref().takes_longest_times() {
        return Err(FileError::new(
            inline.kind.span(),
            "an inline drive can only be a table of maxima",
            "write kind = \"pseudo\", or name a drive file",
        ));
    }
    let ns_max = inline.batch_ns_max.get_ref().clone();
    let table = batch_table(&ns_max, inline.batch_ns_max.span())?;
    let depth = match inline.depth {
        None => table.batch_max(),
        Some(depth) if *depth.get_ref() >= table.batch_max() => depth.into_inner(),
        Some(depth) => {
            return Err(FileError::new(
                depth.span(),
                format!("depth is less than the table's {} requests", table.batch_max()),
                "write a larger depth, or delete it",
            ));
        }
    };
    let chosen = Premise::new(
        PremiseCode::Chosen,
        "chosen times",
        "the drive's times are those of the workload's [drive]; no measurement supports them",
    );
    Ok(DriveReference::Inline(Box::new(DriveFile {
        premises: [chosen].into_iter().collect(),
        batch: vec![MeasuredTable::of_times(ns_max, table)],
        drain: inline_tables(inline.drain_ns_max)?,
        priority: inline_tables(inline.priority_ns_max)?,
        starvation_max: inline.starvation_ns_max.map(Duration::from_ns),
        ..DriveFile::new("inline", DriveKind::Pseudo, depth)
    })))
}

fn inline_tables(ns_max: Option<Spanned<Vec<u64>>>) -> Result<Vec<MeasuredTable>, FileError> {
    let Some(ns_max) = ns_max else { return Ok(Vec::new()) };
    let table = batch_table(ns_max.get_ref(), ns_max.span())?;
    Ok(vec![MeasuredTable::of_times(ns_max.into_inner(), table)])
}
