// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate drive list`: the drives that come with Tidegate.

use serde_json::{Value, json};
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::{Bytes, DriveFile, DriveKind, Op};

use super::arguments::ListArguments;
use super::facts;
use crate::failure::Failure;
use crate::show::{self, out, outln};

/// Runs the command.
pub(crate) fn list(arguments: &ListArguments) -> Result<(), Failure> {
    let drives: Vec<DriveFile> = tidegate_drive::builtin::names()
        .map(|name| tidegate_drive::builtin::load(name).map_err(|error| Failure::unusable(&error)))
        .collect::<Result<_, Failure>>()?;
    if arguments.json {
        let drives: Vec<Value> = drives.iter().map(to_json).collect();
        outln!("{:#}", json!({ "drives": drives }));
        return Ok(());
    }
    print(&drives);
    Ok(())
}

fn print(drives: &[DriveFile]) {
    let header = ["name", "kind", "capacity", "K", "tables", "model"];
    let row = |file: &DriveFile| {
        let capacity = facts::capacity(file);
        vec![
            file.name.clone(),
            file.kind.name().to_owned(),
            capacity.map_or_else(|| "-".to_owned(), facts::decimal),
            file.depth.to_string(),
            tables(file),
            file.identity.model.clone().unwrap_or_default(),
        ]
    };
    out!("{}", show::table(&header, drives.iter().map(row).collect(), header.len()));
    outln!();
    outln!(
        "  K is how many requests a drive accepts at once. `tidegate drive show NAME` says more."
    );
}

/// `read, write 4KiB, 128KiB to b(64)`: operations that were measured alike together.
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

/// The sizes that were measured, with the last batch where it is not the one before's.
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

/// What programs learn of a drive, in the list and at the head of `show`.
pub(crate) fn to_json(file: &DriveFile) -> Value {
    let kinds: Vec<&str> = facts::kinds(file).into_iter().map(DriveKind::name).collect();
    let tables = file.batch.iter().map(|table| {
        json!({
            "op": table.op.map(Op::name),
            "size_bytes": table.size.map(Bytes::get),
            "entries": table.ns_max.len(),
        })
    });
    json!({
        "name": file.name,
        "kind": file.kind.name(),
        "kinds": kinds,
        "model": file.identity.model,
        "capacity_bytes": facts::capacity(file).map(Bytes::get),
        "depth": file.depth,
        "tables": tables.collect::<Vec<_>>(),
    })
}
