// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `rtio-slots` follows its published rule. Method: driven by hand; drain(q) = 12 + 11 q ms
//! on a drive of 8.

use crate::common::script::play;
use crate::drain_support::{plan, task};
use tidegate_policy::RtioSlots;

/// Returns a policy for two tasks with D = 80 ms.
fn policy() -> RtioSlots {
    RtioSlots::new(&plan(vec![task(200, 80, 1), task(200, 80, 1)]))
}

/// drain(q_b + 2) <= 80 as long as q_b + 2 <= 6 (78 ms).
#[test]
fn best_effort_leaves_the_reserved_slots_free() {
    play(
        &mut policy(),
        "0: best-effort 1..=8, sends 1 2 3 4
         1: hard 20 within 80
         2: hard 21 of 1 within 80, sends 20 21",
    );
}

/// 3 + drain(4+2) = 81 = the first deadline; a millisecond later the sum exceeds it.
#[test]
fn best_effort_counts_slots_as_taken_while_real_time_is_on_the_drive() {
    for last in ["3: done 1, sends 5", "4: done 1, sends nothing"] {
        play(
            &mut policy(),
            &format!(
                "0: best-effort 1..=8, sends 1 2 3 4
                 1: hard 20 within 80, sends 20
                 {last}"
            ),
        );
    }
}

/// The rule's defect: the first request is due at 81. The second is sent in its own slot at 79,
/// just before all requests complete, and allows the drive to take until 79 + drain(6) = 157.
#[test]
fn a_late_taker_of_a_slot_restarts_the_clock_of_the_first() {
    play(
        &mut policy(),
        "0: best-effort 1..=8, sends 1 2 3 4
         1: hard 20 within 80, sends 20
         79: hard 21 of 1 within 80, sends 21",
    );
}
