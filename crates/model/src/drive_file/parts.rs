// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kinds of simulated drives, and the sections of a drive file that describe the parts of a
//! drive. Code that distinguishes them matches [`DriveKind`] or [`Parts`], so that a new kind
//! breaks the build wherever it matters.

use serde::{Deserialize, Serialize};

use super::{DriveFile, Identity};
use crate::mechanics::{Mechanics, WriteBack};
use crate::ssd::Ssd;
use crate::units::{Bytes, Lba};

names! {
    /// The kind of simulated drive that represents a device.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum DriveKind {
        /// Serves each batch in the longest time that the table allows, in random order: the
        /// dissertation's pseudo-disk (9.3.3).
        Pseudo => "pseudo",
        /// A hard disk simulated from its mechanics: positions, seeks, rotation, cache, queue.
        Mechanical => "mechanical",
        /// A solid-state drive simulated from its parts.
        Ssd => "ssd",
        /// Service times drawn from a measured profile.
        Recorded => "recorded",
    }
}

/// A section of a drive file that describes the parts of the drive.
#[derive(Debug, Clone, Copy)]
pub enum Parts<'a> {
    /// `[mechanics]`.
    Mechanics(&'a Mechanics),
    /// `[ssd]`.
    Ssd(&'a Ssd),
}

impl Parts<'_> {
    /// Returns the kind of drive that is simulated from these parts.
    pub const fn kind(self) -> DriveKind {
        match self {
            Self::Mechanics(_) => DriveKind::Mechanical,
            Self::Ssd(_) => DriveKind::Ssd,
        }
    }

    /// Returns the capacity; `None` if it exceeds 2^64 bytes.
    pub fn capacity(self) -> Option<Bytes> {
        match self {
            Self::Mechanics(mechanics) => {
                mechanics.sectors.checked_mul(Lba::SECTOR_BYTES).map(Bytes::new)
            }
            Self::Ssd(ssd) => Some(ssd.capacity()),
        }
    }

    /// Returns whether the drive holds writes in its cache and writes them later.
    pub fn defers_writes(self) -> bool {
        match self {
            Self::Mechanics(mechanics) => {
                mechanics.cache.as_ref().is_some_and(|cache| cache.write_back == WriteBack::On)
            }
            Self::Ssd(ssd) => ssd.cache.write_back,
        }
    }

    /// Returns the whole section as text.
    fn text(self) -> String {
        match self {
            Self::Mechanics(mechanics) => format!("{mechanics:?}"),
            Self::Ssd(ssd) => format!("{ssd:?}"),
        }
    }
}

impl DriveKind {
    /// Returns the section that a drive of this kind is simulated from; `None` for kinds that are
    /// simulated from tables.
    pub const fn section(self) -> Option<&'static str> {
        match self {
            Self::Mechanical => Some("mechanics"),
            Self::Ssd => Some("ssd"),
            Self::Pseudo | Self::Recorded => None,
        }
    }

    /// Returns a description of a drive of this kind, for help.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Pseudo => "As slow as the drive's batch table allows",
            Self::Mechanical => "A hard disk from its mechanics",
            Self::Ssd => "A solid-state drive from its chips",
            Self::Recorded => "Service times drawn from a measured profile",
        }
    }

    /// Returns the meaning of a simulation with a drive of this kind, for its report.
    pub const fn simulates(self) -> &'static str {
        match self {
            Self::Pseudo => "every batch takes the longest that the proof allows, in random order",
            Self::Mechanical => "a hard disk from its mechanics, with its own queue",
            Self::Ssd => "a solid-state drive from its chips, with its own queue",
            Self::Recorded => "batch times are drawn from what was measured",
        }
    }

    /// Returns whether every batch takes the longest time that the tables allow.
    pub const fn takes_longest_times(self) -> bool {
        match self {
            Self::Pseudo => true,
            Self::Mechanical | Self::Ssd | Self::Recorded => false,
        }
    }

    /// Returns whether the drive's times are computed from positions and movements that the drive
    /// file describes, so that a policy can estimate them.
    pub const fn has_access_times(self) -> bool {
        match self {
            Self::Mechanical => true,
            Self::Pseudo | Self::Ssd | Self::Recorded => false,
        }
    }

    /// Returns whether a drive of this kind can be measured. Measuring recorded times would return
    /// the earlier measurement.
    pub const fn is_measurable(self) -> bool {
        match self {
            Self::Pseudo | Self::Mechanical | Self::Ssd => true,
            Self::Recorded => false,
        }
    }

    /// Returns whether a block device of this kind should report that it rotates. A drive simulated
    /// from tables should, because most such tables were measured on disks.
    pub const fn is_rotational(self) -> bool {
        match self {
            Self::Mechanical | Self::Pseudo | Self::Recorded => true,
            Self::Ssd => false,
        }
    }
}

impl DriveFile {
    /// Returns the section that a drive of this kind is simulated from, if the file has it.
    pub fn parts_of(&self, kind: DriveKind) -> Option<Parts<'_>> {
        match kind {
            DriveKind::Mechanical => self.mechanics.as_deref().map(Parts::Mechanics),
            DriveKind::Ssd => self.ssd.as_deref().map(Parts::Ssd),
            DriveKind::Pseudo | DriveKind::Recorded => None,
        }
    }

    /// Returns every section that the file has, in the order of [`DriveKind::ALL`]; [`Self::parts`]
    /// is the first one.
    pub fn all_parts(&self) -> impl Iterator<Item = Parts<'_>> {
        DriveKind::ALL.into_iter().filter_map(|kind| self.parts_of(kind))
    }

    /// Returns the parts of the drive: mechanics before chips; `None` for a file that has only
    /// tables.
    pub fn parts(&self) -> Option<Parts<'_>> {
        self.all_parts().next()
    }

    /// Returns the drive's capacity if the file states it.
    pub fn capacity(&self) -> Option<Bytes> {
        self.parts().and_then(Parts::capacity)
    }

    /// Returns whether the drive is known to hold writes in its cache and to write them later:
    /// according to its mechanics or parts, or to the host's report at measurement.
    pub fn defers_writes(&self) -> bool {
        self.all_parts().any(Parts::defers_writes)
            || self.identity.host.iter().any(|line| line == Identity::DEFERS_WRITES)
    }

    /// Returns whether the drive is known to serve requests with its own priority before others.
    pub fn honours_priority(&self) -> bool {
        self.mechanics.as_ref().is_some_and(|mechanics| mechanics.queue.priority)
    }

    /// Returns whether the drive is known to rotate, so that the order of positions matters. A
    /// drive simulated from tables rotates only if the file says that the measured device does.
    pub fn rotates(&self) -> bool {
        match self.kind {
            DriveKind::Mechanical => true,
            DriveKind::Ssd => false,
            DriveKind::Pseudo | DriveKind::Recorded => {
                self.identity.host.iter().any(|line| line == Identity::ROTATES)
            }
        }
    }

    /// Returns a text that is equal for two files only if their sections are equal. An interrupted
    /// measurement is resumed only if a hash of this text is unchanged: if the form of the text
    /// changes, every drive counts as another one.
    pub fn parts_text(&self) -> String {
        let has_section = |kind: &DriveKind| kind.section().is_some();
        let text = |kind| match self.parts_of(kind) {
            Some(parts) => format!("Some({})", parts.text()),
            None => "None".to_owned(),
        };
        DriveKind::ALL.into_iter().filter(has_section).map(text).collect()
    }
}
