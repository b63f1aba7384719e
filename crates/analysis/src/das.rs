// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The dynamic active subset: shortest access time first among what leaves a fallback
//! feasible, one request on the device at a time.

use tidegate_model::Duration;

use crate::{SporadicTask, System, Verdict};

/// Why nothing is said of a drive whose positions nobody knows.
pub(crate) const UNKNOWN: &str = "das orders requests by access time, which nothing tells of this \
     drive; name a drive file with [mechanics], or another policy";

/// The response-time bound of `das`: for each task its deadline, where the test holds.
///
/// # Bound
/// With C = b(1) and n = sum e_i: if `n C <= d_i <= p_i` for every task i, then `R_i = d_i`.
/// Nothing less is promised: the policy spends on throughput what a deadline leaves.
///
/// # Source
/// Own derivation; the idea is that of L. Reuther and M. Pohlack, "Using SATF Scheduling in
/// Real-Time Systems", section 3. The proof goes as follows.
///
/// The fallback F(t), for a drive that is free at t: from t on the real-time requests that
/// wait and those that come are served in the order of release, each within C. Claim: at each
/// decision F meets all deadlines, whatever the tasks release. At first nothing waits.
///
/// 1. *A job k released at r, all deadlines being kept up to r.* As d_i <= p_i and completions
///    are seen before releases of the same instant, each task i has at most e_i requests that
///    wait or are in flight, the new ones included: n in all. If the drive is idle at r, or
///    busy with a real-time request, F has k through by r + n C <= r + d_k: the rest of a
///    request in flight is at most C, and it is one of the n. Left is a request x of best
///    effort in flight, or one that may be dropped.
/// 2. *A decision at t sends x, through by t'.* The policy checks F(t') for all that wait, and
///    x against its due. If x is one that F serves, step 1 is enough for what comes. If not,
///    the policy checks for each job k that may be released at some r < t' that
///    `t' + (w + N(r)) C <= r + d_k`, where w requests wait already and N(r) counts e_i of all
///    tasks that may release by r, k's among them. A task with a waiting request that F serves
///    releases nothing before t': that request is through by its due, which is not after the
///    next release. N changes only at earliest releases, and between them r + d_k grows: so
///    those are checked and no others. For r >= t' step 1 applies. So F(t') meets all deadlines.
/// 3. *Nothing may be sent but the oldest waiting request, x.* F(t) serves it first and meets
///    all deadlines; so what F(t) leaves, F(t') with t' = t + C, does.
/// 4. *Nothing is sent.* Then nothing waits but what may be dropped, and F is as it was. QED
///
/// A request that may be dropped is in no count; what its task's quality allows is decided
/// when it is released. Here every job counts: with all jobs the test is the harder one.
///
/// Behind `tokens-per-task` a task of e requests is e units, sporadic tasks of one request with
/// its period and deadline; n stays. The policy keeps units there, and gives a request that
/// becomes eligible at t to the one that waits for nothing and may release first. That unit may
/// release at t: of e tokens, each back p after it was taken, at most e - 1 were taken after
/// t - p, so some unit released nothing since; what it released before was due by t and, all
/// deadlines being kept up to t, is through. So every unit is sporadic, and the proof speaks of
/// units.
///
/// # Assumptions
/// A request alone takes at most b(1), and at most what the model of the drive expects plus
/// the margin. The second is not measured by `tidegate profile`: see [`assumption`].
///
/// # Complexity
/// O(n).
pub fn responses(system: &System) -> Vec<Verdict> {
    let total: u64 = system.tasks.iter().map(|task| u64::from(task.requests)).sum();
    let fallback = system.table.time_max(1).checked_mul(total);
    let is_met = |task: &SporadicTask| {
        let is_in_time = fallback.is_some_and(|fallback| fallback <= task.deadline);
        is_in_time && task.deadline <= task.period
    };
    let holds = system.tasks.iter().all(is_met);
    let verdict = |task: &SporadicTask| {
        if holds {
            Verdict::Bounded(task.deadline)
        } else {
            Verdict::NoBoundWithin { horizon: task.deadline }
        }
    };
    system.tasks.iter().map(verdict).collect()
}

/// What the bound rests on beside b(1): a sentence without its full stop.
pub fn assumption(margin: Duration) -> String {
    format!("no request takes longer than the drive's [mechanics] make it expected, plus {margin}")
}
