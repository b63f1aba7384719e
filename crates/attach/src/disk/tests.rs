// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the disk completes each request once, at the drive's time, with the right data. Method:
//! requests against simulated drives in virtual time.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use proptest::prelude::*;
use tidegate_drive::{PseudoDisk, builtin, from_parts};
use tidegate_model::{BatchTable, DriveKind, Duration};

use super::*;

const SECTOR: usize = 512;

/// The replies, in order: the request's number, and its data or error.
type Answers = Rc<RefCell<Vec<(u32, Result<Vec<u8>, i32>)>>>;

struct Recorded(u32, Answers);

impl Reply for Recorded {
    fn answer(self, result: io::Result<&[u8]>) {
        let result = result.map(<[u8]>::to_vec).map_err(|error| error.raw_os_error().unwrap_or(0));
        self.1.borrow_mut().push((self.0, result));
    }
}

fn fixed(depth: u32) -> Box<dyn Drive + Send> {
    let table = BatchTable::new(&[Duration::from_ms(1)]).expect("a table of one time");
    Box::new(PseudoDisk::new(depth, table, 1))
}

fn memory() -> File {
    tidegate_device::memory_file(Bytes::from_kib(1024)).expect("memory")
}

fn write(sector: u64, byte: u8) -> Ask {
    Ask::Write { start: Lba::new(sector), data: vec![byte; SECTOR] }
}

fn read(sector: u64) -> Ask {
    Ask::Read { start: Lba::new(sector), size: Bytes::new(SECTOR as u64) }
}

fn finish(disk: &mut Disk<Recorded>) -> Time {
    let mut now = Time::ZERO;
    while let Some(next) = disk.next_event() {
        now = next;
        disk.advance(now, || now);
    }
    now
}

#[test]
fn what_was_written_is_read_and_the_rest_is_zero() {
    let answers = Answers::default();
    let mut disk = Disk::new(fixed(1), 1, memory());
    for (id, ask) in [write(8, 7), Ask::Flush, read(8), read(9)].into_iter().enumerate() {
        let id = u32::try_from(id).expect("few");
        disk.accept(Time::ZERO, ask, Recorded(id, Rc::clone(&answers)));
    }
    finish(&mut disk);
    let full = |byte| Ok(vec![byte; SECTOR]);
    let wanted = vec![(0, Ok(Vec::new())), (1, Ok(Vec::new())), (2, full(7)), (3, full(0))];
    assert_eq!(*answers.borrow(), wanted);
    let statistics = disk.statistics();
    assert_eq!((statistics.reads, statistics.writes, statistics.flushes), (2, 1, 1));
    assert_eq!((statistics.outstanding_highest, statistics.waiting_highest), (4, 3));
}

/// The data of a write moves when the drive completes the write, not when it arrives.
#[test]
fn a_write_is_not_there_before_it_is_done() {
    let answers = Answers::default();
    let mut disk = Disk::new(fixed(1), 1, memory());
    disk.accept(Time::ZERO, write(0, 9), Recorded(0, Rc::clone(&answers)));
    let mut sector = [1; SECTOR];
    disk.store.read_exact_at(&mut sector, 0).expect("the store");
    assert_eq!(sector, [0; SECTOR]);
    let almost = Time::from_ns(999_999);
    disk.advance(almost, || almost);
    assert!(answers.borrow().is_empty());
    finish(&mut disk);
    disk.store.read_exact_at(&mut sector, 0).expect("the store");
    assert_eq!(sector, [9; SECTOR]);
}

#[test]
fn a_store_that_refuses_is_an_error_and_the_disk_goes_on() {
    let answers = Answers::default();
    let file = tempfile::NamedTempFile::new().expect("a file");
    let read_only = File::open(file.path()).expect("the same file");
    let mut disk = Disk::new(fixed(1), 1, read_only);
    for (id, ask) in [write(0, 1), read(0)].into_iter().enumerate() {
        let id = u32::try_from(id).expect("few");
        disk.accept(Time::ZERO, ask, Recorded(id, Rc::clone(&answers)));
    }
    finish(&mut disk);
    let refused = rustix::io::Errno::BADF.raw_os_error();
    assert_eq!(*answers.borrow(), vec![(0, Err(refused)), (1, Ok(vec![0; SECTOR]))]);
}

