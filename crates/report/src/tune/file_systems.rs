// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The file systems on a disk, and whether requests are known to keep their bounds on them.

use serde::Serialize;
use tidegate_tune::{Experience, FileSystem};

use crate::page::{Answer, Page, Tone, printable};

/// A file system on the disk.
#[derive(Debug, Serialize)]
pub struct FileSystemReport<'a> {
    device: &'a str,
    kind: &'a str,
    /// Whether requests kept their bounds on this kind of file system; `None` if it was not
    /// examined.
    has_kept_bounds: Option<bool>,
}

impl<'a> FileSystemReport<'a> {
    fn of(found: &'a FileSystem) -> Self {
        let has_kept_bounds = match found.experience() {
            Experience::Kept => Some(true),
            Experience::Exceeded => Some(false),
            Experience::None => None,
        };
        Self { device: &found.device, kind: &found.kind, has_kept_bounds }
    }

    /// Makes a report on each of these file systems.
    pub fn all(found: &'a [FileSystem]) -> Vec<Self> {
        found.iter().map(Self::of).collect()
    }

    pub(super) fn is_doubtful(&self) -> bool {
        self.has_kept_bounds == Some(false)
    }

    /// Returns a good answer, or a doubtful one if a file system is known to break bounds.
    pub(crate) fn doubt(all: &[Self], text: String) -> Answer {
        match all.iter().find(|it| it.is_doubtful()) {
            None => Answer::good(text),
            Some(it) => Answer::doubtful(format!("{text}; but {} is on {}", it.kind, it.device)),
        }
    }

    /// Writes the file systems on which no bound is known to hold.
    pub(crate) fn write_all(page: &mut Page, all: &[Self]) {
        for Self { device, kind, has_kept_bounds } in all {
            let name = format!("{kind} on {device}");
            match has_kept_bounds {
                Some(true) => {}
                Some(false) => {
                    let text = format!(
                        "{name}: requests in the real-time class took longer than their bound there, for \
                         a reason that is not known: keep files with contracts on ext4 or xfs"
                    );
                    page.labelled_as("Doubt", printable(&text), Some(Tone::Doubtful));
                }
                None => {
                    let text = format!(
                        "{name}: it was not examined whether requests keep their bounds there"
                    );
                    page.labelled("Note", printable(&text));
                }
            }
        }
    }
}
