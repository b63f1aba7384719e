// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A small disk whose times can be computed by hand, and a host that drives it.
//!
//! A turn takes 10 ms and a track has 100 sectors, so a sector takes 100 us. The disk has two
//! heads, 100 cylinders and no skew; at time zero, sector 0 of every track is under its head. A
//! seek over d cylinders takes 1 ms + d * 0.1 ms, and a head switch 0.5 ms.

use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_drive::{Completion, Drive};
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{Bytes, Class, Lba, Op, Outcome, Request, RequestId, Time};

pub(crate) const SECTORS: u64 = 20_000;

pub(crate) fn us(us: u64) -> Time {
    Time::from_ns(us * 1_000)
}

/// Returns a disk with neither cache nor overheads; the host receives each sector immediately.
pub(crate) fn plain() -> Mechanics {
    let text = "
        rpm = 6_000
        surfaces = 2
        cylinders = 100
        sectors = 20_000
        head_switch_ns = 500_000
        seek.points = [[1, 1_100_000], [99, 10_900_000]]
        layout.zones.zone = [{ cylinder_first = 0, cylinder_last = 99, sectors_per_track = 100 }]
    ";
    toml::from_str(text).expect("a disk needs no more")
}

pub(crate) fn request(id: u64, op: Op, start: u64, sectors: u64) -> Request {
    Request {
        op,
        start: Lba::new(start),
        ..Request::plain(RequestId(id), Class::BestEffort, Bytes::new(sectors * 512))
    }
}

pub(crate) fn read(id: u64, start: u64, sectors: u64) -> Request {
    request(id, Op::Read, start, sectors)
}

pub(crate) fn write(id: u64, start: u64, sectors: u64) -> Request {
    request(id, Op::Write, start, sectors)
}

/// A drive and its completions.
pub(crate) struct Host {
    pub(crate) drive: MechanicalDrive,
    pub(crate) now: Time,
}

impl Host {
    pub(crate) fn new(mechanics: &Mechanics, depth: u32) -> Self {
        let drive = MechanicalDrive::new(mechanics, depth, 1).expect("the disk is in order");
        Self { drive, now: Time::ZERO }
    }

    /// Submits these requests at this instant and waits until none is outstanding; returns the
    /// completions as (request, microseconds).
    pub(crate) fn serve(&mut self, at: Time, batch: &[Request]) -> Vec<(u64, u64)> {
        let mut done = Vec::new();
        self.drive.advance(at, &mut done);
        self.drive.submit(at, batch);
        self.drain(&mut done);
        done.iter()
            .map(|Completion { id, at, outcome }| {
                assert_eq!(*outcome, Outcome::Done);
                (id.0, at.ns() / 1_000)
            })
            .collect()
    }

    /// Advances the drive, event by event, up to this instant.
    pub(crate) fn go_to(&mut self, at: Time, done: &mut Vec<Completion>) {
        while let Some(next) = self.drive.next_event().filter(|&next| next <= at) {
            self.drive.advance(next, done);
        }
        self.drive.advance(at, done);
        self.now = at;
    }

    pub(crate) fn drain(&mut self, done: &mut Vec<Completion>) {
        while let Some(at) = self.drive.next_event() {
            self.now = at;
            self.drive.advance(at, done);
        }
    }

    /// Submits a single request at this instant, and returns the time of its completion, in
    /// microseconds.
    pub(crate) fn done_at(&mut self, at: Time, request: Request) -> u64 {
        let done = self.serve(at, &[request]);
        assert_eq!(done.len(), 1);
        done[0].1
    }
}
