// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The bound of `mq-deadline-tuned`: the kernel's `mq-deadline` sends real-time requests, in any
//! order among themselves, before lower classes, to a device whose queue has a limited depth.

use tidegate_model::parameters::MqDeadlineParameters;
use tidegate_model::{Duration, Premise, PremiseCode, Premises, Workload};

use crate::batch_choice::Choice;
use crate::bounds::{Bounds, is_met};
use crate::drain::{self, Drain};
use crate::search::{largest, least_fixed_point, serial_time_ns};
use crate::{SporadicTask, Tasks};

const OPEN_LOOP: &str = "best effort with a `rate` can have any number of requests waiting, and the kernel's \
     scheduler holds at most `nr_requests` of all classes: a real-time request that finds none free \
     waits behind the others; state the load with `outstanding`";

const TOO_FEW: &str = "`nr_requests` of [policy.mq-deadline-tuned] is less than the requests that the workload \
     can have outstanding: a real-time request that finds none free waits outside the scheduler, \
     behind the others; delete the line, and the least number that suffices is used";

const AGES: &str = "`prio_aging_expire` of [policy.mq-deadline-tuned] is less than 2,000,000,000 ms: a \
     request of a lower class that has waited that long goes before real time, and nothing bounds \
     the wait of a lower class; delete the line";

const TOO_MANY: &str = "the workload can have more than 2,048 requests outstanding, the most that the kernel's \
     scheduler holds: a real-time request that finds no place waits outside, behind the others";

const TOO_DEEP: &str = "`queue_depth` of [policy.mq-deadline-tuned] is larger than the drive's depth or than its \
     [[drain]] table, so nothing is known about the time of that many requests";

/// The most requests that the kernel's scheduler holds, of all classes.
const NR_REQUESTS_MAX: u64 = 2_048;

/// Returns a bound on the real-time busy period: the longest time for which real-time requests can
/// be pending without a break. `None` if the search finds none.
///
/// # Bound
/// The least `L > 0` with `(c + sum e_i (floor(L / p_i) + 1)) step <= L`, where `step` = drain(q)
/// and `c` = `ahead` is 0 without best effort and 1 + h with it;
/// h = [`MqDeadlineParameters::taken_early`].
///
/// # Source
/// Own derivation, `docs/theory/stock-kernel.md` section 31; machine-checked,
/// `proofs/StrictClasses.v`, `strict_classes`. Let a real-time busy period begin at t: a real-time
/// request is inserted, and none is pending just before. Until it ends, a lower request is sent
/// only if it had left the scheduler before t: at most h of them.
/// - After every dispatch at most q requests are on the device. If nothing more is sent, the device
///   is empty within drain(q). So while anything waits to be sent, the next dispatch follows within
///   drain(q), and if nothing waits, all that is on the device completes within drain(q).
/// - The last dispatch before t was at t or earlier, so the k-th dispatch from t on is at the
///   latest at `t + k drain(q)`. On a device without best effort, which is empty at t, the first is
///   at t.
/// - At most h + sum e_i (floor(L / p_i) + 1) requests can be sent in \[t, t + L\]. All of them
///   are sent and complete by t + L, because
///   `(1 + h + sum e_i (floor(L / p_i) + 1)) drain(q) <= L`; so the period ends by t + L. Requests
///   released at that very instant are counted, because a kernel may see them before a completion.
///
/// Every real-time request of the period responds within it, so within L, whatever their order.
///
/// # Assumptions
/// - `step > 0`, and each task keeps its period.
/// - The scheduler has a place for every request, and no lower request ages: checked by the caller.
///
/// # Complexity
/// O(n) per round, in at most 10,000 rounds.
fn busy_period(tasks: &Tasks, ahead: u64, step: Duration) -> Option<Duration> {
    let demand = tasks.demand();
    // Beyond capacity no period ends.
    demand.is_within_capacity(1, step.ns()).then_some(())?;
    let needed_ns = |length| serial_time_ns(step.ns(), u128::from(ahead) + demand.closed(length));
    least_fixed_point(demand.kinds.len(), 1, needed_ns).map(Duration::from_ns)
}

/// Returns the choice for these tasks: the given depth, or the largest under which every provable
/// deadline stays proven.
///
/// # Errors
/// A sentence, without its full stop, that says why nothing can be promised.
pub(crate) fn choose(workload: &Workload, tasks: &Tasks) -> Result<Choice, &'static str> {
    let question = Question::of(workload, tasks)?;
    let given = workload.parameters.mq_deadline_tuned.queue_depth;
    let depth = match given {
        Some(depth) => depth.get(),
        None => question.most_that_costs_no_proof(),
    };
    question.at_depth(depth)
}

/// Returns the choice for these tasks at this depth.
pub(crate) fn at_depth(
    workload: &Workload,
    tasks: &Tasks,
    depth: u32,
) -> Result<Choice, &'static str> {
    Question::of(workload, tasks)?.at_depth(depth)
}

/// Tasks and loads under settings of the scheduler whose hypotheses hold, before the depth is
/// chosen.
struct Question<'a> {
    tasks: &'a Tasks,
    drain: Drain<'a>,
    settings: MqDeadlineParameters,
    /// The requests that the loads can have outstanding.
    best_effort: u64,
}

