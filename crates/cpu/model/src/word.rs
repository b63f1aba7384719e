// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Words in a file that must be names.

use toml::Spanned;

use tidegate_model::FileError;

/// Reads a word that must name one of `all`.
pub(super) fn named<T: Copy + std::fmt::Display>(
    word: Option<&Spanned<String>>,
    what: &str,
    from_name: impl Fn(&str) -> Option<T>,
    all: &[T],
) -> Result<Option<T>, FileError> {
    let Some(word) = word else { return Ok(None) };
    from_name(word.get_ref()).map(Some).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(ToString::to_string).collect();
        FileError::new(
            word.span(),
            format!("there is no {what} `{}`", word.get_ref()),
            format!("write one of {}", names.join(", ")),
        )
    })
}
