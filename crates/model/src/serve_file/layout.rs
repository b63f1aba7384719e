// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The places of exports in their store.

use std::ops::Range;

use toml::Spanned;

use super::wanted::Wanted;
use super::written::Written;
use crate::export::{ExportContract, ExportPlace, ExportSpec, NewExport};
use crate::file_error::FileError;
use crate::units::Bytes;

/// The size and alignment of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The size of the store.
    pub size: Bytes,
    /// The alignment: exports begin and end at multiples of it.
    pub alignment: Bytes,
}

impl Layout {
    /// The largest request that a store gets in one call.
    pub const REQUEST_MAX: Bytes = Bytes::from_kib(256 << 10);

    /// Checks that a store can carry out requests of this size: whole blocks, and at most
    /// `REQUEST_MAX`.
    pub(super) fn check_request(
        self,
        size_max: Bytes,
        span: Range<usize>,
    ) -> Result<(), FileError> {
        if size_max > Self::REQUEST_MAX {
            return Err(FileError::new(
                span,
                format!("requests of {size_max} exceed the largest request of a store"),
                format!("write size_max = \"{}\" at most", Self::REQUEST_MAX),
            ));
        }
        let (size, aligned) = (size_max.get(), self.alignment.get());
        if size.is_multiple_of(aligned) {
            return Ok(());
        }
        let blocks = Bytes::new(size.next_multiple_of(aligned));
        Err(FileError::new(
            span,
            format!("a request size of {size_max} is not a multiple of {}", self.alignment),
            format!("write size_max = \"{blocks}\": the store has blocks of {}", self.alignment),
        ))
    }

    /// Returns each export with its place.
    pub(super) fn place(self, exports: &[Written]) -> Result<Vec<ExportSpec>, FileError> {
        let mut next = 0;
        let mut placed: Vec<ExportSpec> = Vec::with_capacity(exports.len());
        for Written { spec, wanted, size_span, .. } in exports {
            let (offset, size) = self.part(wanted, next)?;
            if let Some(other) = self.overlapped(&placed, wanted, offset, size) {
                return Err(FileError::new(
                    wanted.offset.as_ref().map_or(wanted.name_span(), Spanned::span),
                    format!("`{}` would overlap `{}`", spec.name, other.name),
                    "write another offset, or delete the offset to place the export after the previous one",
                ));
            }
            if !wanted.is_whole() {
                next = next.max(offset + size);
            }
            let (offset, size) = (Bytes::new(offset), Bytes::new(size));
            if let Some(contract) = &spec.contract {
                self.check_request(contract.size_max, size_span.clone())?;
            }
            if let Some(fault) = larger_than(size, spec.contract.as_ref()) {
                return Err(FileError { span: wanted.name_span(), ..fault });
            }
            placed.push(ExportSpec { offset, size, ..spec.clone() });
        }
        Ok(placed)
    }

    /// Returns a new export with its place beside the other exports; without an offset, the first
    /// gap that is large enough.
    ///
    /// # Errors
    /// If there is no gap, or the export would overlap another, or its requests are impossible for
    /// this store.
    pub fn place_new(
        self,
        others: &[ExportSpec],
        new: &NewExport,
    ) -> Result<ExportSpec, FileError> {
        let wanted = Wanted::of_place(new.place);
        let gap = match new.place {
            ExportPlace::Free { size } => self.gap(others, size.get()),
            ExportPlace::At { .. } | ExportPlace::Whole => 0,
        };
        let (offset, size) = self.part(&wanted, gap)?;
        if let Some(other) = self.overlapped(others, &wanted, offset, size) {
            return Err(FileError::new(
                0..0,
                format!("`{}` would overlap `{}`", new.name, other.name),
                "write another offset, or delete the offset to use the first gap that is large enough",
            ));
        }
        if let Some(contract) = &new.contract {
            self.check_request(contract.size_max, 0..0)?;
        }
        let (offset, size) = (Bytes::new(offset), Bytes::new(size));
        larger_than(size, new.contract.as_ref()).map_or_else(|| Ok(new.at(offset, size)), Err)
    }

    /// Returns the first offset at which `size` bytes are free, or the end of the last export if no
    /// gap is large enough.
    fn gap(self, others: &[ExportSpec], size: u64) -> u64 {
        let taken = others.iter().filter(|other| !is_whole(other, self));
        let mut taken: Vec<(u64, u64)> = taken
            .map(|other| (other.offset.get(), other.offset.get() + other.size.get()))
            .collect();
        taken.sort_unstable();
        let mut next = 0;
        for (first, end) in taken {
            if first.saturating_sub(next) >= size {
                break;
            }
            next = next.max(end);
        }
        next
    }

    /// Returns an export that the new one would overlap.
    fn overlapped<'a>(
        self,
        placed: &'a [ExportSpec],
        wanted: &Wanted,
        offset: u64,
        size: u64,
    ) -> Option<&'a ExportSpec> {
        let is_over = |other: &&ExportSpec| {
            let (first, end) = (other.offset.get(), other.offset.get() + other.size.get());
            let is_apart = offset + size <= first || end <= offset;
            !(is_apart || wanted.is_whole() || is_whole(other, self))
        };
        placed.iter().find(is_over)
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
                    format!("{} is not a multiple of {}", part.get_ref(), self.alignment),
                    format!("write a multiple of the store's blocks of {}", self.alignment),
                ));
            }
        }
        let (bytes, end) = (size.get_ref().get(), offset.checked_add(size.get_ref().get()));
        if bytes == 0 {
            return Err(FileError::new(
                size.span(),
                "the size of the export is zero",
                "write its size",
            ));
        }
        if end.is_none_or(|end| end > self.size.get()) {
            return Err(FileError::new(
                size.span(),
                format!(
                    "the export would begin at {} and exceed the store, which ends at {}",
                    Bytes::new(offset),
                    self.size
                ),
                "write a smaller size, or another offset",
            ));
        }
        Ok((offset, bytes))
    }
}

/// Returns a fault if the contract's requests are larger than the export.
fn larger_than(size: Bytes, contract: Option<&ExportContract>) -> Option<FileError> {
    let size_max =
        contract.map(|contract| contract.size_max).filter(|size_max| *size_max > size)?;
    Some(FileError::new(
        0..0,
        format!("requests of up to {size_max} do not fit in an export of {size}"),
        format!("write size_max = \"{size}\" at most, or a larger size"),
    ))
}

/// Returns whether an export is the whole store, which can only be read.
fn is_whole(export: &ExportSpec, layout: Layout) -> bool {
    export.is_read_only && export.offset.get() == 0 && export.size == layout.size
}
