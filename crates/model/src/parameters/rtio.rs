// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[policy.rtio-priority]`: by which of the drive's own means real-time requests go first.
//!
//! SCSI drives know the head of the queue, drives with NCQ a priority, some know neither; the
//! drive file says what was measured.

use crate::request::Tag;

/// Parameters of `rtio-priority`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RtioPriority {
    /// How real-time requests are marked; default `priority`.
    pub tag: PriorityTag,
}

/// The marks by which a drive may be told to serve a request before others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorityTag {
    /// The high priority of NCQ.
    #[default]
    Priority,
    /// The head-of-queue tag of SCSI, under which the last to come is the first to be served.
    HeadOfQueue,
}

impl PriorityTag {
    /// The word used in files and in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::HeadOfQueue => "head-of-queue",
        }
    }

    /// The tag that a request carries.
    pub const fn tag(self) -> Tag {
        match self {
            Self::Priority => Tag::Priority,
            Self::HeadOfQueue => Tag::HeadOfQueue,
        }
    }
}
