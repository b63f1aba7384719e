// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Properties of every drive and every order of requests.

use proptest::prelude::*;
use tidegate_drive::{Completion, Drive, SsdDrive};
use tidegate_model::ssd::{PrefillOrder, Ssd};
use tidegate_model::{Bytes, Duration, Lba, Op, Request, RequestId};

use super::common::*;
use crate::checked::Checked;

const DEPTH: u32 = 8;

/// An action of the host.
#[derive(Debug, Clone)]
enum Act {
    Submit(Vec<Request>),
    Flush,
    Trim {
        sector: u64,
        sectors: u64,
    },
    /// Lets the drive process `events` events, then waits.
    Wait {
        events: usize,
        pause_ns: u64,
    },
}

/// Returns small drives of all kinds that the section can describe.
fn drives() -> impl Strategy<Value = Ssd> {
    let flags = any::<[bool; 5]>();
    let numbers = (0..5_u32, 1..5_u32, 0..=100_u32, 1..4_u32, 0..2_u32);
    (flags, prop::option::of(1_000..200_000_u64), numbers).prop_map(
        |([write_back, protection, full_duplex, is_random, is_scarce], suspend_ns, numbers)| {
            let (reads_first_max, stripe_dies, percent, background, less) = numbers;
            let mut ssd = Ssd { suspend_ns, reads_first_max, ..small() };
            ssd.cache.write_back = write_back;
            ssd.cache.power_loss_protection = protection;
            ssd.cache.stripe_dies = stripe_dies;
            ssd.link.full_duplex = full_duplex;
            ssd.collection.background_blocks = background;
            ssd.collection.foreground_blocks = (background - less).max(1);
            ssd.prefill.percent = percent;
            if is_random {
                ssd.prefill.order = PrefillOrder::Random;
            }
            if is_scarce { least_spare(&ssd) } else { ssd }
        },
    )
}

/// The sectors of the small drive and some beyond.
const SECTORS: u64 = 105_000;

fn requests() -> impl Strategy<Value = Request> {
    // Half of the requests are in a small part of the drive, so that they overlap.
    let sector = prop_oneof![0..SECTORS, 0..400_u64];
    let sectors = prop_oneof![1..64_u64, Just(8_u64), Just(600_u64)];
    (any::<[bool; 2]>(), sector, sectors).prop_map(|([is_read, fua], sector, sectors)| {
        let op = if is_read { Op::Read } else { Op::Write };
        let size = Bytes::new(sectors * 512);
        Request { start: Lba::new(sector), size, fua, ..request(0, op, 0, 0) }
    })
}

fn acts() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => prop::collection::vec(requests(), 1..5).prop_map(Act::Submit),
        1 => Just(Act::Flush),
        1 => (0..SECTORS, 0..2_000_u64).prop_map(|(sector, sectors)| Act::Trim { sector, sectors }),
        6 => (0..60_usize, 0..20_000_000_u64)
            .prop_map(|(events, pause_ns)| Act::Wait { events, pause_ns }),
    ]
}

/// Plays the host: a request for which the drive has no room is not sent, and the host waits for an
/// event.
fn play(ssd: &Ssd, acts: &[Act]) -> Vec<Completion> {
    let mut host = Checked::new(drive(ssd, DEPTH), DEPTH, None);
    let mut ids = (1..).map(RequestId);
    for act in acts {
        match act {
            Act::Submit(batch) if batch.len() <= host.room() => {
                let named = |(request, id): (&Request, _)| Request { id, ..*request };
                let batch: Vec<Request> = batch.iter().zip(&mut ids).map(named).collect();
                host.submit(&batch);
            }
            Act::Flush if host.room() > 0 => {
                let id = ids.next().expect("without end");
                host.hold(id);
                host.drive.flush(host.now, id);
            }
            Act::Submit(_) | Act::Flush => step(&mut host),
            &Act::Trim { sector, sectors } => {
                host.drive.trim(Lba::new(sector), Bytes::new(sectors * 512));
            }
            &Act::Wait { events, pause_ns } => {
                (0..events).for_each(|_| step(&mut host));
                host.advance(host.now + Duration::from_ns(pause_ns));
            }
        }
    }
    let (drive, completions) = host.finish();
    drive.audit();
    completions
}

fn step(host: &mut Checked<SsdDrive>) {
    let holds_some = host.room() < DEPTH as usize;
    assert_eq!(host.drive.next_event().is_some(), holds_some, "an event while it holds some");
    host.step();
}

/// Returns the shortest and the longest time that a read of `units` units takes, alone on a drive
/// that is full and otherwise idle: everything in parallel, or one unit after the other.
fn read_time_bounds_ns(ssd: &Ssd, units: u64) -> [u64; 2] {
    let transfer = |bytes: u64, rate: u64| (bytes * 1_000_000_000).div_ceil(rate);
    let unit = u64::from(ssd.unit_bytes);
    let channel = transfer(unit, ssd.channel_bytes_per_s);
    let link = transfer(unit, ssd.link.bytes_per_s);
    let [least, most] = [ssd.read_ns.iter().min(), ssd.read_ns.iter().max()];
    let fixed = ssd.overhead_ns + ssd.link.command_ns;
    [
        fixed + least.unwrap() + channel + units * link,
        fixed + units * (most.unwrap() + channel + link),
    ]
}

fn full(mut ssd: Ssd) -> Ssd {
    ssd.prefill.percent = 100;
    ssd
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Each request completes once, in order of time, for any history; tables and blocks agree.
    #[test]
    fn every_request_comes_back_once(
        ssd in drives(),
        acts in prop::collection::vec(acts(), 1..200),
    ) {
        play(&ssd, &acts);
    }

    #[test]
    fn same_seed_gives_the_same_run(
        ssd in drives(),
        acts in prop::collection::vec(acts(), 1..60),
    ) {
        prop_assert_eq!(play(&ssd, &acts), play(&ssd, &acts));
    }

    /// Tests reads of up to 300 KiB on a full drive, one at a time.
    #[test]
    fn read_alone_keeps_its_bounds(
        ssd in drives(),
        reads in prop::collection::vec((0..12_900_u64, 1..75_u64), 1..50),
    ) {
        let ssd = full(ssd);
        let mut drive = drive(&ssd, 1);
        let mut begun = at(0);
        for (unit, units) in reads {
            drive.submit(begun, &[request(1, Op::Read, unit, units)]);
            let [Completion { at: end, .. }] = finish(&mut drive)[..] else { panic!("one") };
            let [least, most] = read_time_bounds_ns(&ssd, units);
            let took = (end - begun).ns();
            prop_assert!((least..=most).contains(&took), "{took} not in {least}..={most}");
            begun = end;
        }
    }

    /// A read from flash is no faster when other reads are in flight.
    #[test]
    fn read_beside_reads_is_never_faster_than_its_page(
        ssd in drives(),
        batch in prop::collection::vec((0..12_900_u64, 1..75_u64), 1..8),
    ) {
        let ssd = full(ssd);
        let mut drive = drive(&ssd, DEPTH);
        let read = |(id, &(unit, units))| request(id, Op::Read, unit, units);
        drive.submit(at(0), &(0..).zip(&batch).map(read).collect::<Vec<_>>());
        for Completion { id, at, .. } in finish(&mut drive) {
            let units = batch[usize::try_from(id.0).unwrap()].1;
            prop_assert!(at.ns() >= read_time_bounds_ns(&ssd, units)[0]);
        }
    }
}
