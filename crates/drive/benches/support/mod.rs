// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A host that keeps a constant number of requests of 4 KiB at random positions on a drive.

use tidegate_drive::{Completion, Drive};
use tidegate_model::{Bytes, Class, Lba, Op, Random, Request, RequestId, Time};

const SIZE: Bytes = Bytes::from_kib(4);

/// A drive and its host.
pub(crate) struct ClosedLoop<D> {
    drive: D,
    op: Op,
    outstanding: u64,
    places: u64,
    random: Random,
    now: Time,
    completions: Vec<Completion>,
}

impl<D: Drive> ClosedLoop<D> {
    pub(crate) fn new(drive: D, capacity: Bytes, op: Op, outstanding: u32) -> Self {
        Self {
            drive,
            op,
            outstanding: outstanding.into(),
            places: capacity.get() / SIZE.get(),
            random: Random::new(1, 1),
            now: Time::ZERO,
            completions: Vec::new(),
        }
    }

    fn submit(&mut self, id: u64) {
        let request = Request {
            released: self.now,
            eligible: self.now,
            op: self.op,
            start: Lba::new(self.random.below(self.places) * SIZE.sectors_ceil()),
            ..Request::plain(RequestId(id), Class::BestEffort, SIZE)
        };
        self.drive.submit(self.now, &[request]);
    }

    /// Runs until `requests` requests are complete and none is outstanding.
    pub(crate) fn run(&mut self, requests: u64) {
        let mut sent = self.outstanding.min(requests);
        (0..sent).for_each(|id| self.submit(id));
        while let Some(next) = self.drive.next_event() {
            self.now = next;
            self.drive.advance(next, &mut self.completions);
            let returned = self.completions.drain(..).len() as u64;
            for _ in 0..returned.min(requests - sent) {
                sent += 1;
                self.submit(sent);
            }
        }
    }
}
