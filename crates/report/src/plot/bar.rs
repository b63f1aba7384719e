// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bars that are one character wide.

/// The characters for the heights, from an empty cell to a full one.
const HEIGHTS: [char; 9] = [
    ' ', '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}',
    '\u{2588}',
];

/// Returns the bar that fills `part / whole` of a cell; `whole` must be at least 1. The height is
/// rounded up, so that every `part` above 0 is visible.
///
/// # Panics
/// If `part` exceeds `whole`.
pub(crate) fn bar(part: u128, whole: u128) -> char {
    let height = (part * (HEIGHTS.len() as u128 - 1)).div_ceil(whole);
    HEIGHTS[usize::try_from(height).expect("at most the whole")]
}