impl<'a> Question<'a> {
    fn of(workload: &'a Workload, tasks: &'a Tasks) -> Result<Self, &'static str> {
        let drain = Drain::of(workload).ok_or(drain::UNKNOWN)?;
        let settings = workload.parameters.mq_deadline_tuned;
        let mut best_effort: u64 = 0;
        for load in &workload.best_effort {
            let most = load.intensity.requests_max().ok_or(OPEN_LOOP)?;
            best_effort = best_effort.saturating_add(most);
        }
        if best_effort > 0 && settings.prio_aging_expire < MqDeadlineParameters::AGING_MAX {
            return Err(AGES);
        }
        Ok(Self { tasks, drain, settings, best_effort })
    }

    /// Returns c: one drain time that may pass before the first dispatch, plus the lower requests
    /// that may be sent before real time; 0 without best effort.
    fn ahead(&self) -> u64 {
        if self.best_effort == 0 { 0 } else { 1 + u64::from(self.settings.taken_early) }
    }

    fn response(&self, depth: u32) -> Option<Duration> {
        busy_period(self.tasks, self.ahead(), self.drain.time(depth)?)
    }

    /// Returns the requests of all classes that can be outstanding at the same time, if every
    /// real-time request responds within `response`.
    fn outstanding_max(&self, response: Duration) -> u64 {
        let pending = |task: &SporadicTask| {
            u64::from(task.requests).saturating_mul(response.ns() / task.period.ns() + 1)
        };
        let pending = self.tasks.iter().map(pending).fold(0, u64::saturating_add);
        // Saturation is safe: no scheduler holds that many.
        self.best_effort.saturating_add(pending)
    }

    fn at_depth(&self, depth: u32) -> Result<Choice, &'static str> {
        if depth > self.drain.count_max() {
            return Err(TOO_DEEP);
        }
        let response = self.response(depth);
        let outstanding = response.map(|response| self.outstanding_max(response));
        let stated = self.settings.nr_requests.map(|tags| u64::from(tags.get()));
        if outstanding > Some(NR_REQUESTS_MAX) {
            return Err(TOO_MANY);
        }
        if stated.is_some_and(|stated| outstanding > Some(stated)) {
            return Err(TOO_FEW);
        }
        let bounds = Bounds { tight: response, ..Bounds::default() };
        let mut premises: Premises = drain::premises().into_iter().collect();
        premises.extend(outstanding.map(|outstanding| settings(depth, outstanding)));
        Ok(Choice {
            best_effort_depth: Some(depth),
            premises,
            ..Choice::of_batches(1, 0, vec![bounds; self.tasks.len()])
        })
    }

    /// Returns the largest depth under which as many deadlines are proven as with one request at a
    /// time. Returns 1 if none is: there is then no slack. Bounds grow with the depth.
    fn most_that_costs_no_proof(&self) -> u32 {
        let proven_count = |depth: u32| {
            let bounds = Bounds { tight: self.response(depth), ..Bounds::default() };
            self.tasks.iter().filter(|task| is_met(task, &bounds)).count()
        };
        let most = self.drain.count_max();
        let expected = proven_count(1);
        if expected == 0 && !self.tasks.is_empty() {
            return 1;
        }
        largest(1..=most, |depth| proven_count(depth) == expected)
    }
}

/// Returns the premise about the kernel's settings.
fn settings(depth: u32, outstanding: u64) -> Premise {
    let text = format!(
        "the bound rests on the kernel's settings: `mq-deadline` with one hardware queue, a device queue of \
         at most {depth}, `nr_requests` of at least {outstanding} and a \
         `prio_aging_expire` of 23 days; on classes: every task in the real-time class, and nothing else; and \
         on a device that gets no flush, no command past the scheduler and no error recovery"
    );
    Premise::new(PremiseCode::KernelSettings, "settings of the kernel", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Busy periods in ms, by hand: the second system needs a second job of its first task,
    /// (1 + 2 + 2) 8 = 40. In the third, a second job can come as the first ends, (1 + 2) 10 = 30.
    /// The last one is overloaded.
    #[test]
    fn busy_periods_are_those_worked_by_hand() {
        let task = |period, requests| {
            let period = Duration::from_ms(period);
            SporadicTask { period, requests, deadline: period }
        };
        let ms = |tasks: &[SporadicTask], ahead, step| {
            let length = busy_period(&tasks.to_vec().into(), ahead, Duration::from_ms(step));
            length.map(|length| length.ns() / 1_000_000)
        };
        let one = [task(100, 1)];
        assert_eq!([0, 1, 2].map(|ahead| ms(&one, ahead, 10)), [Some(10), Some(20), Some(30)]);
        let two = [task(25, 1), task(100, 2)];
        assert_eq!([5, 8].map(|step| ms(&two, 1, step)), [Some(20), Some(40)]);
        assert_eq!(ms(&[task(20, 1)], 1, 10), Some(30));
        assert_eq!(ms(&[task(10, 1)], 1, 10), None);
    }
}
