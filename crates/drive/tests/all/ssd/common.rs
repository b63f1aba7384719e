// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers for the tests of the solid-state drive: a small drive, requests, and a way to let the
//! drive finish.

use tidegate_drive::{Completion, Drive, SsdDrive, builtin};
use tidegate_model::ssd::{Collection, Link, Prefill, PrefillOrder, Ssd, WriteCache};
use tidegate_model::{Bytes, Class, Lba, Op, Request, RequestId, Time};

/// The size of a unit on all drives in these tests.
pub(crate) const UNIT: Bytes = Bytes::from_kib(4);

/// The time of a page over its channel on the small drive.
pub(crate) const PAGE_NS: u64 = 10_240;
/// The time of a unit over the small drive's link.
pub(crate) const LINK_NS: u64 = 8_192;
/// The time of a command over the small drive's link.
pub(crate) const COMMAND_NS: u64 = 1_000;
/// The time that the small drive takes to process a command.
pub(crate) const OVERHEAD_NS: u64 = 10_000;
/// The time of a program operation on the small drive.
pub(crate) const PROGRAM_NS: u64 = 1_000_000;
/// The time that the small drive takes to read the first page of a row in the flash.
pub(crate) const READ_NS: u64 = 50_000;
/// The instant at which a unit sent at 0 to the idle small drive has reached the cache.
pub(crate) const CACHED_NS: u64 = OVERHEAD_NS + LINK_NS + COMMAND_NS;
/// How long a row takes from the cache to the flash of an idle die: four pages.
pub(crate) const ROW_NS: u64 = 4 * PAGE_NS + PROGRAM_NS;

/// A drive of 50 MiB with four dies, filled in order: units 0 and 1 are in the first stripe of
/// die 0, units 2 and 3 in the first stripe of die 1, 4 and 5 in the second stripe of die 0.
pub(crate) fn small() -> Ssd {
    Ssd {
        chosen: Vec::new(),
        channels: 2,
        dies_per_channel: 2,
        planes_per_die: 2,
        blocks_per_plane: 66,
        pages_per_block: 32,
        page_bytes: 4_096,
        unit_bytes: 4_096,
        over_provisioning_percent: 30,
        read_ns: vec![READ_NS, 70_000],
        program_ns: PROGRAM_NS,
        erase_ns: 4_000_000,
        suspend_ns: None,
        reads_first_max: 4,
        channel_bytes_per_s: 400_000_000,
        overhead_ns: OVERHEAD_NS,
        link: Link { bytes_per_s: 500_000_000, command_ns: COMMAND_NS, full_duplex: false },
        cache: WriteCache {
            bytes: 64 * UNIT.get(),
            write_back: true,
            power_loss_protection: false,
            stripe_dies: 2,
        },
        collection: Collection { background_blocks: 2, foreground_blocks: 1 },
        prefill: Prefill { percent: 100, order: PrefillOrder::Sequential },
    }
}

/// Returns the same drive after long overwriting.
pub(crate) fn aged(mut ssd: Ssd) -> Ssd {
    ssd.prefill.order = PrefillOrder::Random;
    ssd
}

/// Returns the same drive, filled once in order.
pub(crate) fn fresh(mut ssd: Ssd) -> Ssd {
    ssd.prefill.order = PrefillOrder::Sequential;
    ssd
}

/// Returns the same drive with the least accepted spare flash.
pub(crate) fn least_spare(ssd: &Ssd) -> Ssd {
    let with = |percent| Ssd { over_provisioning_percent: percent, ..ssd.clone() };
    (1..100).map(with).find(|ssd| ssd.check().is_ok()).expect("30 % are enough")
}

/// Returns a built-in drive's section and its depth.
pub(crate) fn builtin_ssd(name: &str) -> (Ssd, u32) {
    let file = builtin::load(name).expect("a built-in drive");
    (*file.ssd.expect("a solid-state drive"), file.depth)
}

pub(crate) fn drive(ssd: &Ssd, depth: u32) -> SsdDrive {
    SsdDrive::new(ssd, depth, 1).expect("a sound section")
}

pub(crate) fn at(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// Returns a request for `units` units from `unit` on.
pub(crate) fn request(id: u64, op: Op, unit: u64, units: u64) -> Request {
    let size = Bytes::new(units * UNIT.get());
    Request {
        op,
        start: Lba::new(unit * UNIT.sectors_ceil()),
        ..Request::plain(RequestId(id), Class::Hard, size)
    }
}

pub(crate) fn read(unit: u64, units: u64) -> Request {
    request(0, Op::Read, unit, units)
}

pub(crate) fn write(unit: u64, units: u64) -> Request {
    request(0, Op::Write, unit, units)
}

/// Returns a write that must be in flash before it completes.
pub(crate) fn durable(unit: u64) -> Request {
    Request { fua: true, ..write(unit, 1) }
}

/// Lets the drive finish; returns its completions, in order.
pub(crate) fn finish(drive: &mut SsdDrive) -> Vec<Completion> {
    let mut completions = Vec::new();
    while let Some(next) = drive.next_event() {
        drive.advance(next, &mut completions);
    }
    completions
}

/// Returns the ids and instants of completions.
pub(crate) fn ends_ns(completions: &[Completion]) -> Vec<(u64, u64)> {
    completions.iter().map(|completion| (completion.id.0, completion.at.ns())).collect()
}

/// Checks when each of these requests, submitted at these instants, completes: (submitted,
/// request, end). The ids are 1, 2, ..
pub(crate) fn check(what: &str, ssd: &Ssd, requests: &[(u64, Request, u64)]) {
    let asked: Vec<_> =
        requests.iter().map(|&(begin_ns, request, _)| (begin_ns, request)).collect();
    let ends = (1..).zip(requests).map(|(id, &(_, _, end_ns))| (id, end_ns));
    let mut expected: Vec<(u64, u64)> = ends.collect();
    expected.sort_by_key(|&(_, end_ns)| end_ns);
    assert_eq!(serve(ssd, &asked), expected, "{what}");
}

/// Submits each request at its instant, with the ids 1, 2, .. Returns the id of each request and
/// the time of its completion in nanoseconds, in the order of completion.
pub(crate) fn serve(ssd: &Ssd, requests: &[(u64, Request)]) -> Vec<(u64, u64)> {
    let mut drive = drive(ssd, 32);
    let mut completions = Vec::new();
    for (id, &(begin_ns, request)) in (1..).zip(requests) {
        while let Some(next) = drive.next_event().filter(|&next| next <= at(begin_ns)) {
            drive.advance(next, &mut completions);
        }
        drive.submit(at(begin_ns), &[Request { id: RequestId(id), ..request }]);
    }
    completions.extend(finish(&mut drive));
    drive.audit();
    ends_ns(&completions)
}
