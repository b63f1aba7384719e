// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Treats arbitrary text as a serve file: reads, lays out, binds and proves it as far as it is
//! valid.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use tidegate_analysis::assess;
use tidegate_model::serve_file::Layout;
use tidegate_model::{Bytes, DriveFile, ExportSpec, FileError, ServeFile};

/// The largest number of contracts that a test proves; more take too long.
const PROVED_MAX: usize = 4;

/// The step up to which a text was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reached {
    Refused,
    Parsed,
    Bound,
}

/// Runs the text through all steps; returns the step up to which it was accepted.
///
/// # Errors
/// The description of a wrong result.
pub(crate) fn run(bytes: &[u8]) -> Result<Reached, String> {
    static DRIVES: LazyLock<Vec<DriveFile>> = LazyLock::new(|| {
        let load = |name| tidegate_drive::builtin::load(name).expect("it is built in");
        vec![load("fujitsu-max3036rc"), load("sata-ssd")]
    });
    let Ok(text) = std::str::from_utf8(bytes) else { return Ok(Reached::Refused) };
    let file = match ServeFile::parse(text) {
        Ok(file) => file,
        Err(error) => return check_fault(&error, text).map(|()| Reached::Refused),
    };
    for size in [Bytes::from_kib(1 << 10), Bytes::from_kib(64 << 20)] {
        let layout = Layout { size, alignment: Bytes::new(4096) };
        match file.exports(layout) {
            Ok(exports) => check_layout(&exports, layout)?,
            Err(error) => check_fault(&error, text)?,
        }
    }
    let mut reached = Reached::Parsed;
    for drive in &*DRIVES {
        match super::prover::bind(&file, drive) {
            Ok(bound) => {
                reached = Reached::Bound;
                if bound.workload.tasks.len() <= PROVED_MAX {
                    let assessment = assess(&bound.workload, bound.workload.policy);
                    drop(assessment.plan(&bound.workload));
                }
            }
            Err(error) => check_fault(&error, text)?,
        }
    }
    Ok(reached)
}

/// Checks that the error has a text and a position within the file.
fn check_fault(error: &FileError, text: &str) -> Result<(), String> {
    let (line, column) = error.line_and_column(text);
    let is_within = line >= 1 && column >= 1 && line <= text.lines().count() + 1;
    let is_said = !error.to_string().is_empty();
    if is_within && is_said { Ok(()) } else { Err(format!("{error} at {line}:{column}")) }
}

/// Checks that exports are within the store, are aligned, and have distinct names.
fn check_layout(exports: &[ExportSpec], layout: Layout) -> Result<(), String> {
    let mut names = BTreeSet::new();
    for export in exports {
        let (offset, size) = (export.offset.get(), export.size.get());
        let is_within = offset.checked_add(size).is_some_and(|end| end <= layout.size.get());
        let alignment = layout.alignment.get();
        let is_aligned = offset.is_multiple_of(alignment) && size.is_multiple_of(alignment);
        let mut requests = export.contract.iter().map(|contract| contract.size_max.get());
        let is_aligned = is_aligned && requests.all(|size| size.is_multiple_of(alignment));
        if !is_within || !is_aligned || size == 0 || !names.insert(&export.name) {
            return Err(format!("{export:?} in {layout:?}"));
        }
    }
    Ok(())
}
