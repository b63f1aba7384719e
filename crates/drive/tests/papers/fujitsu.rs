// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The Fujitsu MAX3036RC of "Throttling On-Disk Schedulers to Meet Soft-Real-Time
//! Requirements", RTAS 2008: sections 2 to 4. Requests are random reads of 256 KiB.
//!
//! Rates: the paper's MB is a million bytes in one factor and 1,024 in another, which alone needs
//! a tolerance of 2.5 %.

use tidegate_model::{Bytes, DriveFile, Duration, Op, RequestId, Time};

use super::common::{Host, Places, Rate, Times, load, mechanics, random, sequential, starved};

const SIZE: Bytes = Bytes::from_kib(256);

fn fujitsu() -> DriveFile {
    load("fujitsu-max3036rc")
}

/// Table 1: 36.7 GB, 15,000 rpm. The depth is the experiments'.
#[test]
fn table_1_comes_out() {
    let file = fujitsu();
    assert_eq!((mechanics(&file).rpm, file.depth), (15_000, 20));
    let gigabytes_tenths = file.capacity().unwrap().get() / 100_000_000;
    assert_eq!(gigabytes_tenths, 367);
}

/// Footnote 1: 73.0 to 94.7 MB/s, depending on the cylinder. Within 1 %: sectors per track were
/// fitted to these two figures.
#[test]
fn sequential_rates_are_those_measured() {
    let [outside, inside] = [0, 99].map(|percent| sequential(&fujitsu(), SIZE, percent).kb());
    assert!(outside.abs_diff(94_700) < 947, "{outside}");
    assert!(inside.abs_diff(73_000) < 730, "{inside}");
}

/// Section 2.1: almost all within 17 ms, the latest at 19 ms. "Almost all" is taken as 99.9 %.
#[test]
fn reads_one_at_a_time_take_less_than_17_ms() {
    let times = Times::of_batches(&fujitsu(), SIZE, 1, 10_000);
    assert!(times.count_above(Duration::from_ms(17)) <= 10, "{}", times.longest());
    assert!(times.longest() <= Duration::from_ms(19), "{}", times.longest());
}

/// Section 4: 18 MB/s with one request at a time, behind a scheduler that sometimes idled and
/// also served a real-time task: the disk itself is faster. The paper does not say by how much;
/// with one outstanding it cannot be faster than with seven, 34 MB/s plus the real-time rate (3.5
/// MB/s).
#[test]
fn one_outstanding_is_between_the_papers_rates_for_one_and_for_seven() {
    let rate = random(&fujitsu(), SIZE, 1, 10_000).kb();
    assert!((18_000..34_000).contains(&rate), "{rate}");
}

/// Section 2.3: best effort gets 39.9 MB/s while a real-time task reads without a pause; all
/// slots of the queue are in use. Within 5 %: the unit, and one disk's random positions.
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

/// Figure 8: 160 ms; figure 10 and section 3.4: 75 ms for a depth of 8. Both are the longest
/// observed; ours must not be longer, and at least 80 % of them, or it models another disk.
#[test]
fn drains_take_at_most_the_observed_times() {
    for (count, observed_ms) in [(20, 160), (8, 75)] {
        let longest = Times::of_batches(&fujitsu(), SIZE, count, 10_000).longest();
        let observed = Duration::from_ms(observed_ms);
        assert!(longest <= observed, "{count}: {longest}");
        assert!(longest.ns() * 10 >= observed.ns() * 8, "{count}: {longest}");
    }
}

/// Sections 3.3 and 3.4: a real-time read in each period beside limited best effort, none of
/// which is sent while the read is at the disk. Best effort gets 40 MB/s, and 34 MB/s; no
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
