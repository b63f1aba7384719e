// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests `Mechanics::check`: each refused value with its place, and the last accepted value.

use tidegate_model::mechanics::{
    Bus, Cache, Faults, Layout, Mechanics, Overhead, Queue, ReadAhead, Scheduler, Seek, WriteBack,
    Zones,
};

const MINUTE_NS: u64 = 60_000_000_000;
const SECTOR_PS_MAX: u64 = 10_000_000_000;

/// A valid disk with a cache and faults.
fn disk() -> Mechanics {
    Mechanics {
        chosen: Vec::new(),
        rpm: 6_000,
        surfaces: 2,
        cylinders: 100,
        sectors: 20_000,
        head_switch_ns: 500_000,
        write_settle_ns: 0,
        write_seek_ns_min: 0,
        zero_latency: false,
        seek: Seek::Points(vec![(1, 1_100_000)]),
        overhead: Overhead::default(),
        bus: Bus::default(),
        cache: Some(Cache { segments: 2, segment_sectors: 300, ..Cache::default() }),
        queue: Queue::default(),
        faults: Some(Faults::default()),
        layout: Layout::Zones(Zones::default()),
    }
}

fn cache(mechanics: &mut Mechanics) -> &mut Cache {
    mechanics.cache.as_mut().expect("the disk has a cache")
}

fn faults(mechanics: &mut Mechanics) -> &mut Faults {
    mechanics.faults.as_mut().expect("the disk has faults")
}

/// Returns the value for which the disk is refused after this change; `None` if the disk is
/// accepted.
fn place(change: impl FnOnce(&mut Mechanics)) -> Option<String> {
    let mut mechanics = disk();
    change(&mut mechanics);
    let error = mechanics.check().err()?;
    assert!(!error.message.is_empty() && !error.help.is_empty(), "{error:?} says what to do");
    assert_eq!(error.to_string(), format!("{}: {}", error.place, error.message));
    assert!(!error.message.contains('{'), "{error:?} names the values");
    Some(error.place)
}

#[track_caller]
fn is_refused(expected: &str, change: impl FnOnce(&mut Mechanics)) {
    assert_eq!(place(change).as_deref(), Some(expected));
}

#[track_caller]
fn is_right(change: impl FnOnce(&mut Mechanics)) {
    assert_eq!(place(change), None);
}

/// A field of a disk.
enum Field {
    U64(fn(&mut Mechanics) -> &mut u64),
    U32(fn(&mut Mechanics) -> &mut u32),
}

impl Field {
    /// Sets the field; a value that is too large for the field's type becomes the largest value of
    /// the type.
    fn set(&self, mechanics: &mut Mechanics, value: u64) {
        match self {
            Self::U64(field) => *field(mechanics) = value,
            Self::U32(field) => *field(mechanics) = u32::try_from(value).unwrap_or(u32::MAX),
        }
    }
}

#[test]
fn disk_in_order_is_not_refused_with_or_without_memory() {
    is_right(|_| ());
    is_right(|mechanics| (mechanics.cache, mechanics.faults) = (None, None));
}

/// Goal: each field of a disk is limited: its speed, its times, its retries, and its bus to 10 ms
/// per sector. Method: each field at its limit, above it, and at the end of its range.
#[test]
fn fields_are_limited() {
    use Field::{U32, U64};
    for (expected, max, field) in [
        ("rpm", 1_000_000, U32(|it| &mut it.rpm)),
        ("head_switch_ns", MINUTE_NS, U64(|it| &mut it.head_switch_ns)),
        ("write_seek_ns_min", MINUTE_NS, U64(|it| &mut it.write_seek_ns_min)),
        ("bus: read_sector_ps", SECTOR_PS_MAX, U64(|it| &mut it.bus.read_sector_ps)),
        ("bus: write_sector_ps", SECTOR_PS_MAX, U64(|it| &mut it.bus.write_sector_ps)),
        ("bus: read_watermark_ppm", 1_000_000, U32(|it| &mut it.bus.read_watermark_ppm)),
        ("cache: segments", 65_536, U32(|it| &mut cache(it).segments)),
        // A cache cannot have more write segments than segments.
        ("cache: write_segments", 2, U32(|it| &mut cache(it).write_segments)),
        ("faults: retry_ppm", 1_000_000, U32(|it| &mut faults(it).retry_ppm)),
        ("faults: recalibration_ppm", 1_000_000, U32(|it| &mut faults(it).recalibration_ppm)),
        ("faults: recalibration_ns", MINUTE_NS, U64(|it| &mut faults(it).recalibration_ns)),
        ("faults: retries_max", 1_000, U32(|it| &mut faults(it).retries_max)),
    ] {
        is_limited(expected, max, &field);
    }
    is_right(|mechanics| mechanics.rpm = 1);
    is_refused("rpm", |mechanics| mechanics.rpm = 0);
    is_refused("cache: segments", |mechanics| cache(mechanics).segments = 0);
    is_refused("cache: segments", |mechanics| cache(mechanics).segment_sectors = 0);
}

