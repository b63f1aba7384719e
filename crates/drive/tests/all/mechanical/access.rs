// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the host's model of a hard disk against the disk: for one request at a time it predicts
//! completion to the nanosecond, unless memory serves the request earlier; and it finds the unknown
//! phase of a platter.

use tidegate_drive::{Completion, Drive, builtin};
use tidegate_model::mechanics::{Mechanics, WriteBack};
use tidegate_model::{
    AccessTime, Bytes, Class, DriveFile, DriveKind, Duration, Lba, Op, Random, Request, RequestId,
    Target, Time,
};

const DISKS: [&str; 5] =
    ["fujitsu-max3036rc", "ibm-36z15", "seagate-36es2", "maxtor-atlas-10k-v", "nearline-7200"];
const COUNT: u64 = 1_500;
const KIB: [u64; 4] = [4, 64, 256, 512];

fn request(id: u64, op: Op, start: u64, size: Bytes) -> Request {
    Request { op, start: Lba::new(start), ..Request::plain(RequestId(id), Class::Hard, size) }
}

/// A disk and its model, side by side.
struct Pair {
    drive: Box<dyn Drive + Send>,
    model: Box<dyn AccessTime>,
    now: Time,
    /// How far the drive's clock is behind the host's.
    behind: Duration,
    ids: u64,
}

/// The prediction for a request, and its completion.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    target: Target,
    access: Duration,
    expected: Option<Duration>,
    took: Duration,
}

impl Outcome {
    fn error_ns(&self) -> u64 {
        self.expected.expect("a read is foreseen").ns().abs_diff(self.took.ns())
    }
}

impl Pair {
    fn of(file: &DriveFile) -> Self {
        let drive =
            tidegate_drive::from_parts(DriveKind::Mechanical, file, 1).expect("a sound file");
        let model = tidegate_drive::access_time(file).expect("a disk with mechanics");
        Self { drive, model, now: Time::ZERO, behind: Duration::ZERO, ids: 0 }
    }

    /// Sets the drive's clock behind the host's: its platter is at a different angle.
    fn behind(mut self, behind: Duration) -> Self {
        self.behind = behind;
        self.now = Time::ZERO + behind;
        self
    }

    fn drive_now(&self) -> Time {
        Time::ZERO + self.now.since(Time::ZERO + self.behind)
    }

    fn serve(&mut self, op: Op, start: u64, size: Bytes) -> Outcome {
        self.ids += 1;
        let request = request(self.ids, op, start, size);
        let target = self.model.target(&request);
        self.model.advance(self.now);
        let access = self.model.access(&target);
        let expected = self.model.service(&target);
        self.drive.submit(self.drive_now(), &[request]);
        self.model.dispatched(self.now, &target);
        let (begin, mut done) = (self.now, Vec::<Completion>::new());
        while done.is_empty() {
            let next = self.drive.next_event().expect("a request is outstanding");
            self.now = next + self.behind;
            self.drive.advance(next, &mut done);
        }
        self.model.completed(self.now, &target);
        Outcome { target, access, expected, took: self.now - begin }
    }
}

/// Returns a built-in drive without random faults.
fn load(name: &str) -> DriveFile {
    let mut file = builtin::load(name).expect("a built-in drive");
    file.mechanics.as_mut().expect("a hard disk").faults = None;
    file
}

fn sectors(file: &DriveFile) -> u64 {
    file.mechanics.as_ref().expect("a hard disk").sectors
}

/// Serves random requests of all sizes, one at a time, every third one after a pause.
fn random_outcomes(pair: &mut Pair, file: &DriveFile, op: Op, count: u64) -> Vec<Outcome> {
    let mut random = Random::new(7, 1);
    let mut outcome = |number: u64| {
        let size = Bytes::from_kib(KIB[usize::try_from(random.below(4)).expect("small")]);
        let start = random.below(sectors(file) - size.sectors_ceil());
        if number.is_multiple_of(3) {
            pair.now += Duration::from_ns(random.below(30_000_000));
        }
        pair.serve(op, start, size)
    };
    (0..count).map(&mut outcome).collect()
}

/// Serves requests on each disk after a change to its file; checks that at most `wrong_max`
/// predictions are wrong, and that no request completes later than predicted.
fn check_predictions(
    wrong_max: usize,
    change: impl Fn(&mut Mechanics),
    serve: impl Fn(&mut Pair, &DriveFile) -> Vec<Outcome>,
) {
    for name in DISKS {
        let mut file = load(name);
        change(file.mechanics.as_mut().expect("a hard disk"));
        let outcomes = serve(&mut Pair::of(&file), &file);
        let wrong: Vec<&Outcome> = outcomes.iter().filter(|it| it.error_ns() > 0).collect();
        let late = wrong.iter().filter(|it| it.took > it.expected.expect("a read")).count();
        println!("{name}: {} wrong, {late} late, {:?}", wrong.len(), wrong.first());
        assert!(wrong.len() <= wrong_max && late == 0, "{name}: {wrong:#?}");
    }
}

/// Random requests almost never hit memory.
#[test]
fn random_reads_take_the_predicted_time() {
    check_predictions(2, |_| (), |pair, file| random_outcomes(pair, file, Op::Read, COUNT));
}

/// Without write-back, the drive completes each write only when it is on the medium.
#[test]
fn random_writes_through_take_the_predicted_time() {
    let write_through = |mechanics: &mut Mechanics| {
        if let Some(cache) = &mut mechanics.cache {
            cache.write_back = WriteBack::Off;
        }
    };
    let serve = |pair: &mut Pair, file: &_| random_outcomes(pair, file, Op::Write, COUNT / 3);
    check_predictions(0, write_through, serve);
}

