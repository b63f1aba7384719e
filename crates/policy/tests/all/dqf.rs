// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: dual-queue FIFO forms the right batches at the right instants. Method: driven by hand.

use crate::common::plain::{at, complete};
use crate::common::script::play;
use tidegate_model::{BatchTable, Duration, Plan, Workload};
use tidegate_policy::{Dqf, Event, Policy};

#[test]
fn a_batch_has_at_most_z_of_the_oldest() {
    play(&mut Dqf::new(3, 0, 100), "0: hard 1..=5, sends 1 2 3");
}

/// Goal: no request joins a batch that is on the drive, even though the drive has room.
#[test]
fn a_late_request_waits_for_the_whole_batch() {
    play(
        &mut Dqf::new(4, 0, 100),
        "0: hard 1 2, sends 1 2
         1: hard 3, sends nothing
         5: done 2, sends nothing
         9: done 1, sends 3",
    );
}

#[test]
fn an_idle_drive_gets_what_there_is() {
    play(
        &mut Dqf::new(8, 0, 100),
        "0: sends nothing
         1: hard 1, sends 1",
    );
}

/// f(j) = max(j, beta): under beta = 4, two best-effort requests beside two real-time requests,
/// none beside five.
#[test]
fn best_effort_fills_a_batch_up_to_beta() {
    play(
        &mut Dqf::new(8, 4, 100),
        "0: best-effort 101..=110, hard 1 2, sends 1 2 101 102
         1: hard 3..=7
         2: done 1 2 101 102, sends 3..=7
         3: done 3..=7, sends 103..=106",
    );
}

#[test]
fn without_room_best_effort_is_never_sent() {
    play(&mut Dqf::new(8, 0, 100), "0: best-effort 101, sends nothing");
}

#[test]
fn a_cancelled_request_is_not_sent() {
    play(&mut Dqf::new(8, 1, 100), "0: hard 1 2 3, cancel 2 77, sends 1 3");
}

/// A flood of best effort takes none of the queue space of real-time requests.
#[test]
fn each_kind_has_room_of_its_own() {
    play(
        &mut Dqf::new(1, 1, 2),
        "0: best-effort 101 102, refuses best-effort 103
         0: hard 1 2, refuses hard 3, sends 1, hard 3",
    );
}

#[test]
fn a_new_plan_holds_from_the_next_batch_on() {
    let mut policy = Dqf::new(4, 0, 100);
    play(&mut policy, "0: hard 1..=6, sends 1..=4");
    let table = BatchTable::new(&[Duration::from_ms(1)]).unwrap();
    let plan = Plan { queued_max: 100, ..Plan::of(&Workload::new("test", 4, table)) };
    policy.observe(at(1), Event::Reconfigure(Box::new(plan))).unwrap();
    play(&mut policy, "2: done 1..=4, sends 5");
}

#[test]
#[should_panic(expected = "completion while nothing is on the drive")]
fn a_completion_out_of_nothing_is_a_broken_host() {
    complete(&mut Dqf::new(1, 0, 1), at(0), [1]);
}

/// Returns a policy with b(1) = 10 ms, b(2) = 16 ms, z = 2 and beta = 2.
fn minding_overruns() -> Dqf {
    let table = BatchTable::new(&[Duration::from_ms(10), Duration::from_ms(16)]).unwrap();
    let workload = Workload::new("test", 2, table);
    Dqf::of(&Plan { best_effort_fill: 2, ..Plan::of(&workload) })
}

/// A batch of one request that is 5 ms late keeps best effort off the drive for 5 ms, but delays no
/// real-time request.
#[test]
fn best_effort_pays_for_a_late_batch() {
    play(
        &mut minding_overruns(),
        "0: hard 1, sends 1
         1: best-effort 101..=103
         15: done 1, not-before 20
         16: hard 2, sends 2          // alone, though beta leaves room for another
         18: done 2, not-before 20
         20: sends 101 102
         36: done 101 102, sends 103  // a batch of two may take 16 ms",
    );
}

/// Each late batch counts from its own end, and the latest resume instant applies; a policy without
/// a table ignores overruns.
#[test]
fn what_best_effort_pays_is_bounded() {
    play(
        &mut minding_overruns(),
        "0: best-effort 101, hard 1 2, sends 1 2
         100: done 1 2, hard 3, sends 3
         111: done 3, not-before 184  // 84 ms from 100 ms on",
    );
    play(
        &mut Dqf::new(2, 2, 100),
        "0: best-effort 101, hard 1 2, sends 1 2
         100: done 1 2, sends 101",
    );
}
