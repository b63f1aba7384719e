// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What the block layer moves: one request of a job, or one of a best-effort load.

use crate::task::{Class, Op, TaskIndex};
use crate::units::{Bytes, Lba, Time};

/// Names a request within a run; the host never uses one twice in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// One request as a policy sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Its name.
    pub id: RequestId,
    /// The source it comes from.
    pub task: TaskIndex,
    /// The class of its source.
    pub class: Class,
    /// When it became ready; its response time counts from here.
    pub released: Time,
    /// From when it may be dispatched: later than `released` only behind a regulator.
    pub eligible: Time,
    /// Its absolute deadline; none for best effort.
    pub due: Option<Time>,
    /// Read or write.
    pub op: Op,
    /// First sector.
    pub start: Lba,
    /// How much.
    pub size: Bytes,
    /// A write that must be on the medium before it counts as complete.
    pub fua: bool,
    /// May be dropped where a quality contract allows it.
    pub optional: bool,
    /// How the drive may order it; what the policy said when it dispatched it.
    pub tag: Tag,
}

impl Request {
    /// A read of `size` at the first sector for the first task, released at the start of the
    /// run, with no deadline and nothing special about it: the rest is said by those who need
    /// it, with `..`.
    pub const fn plain(id: RequestId, class: Class, size: Bytes) -> Self {
        Self {
            id,
            task: TaskIndex(0),
            class,
            released: Time::ZERO,
            eligible: Time::ZERO,
            due: None,
            op: Op::Read,
            start: Lba::new(0),
            size,
            fua: false,
            optional: false,
            tag: Tag::Simple,
        }
    }
}

/// How a drive may order a request among the others it holds.
///
/// # Source
/// The first three are the task attributes of SCSI (SAM-3; RTAS'08 section 2); the last is
/// the high priority of NCQ. A drive without the feature treats every tag as `Simple`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Tag {
    /// As it likes.
    #[default]
    Simple,
    /// After all that came before it, and before all that comes after it.
    Ordered,
    /// Next, as soon as what is being served is done.
    HeadOfQueue,
    /// Before all that has no priority.
    Priority,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The device did what was asked.
    Done,
    /// The device reported an error.
    Failed,
}
