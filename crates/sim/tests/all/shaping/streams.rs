// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whole runs on the simulated disk: the end of a stream, the rest beside a reservation, and
//! undeclared streams.

use tidegate_model::Duration;
use tidegate_sim::{Length, SimParams};

use super::common::{BandwidthOverTime, run, run_of, workload};

const GREEDY: &str = "[[best_effort]]\nname = \"greedy\"\noutstanding = 4\nsize = \"128KiB\"\n";

fn stream(name: &str, period: &str, deadline: &str) -> String {
    format!(
        "[[task]]\nname = \"{name}\"\nclass = \"soft\"\nperiod = \"{period}\"\n\
         deadline = \"{deadline}\"\nrequests = 2\noutstanding = 2\nsize = \"128KiB\"\n\
         place = \"sequential\"\n"
    )
}

/// Two streams limit best effort; the busier one ends, and best effort grows again.
#[test]
fn best_effort_grows_when_a_stream_has_ended() {
    let text = format!(
        "[policy]\nname = \"mdn-extended\"\n{}{}{GREEDY}",
        stream("busy", "120ms", "100ms"),
        stream("calm", "480ms", "400ms")
    );
    let workload = workload(&text);
    let mut bandwidth = BandwidthOverTime::new(3, Duration::from_ms(1_000));
    let params = SimParams { seed: 5, ..SimParams::new(&workload, Length::Jobs(150)) };
    let run = run_of(&params, &mut bandwidth);
    bandwidth.print("mdn-extended: busy, calm, greedy, kB/s");
    let misses: Vec<u64> = run.metrics.tasks().iter().map(|task| task.misses).collect();
    println!("misses {misses:?}");
    let greedy = bandwidth.kb_per_s(2);
    let mean = |seconds: &[u64]| seconds.iter().sum::<u64>() / seconds.len() as u64;
    let (pressed, grown) = (mean(&greedy[8..18]), mean(&greedy[40..60]));
    assert!(grown * 2 > pressed * 3, "{pressed} then {grown}");
}

/// The tasks declare 4 MB/s of a capacity of 6 MB/s, so 2 MB/s are left.
#[test]
fn a_reservation_leaves_the_rest() {
    let text = format!(
        "[policy]\nname = \"token-bucket\"\n[policy.token-bucket]\nrate = \"reserve\"\n\
         capacity = \"6MB/s\"\n{}{GREEDY}",
        stream("declared", "65536us", "100ms")
    );
    let workload = workload(&text);
    let mut bandwidth = BandwidthOverTime::new(2, Duration::from_ms(1_000));
    run(&workload, 30, 5, &mut bandwidth);
    let means = [bandwidth.mean(0, 2), bandwidth.mean(1, 2)];
    assert!(means[0].abs_diff(4_000) <= 100 && means[1].abs_diff(2_000) <= 40, "{means:?}");
}

/// An undeclared stream of 2 MB/s beside a greedy load, behind one bucket of 30 requests per
/// second. Without detection it shares the bucket; with detection it gets its rate.
#[test]
fn an_undeclared_stream_gets_its_rate_when_streams_are_detected() {
    let stream = "[[best_effort]]\nname = \"stream\"\nrate = \"2MB/s\"\nsize = \"128KiB\"\n\
                  place = \"sequential\"\n";
    let rate_of = |detect| {
        let text = format!(
            "[policy]\nname = \"token-bucket\"\n[policy.token-bucket]\nrate = \"30/s\"\n\
             detect = {detect}\n{stream}{GREEDY}"
        );
        let workload = workload(&text);
        let mut bandwidth = BandwidthOverTime::new(2, Duration::from_ms(1_000));
        run(&workload, 40, 7, &mut bandwidth);
        bandwidth.print(&format!("detect = {detect}: stream, greedy, kB/s"));
        [bandwidth.mean(0, 5), bandwidth.mean(1, 5)]
    };
    let [undetected, detected] = [rate_of(false), rate_of(true)];
    println!("{undetected:?} {detected:?}");
    assert!(detected[0].abs_diff(2_000) <= 60, "{detected:?}");
    // The greedy load gets the whole rate of the bucket; it is no stream, however regular it is.
    assert!(detected[1].abs_diff(3_932) <= 80, "{detected:?}");
    assert!(undetected[1] * 10 < detected[1] * 9, "{undetected:?} {detected:?}");
}
