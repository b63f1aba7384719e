// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the measurements of the built-in disks with the actions of the disks themselves.
//!
//! A witness between the measurement and the disk records when the disk got which requests, and
//! when it was empty. The tables must hold the same maxima, to the nanosecond. Rotation, zones and
//! seeks have their own tests, next to the experiments.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use tidegate_device::DeviceFacts;
use tidegate_drive::{Completion, Drive};
use tidegate_measure::{Experiment, Kind, ProfileParams, profile_drive};
use tidegate_model::{Bytes, DriveFile, DriveKind, Duration, Op, Request, RequestId, Time};
use tidegate_stats::extremes::{Refusal, SIGNIFICANCE, Tail};

/// A period during which the disk was busy.
#[derive(Debug, Clone, Copy)]
struct Busy {
    begun: Time,
    /// The time at which the disk last got a request.
    last_sent: Time,
    /// The number of requests that the disk held then.
    held: usize,
    ended: Time,
}

/// A disk that records its busy periods; the log is shared with the test.
struct Witness<D> {
    disk: D,
    held: usize,
    current: Option<Busy>,
    log: Rc<RefCell<Vec<Busy>>>,
}

impl<D: Drive> Drive for Witness<D> {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        self.held += batch.len();
        let fresh = Busy { begun: now, last_sent: now, held: 0, ended: now };
        let busy = self.current.get_or_insert(fresh);
        (busy.last_sent, busy.held) = (now, self.held);
        self.disk.submit(now, batch);
    }

    fn next_event(&self) -> Option<Time> {
        self.disk.next_event()
    }

    fn flush(&mut self, _now: Time, _id: RequestId) {
        unreachable!("nothing is flushed");
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        let before = out.len();
        self.disk.advance(now, out);
        self.held -= out.len() - before;
        if self.held == 0
            && let Some(busy) = self.current.take()
        {
            self.log.borrow_mut().push(Busy { ended: now, ..busy });
        }
    }
}

/// Returns the built-in disks whose mechanics are known.
fn disks() -> impl Iterator<Item = DriveFile> {
    tidegate_drive::builtin::names()
        .map(|name| tidegate_drive::builtin::load(name).expect("it is built in"))
        .filter(|file| file.mechanics.is_some())
}

fn params(file: &DriveFile, experiment: Experiment, samples: u32) -> ProfileParams {
    ProfileParams {
        depth: file.depth.min(12),
        samples,
        experiments: vec![experiment],
        kinds: vec![Kind { op: Op::Read, size: Bytes::from_kib(128) }],
        ..ProfileParams::new(file.name.as_str(), &DeviceFacts::default())
    }
}

/// Returns the measured drive file, and the last busy period of each trial after the first
/// `warm_up` trials. A trial can have several busy periods: a flow of one request leaves the disk
/// idle whenever the request completes.
fn witnessed(file: &DriveFile, params: &ProfileParams, warm_up: usize) -> (DriveFile, Vec<Busy>) {
    let disk =
        tidegate_drive::from_parts(DriveKind::Mechanical, file, 1).expect("it has mechanics");
    let log = Rc::new(RefCell::new(Vec::new()));
    let mut witness = Witness { disk, held: 0, current: None, log: Rc::clone(&log) };
    let mut trials = Vec::new();
    let after_trial = |_| trials.extend(log.borrow().last().copied());
    let never = AtomicBool::new(false);
    let capacity = file.capacity().expect("mechanics have a capacity");
    let profile =
        profile_drive(&mut witness, &file.name, capacity, params, after_trial, &never, None);
    (profile.expect("a profile").file, trials.split_off(warm_up))
}

/// Returns the longest time for each number of requests.
fn longest(log: &[Busy], time: fn(&Busy) -> Duration) -> Vec<u64> {
    let mut longest = BTreeMap::new();
    for busy in log {
        let known = longest.entry(busy.held).or_insert(0);
        *known = time(busy).ns().max(*known);
    }
    longest.into_values().collect()
}

#[test]
fn batch_maxima_are_those_of_the_trials() {
    for file in disks() {
        let params = params(&file, Experiment::BATCH, 20);
        let (measured, log) = witnessed(&file, &params, params.depth as usize);
        let direct = longest(&log, |busy| busy.ended.since(busy.begun));
        assert_eq!(measured.batch[0].ns_max, direct, "{}", file.name);
        assert_eq!(direct.len(), params.depth as usize);
    }
}

#[test]
fn drain_maxima_are_those_of_the_trials() {
    for file in disks() {
        let params = params(&file, Experiment::DRAIN, 5);
        let starts = tidegate_measure::Start::RANDOM.len();
        let (measured, log) = witnessed(&file, &params, params.depth as usize * starts);
        let direct = longest(&log, |busy| busy.ended.since(busy.last_sent));
        assert_eq!(measured.drain[0].ns_max, direct, "{}", file.name);
        assert_eq!(log.len(), 5 * params.depth as usize * starts);
    }
}

/// Goal: the measured starvation time exceeds the bound of the drive's queue by at most 2 %, and is
/// absent if the queue has no bound. Method: compares with `starvation_ns` of the built-in file. A
/// queue with ageing, which subtracts the time waited from access times, serves the starved request
/// before the bound.
#[test]
fn starvation_bounds_are_found() {
    for file in disks().filter(|file| file.depth > 1) {
        let params =
            ProfileParams { depth: file.depth, ..params(&file, Experiment::STARVATION, 3) };
        let (measured, _) = witnessed(&file, &params, 0);
        let queue = &file.mechanics.as_ref().expect("a disk").queue;
        let found = measured.starvation_max.map(Duration::ns);
        println!("{}: planted {:?}, found {found:?}", file.name, queue.starvation_ns);
        match (queue.starvation_ns, queue.aging_ns_per_ms) {
            (None, _) => assert_eq!(found, None, "{}", file.name),
            (Some(planted), None) => {
                let found = found.expect("a bound");
                assert!(planted <= found && found * 100 <= planted * 102, "{}: {found}", file.name);
            }
            (Some(planted), Some(_)) => {
                let found = found.expect("a bound");
                assert!(found * 100 <= planted * 102, "{}: {found}", file.name);
            }
        }
    }
}

/// Goal: if the longest times of a disk do not follow a law of extremes, there is no estimate (the
/// dissertation's figure 7.7: batches of 10 requests of 255 KiB on this disk). Method: measures the
/// same batches. A disk's times are bounded, and times near the bound are a mixture of
/// distributions.
#[test]
fn the_law_of_excesses_is_refused_for_batches_of_ten() {
    let file = tidegate_drive::builtin::load("maxtor-atlas-10k-v").expect("it is built in");
    let kinds = vec![Kind { op: Op::Read, size: Bytes::from_kib(255) }];
    let params = ProfileParams { depth: 10, kinds, ..params(&file, Experiment::BATCH, 20_000) };
    let mut disk =
        tidegate_drive::from_parts(DriveKind::Mechanical, &file, 1).expect("it has mechanics");
    let (never, capacity) = (AtomicBool::new(false), file.capacity().expect("a capacity"));
    let profile =
        profile_drive(&mut disk, &file.name, capacity, &params, |_| (), &never, None).unwrap();
    let tail = profile.findings[0].tail.as_ref().expect("the largest batch was looked at");
    let Tail::Refused(_, Refusal::PoorFit(goodness)) = &tail.excesses else { panic!("{tail}") };
    assert!(goodness.p < SIGNIFICANCE, "{goodness:?}");
    assert!(tail.to_string().contains("no estimate"), "{tail}");
}
