// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where exports lie in their store.

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;

use super::raw::RawExport;
use crate::export::ExportSpec;
use crate::file_error::FileError;
use crate::units::Bytes;

/// The longest name that the NBD protocol carries.
const NAME_BYTES_MAX: usize = 4096;

/// What a store has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Its size.
    pub size: Bytes,
    /// Exports begin and end at multiples of this.
    pub alignment: Bytes,
}

/// The part of the store that an export asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wanted {
    /// None: the next that is free.
    offset: Option<Spanned<Bytes>>,
    /// None: the whole store.
    size: Option<Spanned<Bytes>>,
    name: Range<usize>,
}

impl Wanted {
    pub(super) fn of(raw: &RawExport) -> Result<Self, FileError> {
        let name = raw.name.span();
        match (&raw.share, &raw.offset, &raw.size) {
            (None, offset, Some(size)) => {
                Ok(Self { offset: offset.clone(), size: Some(size.clone()), name })
            }
            (Some(_), None, None) => Ok(Self { offset: None, size: None, name }),
            (Some(share), ..) => Err(FileError::new(
                share.span(),
                "the whole store has no offset and no size of its own",
                "leave offset and size out, or share",
            )),
            (None, _, None) => Err(FileError::new(
                name,
                "how large this export is, is not said",
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

impl Layout {
    /// Each export with its place.
    pub(super) fn place(
        self,
        exports: &[(ExportSpec, Wanted)],
    ) -> Result<Vec<ExportSpec>, FileError> {
        let mut next = 0;
        let mut placed: Vec<ExportSpec> = Vec::with_capacity(exports.len());
        for (export, wanted) in exports {
            let (offset, size) = self.part(wanted, next)?;
            let is_over = |other: &&ExportSpec| {
                let (first, end) = (other.offset.get(), other.offset.get() + other.size.get());
                let is_apart = offset + size <= first || end <= offset;
                !(is_apart || wanted.is_whole() || is_whole(other, self))
            };
            if let Some(other) = placed.iter().find(is_over) {
                return Err(FileError::new(
                    wanted.offset.as_ref().map_or(wanted.name_span(), Spanned::span),
                    format!("`{}` would overlap `{}`", export.name, other.name),
                    "give it another offset, or none: then it follows what is before it",
                ));
            }
            if !wanted.is_whole() {
                next = next.max(offset + size);
            }
            let (offset, size) = (Bytes::new(offset), Bytes::new(size));
            placed.push(ExportSpec { offset, size, ..export.clone() });
        }
        Ok(placed)
    }

    fn part(self, wanted: &Wanted, next: u64) -> Result<(u64, u64), FileError> {
        let Some(size) = &wanted.size else { return Ok((0, self.size.get())) };
        let offset = wanted.offset.as_ref().map_or(next, |offset| offset.get_ref().get());
        let aligned = self.alignment.get();
        let parts = [wanted.offset.as_ref(), Some(size)];
        for part in parts.into_iter().flatten() {
            if !part.get_ref().get().is_multiple_of(aligned) {
                return Err(FileError::new(
                    part.span(),
                    format!("{} is no multiple of {}", part.get_ref(), self.alignment),
                    format!("write a multiple of the store's blocks of {}", self.alignment),
                ));
            }
        }
        let (bytes, end) = (size.get_ref().get(), offset.checked_add(size.get_ref().get()));
        if bytes == 0 {
            return Err(FileError::new(size.span(), "an export of no size", "write its size"));
        }
        if end.is_none_or(|end| end > self.size.get()) {
            return Err(FileError::new(
                size.span(),
                format!(
                    "the export would lie from {} on, and the store ends at {}",
                    Bytes::new(offset),
                    self.size
                ),
                "write a smaller size, or another offset",
            ));
        }
        Ok((offset, bytes))
    }
}

/// Whether an export is the whole store, which is then only read.
fn is_whole(export: &ExportSpec, layout: Layout) -> bool {
    export.is_read_only && export.offset.get() == 0 && export.size == layout.size
}

/// Names are unique and can be sent.
pub(super) fn check_names(exports: &[RawExport]) -> Result<(), FileError> {
    let mut names = BTreeSet::new();
    for export in exports {
        let name = export.name.get_ref();
        let fault =
            |message: String, help: &str| Err(FileError::new(export.name.span(), message, help));
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.chars().any(char::is_control) {
            return fault(
                "a name that is empty, too long, or has control characters in it".to_owned(),
                "write a name that can be printed",
            );
        }
        if !names.insert(name) {
            return fault(
                format!("a second export named `{name}`"),
                "give every export a name of its own",
            );
        }
    }
    Ok(())
}
