// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The Fujitsu MAX3036RC of "Throttling On-Disk Schedulers to Meet Soft-Real-Time
//! Requirements", RTAS 2008: sections 2 to 4. Requests are random reads of 256 KiB.
//!
//! The paper's MB mixes factors of 1,000 and 1,024, which alone requires a tolerance of 2.5 % for
//! rates.

use tidegate_model::{Bytes, DriveFile, Duration, Op, RequestId, Time};

use super::common::{
    Host, Places, Rate, Times, check_figures, gigabytes_tenths, load, mechanics, random,
    sequential, starved,
};

const SIZE: Bytes = Bytes::from_kib(256);

fn fujitsu() -> DriveFile {
    load("fujitsu-max3036rc")
}

#[test]
fn figures_are_those_of_the_paper() {
    let file = fujitsu();
    let single = Times::of_batches(&file, SIZE, 1, 10_000);
    let drain_us = |count| Times::of_batches(&file, SIZE, count, 10_000).longest().ns() / 1_000;
    check_figures(&[
        // Table 1: 36.7 GB, 15,000 rpm. The depth is that of the experiments.
        ("capacity, tenths of a GB", &|| gigabytes_tenths(&file), 367..=367),
        ("rpm", &|| mechanics(&file).rpm.into(), 15_000..=15_000),
        ("depth", &|| file.depth.into(), 20..=20),
        // Footnote 1: 73.0 to 94.7 MB/s, depending on the cylinder. Within 1 %: sectors per track
        // were fitted to these two figures.
        ("sequential, outside, kB/s", &|| sequential(&file, SIZE, 0).kb(), 93_754..=95_646),
        ("sequential, inside, kB/s", &|| sequential(&file, SIZE, 99).kb(), 72_271..=73_729),
        // Section 2.1: one at a time, almost all within 17 ms, the latest at 19 ms. "Almost all" is
        // taken as 99.9 %.
        ("above 17 ms", &|| single.count_above(Duration::from_ms(17)) as u64, 0..=10),
        ("longest, ns", &|| single.longest().ns(), 0..=19_000_000),
        // Section 4: 18 MB/s with one request at a time, behind a scheduler that sometimes idled
        // and also served a real-time task: the disk itself is faster. The paper does not say by
        // how much; with one outstanding it cannot be faster than with seven, 34 MB/s plus the
        // real-time rate (3.5 MB/s).
        ("random, kB/s", &|| random(&file, SIZE, 1, 10_000).kb(), 18_000..=33_999),
        // Figure 8: 160 ms; figure 10 and section 3.4: 75 ms for a depth of 8. Both are the longest
        // observed. The simulated drains must be shorter, but at least 80 % as long, or the model
        // describes another disk.
        ("drain of 20, us", &|| drain_us(20), 128_000..=159_999),
        ("drain of 8, us", &|| drain_us(8), 60_000..=74_999),
    ]);
}

/// Section 2.3: best effort gets 39.9 MB/s while a real-time task reads without a pause; all
/// slots of the queue are in use. Within 5 %, for the paper's unit and for one disk's random
/// positions.
#[test]
fn best_effort_gets_40_mb_beside_a_task_that_reads_without_a_pause() {
    let file = fujitsu();
    let (mut host, mut places) = (Host::of(&file), Places::on(&file, SIZE, 1));
    let begin = host.now;
    host.send(Op::Read, &places.take(19), SIZE);
    let mut real_time = host.send(Op::Read, &[places.draw()], SIZE);
    let mut best_effort = 0;
    while best_effort < 20_000 {
        for done in host.wait() {
            let id = host.send(Op::Read, &[places.draw()], SIZE);
            if done.id == real_time {
                real_time = id;
            } else {
                best_effort += 1;
            }
        }
    }
    let rate = Rate::of(best_effort, SIZE, host.now - begin).kb();
    assert!(rate.abs_diff(39_900) < 1_995, "{rate}");
}

/// Goal: response times have a spike just over 2 s, as in section 3.1; a bound of 2.03 s suffices.
/// The disk decides between two services, so the starved request completes within two services
/// after the bound.
#[test]
fn starved_request_is_served_within_two_services_of_the_bound() {
    let file = fujitsu();
    let bound = Duration::from_ms(2_030);
    assert_eq!(mechanics(&file).queue.starvation_ns, Some(bound.ns()));
    let service_max = Times::of_batches(&file, SIZE, 1, 1_000).longest();
    for seed in 0..20 {
        let time = starved(&file, SIZE, seed);
        assert!(bound <= time && time <= bound + service_max * 2, "{seed}: {time}");
        assert!(time <= file.starvation_max.unwrap(), "{seed}: {time}");
    }
}

/// Sections 3.3 and 3.4: a real-time read in each period beside limited best effort; no best effort
/// is sent while the read is at the disk. Best effort gets 40 MB/s and 34 MB/s respectively; no
/// response takes longer than the period, which is the longest drain. Within 5 %, as above.
#[test]
fn draining_keeps_the_periods_at_the_rates_of_the_paper() {
    for (best_effort_max, period_ms, expected_kb) in [(19, 160, 40_000), (7, 75, 34_000_u64)] {
        let period = Duration::from_ms(period_ms);
        let (rate, longest) = Draining::new(period, best_effort_max).run(5_000);
        assert!(rate.kb().abs_diff(expected_kb) * 20 < expected_kb, "{period}: {}", rate.kb());
        assert!(longest <= period, "{period}: {longest}");
    }
}

/// A periodic read; while it is at the disk, no best effort is sent: `rtio-drain` and
/// `rtio-limit`, reduced to what the experiment needs.
struct Draining {
    host: Host,
    places: Places,
    period: Duration,
    best_effort_max: usize,
    best_effort: usize,
    best_effort_done: usize,
    /// The real-time read at the disk, and its release.
    real_time: Option<(RequestId, Time)>,
    responses: Vec<Duration>,
}

impl Draining {
    fn new(period: Duration, best_effort_max: usize) -> Self {
        let file = fujitsu();
        Self {
            host: Host::of(&file),
            places: Places::on(&file, SIZE, 1),
            period,
            best_effort_max,
            best_effort: 0,
            best_effort_done: 0,
            real_time: None,
            responses: Vec::new(),
        }
    }

    /// Returns the rate of best effort and the longest response of `jobs` jobs.
    fn run(mut self, jobs: usize) -> (Rate, Duration) {
        let mut release = Time::ZERO + self.period;
        while self.responses.len() < jobs {
            if self.host.now >= release && self.real_time.is_none() {
                let id = self.host.send(Op::Read, &[self.places.draw()], SIZE);
                self.real_time = Some((id, release));
                release += self.period;
            }
            self.fill();
            let limit = if self.real_time.is_none() { release } else { Time::MAX };
            for done in self.host.wait_until(limit) {
                self.complete(done.id);
            }
        }
        let rate = Rate::of(self.best_effort_done, SIZE, self.host.now - Time::ZERO);
        (rate, self.responses.into_iter().max().unwrap())
    }

    fn fill(&mut self) {
        while self.real_time.is_none() && self.best_effort < self.best_effort_max {
            self.host.send(Op::Read, &[self.places.draw()], SIZE);
            self.best_effort += 1;
        }
    }

    fn complete(&mut self, id: RequestId) {
        match self.real_time {
            Some((real_time, release)) if real_time == id => {
                self.responses.push(self.host.now - release);
                self.real_time = None;
            }
            _ => {
                self.best_effort -= 1;
                self.best_effort_done += 1;
            }
        }
    }
}
