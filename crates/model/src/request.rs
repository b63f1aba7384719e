// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A request to the block device: one request of a job, or one of a best-effort load.

use crate::task::{Class, Op, TaskIndex};
use crate::units::{Bytes, Lba, Time};

/// Identifies a request within a run; the host never reuses an id in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// One request as a policy sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The request's ID.
    pub id: RequestId,
    /// The source that released the request.
    pub task: TaskIndex,
    /// The class of the source.
    pub class: Class,
    /// The arrival of the request's job, before any jitter; the response time counts from here.
    pub released: Time,
    /// The earliest time at which the request can be dispatched. It is later than `released` only
    /// behind a regulator, or if the workload states jitter or the host's time: then it is the
    /// instant at which the policy sees the request.
    pub eligible: Time,
    /// The request's absolute deadline; `None` for best effort.
    pub due: Option<Time>,
    /// Read or write.
    pub op: Op,
    /// First sector.
    pub start: Lba,
    /// Size of the request.
    pub size: Bytes,
    /// Whether a write must be on the medium before it counts as complete.
    pub fua: bool,
    /// Whether the request may be dropped if a quality contract allows it.
    pub optional: bool,
    /// How the drive may order the request; the policy sets this at dispatch.
    pub tag: Tag,
}

impl Request {
    /// Returns a read of `size` at the first sector for the first task, released at the start of
    /// the run, without a deadline. Callers change other fields with `..`.
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

/// How a drive may order a request among its queued requests.
///
/// # Source
/// The first three are the task attributes of SCSI (SAM-3; RTAS'08 section 2); the last is
/// the high priority of NCQ. A drive without the feature treats every tag as `Simple`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Tag {
    /// In any order.
    #[default]
    Simple,
    /// After all earlier requests, and before all later requests.
    Ordered,
    /// Next, as soon as the request in service is done.
    HeadOfQueue,
    /// Before all requests without priority.
    Priority,
}

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The device carried out the request.
    Done,
    /// The device reported an error.
    Failed,
}
