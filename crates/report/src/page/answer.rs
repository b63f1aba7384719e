// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A screen's first line, and how a terminal shows it.

/// The width and the colours of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The terminal's width, in characters.
    pub columns: usize,
    /// Whether tones are shown as colours.
    pub is_coloured: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self { columns: 80, is_coloured: false }
    }
}

/// Whether a line is good news. Its words say so too; colours only repeat them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// Yes.
    Good,
    /// Yes, with a doubt; or nothing was decided.
    Doubtful,
    /// No.
    Bad,
}

impl Tone {
    /// Ends a coloured text.
    pub(super) const END: &'static str = "\u{1b}[0m";

    /// Starts a coloured text.
    pub(super) const fn start(self) -> &'static str {
        match self {
            Self::Good => "\u{1b}[32m",
            Self::Doubtful => "\u{1b}[33m",
            Self::Bad => "\u{1b}[31m",
        }
    }
}

/// The answer of a command: one sentence, the verdict first and then the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    tone: Tone,
    text: String,
}

impl Answer {
    /// A yes.
    pub fn good(text: impl Into<String>) -> Self {
        Self { tone: Tone::Good, text: text.into() }
    }

    /// A yes with a doubt, or no decision.
    pub fn doubtful(text: impl Into<String>) -> Self {
        Self { tone: Tone::Doubtful, text: text.into() }
    }

    /// A no.
    pub fn bad(text: impl Into<String>) -> Self {
        Self { tone: Tone::Bad, text: text.into() }
    }

    /// Returns the same answer with more at its end.
    #[must_use]
    pub fn and(self, more: &str) -> Self {
        Self { text: self.text + more, ..self }
    }

    /// Returns the sentence.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns its tone.
    pub const fn tone(&self) -> Tone {
        self.tone
    }
}
