// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a host may know of a drive's positions: the seam between policies that order by
//! access time and the drive models that can tell it.
//!
//! The place of a request is worked out once, when it is released ([`Target`]); what a
//! decision asks of each queued request is then a few additions ([`AccessTime::access`]).

use std::fmt;

use crate::request::Request;
use crate::task::Op;
use crate::units::{Duration, Lba, Time};

/// What a host keeps of the place of a queued request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Its first sector.
    pub start: Lba,
    /// How many sectors; 0 where it lies beyond the end of the drive, which refuses it.
    pub sectors: u64,
    /// Read or write.
    pub op: Op,
    /// The cylinder of the first sector, from 0, the outermost.
    pub cylinder: u32,
    /// The head of the first sector.
    pub head: u32,
    /// The angle at which the first sector begins, in units of the model that made it.
    pub angle: u64,
    /// The angle that the sectors on the first track span, in the same units.
    pub span: u64,
}

/// How long a drive takes to reach a request: an estimate by a model of the drive, which
/// follows the heads by what it is told of dispatches and completions.
///
/// # The protocol
/// - `advance` comes first at every instant; what is asked then holds for that instant.
/// - Each request on the drive is told with `dispatched` when it is sent and with
///   `completed` when it comes back. Estimates hold for an idle drive, which then gets one
///   request; more than one at a time lets the model lose the heads until the drive is idle
///   and serves one request again.
/// - Time never decreases.
///
/// Estimates may err: of a real drive nobody knows all. A policy whose promises rest on them
/// adds a margin that its parameters say.
pub trait AccessTime: fmt::Debug + Send {
    /// The place of a request.
    fn target(&self, request: &Request) -> Target;

    /// Brings the idea of where the heads are up to `now`.
    fn advance(&mut self, now: Time);

    /// The time from now until data moves, if the request were sent now; for comparing
    /// requests, hence cheap.
    fn access(&self, target: &Target) -> Duration;

    /// The time from now until the request is complete, if it were sent now to the idle
    /// drive; none where the drive's memory or its faults leave it open.
    fn service(&self, target: &Target) -> Option<Duration>;

    /// The request is sent to the drive.
    fn dispatched(&mut self, now: Time, target: &Target);

    /// The request came back: the model compares what happened with what it expected.
    fn completed(&mut self, now: Time, target: &Target);
}

impl<T: AccessTime + ?Sized> AccessTime for Box<T> {
    fn target(&self, request: &Request) -> Target {
        (**self).target(request)
    }
    fn advance(&mut self, now: Time) {
        (**self).advance(now);
    }
    fn access(&self, target: &Target) -> Duration {
        (**self).access(target)
    }
    fn service(&self, target: &Target) -> Option<Duration> {
        (**self).service(target)
    }
    fn dispatched(&mut self, now: Time, target: &Target) {
        (**self).dispatched(now, target);
    }
    fn completed(&mut self, now: Time, target: &Target) {
        (**self).completed(now, target);
    }
}
