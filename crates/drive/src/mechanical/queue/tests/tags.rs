// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rules of precedence as properties of single decisions, under every scheduler and any
//! history; canaries show that each property fails if the queue lacks the rule.

use super::*;

const BOUND_NS: u64 = 120;

fn all_rules(scheduler: Scheduler) -> Queue {
    let aging_ns_per_ms = Some(300_000);
    let starvation_ns = Some(BOUND_NS);
    Queue { scheduler, starvation_ns, aging_ns_per_ms, priority: true, simple_only: false }
}

fn is_head(pending: &Pending) -> bool {
    pending.request.tag == Tag::HeadOfQueue
}

fn is_ordered(pending: &Pending) -> bool {
    pending.request.tag == Tag::Ordered
}

fn is_starved(moment: &Moment, pending: &Pending) -> bool {
    moment.waited_ns(pending) >= BOUND_NS
}

/// Returns the requests held before `pending` arrived.
fn older<'a>(moment: &'a Moment, pending: &'a Pending) -> impl Iterator<Item = &'a Pending> {
    moment.held.iter().filter(|other| other.request.id < pending.request.id)
}

/// Rule 1: the newest head-of-queue request goes first, if there is one.
fn head_goes_first(moment: &Moment) -> bool {
    let newest = moment.held.iter().rfind(|pending| is_head(pending));
    newest.is_none_or(|newest| newest.request.id == moment.taken.request.id)
}

/// Rule 2: no request passes an older one that has waited for at least the bound.
fn no_starved_is_passed(moment: &Moment) -> bool {
    let mut passed = older(moment, &moment.taken).filter(|other| !is_head(other));
    is_head(&moment.taken) || !passed.any(|other| is_starved(moment, other))
}

/// Rule 3: an ordered request is served only when no older request is left, and no request is
/// served before an older ordered one.
fn barrier_holds(moment: &Moment) -> bool {
    let taken = &moment.taken;
    let mut passed = older(moment, taken).filter(|other| !is_head(other));
    is_head(taken) || !passed.any(|other| is_ordered(taken) || is_ordered(other))
}

/// Rule 4: a request without priority is served only if no eligible request has priority.
fn priority_goes_first(moment: &Moment) -> bool {
    let taken = &moment.taken;
    let by_other_rule = is_head(taken) || is_ordered(taken) || is_starved(moment, taken);
    if by_other_rule || taken.request.tag == Tag::Priority {
        return true;
    }
    let mut window = moment.held.iter().take_while(|other| !is_ordered(other));
    !window.any(|other| other.request.tag == Tag::Priority)
}

/// Returns the number of requests that a scheduler by access time must consider.
fn eligible_count(moment: &Moment) -> usize {
    let in_turn: Vec<_> = moment.held.iter().filter(|pending| !is_head(pending)).collect();
    let oldest = in_turn.first();
    if in_turn.len() < moment.held.len()
        || oldest.is_some_and(|oldest| is_ordered(oldest) || is_starved(moment, oldest))
    {
        return 0;
    }
    let window: Vec<_> = in_turn.iter().take_while(|other| !is_ordered(other)).collect();
    match window.iter().filter(|other| other.request.tag == Tag::Priority).count() {
        0 => window.len(),
        count => count,
    }
}

proptest! {
    /// Every decision obeys every rule. The scheduler computes the access of each eligible request
    /// at most once, and serves the same history in the same order.
    #[test]
    fn every_decision_obeys_every_rule(
        scheduler in schedulers(), steps in steps(any_tag()), arm in 0_u32..30,
    ) {
        let asks = matches!(scheduler, Scheduler::Satf | Scheduler::SatfAging);
        let moments = play(&all_rules(scheduler), &steps, arm);
        for moment in &moments {
            prop_assert!(head_goes_first(moment), "{moment:?}");
            prop_assert!(no_starved_is_passed(moment), "{moment:?}");
            prop_assert!(barrier_holds(moment), "{moment:?}");
            prop_assert!(priority_goes_first(moment), "{moment:?}");
            let count_max = if asks { eligible_count(moment) } else { 0 };
            prop_assert!(moment.access_count <= count_max, "{moment:?}");
        }
        prop_assert_eq!(ids(&moments), ids(&play(&all_rules(scheduler), &steps, arm)));
    }
}

fn is_broken(params: &Queue, rule: impl Fn(&Moment) -> bool) -> bool {
    !play(params, &rich_history(), 0).iter().all(rule)
}

/// Canary: every check can fail.
#[test]
fn broken_rules_are_found() {
    let sstf = all_rules(Scheduler::Sstf);
    let without_scsi = Queue { simple_only: true, ..sstf.clone() };
    assert!(is_broken(&without_scsi, head_goes_first));
    assert!(is_broken(&without_scsi, barrier_holds));
    assert!(is_broken(&Queue { priority: false, ..sstf.clone() }, priority_goes_first));
    assert!(is_broken(&Queue { starvation_ns: None, ..sstf.clone() }, no_starved_is_passed));
    let late = Queue { starvation_ns: Some(BOUND_NS + 1), ..sstf };
    assert!(is_broken(&late, no_starved_is_passed), "a bound that is one nanosecond late");
}