/// Consecutive requests are served from read-ahead, and the model predicts their times.
#[test]
fn sequential_reads_take_the_predicted_time() {
    let size = Bytes::from_kib(64);
    let start = |number| 1_000_000 + number * size.sectors_ceil();
    let serve = |pair: &mut Pair, _: &_| {
        (0..300).map(|number| pair.serve(Op::Read, start(number), size)).collect()
    };
    check_predictions(0, |_| (), serve);
}

/// Goal: the access time is a part of the predicted service time, and the rest is no longer than a
/// transfer can take: two turns, and one more for every 400 sectors.
#[test]
fn access_is_the_part_of_the_service_before_data_moves() {
    let file = load("fujitsu-max3036rc");
    for outcome in random_outcomes(&mut Pair::of(&file), &file, Op::Read, COUNT) {
        let expected = outcome.expected.expect("a read is foreseen");
        assert!(outcome.access <= expected, "{outcome:?}");
        let transfer = expected - outcome.access;
        let turns = Duration::from_ns(4_000_000 * (2 + outcome.target.sectors / 400));
        assert!(transfer <= turns, "{outcome:?}");
    }
}

/// Goal: the model finds the unknown phase of a real platter. Method: the drive's clock is a third
/// of a turn behind the host's; of the first 300 of 1,200 reads, at most a tenth may be predicted,
/// and of the last 300, at least nine tenths must be.
#[test]
fn an_unknown_phase_is_found() {
    let file = load("fujitsu-max3036rc");
    let mut pair = Pair::of(&file).behind(Duration::from_ns(1_333_333));
    let outcomes = random_outcomes(&mut pair, &file, Op::Read, 1_200);
    let right = |outcomes: &[Outcome]| outcomes.iter().filter(|it| it.error_ns() < 10_000).count();
    println!("first {} last {}", right(&outcomes[..300]), right(&outcomes[900..]));
    assert!(right(&outcomes[..300]) < 30, "the clocks differ at first");
    assert!(right(&outcomes[900..]) > 270, "the model found the phase");
}

/// Goal: writes taken by memory, and everything after them, are not predicted.
#[test]
fn after_a_write_into_memory_nothing_is_certain() {
    let mut file = load("fujitsu-max3036rc");
    let cache = file.mechanics.as_mut().expect("a hard disk").cache.get_or_insert_default();
    (cache.write_back, cache.write_segments) = (WriteBack::On, 2);
    let mut pair = Pair::of(&file);
    let size = Bytes::from_kib(64);
    assert!(pair.serve(Op::Read, 1_000, size).expected.is_some());
    assert_eq!(pair.serve(Op::Write, 5_000_000, size).expected, None);
    assert_eq!(pair.serve(Op::Read, 9_000_000, size).expected, None);
}

/// Goal: a drive with random retries is not predicted.
#[test]
fn of_a_drive_with_faults_nothing_is_certain() {
    let with_faults = DISKS.map(|name| builtin::load(name).expect("a built-in drive"));
    let has_faults =
        |file: &&DriveFile| file.mechanics.as_ref().is_some_and(|m| m.faults.is_some());
    let file = with_faults.iter().find(has_faults).expect("one of them has");
    assert_eq!(Pair::of(file).serve(Op::Read, 1_000, Bytes::from_kib(4)).expected, None);
}

/// Goal: the model accepts a request beyond the end, which the drive refuses: it has no sectors and
/// takes no access time.
#[test]
fn request_beyond_the_end_is_refused_at_once() {
    let file = load("fujitsu-max3036rc");
    let mut model = tidegate_drive::access_time(&file).expect("a disk");
    model.advance(Time::ZERO);
    let target = model.target(&request(1, Op::Read, sectors(&file), Bytes::from_kib(4)));
    assert_eq!((target.sectors, model.access(&target)), (0, Duration::ZERO));
    model.dispatched(Time::ZERO, &target);
    model.completed(Time::from_ns(1_000), &target);
}

/// Canary: a model with a slower head switch than the disk's is wrong about many requests.
#[test]
fn model_of_another_disk_is_seen_to_be_wrong() {
    let file = load("fujitsu-max3036rc");
    let mut pair = Pair::of(&file);
    let mut other = file.clone();
    other.mechanics.as_mut().expect("a hard disk").head_switch_ns += 500_000;
    pair.model = tidegate_drive::access_time(&other).expect("a disk");
    let outcomes = random_outcomes(&mut pair, &file, Op::Read, 300);
    assert!(outcomes.iter().filter(|it| it.error_ns() > 0).count() > 30);
}

/// Prints the errors of 100,000 random reads, for the record.
#[test]
#[ignore = "takes half a minute: `cargo test -p tidegate-drive --test all access -- --include-ignored --nocapture` prints the errors"]
fn errors_of_100_000_estimates() {
    for name in DISKS {
        let file = load(name);
        let outcomes = random_outcomes(&mut Pair::of(&file), &file, Op::Read, 100_000);
        let mut errors: Vec<u64> = outcomes.iter().map(Outcome::error_ns).collect();
        errors.sort_unstable();
        let late = outcomes.iter().filter(|it| Some(it.took) > it.expected).count();
        let wrong = errors.iter().filter(|&&error| error > 0).count();
        println!(
            "{name}: p99 {} ns, max {} ns, {wrong} wrong, {late} late",
            errors[98_999], errors[99_999]
        );
    }
}
