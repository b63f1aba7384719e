// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The figures of Wu and Brandt, "QoS Support for Intelligent Storage Devices", section 5: four
//! streams of 8 MB/s on a Seagate ST340810A, the first of them soft real time.
//!
//! # The meaning of a token
//! The paper says only that a token is a request "of variable size". Its figures narrow that down.
//! Let S be the size and C the throughput of the four streams together. Figure 3(a), no difference
//! at 100 tokens/s for the three: 100 S >= 3/4 C. 3(b), a difference at 90: 90 S < 3/4 C. So
//! 120 S < C <= 133 S. 3(c), all of 8 MB/s at 50: C - 50 S >= 8 MB/s, so S >= 96 kB. 3(b), less
//! than that at 90: C - 90 S < 8 MB/s, so S < 267 kB. An ATA command of the time moves 256
//! sectors at most, 128 KiB: S = 128 KiB fits, and C lies between 15.7 and 17.5 MB/s.
//!
//! # The fitted figure
//! Then a request takes 7.5 to 8.3 ms, 4.75 ms of them transfer. The simulated disk needs 12 to 20
//! ms of positioning for each change of stream, so no order that changes the stream with every
//! request fits (measured: 5.5 to 7.8 MB/s). Read-ahead and the anticipatory scheduler of Linux
//! 2.6.0 serve several requests of a stream in one run. Here a stream releases a run at once: five
//! requests, the number that puts C between the two limits (measured: 16.6 MB/s, 126 requests/s).
//! This is the only fitted figure; it is fitted to 3(a) and (b) without a boosted stream. All other
//! figures follow.

use tidegate_model::{Class, Duration, Workload};
use tidegate_sim::SimRun;

use crate::common::{BandwidthOverTime, run, workload};

/// The seed of the streams' places.
const SEED: u64 = 3;
/// Number of requests of 128 KiB that a stream releases at once.
const RUN: u64 = 5;
/// The period of a run at 8 MB/s, in nanoseconds.
const PERIOD_NS: u64 = RUN * 128 * 1024 * 125;

/// Returns four streams with this many buffers each; the first is soft real time.
fn streams(policy: &str, buffers: u32) -> Workload {
    let stream = |number| {
        format!(
            "[[task]]\nname = \"stream-{number}\"\nclass = \"soft\"\nperiod = \"{PERIOD_NS}ns\"\n\
             requests = {RUN}\noutstanding = {buffers}\nsize = \"128KiB\"\nplace = \"sequential\"\n"
        )
    };
    let streams: String = (1..=4).map(stream).collect();
    let mut workload = workload(&format!("[policy]\n{policy}\n{streams}"));
    for task in &mut workload.tasks[1..] {
        task.class = Class::BestEffort;
    }
    workload
}

/// Returns and prints the bandwidth in slices of `periods` periods. A stream releases one job of
/// [`RUN`] requests each period, so a stream that keeps its rate has 8,000 kB/s in every slice.
fn measured(policy: &str, buffers: u32, periods: u64) -> (BandwidthOverTime, SimRun) {
    let workload = streams(policy, buffers);
    let mut bandwidth = BandwidthOverTime::new(4, Duration::from_ns(PERIOD_NS * periods));
    let run = run(&workload, 60, SEED, &mut bandwidth);
    bandwidth.print(&format!("{} with {buffers} buffers, kB/s", policy.replace('\n', " ")));
    (bandwidth, run)
}

fn at_rate(rate: u64) -> Vec<u64> {
    let policy = format!("name = \"token-bucket\"\n[policy.token-bucket]\nrate = \"{rate}/s\"");
    means(&measured(&policy, 1, 10).0)
}

/// Returns the means of the four streams, without the start.
fn means(bandwidth: &BandwidthOverTime) -> Vec<u64> {
    let means: Vec<u64> = (0..4).map(|stream| bandwidth.mean(stream, 5)).collect();
    println!("means: {means:?}, together {}", means.iter().sum::<u64>());
    means
}

fn assert_alike(means: &[u64]) {
    let (least, most) = (means.iter().min().unwrap(), means.iter().max().unwrap());
    assert!(most * 100 <= least * 105, "{means:?}");
}

/// Figure 4(a): no stream is boosted, and each gets the same throughput below 8 MB/s. C lies in the
/// derived interval.
#[test]
fn without_a_boost_all_streams_fare_alike() {
    let means = means(&measured("name = \"noop\"", 1, 10).0);
    assert_alike(&means);
    let together = means.iter().sum::<u64>();
    assert!((15_729..=17_476).contains(&together), "{together} kB/s");
}

