// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One export with its position in the text, for faults that only the drive file reveals.

use std::ops::Range;

use toml::Spanned;

use super::exports;
use super::raw::RawExport;
use super::wanted::Wanted;
use crate::export::ExportSpec;
use crate::file_error::FileError;

/// An export and its position in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Written {
    /// The export, without its position.
    pub(super) spec: ExportSpec,
    pub(super) wanted: Wanted,
    /// The position of the contract's size in the text, or of the export's name if there is no
    /// contract.
    pub(super) size_span: Range<usize>,
    /// The position of the contract's operation in the text, or of the export's name if the
    /// contract states none.
    pub(super) op_span: Range<usize>,
}

impl Written {
    pub(super) fn read(raw: &RawExport, is_store_read_only: bool) -> Result<Self, FileError> {
        let (spec, wanted) = exports::read(raw, is_store_read_only)?;
        let name = || raw.name.span();
        let contract = raw.contract.as_ref().map(Spanned::get_ref);
        let size_span = contract.map_or_else(name, |contract| contract.size_max.span());
        let op = contract.and_then(|contract| contract.op.as_ref());
        let op_span = op.map_or_else(name, Spanned::span);
        Ok(Self { spec, wanted, size_span, op_span })
    }

    /// Creates an export that was not read from a text; it keeps its place.
    pub(super) fn of(spec: &ExportSpec) -> Self {
        let wanted = Wanted::at(spec.offset, spec.size);
        Self { spec: spec.clone(), wanted, size_span: 0..0, op_span: 0..0 }
    }
}
