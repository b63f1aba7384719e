// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A `dm_layout_g4` block: an index over tracks as they were measured.
//!
//! The rows are kept; angles become millionths of a turn, without whole turns.

use std::fmt::{Display, Write as _};

use tidegate_model::mechanics::TrackIndex;

use super::error::ImportError;
use super::report::Report;
use super::section::{Known, Section};
use super::tree::{List, Value};

const KNOWN: Known<'_> = Known { represented: &["TP", "IDX", "Slips", "Remaps"], neutral: &[] };

/// A turn in millionths.
const TURN_PPM: i128 = 1_000_000;

/// Returns the index that a `dm_layout_g4` block describes.
pub(crate) fn index(section: &Section, report: &mut Report) -> Result<TrackIndex, ImportError> {
    section.report_ignored(&KNOWN, report);
    section.get("TP")?;
    Ok(TrackIndex {
        tracks: rows(section, "TP", 3)?,
        index: nodes(section)?,
        slips: rows(section, "Slips", 2)?,
        remaps: rows(section, "Remaps", 6)?,
    })
}

/// Writes a list of whole numbers as rows of `columns` columns.
fn rows(section: &Section, name: &str, columns: usize) -> Result<String, ImportError> {
    let Some(list) = section.list(name)? else { return Ok(String::new()) };
    let mut text = String::with_capacity(12 * list.values.len());
    let rows = list.values.chunks_exact(columns);
    if !rows.remainder().is_empty() {
        let value = section.get(name)?;
        return Err(section.refuse(value, name, format!("rows of {columns} numbers")));
    }
    for row in rows {
        for value in row {
            column(&mut text, section.whole_of::<u64>(value, name, 0)?);
        }
        end_row(&mut text);
    }
    Ok(text)
}

fn nodes(section: &Section) -> Result<String, ImportError> {
    section.get("IDX")?;
    let mut text = String::new();
    for (index, value) in section.list("IDX")?.iter().flat_map(|list| &list.values).enumerate() {
        let Value::List(node) = value else {
            return Err(section.refuse(value, "IDX", "a list for each node of the index"));
        };
        if index > 0 {
            text.push_str("-\n");
        }
        entries(section, node, &mut text)?;
    }
    Ok(text)
}

/// Writes the entries of a node: eight numbers, the kind of the repeated piece, its number, and for
/// a track the head.
fn entries(section: &Section, node: &List, text: &mut String) -> Result<(), ImportError> {
    let mut values = node.values.iter();
    while values.len() > 0 {
        let Some((numbers, rest)) = values.as_slice().split_first_chunk::<9>() else {
            return Err(entry_fault(section, node));
        };
        values = rest.iter();
        let [before, cylinder, offset, length, cylinders, skew, run, cylinder_run, child] = numbers;
        number(section, text, before)?;
        number(section, text, cylinder)?;
        angle(section, text, offset)?;
        number(section, text, length)?;
        number(section, text, cylinders)?;
        angle(section, text, skew)?;
        number(section, text, run)?;
        column(text, section.whole_of::<i64>(cylinder_run, "IDX", 0)?);
        let (letter, columns) = match section.word_of(child) {
            Some("TRACK") => ("T", 2),
            Some("IDX") => ("N", 1),
            _ => return Err(section.refuse(child, "IDX", "TRACK or IDX, the ninth of an entry")),
        };
        column(text, letter);
        for _ in 0..columns {
            let value = values.next().ok_or_else(|| entry_fault(section, node))?;
            number(section, text, value)?;
        }
        end_row(text);
    }
    Ok(())
}

fn entry_fault(section: &Section, node: &List) -> ImportError {
    section.document.fault(
        node.span,
        "the last entry of this index node is cut off",
        "an entry has ten values; an entry of tracks has an eleventh, the head",
    )
}

fn number(section: &Section, text: &mut String, value: &Value) -> Result<(), ImportError> {
    column(text, section.whole_of::<u64>(value, "IDX", 0)?);
    Ok(())
}

fn angle(section: &Section, text: &mut String, value: &Value) -> Result<(), ImportError> {
    let angle_ppm = section.scaled_of(value, "IDX", 6)?;
    column(text, angle_ppm.rem_euclid(TURN_PPM));
    Ok(())
}

fn column(text: &mut String, value: impl Display) {
    write!(text, "{value} ").expect("a string takes everything");
}

/// Removes the blank after the last column.
fn end_row(text: &mut String) {
    text.pop();
    text.push('\n');
}
