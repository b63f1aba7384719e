// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The host's time: how long the programs and the kernel between a client and the drive may take.
//!
//! ```text
//!   client              policy             drive              policy            client
//!   release --release--> sees --decides-+
//!                                       +-submit--> has it
//!                                                   completes --complete--> sees --reply--> has it
//! ```
//!
//! To a policy, drive and host together are a slower drive, and a client behind the host is a task
//! with a shorter period and a shorter deadline (`docs/theory/host-time.md` section 30). A task's
//! own jitter lengthens the way to the policy for its own jobs only. This module derives the
//! workload with that drive and these tasks, so analysis, plan and checkers need no knowledge of
//! host and jitter.

use std::borrow::Cow;

use crate::premise::{Premise, PremiseCode};
use crate::slowdown::Slowdown;
use crate::task::Task;
use crate::units::Duration;
use crate::workload::Workload;

/// The longest times of the host on a request's way from its client to the drive and back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostTime {
    /// J: from the instant at which the request exists at its client until the policy sees it.
    pub release: Duration,
    /// From the policy's decision until the drive has the whole batch.
    pub submit: Duration,
    /// From a completion by the drive until the policy sees it.
    pub complete: Duration,
    /// c: from the instant at which the policy sees the completion until the client has the reply.
    pub reply: Duration,
}

impl HostTime {
    /// Returns the four times with their names in files and in JSON.
    pub const fn steps(self) -> [(&'static str, Duration); 4] {
        let Self { release, submit, complete, reply } = self;
        [("release", release), ("submit", submit), ("complete", complete), ("reply", reply)]
    }

    /// Returns h: the longest time that the host adds to one batch.
    ///
    /// # Panics
    /// If the sum exceeds 584 years; files state at most 36 years for each time.
    pub fn of_batch(self) -> Duration {
        self.submit + self.complete
    }

    /// Returns J + c: the longest host time before the policy sees a request and after it sees the
    /// completion.
    ///
    /// # Panics
    /// As [`Self::of_batch`].
    pub fn around_policy(self) -> Duration {
        self.release + self.reply
    }

    /// Returns the times for this task's requests: the task's jitter is added to `release`.
    ///
    /// # Panics
    /// As [`Self::of_batch`].
    #[must_use]
    pub fn with_jitter_of(self, task: &Task) -> Self {
        Self { release: self.release + task.jitter, ..self }
    }

    /// Returns the task as the policy sees it; `None` if the host's time uses up its period or its
    /// deadline.
    pub fn task_behind(self, task: &Task) -> Option<Task> {
        let way = self.with_jitter_of(task);
        let (period, outstanding_max) = if task.is_closed_loop() {
            // A closed loop has no period that jitter could shorten.
            (way.release + Task::PERIOD_NONE, None)
        } else {
            (task.period, task.outstanding_max)
        };
        let (period, deadline) = way.contract_behind(period, task.deadline, outstanding_max)?;
        Some(Task { period, deadline, ..task.clone() })
    }

    /// Returns the period and the deadline of a task as the policy sees it; `None` if the host's
    /// time uses up either of them.
    ///
    /// Jobs are released at least p apart, and each is seen at most J later, so the policy sees
    /// them at least p - J apart. A response within d - J - c of that instant is within d for the
    /// client. A task with m buffers keeps its period if the client has each response within m p,
    /// so the returned deadline is at most m p - J - c. It is also at most m (p - J).
    pub fn contract_behind(
        self,
        period: Duration,
        deadline: Duration,
        outstanding_max: Option<u32>,
    ) -> Option<(Duration, Duration)> {
        let seen = period.checked_sub(self.release).filter(|seen| !seen.is_zero())?;
        let buffered = |period: Duration| {
            outstanding_max.map_or(Duration::MAX, |jobs| {
                period.checked_mul(u64::from(jobs)).unwrap_or(Duration::MAX)
            })
        };
        let of_client = deadline.min(buffered(period));
        let left = of_client.checked_sub(self.around_policy())?.min(buffered(seen));
        (!left.is_zero()).then_some((seen, left))
    }

    /// Returns why nothing is proven for this task behind the host.
    pub(crate) fn objection(self, task: &Task) -> Premise {
        let (with_jitter, or_jitter) = if task.jitter.is_zero() {
            ("", "")
        } else {
            (" with the task's jitter", " or its `jitter`")
        };
        let text = format!(
            "the host leaves no time to `{}`: of its period of {} and its deadline of {}, the way to \
             the policy takes up to {}{with_jitter}, and the answer's way to the client up to {}; \
             make `release` or `reply` in [host]{or_jitter} shorter, or the period and the deadline longer",
            task.name,
            task.period,
            task.deadline,
            self.with_jitter_of(task).release,
            self.reply
        );
        Premise::new(PremiseCode::HostTimeTooLong, "too much host time", text)
    }
}

/// A workload's statement about the host's time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Host {
    /// The workload states nothing.
    #[default]
    Unstated,
    /// These times, which the workload's tasks and tables do not contain.
    Stated(HostTime),
    /// The workload's tasks and tables already contain these times, and its tasks contain their
    /// jitter; `None` if only the jitter is stated.
    Charged(Option<HostTime>),
}

