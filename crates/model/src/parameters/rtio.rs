// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[policy.rtio-priority]`: the drive feature that lets real-time requests go first.
//!
//! SCSI drives have a head-of-queue tag, drives with NCQ a priority, and some drives have neither.
//! The drive file states which feature was measured.

use crate::request::Tag;

/// Parameters of `rtio-priority`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RtioPriority {
    /// The tag of real-time requests; default `priority`.
    pub tag: PriorityTag,
}

names! {
    /// The tags that make a drive serve a request before others.
    #[derive(Default, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum PriorityTag {
        /// The high priority of NCQ.
        #[default]
        Priority => "priority",
        /// The head-of-queue tag of SCSI; the drive serves the latest such request first.
        HeadOfQueue => "head-of-queue",
    }
}

impl PriorityTag {
    /// Returns the tag that a request carries.
    pub const fn tag(self) -> Tag {
        match self {
            Self::Priority => Tag::Priority,
            Self::HeadOfQueue => Tag::HeadOfQueue,
        }
    }
}
