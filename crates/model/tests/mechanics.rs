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

/// Returns where the disk is refused after this change; `None` if it is accepted.
fn place(change: impl FnOnce(&mut Mechanics)) -> Option<String> {
    let mut mechanics = disk();
    change(&mut mechanics);
    let error = mechanics.check().err()?;
    assert!(!error.message.is_empty() && !error.help.is_empty(), "{error:?} says what to do");
    assert_eq!(error.to_string(), format!("{}: {}", error.place, error.message));
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

/// Checks that `field` accepts values up to `max`.
#[track_caller]
fn is_limited(expected: &str, max: u64, field: impl Fn(&mut Mechanics) -> &mut u64) {
    is_right(|mechanics| *field(mechanics) = max);
    is_refused(expected, |mechanics| *field(mechanics) = max + 1);
    is_refused(expected, |mechanics| *field(mechanics) = u64::MAX);
}

/// Checks the same for a smaller field.
#[track_caller]
fn is_limited_u32(expected: &str, max: u32, field: impl Fn(&mut Mechanics) -> &mut u32) {
    is_right(|mechanics| *field(mechanics) = max);
    is_refused(expected, |mechanics| *field(mechanics) = max + 1);
    is_refused(expected, |mechanics| *field(mechanics) = u32::MAX);
}

#[test]
fn disk_in_order_is_not_refused_with_or_without_memory() {
    is_right(|_| ());
    is_right(|mechanics| (mechanics.cache, mechanics.faults) = (None, None));
}

#[test]
fn disk_that_stands_still_or_flies_apart_is_refused() {
    is_limited_u32("rpm", 1_000_000, |mechanics| &mut mechanics.rpm);
    is_right(|mechanics| mechanics.rpm = 1);
    is_refused("rpm", |mechanics| mechanics.rpm = 0);
}

#[test]
fn movements_of_more_than_a_minute_are_refused() {
    is_limited("head_switch_ns", MINUTE_NS, |mechanics| &mut mechanics.head_switch_ns);
    is_limited("write_seek_ns_min", MINUTE_NS, |mechanics| &mut mechanics.write_seek_ns_min);
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
    type Field = fn(&mut Overhead) -> &mut u64;
    let fields: [(&str, Field); 12] = [
        ("read_hit_after_read_ns", |overhead| &mut overhead.read_hit_after_read_ns),
        ("read_hit_after_write_ns", |overhead| &mut overhead.read_hit_after_write_ns),
        ("read_miss_after_read_ns", |overhead| &mut overhead.read_miss_after_read_ns),
        ("read_miss_after_write_ns", |overhead| &mut overhead.read_miss_after_write_ns),
        ("write_hit_after_read_ns", |overhead| &mut overhead.write_hit_after_read_ns),
        ("write_hit_after_write_ns", |overhead| &mut overhead.write_hit_after_write_ns),
        ("write_miss_after_read_ns", |overhead| &mut overhead.write_miss_after_read_ns),
        ("write_miss_after_write_ns", |overhead| &mut overhead.write_miss_after_write_ns),
        ("read_completion_ns", |overhead| &mut overhead.read_completion_ns),
        ("write_completion_ns", |overhead| &mut overhead.write_completion_ns),
        ("reconnect_ns", |overhead| &mut overhead.reconnect_ns),
        ("data_preparation_ns", |overhead| &mut overhead.data_preparation_ns),
    ];
    for (name, field) in fields {
        let expected = format!("overhead: {name}");
        is_limited(&expected, MINUTE_NS, |mechanics| field(&mut mechanics.overhead));
    }
}

#[test]
fn bus_slower_than_a_hundredth_of_a_second_a_sector_is_refused() {
    is_limited("bus: read_sector_ps", SECTOR_PS_MAX, |mechanics| &mut mechanics.bus.read_sector_ps);
    is_limited("bus: write_sector_ps", SECTOR_PS_MAX, |mechanics| {
        &mut mechanics.bus.write_sector_ps
    });
}

#[test]
fn watermark_of_more_than_the_whole_read_is_refused() {
    is_limited_u32("bus: read_watermark_ppm", 1_000_000, |mechanics| {
        &mut mechanics.bus.read_watermark_ppm
    });
}

#[test]
fn memory_of_no_sectors_or_too_many_segments_is_refused() {
    is_limited_u32("cache: segments", 65_536, |mechanics| &mut cache(mechanics).segments);
    is_refused("cache: segments", |mechanics| cache(mechanics).segments = 0);
    is_refused("cache: segments", |mechanics| cache(mechanics).segment_sectors = 0);
}

#[test]
fn more_write_segments_than_segments_are_refused() {
    is_limited_u32("cache: write_segments", 2, |mechanics| &mut cache(mechanics).write_segments);
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

#[test]
fn faults_beyond_every_access_are_refused() {
    is_limited_u32("faults: retry_ppm", 1_000_000, |mechanics| &mut faults(mechanics).retry_ppm);
    is_limited_u32("faults: recalibration_ppm", 1_000_000, |mechanics| {
        &mut faults(mechanics).recalibration_ppm
    });
}

#[test]
fn faults_that_take_for_ever_are_refused() {
    is_limited("faults: recalibration_ns", MINUTE_NS, |mechanics| {
        &mut faults(mechanics).recalibration_ns
    });
    is_limited_u32("faults: retries_max", 1_000, |mechanics| &mut faults(mechanics).retries_max);
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
