// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The signs by which the kernel finds the task of a bio.

use std::fmt;

use serde::Serialize;

/// The sign by which the target tells a task's requests from others.
///
/// If a bio has several signs, the first in this order decides: cgroup, place, level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// A level of the real-time I/O class, which the table line chooses.
    Level,
    /// A cgroup, by its path in the hierarchy: `/system.slice/recorder.service`. Groups below it
    /// count as well, unless they have a sign of their own.
    Cgroup(String),
    /// Sectors of the disk.
    Place {
        /// The first sector.
        first: u64,
        /// The number of sectors.
        count: u64,
    },
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Level => f.write_str("a level of the real-time I/O class"),
            Self::Cgroup(path) => write!(f, "cgroup {path}"),
            Self::Place { first, count } => {
                write!(f, "sectors {first} to {}", first.saturating_add(*count).saturating_sub(1))
            }
        }
    }
}

impl Sign {
    /// Returns the path of a cgroup.
    pub(crate) fn path(&self) -> Option<&str> {
        match self {
            Self::Cgroup(path) => Some(path),
            Self::Level | Self::Place { .. } => None,
        }
    }

    /// Returns whether both signs mean the same cgroup, or places that overlap. Two levels never
    /// clash: each kind of task has its own.
    pub fn clashes_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cgroup(one), Self::Cgroup(other)) => one == other,
            (Self::Place { first, count }, Self::Place { first: start, count: length }) => {
                *first < start.saturating_add(*length) && *start < first.saturating_add(*count)
            }
            (Self::Level | Self::Cgroup(_) | Self::Place { .. }, _) => false,
        }
    }
}

/// The properties of a bio by which the kernel finds its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BioMarks<'a> {
    /// The path of the bio's cgroup.
    pub cgroup: &'a str,
    /// The bio's first sector on the disk.
    pub sector: u64,
    /// The bio's level, if it is of the real-time I/O class.
    pub level: Option<u32>,
}

/// Returns the index of the contract that a bio belongs to, by the signs of all contracts and their
/// levels; `None` for best effort. `kernel/signs.c` has the same rule.
pub fn owner(contracts: &[(Sign, Option<u32>)], bio: BioMarks<'_>) -> Option<usize> {
    let find = |is_it: &dyn Fn(&Sign) -> bool| contracts.iter().position(|(sign, _)| is_it(sign));
    let by_group = || {
        let mut group = bio.cgroup;
        loop {
            let is_it = |sign: &Sign| matches!(sign, Sign::Cgroup(path) if path == group);
            if let Some(index) = find(&is_it) {
                return Some(index);
            }
            group = group.rsplit_once('/')?.0;
        }
    };
    let by_place = || {
        find(&|sign| match sign {
            Sign::Place { first, count } => {
                bio.sector.checked_sub(*first).is_some_and(|offset| offset < *count)
            }
            Sign::Level | Sign::Cgroup(_) => false,
        })
    };
    let by_level = || {
        let level = bio.level?;
        contracts.iter().position(|&(_, own)| own == Some(level))
    };
    by_group().or_else(by_place).or_else(by_level)
}