/// Checks that `field` accepts values up to `max`.
#[track_caller]
fn is_limited(expected: &str, max: u64, field: &Field) {
    is_right(|mechanics| field.set(mechanics, max));
    is_refused(expected, |mechanics| field.set(mechanics, max + 1));
    is_refused(expected, |mechanics| field.set(mechanics, u64::MAX));
}

#[test]
fn settling_is_limited_in_both_directions() {
    let minute_ns = MINUTE_NS.cast_signed();
    is_right(|mechanics| mechanics.write_settle_ns = minute_ns);
    is_right(|mechanics| mechanics.write_settle_ns = -minute_ns);
    for wrong in [minute_ns + 1, -minute_ns - 1, i64::MAX, i64::MIN] {
        is_refused("write_settle_ns", |mechanics| mechanics.write_settle_ns = wrong);
    }
}

#[test]
fn overheads_of_more_than_a_minute_are_refused() {
    use Field::U64;
    for (name, field) in [
        ("read_hit_after_read_ns", U64(|it| &mut it.overhead.read_hit_after_read_ns)),
        ("read_hit_after_write_ns", U64(|it| &mut it.overhead.read_hit_after_write_ns)),
        ("read_miss_after_read_ns", U64(|it| &mut it.overhead.read_miss_after_read_ns)),
        ("read_miss_after_write_ns", U64(|it| &mut it.overhead.read_miss_after_write_ns)),
        ("write_hit_after_read_ns", U64(|it| &mut it.overhead.write_hit_after_read_ns)),
        ("write_hit_after_write_ns", U64(|it| &mut it.overhead.write_hit_after_write_ns)),
        ("write_miss_after_read_ns", U64(|it| &mut it.overhead.write_miss_after_read_ns)),
        ("write_miss_after_write_ns", U64(|it| &mut it.overhead.write_miss_after_write_ns)),
        ("read_completion_ns", U64(|it| &mut it.overhead.read_completion_ns)),
        ("write_completion_ns", U64(|it| &mut it.overhead.write_completion_ns)),
        ("reconnect_ns", U64(|it| &mut it.overhead.reconnect_ns)),
        ("data_preparation_ns", U64(|it| &mut it.overhead.data_preparation_ns)),
    ] {
        is_limited(&format!("overhead: {name}"), MINUTE_NS, &field);
    }
}

#[test]
fn write_back_without_a_segment_for_it_is_refused() {
    let write_back = |write_segments| {
        move |mechanics: &mut Mechanics| {
            cache(mechanics).write_back = WriteBack::On;
            cache(mechanics).write_segments = write_segments;
        }
    };
    is_refused("cache: write_segments", write_back(0));
    is_right(write_back(1));
}

#[test]
fn read_ahead_that_nothing_is_answered_from_is_refused() {
    let read_ahead = |kind, read| {
        move |mechanics: &mut Mechanics| {
            (cache(mechanics).read_ahead, cache(mechanics).read) = (kind, read);
        }
    };
    let kinds = [ReadAhead::Track, ReadAhead::Cylinder, ReadAhead::Segment, ReadAhead::Adaptive];
    for kind in kinds {
        is_refused("cache: read_ahead", read_ahead(kind, false));
        is_right(read_ahead(kind, true));
    }
    is_right(read_ahead(ReadAhead::Off, false));
}

/// The queue's own tests cover its faults; this test checks that the disk checks its queue.
#[test]
fn queue_that_contradicts_itself_is_refused() {
    is_refused("queue: aging_ns_per_ms", |mechanics| {
        mechanics.queue.scheduler = Scheduler::SatfAging;
    });
    is_refused("queue: aging_ns_per_ms", |mechanics| mechanics.queue.aging_ns_per_ms = Some(5));
    is_refused("queue: starvation_ns", |mechanics| mechanics.queue.starvation_ns = Some(0));
}

#[test]
fn refusal_says_what_to_write_instead() {
    let mut mechanics = disk();
    mechanics.bus.read_watermark_ppm = 1_000_001;
    let error = mechanics.check().expect_err("more than the whole");
    assert_eq!(error.message, "1000001 in a million is impossible for a disk");
    assert_eq!(error.help, "write at most 1000000");
}
