// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The interface between policies that order requests by access time and the drive models that
//! estimate it.
//!
//! A model computes a request's place once, when the request is released ([`Target`]). An estimate
//! for a queued request then costs a few additions ([`AccessTime::access`]).

use std::fmt;

use crate::request::Request;
use crate::task::Op;
use crate::units::{Duration, Lba, Time};

/// The place of a queued request on the drive, computed when the request is released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The first sector of the request.
    pub start: Lba,
    /// Number of sectors; 0 if the request lies beyond the end of the drive, which refuses it.
    pub sectors: u64,
    /// Read or write.
    pub op: Op,
    /// The cylinder of the first sector, from 0, the outermost.
    pub cylinder: u32,
    /// The head that accesses the first sector.
    pub head: u32,
    /// The angle at which the first sector begins, in the units of the model that computed it.
    pub angle: u64,
    /// The angle that the sectors on the first track span, in the same units.
    pub span: u64,
}

/// Estimates how long a drive takes to reach a request. The model follows the heads from the
/// dispatches and completions that the host reports.
///
/// # The protocol
/// - The host calls `advance` first at every instant; later queries hold for that instant.
/// - The host reports each request with `dispatched` when it is sent and with `completed` when it
///   completes. Estimates hold for an idle drive that gets one request. With more than one request
///   in flight the model loses the position of the heads, until the drive is idle and serves one
///   request again.
/// - Time never decreases.
///
/// Estimates may be wrong, because no model knows a real drive completely. A policy whose
/// guarantees rest on them adds a margin from its parameters.
pub trait AccessTime: fmt::Debug + Send {
    /// Returns the place of a request.
    fn target(&self, request: &Request) -> Target;

    /// Advances the estimated position of the heads to `now`.
    fn advance(&mut self, now: Time);

    /// Estimates the time from now until data moves if the request is sent now. Policies compare
    /// requests by this time, so the estimate must be cheap.
    fn access(&self, target: &Target) -> Duration;

    /// Estimates the time from now until the request completes if it is sent now to the idle drive.
    /// `None` if the drive's cache or faults make the time uncertain.
    fn service(&self, target: &Target) -> Option<Duration>;

    /// Reports that the request is sent to the drive.
    fn dispatched(&mut self, now: Time, target: &Target);

    /// Reports that the request completed; the model compares this instant with its estimate.
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
