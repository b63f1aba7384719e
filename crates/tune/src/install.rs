// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files that make settings and classes last: a udev rule, and a drop-in for each unit.

use std::fmt::Write as _;

use tidegate_model::workload_file::Unit;

use crate::disk::Disk;
use crate::setting::Setting;

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Its path, relative to the root.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl NewFile {
    /// Returns the udev rule that makes the settings whenever the disk appears; `None` if nothing
    /// distinguishes the disk from others.
    pub fn rule(disk: &Disk, settings: &[Setting]) -> Option<Self> {
        let wwid = disk.wwid()?;
        let mut text = format!(
            "# Written by `tidegate tune`; `tidegate tune {} --undo` removes it.\n\
             ACTION==\"add|change\", SUBSYSTEM==\"block\", ENV{{DEVTYPE}}==\"disk\", ATTRS{{wwid}}==\"{}\"",
            disk.name(),
            pattern(&wwid)
        );
        for Setting { attribute, new, .. } in settings {
            let _ = write!(text, ", \\\n  ATTR{{{attribute}}}=\"{new}\"");
        }
        text.push('\n');
        Some(Self { path: format!("etc/udev/rules.d/90-tidegate-{}.rules", slug(&wwid)), text })
    }

    /// Returns the drop-in that gives a unit its I/O class.
    pub fn drop_in(unit: &Unit) -> Self {
        let class = if unit.is_real_time { "realtime" } else { "best-effort" };
        Self {
            path: format!("etc/systemd/system/{}.d/50-tidegate.conf", unit.name),
            text: format!(
                "# Written by `tidegate tune`; its --undo removes it.\n[Service]\nIOSchedulingClass={class}\n"
            ),
        }
    }
}

/// Returns a pattern of udev that matches the text: every character that could have a meaning in a
/// pattern or in a rule stands for any one character.
fn pattern(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { '?' }).collect()
}

/// Returns a text that a file name can contain.
pub(crate) fn slug(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) { c } else { '-' }).collect()
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '.' || c == '_'
}
