// SPDX-License-Identifier: Apache-2.0 OR MIT
//! When a policy sees a source's jobs, and from which instant its contract for a job counts
//! (`docs/theory/host-time.md` section 30).
//!
//! ```text
//!   arrival ----jitter----> released ----host's `release`----> the policy sees it
//! ```

use tidegate_model::{Duration, Random, TaskIndex, Time};

use crate::delay::delay_up_to;
use crate::params::HostParams;

/// How a policy sees a source's jobs.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Whether the contract counts from the instant at which the policy sees a job, because the
    /// host's time is stated.
    is_stated: bool,
    /// The longest delay that a simulated host adds.
    delay_max: Duration,
    delays: Random,
    /// The largest jitter of the source itself.
    jitter_max: Duration,
    jitters: Random,
    /// The next job's nominal instant, and the instant at which a host that is never late shows the
    /// job to the policy; `None` if these are always the same.
    next: Option<(Time, Time)>,
    /// The instant at which a host that is never late shows the current job to the policy; `None`
    /// if that is always the nominal instant.
    released: Option<Time>,
}

impl Seen {
    /// The first source's stream of random numbers for the host's delays; a source draws everything
    /// but delays and jitter from its own stream.
    const DELAY_STREAM: u64 = 1 << 41;
    /// The first source's stream of random numbers for jitter.
    const JITTER_STREAM: u64 = 1 << 43;

    /// Jobs are seen in order, so a simulated host does not delay a source whose jobs can be closer
    /// together than the longest delay; no bound relies on such a delay. Jitter is always below the
    /// gap.
    pub(crate) fn new(
        index: TaskIndex,
        gap: Duration,
        jitter_max: Duration,
        params: &HostParams,
    ) -> Self {
        let least_gap = gap.checked_sub(jitter_max).unwrap_or_default();
        let delay_max = params.delays.map(|host| host.release).filter(|&it| it < least_gap);
        let random = |stream| Random::new(params.seed, stream + u64::from(index.0));
        Self {
            is_stated: params.workload.host.uncharged().is_some(),
            delay_max: delay_max.unwrap_or_default(),
            delays: random(Self::DELAY_STREAM),
            jitter_max,
            jitters: random(Self::JITTER_STREAM),
            next: None,
            released: None,
        }
    }

    /// Returns the jitter of the next job: none, all, or any in between.
    pub(crate) fn jitter(&mut self) -> Duration {
        if self.jitter_max.is_zero() {
            return Duration::ZERO;
        }
        delay_up_to(self.jitter_max, &mut self.jitters)
    }

    /// Returns the jitter of the next job of a bunched task: the first job of a bunch is as late as
    /// allowed, the others are not late, so that the policy sees the first two as close together as
    /// allowed.
    pub(crate) fn bunched(&self, is_first: bool) -> Duration {
        if is_first { self.jitter_max } else { Duration::ZERO }
    }

    /// Returns the instant at which the policy sees the job with the nominal instant `at`, and
    /// remembers that job.
    pub(crate) fn at(&mut self, at: Time, jitter: Duration) -> Time {
        if self.delay_max.is_zero() && self.jitter_max.is_zero() {
            return at;
        }
        // A delay beyond the end of time is left out.
        let released = at.checked_add(jitter).unwrap_or(at);
        let delay = if self.delay_max.is_zero() {
            Duration::ZERO
        } else {
            delay_up_to(self.delay_max, &mut self.delays)
        };
        let seen = released.checked_add(delay).unwrap_or(released);
        self.next = Some((at, seen));
        seen
    }

    /// Returns the nominal instant of the job whose timer expired at `at`.
    pub(crate) fn take_nominal(&mut self, at: Time) -> Time {
        let next = self.next.take();
        self.released = next.map(|(_, seen)| seen);
        next.map_or(at, |(nominal, _)| nominal)
    }

    /// Returns the instant from which the policy's contract for the current job counts. The job
    /// arrived at `arrived`, and the policy sees it at `now`.
    pub(crate) fn eligible(&self, arrived: Time, now: Time) -> Time {
        if self.is_stated { now } else { self.released.map_or(arrived, |seen| seen.max(arrived)) }
    }
}
