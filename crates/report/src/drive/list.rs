// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate drive list`: the built-in drives.

use serde::Serialize;
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{Bytes, DriveFile, DriveKind, Op};

use crate::figures;
use crate::page::{Answer, Page, Report, Table};

/// The facts about several drives.
#[derive(Serialize)]
pub struct ListReport<'a> {
    drives: Vec<DriveReport<'a, TableSize>>,
    #[serde(skip)]
    files: &'a [DriveFile],
}

/// The facts of a drive for programs, in the list and at the start of `show`.
#[derive(Serialize)]
pub(super) struct DriveReport<'a, T> {
    pub(super) name: &'a str,
    kind: &'static str,
    kinds: Vec<&'static str>,
    model: Option<&'a str>,
    capacity_bytes: Option<u64>,
    depth: u32,
    tables: Vec<T>,
}

/// The number of entries in a batch table.
#[derive(Serialize)]
pub(super) struct TableSize {
    op: Option<&'static str>,
    size_bytes: Option<u64>,
    entries: usize,
}

impl<'a> ListReport<'a> {
    /// Makes a list of these drives.
    pub fn of(files: &'a [DriveFile]) -> Self {
        let drives = files.iter().map(|file| DriveReport::of(file, TableSize::of));
        Self { drives: drives.collect(), files }
    }
}

impl Report for ListReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let count = figures::count(self.drives.len(), "drive");
        Some(Answer::good(format!("{count} can be simulated without a file.")))
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        let header = ["name", "kind", "capacity", "K", "tables", "model"];
        let row = |(drive, file): (&DriveReport<'_, TableSize>, &DriveFile)| {
            let capacity = drive.capacity_bytes.map(Bytes::new);
            vec![
                drive.name.to_owned(),
                drive.kind.to_owned(),
                capacity.map_or_else(|| "-".to_owned(), figures::decimal),
                drive.depth.to_string(),
                tables(file),
                drive.model.unwrap_or_default().to_owned(),
            ]
        };
        let rows = self.drives.iter().zip(self.files).map(row).collect();
        let table = Table::new(&header, rows, header.len()).named(1);
        page.put(table.optional(&["tables", "model"]));
        writeln!(page);
        page.legend(
            "K: requests that a drive accepts at once. Details: `tidegate drive show NAME`.",
        );
    }
}

impl<'a, T> DriveReport<'a, T> {
    pub(super) fn of(file: &'a DriveFile, table: impl FnMut(&'a MeasuredTable) -> T) -> Self {
        Self {
            name: &file.name,
            kind: file.kind.name(),
            kinds: tidegate_drive::kinds(file).into_iter().map(DriveKind::name).collect(),
            model: file.identity.model.as_deref(),
            capacity_bytes: file.capacity().map(Bytes::get),
            depth: file.depth,
            tables: file.batch.iter().map(table).collect(),
        }
    }
}

impl TableSize {
    pub(super) fn of(table: &MeasuredTable) -> Self {
        Self {
            op: table.op.map(Op::name),
            size_bytes: table.size.map(Bytes::get),
            entries: table.ns_max.len(),
        }
    }
}

/// Describes the tables, for example `read, write 4KiB, 128KiB to b(64)`; operations with equal
/// tables share an entry.
fn tables(file: &DriveFile) -> String {
    let mut groups: Vec<(Vec<&str>, Vec<String>)> = Vec::new();
    for op in [Op::Read, Op::Write] {
        let sizes = sizes(file, op);
        match groups.iter_mut().find(|group| group.1 == sizes) {
            _ if sizes.is_empty() => (),
            Some((ops, _)) => ops.push(op.name()),
            None => groups.push((vec![op.name()], sizes)),
        }
    }
    let group = |(ops, sizes): &(Vec<&str>, Vec<String>)| {
        format!("{} {}", ops.join(", "), sizes.join(", "))
    };
    let groups: Vec<String> = groups.iter().map(group).collect();
    if groups.is_empty() { "-".to_owned() } else { groups.join("; ") }
}

/// Returns the measured sizes. If consecutive sizes have the same largest batch, only the last one
/// states it.
fn sizes(file: &DriveFile, op: Op) -> Vec<String> {
    let tables: Vec<&MeasuredTable> = file.batch.iter().filter(|of| of.op == Some(op)).collect();
    let size = |(index, table): (usize, &&MeasuredTable)| {
        let count = table.ns_max.len();
        let is_said = tables.get(index + 1).is_some_and(|next| next.ns_max.len() == count);
        let end = if is_said { String::new() } else { format!(" to b({count})") };
        format!("{}{end}", table.size.map_or_else(String::new, |size| size.to_string()))
    };
    tables.iter().enumerate().map(size).collect()
}
