// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The part of the store that an export requests.

use std::ops::Range;

use toml::Spanned;

use super::raw::RawExport;
use crate::export::ExportPlace;
use crate::file_error::FileError;
use crate::units::Bytes;

/// The part of the store that an export requests.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// The offset; `None` means the next free one.
    pub(super) offset: Option<Spanned<Bytes>>,
    /// The size; `None` means the whole store.
    pub(super) size: Option<Spanned<Bytes>>,
    name: Range<usize>,
}

/// Wraps a value that was not read from a text.
fn unwritten(bytes: Bytes) -> Spanned<Bytes> {
    Spanned::new(0..0, bytes)
}

impl Wanted {
    /// Requests the place that an export already has.
    pub(super) fn at(offset: Bytes, size: Bytes) -> Self {
        Self { offset: Some(unwritten(offset)), size: Some(unwritten(size)), name: 0..0 }
    }

    pub(super) fn of_place(place: ExportPlace) -> Self {
        match place {
            ExportPlace::Free { size } => {
                Self { offset: None, size: Some(unwritten(size)), name: 0..0 }
            }
            ExportPlace::At { offset, size } => Self::at(offset, size),
            ExportPlace::Whole => Self { offset: None, size: None, name: 0..0 },
        }
    }

    /// Returns the same part without its position in a text.
    pub(super) fn to_place(&self) -> ExportPlace {
        let bytes = |bytes: &Spanned<Bytes>| *bytes.get_ref();
        match (&self.offset, &self.size) {
            (_, None) => ExportPlace::Whole,
            (None, Some(size)) => ExportPlace::Free { size: bytes(size) },
            (Some(offset), Some(size)) => {
                ExportPlace::At { offset: bytes(offset), size: bytes(size) }
            }
        }
    }

    pub(super) fn of(raw: &RawExport) -> Result<Self, FileError> {
        let name = raw.name.span();
        match (&raw.share, &raw.offset, &raw.size) {
            (None, offset, Some(size)) => {
                Ok(Self { offset: offset.clone(), size: Some(size.clone()), name })
            }
            (Some(_), None, None) => Ok(Self { offset: None, size: None, name }),
            (Some(share), ..) => Err(FileError::new(
                share.span(),
                "share = \"whole\" allows neither offset nor size",
                "delete offset and size, or delete share",
            )),
            (None, _, None) => Err(FileError::new(
                name,
                "the export has no size",
                "add size = \"200GiB\", or share = \"whole\" with read_only = true",
            )),
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        self.size.is_none()
    }

    pub(super) fn name_span(&self) -> Range<usize> {
        self.name.clone()
    }
}
