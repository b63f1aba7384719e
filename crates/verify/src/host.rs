// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks that a client's contract, with host and jitter, follows from the task that the policy
//! sees: equations 30.1, 30.2 and 30.5 of `docs/theory/host-time.md`.

use crate::certificate::{Certificate, CertifiedTask, Client, HostTime};
use crate::refusal::Refusal;

/// Refuses a task if its contract at the client does not follow from the host's time.
pub(crate) fn check(certificate: &Certificate, task: &CertifiedTask) -> Result<(), Refusal> {
    let no_time = HostTime { release_ns: 0, batch_ns: 0, reply_ns: 0 };
    let follows = match (&certificate.host, &task.client) {
        (None, None) => true,
        (host, Some(client)) => is_behind(host.as_ref().unwrap_or(&no_time), task, client),
        (Some(_), None) => false,
    };
    let refusal = || Refusal::Client { task: task.name.clone() };
    follows.then_some(()).ok_or_else(refusal)
}

/// Returns whether the task's period is at most p - J, where J is the sum of jitter and the host's
/// release time, and the client's bound is at least R + J + c and within its deadline.
fn is_behind(host: &HostTime, task: &CertifiedTask, client: &Client) -> bool {
    let [jitter, reply] = [client.jitter_ns, host.reply_ns].map(u128::from);
    let release = u128::from(host.release_ns) + jitter;
    let is_seen = u128::from(task.period_ns) + release <= u128::from(client.period_ns);
    let response = u128::from(task.response_ns_max) + release + reply;
    let is_bound = response <= u128::from(client.response_ns_max);
    is_seen && is_bound && client.response_ns_max <= client.deadline_ns
}
