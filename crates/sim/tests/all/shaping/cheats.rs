// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tasks that report misses that did not happen, beside tasks that report real misses.
//!
//! Goal: false notices are ignored, and true notices have an effect. Method: two soft tasks on the
//! disk of the paper beside a greedy load under `mdn`. The first task has enough time and still
//! reports a miss after every job. The second is late while the load occupies the drive.

use tidegate_model::{Duration, TaskIndex, Workload};
use tidegate_sim::{Length, SimParams};

use super::common::{run_of, workload};

const LIAR: TaskIndex = TaskIndex(0);

/// Returns a task that is never late, a task with this deadline, and a load.
fn two_tasks(deadline: &str) -> Workload {
    let task = |name: &str, deadline: &str| {
        format!(
            "[[task]]\nname = \"{name}\"\nclass = \"soft\"\nperiod = \"500ms\"\ndeadline = \
             \"{deadline}\"\nsize = \"64KiB\"\n"
        )
    };
    workload(&format!(
        "[policy]\nname = \"mdn\"\n{}{}[[best_effort]]\nname = \"load\"\noutstanding = 20\nsize = \
         \"64KiB\"\n",
        task("liar", "2s"),
        task("honest", deadline)
    ))
}

/// Returns the best-effort requests served in a minute, and the late jobs of both tasks.
fn served_and_missed(workload: &Workload, cheats: &[TaskIndex]) -> (u64, [u64; 2]) {
    let length = Length::Duration(Duration::from_ms(60_000));
    let run = run_of(&SimParams { cheats, ..SimParams::new(workload, length) }, &mut ());
    let tasks = run.metrics.tasks();
    (run.metrics.best_effort().completed.requests, [tasks[0].misses, tasks[1].misses])
}

#[test]
fn cheat_is_not_heard_and_an_honest_task_is() {
    let (calm, late) = (two_tasks("2s"), two_tasks("100ms"));
    let (unlimited, none) = served_and_missed(&calm, &[]);
    assert_eq!(none, [0, 0]);
    assert_eq!(served_and_missed(&calm, &[LIAR]), (unlimited, none), "its notices are ignored");

    let (steered, [_, missed]) = served_and_missed(&late, &[]);
    let (beside_liar, [_, missed_beside_liar]) = served_and_missed(&late, &[LIAR]);
    println!("{unlimited} without a limit, {steered} steered, {beside_liar} beside a cheat");
    assert!(missed > 0 && missed_beside_liar > 0);
    assert!(steered * 10 < unlimited * 9, "true notices count");
    assert_eq!(beside_liar, steered, "and they count as much beside a cheat");
}

/// Canary: if false notices had an effect, they would take the drive from best effort.
#[test]
fn task_that_is_late_as_often_as_the_cheat_claims_is_heard() {
    let (unlimited, _) = served_and_missed(&two_tasks("2s"), &[]);
    let (heard, [_, missed]) = served_and_missed(&two_tasks("1ms"), &[]);
    assert!(missed > 100, "{missed}");
    assert!(heard * 4 < unlimited, "{heard} of {unlimited}");
}
