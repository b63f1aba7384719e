// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files that make settings and classes permanent: a udev rule, and a drop-in for each unit.

use std::fmt::Write as _;

use tidegate_model::is_hidden;
use tidegate_model::workload_file::Unit;

use crate::disk::Disk;
use crate::services::class;
use crate::setting::Setting;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// The file's path, relative to the root.
    pub path: String,
    /// The file's text.
    pub text: String,
}

impl NewFile {
    /// Returns the udev rule that applies the settings whenever the disk appears. `None` if no rule
    /// can match this disk alone, because it has no permanent name, or one that no pattern matches
    /// exactly.
    pub fn rule(disk: &Disk, settings: &[Setting]) -> Option<Self> {
        let name = disk.name();
        let origin =
            format!("Written by `tidegate tune`; `tidegate tune {name} --undo` removes it.");
        Self::rule_of(disk, settings, &origin)
    }

    /// Returns the same rule as [`NewFile::rule`], with the sentence `origin` on its first line.
    pub fn rule_of(disk: &Disk, settings: &[Setting], origin: &str) -> Option<Self> {
        let wwid = pattern(&disk.wwid()?)?;
        let mut text = format!(
            "# {origin}\n\
             ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", ATTRS{{wwid}}==\"{wwid}\""
        );
        for Setting { attribute, new, .. } in settings {
            let _ = write!(text, ", \\\n  ATTR{{{attribute}}}=\"{new}\"");
        }
        text.push('\n');
        Some(Self {
            path: format!("etc/udev/rules.d/90-tidegate-{}.rules", disk.file_name()),
            text,
        })
    }

    /// Returns whether a [rule](Self::rule_of) can match this disk alone.
    pub fn can_name(disk: &Disk) -> bool {
        disk.wwid().is_some_and(|wwid| pattern(&wwid).is_some())
    }

    /// Returns the drop-in that gives a unit its I/O class.
    pub fn drop_in(unit: &Unit) -> Self {
        let class = class(unit.is_real_time);
        Self {
            path: format!("etc/systemd/system/{}.d/50-tidegate.conf", unit.name),
            text: format!(
                "# Written by `tidegate tune`; its --undo removes it.\n[Service]\nIOSchedulingClass={class}\n"
            ),
        }
    }
}

/// Returns a udev pattern that matches this text and no other; `None` if there is none.
///
/// udev ends a value at a quotation mark, separates alternatives by `|`, and passes patterns with
/// `*`, `?` or `[` to `fnmatch`. In brackets, these characters stand for themselves, as does a
/// backslash after another one. Outside of brackets, all other characters stand for themselves.
///
/// # Source
/// `udev(7)`, and `src/udev/udev-rules.c` of systemd; compared with `udevadm test` of udev 252.
fn pattern(text: &str) -> Option<String> {
    if text.contains(|c: char| matches!(c, '|' | '"') || is_hidden(c)) {
        return None;
    }
    let mut pattern = String::new();
    for c in text.chars() {
        match c {
            '*' | '?' | '[' => pattern.extend(['[', c, ']']),
            '\\' => pattern.push_str(r"[\\]"),
            _ => pattern.push(c),
        }
    }
    Some(pattern)
}

/// Returns the text with every character that a file name should not contain replaced.
pub fn slug(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '.' || c == '_'
}