impl Host {
    /// Returns the times; zero if nothing is stated.
    pub fn time(self) -> HostTime {
        self.stated().unwrap_or_default()
    }

    /// Returns the host's times, if the workload states them.
    pub const fn stated(self) -> Option<HostTime> {
        match self {
            Self::Unstated => None,
            Self::Stated(time) => Some(time),
            Self::Charged(time) => time,
        }
    }

    /// Returns the times that the workload's own figures do not contain, if it states any.
    pub const fn uncharged(self) -> Option<HostTime> {
        match self {
            Self::Stated(time) => Some(time),
            Self::Unstated | Self::Charged(_) => None,
        }
    }
}

impl Workload {
    /// Returns, for each task, by how much the client's response times can exceed the policy's: its
    /// jitter, and J + c of the host.
    pub fn around_policy(&self) -> impl Iterator<Item = Duration> {
        let time = self.host.time();
        self.tasks.iter().map(move |task| time.with_jitter_of(task).around_policy())
    }

    /// Returns the host's times that tasks and tables do not contain yet; they are zero if only
    /// jitter is stated. `None` if tasks and tables already contain everything that is stated.
    pub fn uncharged_way(&self) -> Option<HostTime> {
        match self.host {
            Host::Stated(time) => Some(time),
            Host::Charged(_) => None,
            Host::Unstated => self.has_jitter().then(HostTime::default),
        }
    }

    /// Returns whether a task states jitter.
    pub fn has_jitter(&self) -> bool {
        self.tasks.iter().any(|task| !task.jitter.is_zero())
    }

    /// Returns the longest time that the host adds to a batch: h, or 2 h if a flush may follow the
    /// batch, because a flush goes through the host separately.
    pub fn host_in_batch(&self) -> Duration {
        let once = self.host.time().of_batch();
        if self.contracts.flush_max.is_some() { once * 2 } else { once }
    }

    /// Returns the workload as the policy sees it behind host and jitter: drive and host as one
    /// slower drive, and each task with the releases that reach the policy and the deadline that is
    /// left.
    ///
    /// A task whose period or deadline the host uses up stays as it is, and a premise that names
    /// the first such task voids every verdict.
    #[must_use]
    pub fn behind_host(&self) -> Cow<'_, Self> {
        let Some(time) = self.uncharged_way() else { return Cow::Borrowed(self) };
        let slowdown = Slowdown::by(self.host_in_batch());
        let mut behind = slowdown.of_workload(self);
        behind.contracts.ceilings =
            self.contracts.ceilings.as_ref().map(|it| slowdown.of_ceilings(it));
        behind.host = Host::Charged(self.host.uncharged());
        for task in &mut behind.tasks {
            match time.task_behind(task) {
                Some(seen) => *task = seen,
                None if behind.premises.void().is_none() => {
                    behind.premises.push(time.objection(task));
                }
                None => {}
            }
        }
        Cow::Owned(behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    const fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    fn task(period: u64, deadline: u64, outstanding_max: Option<u32>) -> Task {
        let deadline = ms(deadline);
        Task { deadline, outstanding_max, ..Task::periodic("t", ms(period), Bytes::from_kib(4)) }
    }

    const HOST: HostTime =
        HostTime { release: ms(3), submit: ms(1), complete: ms(1), reply: ms(2) };

    fn behind(task: &Task) -> Option<(u64, u64)> {
        let behind = HOST.task_behind(task)?;
        Some((behind.period.ns() / 1_000_000, behind.deadline.ns() / 1_000_000))
    }

    #[test]
    fn jitter_shortens_the_period_and_both_ways_the_deadline() {
        assert_eq!(behind(&task(10, 10, None)), Some((7, 5)));
        assert_eq!(behind(&task(10, 40, None)), Some((7, 35)));
    }

    #[test]
    fn nothing_is_left_of_a_period_within_the_jitter_or_of_a_deadline_within_both_ways() {
        assert_eq!(behind(&task(3, 100, None)), None);
        assert_eq!(behind(&task(4, 100, None)), Some((1, 95)));
        assert_eq!(behind(&task(10, 5, None)), None);
        assert_eq!(behind(&task(10, 6, None)), Some((7, 1)));
    }

    /// The client of a task with one buffer sends its next request when it has the reply, so the
    /// policy's response time and the host's time in both directions must fit into one period.
    #[test]
    fn buffers_are_full_until_the_client_has_the_answer() {
        assert_eq!(behind(&task(10, 10, Some(1))), Some((7, 5)));
        assert_eq!(behind(&task(10, 40, Some(1))), Some((7, 5)));
        assert_eq!(behind(&task(10, 40, Some(4))), Some((7, 28)));
        assert_eq!(behind(&task(10, 20, Some(4))), Some((7, 15)));
    }

    #[test]
    fn only_stated_times_are_left_to_charge() {
        assert_eq!(Host::Unstated.time(), HostTime::default());
        let charged = Host::Charged(Some(HOST));
        assert_eq!((charged.time(), charged.uncharged()), (HOST, None));
        assert_eq!(Host::Charged(None).time(), HostTime::default());
        assert_eq!(Host::Stated(HOST).uncharged(), Some(HOST));
        assert_eq!((HOST.of_batch(), HOST.around_policy()), (ms(2), ms(5)));
    }
}
