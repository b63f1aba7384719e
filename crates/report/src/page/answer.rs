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

/// Whether a line is good news. The words of the line state this too; colours only repeat it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// The answer is yes.
    Good,
    /// The answer is yes with a doubt, or nothing was decided.
    Doubtful,
    /// The answer is no.
    Bad,
}

impl Tone {
    /// The escape sequence that ends a coloured text.
    pub(super) const END: &'static str = "\u{1b}[0m";

    /// Returns the escape sequence that starts a coloured text.
    pub(super) const fn start(self) -> &'static str {
        match self {
            Self::Good => "\u{1b}[32m",
            Self::Doubtful => "\u{1b}[33m",
            Self::Bad => "\u{1b}[31m",
        }
    }
}

/// The answer of a command: one sentence, with the verdict first and then the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    tone: Tone,
    text: String,
}

impl Answer {
    /// Makes an answer that means yes.
    pub fn good(text: impl Into<String>) -> Self {
        Self { tone: Tone::Good, text: text.into() }
    }

    /// Makes an answer that means yes with a doubt, or that nothing was decided.
    pub fn doubtful(text: impl Into<String>) -> Self {
        Self { tone: Tone::Doubtful, text: text.into() }
    }

    /// Makes an answer that means no.
    pub fn bad(text: impl Into<String>) -> Self {
        Self { tone: Tone::Bad, text: text.into() }
    }

    /// Returns the same answer with `more` added at its end.
    #[must_use]
    pub fn and(self, more: &str) -> Self {
        Self { text: self.text + more, ..self }
    }

    /// Returns the sentence.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the answer's tone.
    pub const fn tone(&self) -> Tone {
        self.tone
    }
}
