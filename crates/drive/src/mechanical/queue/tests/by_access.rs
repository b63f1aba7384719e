// SPDX-License-Identifier: Apache-2.0 OR MIT
//! SATF and SATF with ageing against a plain recomputation.

use super::*;

/// Returns whether the first to arrive among the requests with the smallest key was chosen.
pub(super) fn is_first_least<K: Ord>(moment: &Moment, key: impl Fn(&Pending) -> K) -> bool {
    let taken = key(&moment.taken);
    moment.held.iter().all(|other| {
        let other_key = key(other);
        other_key > taken || (other_key == taken && other.request.id >= moment.taken.request.id)
    })
}

fn aging(aging_ns_per_ms: u64) -> Queue {
    Queue { aging_ns_per_ms: Some(aging_ns_per_ms), ..with(Scheduler::SatfAging) }
}

/// Returns the access minus the reward for waiting, by definition, in millionths of a nanosecond.
fn aged_access(moment: &Moment, pending: &Pending, aging_ns_per_ms: u64) -> i128 {
    let access = i128::from(moment.access(pending).ns()) * 1_000_000;
    access - i128::from(moment.waited_ns(pending)) * i128::from(aging_ns_per_ms)
}

/// A toy disk with a turn of 64 ns and 3 ns for each cylinder, whose arm is at cylinder 0 at
/// instant 0: the nearer request has just passed, the farther one is reached in time.
#[test]
fn satf_prefers_the_longer_seek_with_the_shorter_access() {
    let near = Pending { target: extent(1, 2), ..pending(1, 0, 0, Tag::Simple) };
    let far = Pending { target: extent(5, 20), ..pending(2, 0, 0, Tag::Simple) };
    assert_eq!(drained(&mut filled(&with(Scheduler::Satf), &[near, far]), 0, 0), [2, 1]);
    assert_eq!(drained(&mut filled(&with(Scheduler::Sstf), &[near, far]), 0, 0), [1, 2]);
}

/// One request arrived 1,000 ns before the other and takes 20 ns longer. It wins at a reward of 20
/// ns for 1,000 ns (20,000 ns for a millisecond), and loses if the reward is 1 ns smaller.
#[test]
fn ageing_outweighs_exactly_the_reward_for_waiting() {
    let old = Pending { target: extent(0, 40), ..pending(1, 0, 0, Tag::Simple) };
    let new = Pending { target: extent(0, 20), ..pending(2, 1_000, 0, Tag::Simple) };
    // 1,024 is 16 turns: the platter is at 0.
    assert_eq!(drained(&mut filled(&aging(20_000), &[old, new]), 1_024, 0), [1, 2]);
    assert_eq!(drained(&mut filled(&aging(19_999), &[old, new]), 1_024, 0), [2, 1]);
}

/// The younger request's key would not fit into 128 bits.
#[test]
fn largest_figures_do_not_overflow() {
    let late = u64::MAX - 1_000;
    let held = [pending(1, late, 9, Tag::Simple), pending(2, late + 1, 0, Tag::Simple)];
    let mut queue = filled(&aging(u64::MAX), &held);
    let access = |pending: &Pending| {
        if pending.target.cylinder == 0 { Duration::MAX } else { Duration::ZERO }
    };
    let taken = queue.take(at(u64::MAX), 0, &access).expect("two are held");
    assert_eq!(taken.request.id.0, 1);
}

proptest! {
    #[test]
    fn satf_takes_the_shortest_access(steps in simple_steps(), arm in 0_u32..30) {
        for moment in play(&with(Scheduler::Satf), &steps, arm) {
            prop_assert!(is_first_least(&moment, |held| moment.access(held)), "{moment:?}");
        }
    }

    #[test]
    fn ageing_takes_the_shortest_access_less_the_reward_for_waiting(
        steps in simple_steps(), arm in 0_u32..30, aging_ns_per_ms in 0_u64..2_000_000,
    ) {
        for moment in play(&aging(aging_ns_per_ms), &steps, arm) {
            let key = |held: &Pending| aged_access(&moment, held, aging_ns_per_ms);
            prop_assert!(is_first_least(&moment, key), "{moment:?}");
        }
    }

    #[test]
    fn no_ageing_is_satf(steps in simple_steps(), arm in 0_u32..30) {
        let satf = play(&with(Scheduler::Satf), &steps, arm);
        prop_assert_eq!(ids(&play(&aging(0), &steps, arm)), ids(&satf));
    }

    /// SATF still chooses among requests that arrived at the same instant; here no two requests do.
    #[test]
    fn much_ageing_is_fifo(mut steps in simple_steps(), arm in 0_u32..30) {
        for step in &mut steps {
            step.gap_ns += 1;
        }
        for aging_ns_per_ms in [1_000_000_000, u64::MAX] {
            let order = ids(&play(&aging(aging_ns_per_ms), &steps, arm));
            prop_assert!(order.is_sorted(), "{order:?}");
        }
    }
}

/// Canary: other schedulers fail the test for SATF, and SATF fails the test for SATF with ageing.
#[test]
fn wrong_choice_by_access_is_found() {
    let mut steps = rich_history();
    for step in &mut steps {
        step.tag = Tag::Simple;
    }
    for scheduler in [Scheduler::Fifo, Scheduler::Sstf, Scheduler::ScanSstf] {
        let moments = play(&with(scheduler), &steps, 0);
        assert!(!moments.iter().all(|m| is_first_least(m, |held| m.access(held))));
    }
    let moments = play(&with(Scheduler::Satf), &steps, 0);
    let aged = |m: &Moment| is_first_least(m, |held| aged_access(m, held, 500_000));
    assert!(!moments.iter().all(aged));
    assert!(!ids(&moments).is_sorted(), "SATF does not pass for FIFO");
}