/// The host's lateness is counted separately from the drive's response time.
#[test]
fn lateness_is_not_the_drives() {
    let answers = Answers::default();
    let mut disk = Disk::new(fixed(1), 1, memory());
    disk.accept(Time::ZERO, read(0), Recorded(0, Rc::clone(&answers)));
    let late = Time::from_ns(5_000_000);
    disk.advance(late, || late);
    assert_eq!(disk.statistics().response_highest, Duration::from_ms(1));
    assert_eq!(disk.statistics().lateness_highest, Duration::from_ms(4));
}

/// Returns the duration of a flush after `writes` writes that the drive completed into its cache,
/// spread over the disk.
fn flush_time(writes: u64) -> Duration {
    let file = builtin::load("nearline-7200").expect("built in");
    let drive = from_parts(DriveKind::Mechanical, &file, 1).expect("it has mechanics");
    let answers = Answers::default();
    let mut disk = Disk::new(drive, file.depth, memory());
    for index in 0..writes {
        disk.accept(Time::ZERO, write(index * 100, 1), Recorded(0, Rc::clone(&answers)));
    }
    let now = finish(&mut disk);
    disk.accept(now, Ask::Flush, Recorded(1, answers));
    finish(&mut disk).since(now)
}

/// A flush waits until the drive has written all completed writes to the medium.
#[test]
fn a_flush_takes_what_the_drive_has_to_write() {
    let (clean, dirty) = (flush_time(0), flush_time(16));
    assert!(dirty > clean + Duration::from_ms(4), "{clean} clean, {dirty} dirty");
}

/// An action on a disk: gap in us, kind (0 write, 1 read, 2 flush), sector, byte.
type DiskAction = (u64, u8, u64, u8);

fn run(steps: &[DiskAction], mut disk: Disk<Recorded>, answers: &Answers, sees_flush: bool) {
    let mut now = Time::ZERO;
    for (id, &(gap_us, what, sector, byte)) in (0..).zip(steps) {
        now += Duration::from_us(gap_us);
        disk.advance(now, || now);
        let ask = match what {
            0 => write(sector, byte),
            1 => read(sector),
            _ => Ask::Flush,
        };
        if what < 2 || sees_flush {
            disk.accept(now, ask, Recorded(id, Rc::clone(answers)));
        }
    }
    while let Some(next) = disk.next_event() {
        disk.advance(next, || next);
    }
}

/// Checks that each request is completed exactly once, and that a read returns the data of the last
/// write of that sector that completed before it: data moves in the order of completions.
fn check(steps: &[DiskAction], answers: &Answers) -> Result<(), String> {
    let mut sectors: HashMap<u64, u8> = HashMap::new();
    let mut seen = vec![false; steps.len()];
    for (id, result) in answers.borrow().iter() {
        let &(_, what, sector, byte) = &steps[*id as usize];
        if std::mem::replace(&mut seen[*id as usize], true) {
            return Err(format!("{id} answered twice"));
        }
        let wanted = match what {
            0 => {
                sectors.insert(sector, byte);
                Vec::new()
            }
            1 => vec![sectors.get(&sector).copied().unwrap_or(0); SECTOR],
            _ => Vec::new(),
        };
        if *result != Ok(wanted) {
            return Err(format!("{id} was answered otherwise"));
        }
    }
    if seen.into_iter().all(|seen| seen) { Ok(()) } else { Err("an answer is missing".to_owned()) }
}

fn steps() -> impl Strategy<Value = Vec<DiskAction>> {
    prop::collection::vec((0..20_000_u64, 0..3_u8, 0..6_u64, 1..255_u8), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The check holds for a mechanical drive that chooses its own order and has a write cache, and
    /// for more requests than its depth.
    #[test]
    fn every_request_is_answered_once_with_the_data_of_that_instant(steps in steps()) {
        let file = builtin::load("fujitsu-max3036rc").expect("built in");
        let drive = from_parts(DriveKind::Mechanical, &file, 1).expect("it has mechanics");
        let answers = Answers::default();
        run(&steps, Disk::new(drive, file.depth, memory()), &answers, true);
        prop_assert_eq!(check(&steps, &answers), Ok(()));
    }
}

/// Canary: the check finds a missing completion and wrong data.
#[test]
fn the_check_finds_lost_answers_and_wrong_data() {
    let steps = [(0, 0, 1, 5), (0, 1, 1, 0), (0, 2, 0, 0)];
    let answers = Answers::default();
    run(&steps, Disk::new(fixed(1), 1, memory()), &answers, false);
    assert_eq!(check(&steps, &answers), Err("an answer is missing".to_owned()));
    answers.borrow_mut()[1].1 = Ok(vec![6; SECTOR]);
    assert_eq!(check(&steps, &answers), Err("1 was answered otherwise".to_owned()));
}
