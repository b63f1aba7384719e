// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sanitizes texts from a socket.

/// Returns the text without control characters: it must not move the cursor.
pub(crate) fn text(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
