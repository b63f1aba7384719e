// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for the dynamic active subset: shortest access time first among the requests that keep a
//! fallback schedule feasible, one request on the device at a time.

use tidegate_model::{ActiveSubset, Duration, Margin, Measurement, Premise, PremiseCode, Workload};

use crate::{SporadicTask, Verdict};

/// The verdict's reason when the drive's positions are unknown.
pub(crate) const UNKNOWN: &str = "das orders requests by access time, which is unknown for this \
     drive; name a drive file with [mechanics], or choose another policy";

/// The verdict's reason when the error of the predictions is unknown.
pub(crate) const UNMEASURED: &str = "das rests on the service times that [mechanics] predict, and \
     how far they are off was not measured for these requests; measure it, or state a margin in \
     [policy.das]";

/// Returns the response-time bound of `das`: each task's deadline if the test holds.
///
/// # Bound
/// With C = [`ActiveSubset::service_max`] and n = sum e_i: if `n C <= d_i <= p_i` for every task i,
/// then `R_i = d_i`. No smaller bound is promised, because the policy spends the slack before a
/// deadline on throughput.
///
/// Own derivation; the idea is from L. Reuther and M. Pohlack, "Using SATF Scheduling in Real-Time
/// Systems", section 3.
///
/// The fallback F(t), for a drive that is free at t, serves the real-time requests that wait at t
/// and those released later in the order of release, each within C. Claim: at each decision F meets
/// all deadlines, whatever the tasks release. Initially no request waits.
///
/// 1. *A job k is released at r, and all deadlines were kept up to r.* Because d_i <= p_i and
///    completions are seen before releases at the same instant, each task i has at most e_i
///    requests that wait or are in flight, including the new ones: n in all. If the drive is idle
///    at r, or busy with a real-time request, F completes k by r + n C <= r + d_k: the rest of a
///    request in flight takes at most C, and it is one of the n. In the remaining case, a request x
///    is in flight that is best effort or may be dropped.
/// 2. *A decision at t sends x, which is complete by t'.* The policy checks F(t') for all waiting
///    requests, and x against its deadline. If F serves x, step 1 covers later releases. If not,
///    the policy checks for each job k that may be released at some r < t' that
///    `t' + (w + N(r)) C <= r + d_k`. Here w requests wait already, and N(r) sums e_i over all
///    tasks that may release by r, including k's task. A task with a waiting request that F serves
///    releases nothing before t': that request is complete by its deadline, which is not after the
///    next release. N changes only at earliest releases, and r + d_k grows between them: so
///    checking the earliest releases suffices. For r >= t' step 1 applies. So F(t') meets all
///    deadlines.
/// 3. *The policy may send only the oldest waiting request, x.* F(t) serves x first and meets all
///    deadlines; so F(t') with t' = t + C meets the remaining deadlines.
/// 4. *The policy sends nothing.* Then only requests that may be dropped wait, and F is unchanged.
///    QED
///
/// No count contains requests that may be dropped; the task's quality decides at release which
/// requests may. The test here counts every job, which makes it stricter.
///
/// Behind `tokens-per-task`, a task of e requests becomes e units: sporadic tasks of one request
/// with the task's period and deadline; n is unchanged. The policy then tracks units. A request
/// that becomes eligible at t goes to the unit that has no waiting request and may release
/// earliest. That unit may release at t: of e tokens, each of which returns p after it was taken,
/// at most e - 1 were taken after t - p, so some unit has released nothing since. Its earlier
/// request was due by t and, because all deadlines were kept up to t, is complete. So every unit is
/// sporadic, and the proof applies to units.
///
/// # Assumptions
/// A request alone takes at most C, and at most the time that the drive's model expects plus the
/// margin. No expected time plus the margin exceeds C, because C is at least the longest time that
/// the model can expect plus the margin. `tidegate profile` measures by how much a request exceeds
/// its expected time: see [`premise`].
///
/// With flushes, a request is complete when its flush is: C and the margin contain the flush.
///
/// # Complexity
/// O(n).
pub fn responses(tasks: &[SporadicTask], service_max: Duration) -> Vec<Verdict> {
    let total: u64 = tasks.iter().map(|task| u64::from(task.requests)).sum();
    let fallback = service_max.checked_mul(total);
    let is_met = |task: &SporadicTask| {
        let is_in_time = fallback.is_some_and(|fallback| fallback <= task.deadline);
        is_in_time && task.deadline <= task.period
    };
    let holds = tasks.iter().all(is_met);
    let verdict = |task: &SporadicTask| {
        if holds {
            Verdict::Bounded(task.deadline)
        } else {
            Verdict::NoBoundWithin { horizon: task.deadline }
        }
    };
    tasks.iter().map(verdict).collect()
}

/// Returns the bound's premise about the predicted service times.
pub fn premise(margin: Margin) -> Premise {
    let rests = |origin: &str| {
        let time = margin.time();
        let text = format!(
            "no request takes longer than the drive's [mechanics] predict, plus {time}{origin}"
        );
        Premise::new(PremiseCode::Prediction, "predicted times", text)
    };
    match margin {
        Margin::Stated(_) => rests(", the margin in [policy.das]"),
        Margin::Measured(_) => rests(", the largest error that was measured"),
        Margin::Unmeasured | Margin::Unpredicted => {
            Premise::new(PremiseCode::PredictionUnmeasured, "unmeasured predictions", UNMEASURED)
                .with_to_do(Measurement::of("prediction").to_string())
        }
    }
}

/// Returns the times that the bound rests on.
///
/// # Errors
/// The reason why no analysis applies, as a sentence without its full stop.
pub(crate) fn times(workload: &Workload) -> Result<ActiveSubset, &'static str> {
    let times = ActiveSubset::of(workload);
    if times.margin == Margin::Unpredicted { Err(UNKNOWN) } else { Ok(times) }
}
