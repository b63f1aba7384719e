// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Labelled sentences that appear on a screen, in its JSON object and on a page.

use serde::{Deserialize, Serialize};

use super::{Page, Tone};

/// A labelled sentence below a report's tables, for example a doubt about its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The note's subject in one or two words.
    pub label: String,
    /// The sentence, without foreign control characters.
    pub text: String,
    #[serde(skip)]
    tone: Option<Tone>,
}

impl Note {
    /// Makes a note that states a fact.
    pub fn plain(label: &str, text: impl Into<String>) -> Self {
        Self { label: label.to_owned(), text: text.into(), tone: None }
    }

    /// Makes a note that states a doubt.
    pub fn doubtful(label: &str, text: impl Into<String>) -> Self {
        Self { tone: Some(Tone::Doubtful), ..Self::plain(label, text) }
    }

    /// Makes a note that states a fault.
    pub fn bad(label: &str, text: impl Into<String>) -> Self {
        Self { tone: Some(Tone::Bad), ..Self::plain(label, text) }
    }
}

impl Page {
    /// Appends a note.
    pub fn note(&mut self, note: &Note) {
        self.labelled_as(&note.label, &note.text, note.tone);
    }
}