/// Figure 3(a).
#[test]
fn a_hundred_tokens_make_no_difference() {
    assert_alike(&at_rate(100));
}

/// Figure 3(b): the soft stream gets more than the others, but less than its full rate.
#[test]
fn ninety_tokens_boost_in_part() {
    let means = at_rate(90);
    assert!(means[0] * 10 > means[1] * 11, "{means:?}");
    assert!(means[0] < 7_600, "{means:?}");
    assert_alike(&means[1..]);
}

/// Figure 3(c): the soft stream gets its full rate.
#[test]
fn fifty_tokens_boost_in_full() {
    let means = at_rate(50);
    assert!((7_980..=8_020).contains(&means[0]), "{means:?}");
    assert_alike(&means[1..]);
}

/// Counts how often a series falls by 15 % from its last peak, after a rise of the same size.
fn falls(series: &[u64]) -> usize {
    let (mut peak, mut trough, mut count) = (0, u64::MAX, 0);
    let mut is_falling = true;
    for &value in series {
        if is_falling {
            trough = trough.min(value);
            if value * 85 > trough * 100 {
                (is_falling, peak) = (false, value);
            }
        } else {
            peak = peak.max(value);
            if value * 100 < peak * 85 {
                (is_falling, trough, count) = (true, value, count + 1);
            }
        }
    }
    count
}

/// Returns the slices in which the soft stream makes up for missed requests.
fn spikes(bandwidth: &BandwidthOverTime) -> Vec<usize> {
    let rates = bandwidth.kb_per_s(0);
    (0..rates.len()).filter(|&slice| rates[slice] > 8_400).collect()
}

/// Figure 4(b): the base form. Best effort rises slowly until the soft stream misses, then falls: a
/// sawtooth, with spikes of the soft stream throughout the run.
#[test]
fn base_form_is_a_sawtooth_with_spikes() {
    let (bandwidth, run) = measured("name = \"mdn\"", 1, 10);
    let means = means(&bandwidth);
    assert!((7_950..=8_050).contains(&means[0]), "{means:?}");
    let best_effort: Vec<Vec<u64>> = (1..4).map(|stream| bandwidth.kb_per_s(stream)).collect();
    // Each sum covers two slices, so that runs of five requests do not hide the rate.
    let together = |slice: usize| best_effort.iter().map(|of| of[slice]).sum::<u64>();
    let sums: Vec<u64> = (0..best_effort[0].len()).map(together).collect();
    let smooth: Vec<u64> = sums.chunks_exact(2).map(|pair| pair.iter().sum()).collect();
    let (falls, spikes) = (falls(&smooth), spikes(&bandwidth));
    println!("falls {falls}, spikes at {spikes:?}, misses {}", run.metrics.tasks()[0].misses);
    assert!(falls >= 4, "{smooth:?}");
    for part in [10..32, 32..54, 54..74] {
        assert!(spikes.iter().any(|slice| part.contains(slice)), "{spikes:?}");
    }
}

/// Figure 4(c): the extended form. Two spikes while the rate falls, then 8 MB/s, at the expense of
/// the others. A player with two buffers then has exactly this rate in every slice; a player with
/// one buffer waits half a minute for its second spike.
#[test]
fn extended_form_spikes_twice_and_is_steady_then() {
    for (buffers, steady_from) in [(1, 40), (2, 4)] {
        let (extended, run) = measured("name = \"mdn-extended\"", buffers, 10);
        let spikes = spikes(&extended);
        println!("spikes at {spikes:?}, misses {}", run.metrics.tasks()[0].misses);
        assert_eq!(spikes.len(), 2, "{spikes:?}");
        let rates = extended.kb_per_s(0);
        assert!(rates[steady_from..].iter().all(|rate| rate.abs_diff(8_000) <= 320), "{rates:?}");
        let (base, _) = measured("name = \"mdn\"", buffers, 10);
        let together = |bandwidth: &BandwidthOverTime| means(bandwidth).iter().sum::<u64>();
        assert!(together(&extended) < together(&base), "the aggressive form costs throughput");
    }
    let (extended, _) = measured("name = \"mdn-extended\"", 2, 10);
    assert!(extended.kb_per_s(0)[4..].iter().all(|&rate| rate == 8_000));
}
