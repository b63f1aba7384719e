// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures the service that `mq-deadline` gives best effort beside endless real-time load.
//!
//! Goal: best effort gets no more service than Little's law allows. A request of best effort is
//! dispatched only 10 s or more after its arrival, and at most 450 are queued, so at most 450 are
//! dispatched in any 10 s.
//! Method: tasks that overload the pseudo-disk from the first instant on, for one minute.

use tidegate_drive::PseudoDisk;
use tidegate_model::{Class, Duration, Plan, PolicyName, Request, Time};
use tidegate_sim::{Length, Observer, SimParams, simulate};

use super::workload_on;

const OUTSTANDING: u64 = 450;
const TENS_OF_SECONDS: u64 = 6;

#[test]
fn best_effort_gets_no_more_than_littles_law_allows() {
    let text = format!(
        "[[task]]\nname = \"hog\"\ncount = 4\nperiod = \"20ms\"\nsize = \"128KiB\"\n\
         [[best_effort]]\nname = \"load\"\noutstanding = {OUTSTANDING}\nsize = \"128KiB\"\n"
    );
    let workload = workload_on("fujitsu-max3036rc", &text);
    let policy =
        tidegate_policy::build(PolicyName::MqDeadline, &Plan::of(&workload), None).unwrap();
    let drive = PseudoDisk::new(workload.depth, workload.table.clone(), 1);
    let length = Length::Duration(Duration::from_ms(10_000 * TENS_OF_SECONDS));
    let mut served = Served::default();
    simulate(&SimParams::new(&workload, length), policy, drive, &mut served);
    println!("{} requests of best effort in a minute", served.0);
    // Requests dispatched in the first ten seconds would have to arrive before the start of the
    // run.
    assert!(served.0 <= OUTSTANDING * (TENS_OF_SECONDS - 1), "{}", served.0);
    assert!(served.0 > OUTSTANDING, "aging serves best effort: {}", served.0);
}

/// Counts the best-effort requests dispatched in the minute.
#[derive(Default)]
struct Served(u64);

impl Observer for Served {
    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        let is_within = now.ns() < 10_000_000_000 * TENS_OF_SECONDS;
        let sent = batch.iter().filter(|request| request.class == Class::BestEffort).count();
        self.0 += if is_within { u64::try_from(sent).unwrap() } else { 0 };
    }
}
