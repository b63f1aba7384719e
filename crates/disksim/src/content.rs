// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Recognises a file's kind by its content, never by its name.

use std::fmt;

use super::seek_file;
use super::words::{TokenKind, Words};

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A disk with its command overheads, cache and queue: `disksim_disk`.
    Disk,
    /// A disk's surfaces and mechanics: `dm_disk`.
    Model,
    /// The layout of sectors: `dm_layout_g1`, `dm_layout_g4`.
    Layout,
    /// The motion of arm and platter: `dm_mech_g1`.
    Mechanism,
    /// A measured seek curve.
    SeekCurve,
    /// Buses, controllers and other components around a disk.
    System,
    /// A file that does not describe a disk.
    Other,
}

impl FileKind {
    /// Returns the kind's name, with its article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disk => "a disk's overheads, cache and queue (disksim_disk)",
            Self::Model => "a disk's mechanics (dm_disk)",
            Self::Layout => "a layout (dm_layout_g1 or dm_layout_g4)",
            Self::Mechanism => "a mechanism (dm_mech_g1)",
            Self::SeekCurve => "a seek curve",
            Self::System => "the system around a disk (disksim_bus and others)",
            Self::Other => "not a parameter file",
        }
    }

    /// Returns the parts that a drive gets from a file of this kind.
    pub fn gives(self) -> &'static str {
        match self {
            Self::Disk => "overheads, cache, queue",
            Self::Model => "mechanics",
            Self::Layout => "layout",
            Self::Mechanism => "arm and spindle",
            Self::SeekCurve => "seek curve",
            Self::System => "bus",
            Self::Other => "nothing",
        }
    }

    /// Returns the kind of file for a block of this kind.
    pub(crate) fn of_block(kind: &str) -> Self {
        match kind {
            "disksim_disk" => Self::Disk,
            "dm_disk" => Self::Model,
            _ if kind.starts_with("dm_layout_") => Self::Layout,
            _ if kind.starts_with("dm_mech_") => Self::Mechanism,
            _ if kind.starts_with("disksim_") => Self::System,
            _ => Self::Other,
        }
    }

    /// Returns the kind of a text, by its first words.
    pub(crate) fn of_text(text: &str) -> Self {
        if is_seek_curve(text) { Self::SeekCurve } else { Self::of_first_item(text) }
    }

    fn of_first_item(text: &str) -> Self {
        let mut words = Words::new(text);
        let [first, second, third] = std::array::from_fn(|_| words.next());
        if first.kind != TokenKind::Word {
            return Self::Other;
        }
        let word = first.span.of(text);
        let kinds = (second.kind, third.kind);
        match (word, kinds) {
            (_, (TokenKind::BlockBegin, _) | (TokenKind::Word, TokenKind::BlockBegin)) => {
                Self::of_block(word)
            }
            ("source", (TokenKind::Word, _))
            | ("instantiate", (TokenKind::ListBegin, _))
            | ("topology", (TokenKind::Word, TokenKind::Word)) => Self::System,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

fn is_seek_curve(text: &str) -> bool {
    let lines = text.lines().map(|line| line.trim_start_matches('\u{feff}').trim());
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(first) = lines.next() else { return false };
    first.starts_with(seek_file::HEADER) || seek_file::is_row(first)
}

#[cfg(test)]
mod tests {
    use super::FileKind;

    #[test]
    fn the_first_words_determine_the_kind_of_a_file() {
        for (text, kind) in [
            ("# x\n\ndisksim_disk A {\n}", FileKind::Disk),
            ("dm_disk x.model {", FileKind::Model),
            ("dm_layout_g4 {\nTP = [", FileKind::Layout),
            ("dm_mech_g1{", FileKind::Mechanism),
            ("Seek distances measured: 117\n1,\t1.6\n", FileKind::SeekCurve),
            ("1, 0.525700, 0.024385\n", FileKind::SeekCurve),
            ("source a.diskspecs\n", FileKind::System),
            ("disksim_global Global { \nInit Seed = 42", FileKind::System),
        ] {
            assert_eq!(FileKind::of_text(text), kind, "{text}");
        }
    }

    #[test]
    fn traces_and_prose_are_nothing_of_a_disk() {
        for text in [
            "nothing { of a disk",
            "",
            "W Hit   11392096  12   1686.0  40961.0\n",
            "0 0 8 16 1\n1 2 3 4 0\n",
            "Disk response time average\nDistribution size: 10\n",
            "source",
            "# only a comment",
        ] {
            assert_eq!(FileKind::of_text(text), FileKind::Other, "{text}");
        }
    }
}
