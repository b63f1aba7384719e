// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Clients that send one call at a time, at random times. The harness compares every reply with its
//! reference.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tidegate_device::Waker;
use tidegate_model::{DriveLimits, Duration, PolicyName, Time};

use crate::service::call::CallKind;
use crate::service::harness::offered::{exports, share_with};
use crate::service::harness::requests::{Fixture, InjectedFaults};
use crate::service::harness::scenario::{BLOCKS, BlockRange};
use crate::service::harness::{params, table};
use crate::service::statistics::Watch;

/// The number of blocks in the largest call: two requests.
const CALL_BLOCKS: u64 = 8;

/// A service in which every export has the same number of clients.
pub(super) struct Clients {
    pub(super) exports: u64,
    /// The number of clients per export.
    pub(super) count: usize,
    pub(super) policy: PolicyName,
    /// The drive's batch times in ms.
    pub(super) batch_ms: &'static [u64],
    pub(super) seed: u64,
    /// The total number of calls.
    pub(super) calls: usize,
    /// The longest time between a reply and the client's next call.
    pub(super) pause_ms: u64,
    /// Whether clients trim too.
    pub(super) has_trims: bool,
    pub(super) faults: InjectedFaults,
}

/// A client: the time of its next call, and the arrival number of its call in progress.
#[derive(Debug, Clone, Copy)]
struct Client {
    next: Time,
    waits_for: Option<u64>,
}

impl Clients {
    /// Runs until all calls have been answered.
    ///
    /// # Errors
    /// The description of a wrong reply.
    pub(super) fn run(&self) -> Result<Fixture, String> {
        let times = table(self.batch_ms);
        let waker = Waker::new().expect("a descriptor");
        let shared = share_with(params(exports(self.exports), self.policy, &times), waker);
        let watch = Watch::new(Some(&DriveLimits::of_table(times.clone())));
        let mut fixture = Fixture::on(shared, &times, watch, self.seed, self.faults);
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        let all = usize::try_from(self.exports).expect("a few") * self.count;
        let mut clients = vec![Client { next: Time::ZERO, waits_for: None }; all];
        let mut asked = 0;
        loop {
            let now = fixture.now();
            let is_due = |client: &Client| client.waits_for.is_none() && client.next <= now;
            for (number, client) in clients.iter_mut().enumerate() {
                if is_due(client) && asked < self.calls {
                    self.ask(&mut fixture, number / self.count, &mut random)?;
                    client.waits_for = Some(fixture.latest());
                    asked += 1;
                }
            }
            fixture.iterate()?;
            for client in &mut clients {
                if client.waits_for.take_if(|arrival| fixture.has_reply(*arrival)).is_some() {
                    let pause = random.random_range(0..=self.pause_ms * 1000);
                    client.next = now + Duration::from_us(pause);
                }
            }
            let is_done = fixture.report.answered == self.calls;
            if is_done && fixture.core.is_idle() {
                return Ok(fixture);
            }
            let next = clients.iter().filter(|client| client.waits_for.is_none());
            let next = next.map(|client| client.next).filter(|&next| next > now).min();
            fixture.core.wait_until(next.filter(|_| !is_done));
        }
    }

    fn ask(
        &self,
        fixture: &mut Fixture,
        export: usize,
        random: &mut Pcg64Mcg,
    ) -> Result<(), String> {
        let count = random.random_range(1..=CALL_BLOCKS);
        let block = random.random_range(0..=BLOCKS - count);
        let range = BlockRange { block, count, is_odd: false, is_beyond: false };
        let kind = match random.random_range(0..10) {
            0..4 => CallKind::Read,
            4..8 => CallKind::Write { is_durable: false },
            8 => CallKind::Write { is_durable: true },
            _ if self.has_trims && random.random_range(0..3) > 0 => CallKind::Trim,
            _ => CallKind::Flush,
        };
        match kind {
            CallKind::Trim => fixture.trim(export, block, count),
            CallKind::Flush => fixture.flush(export),
            _ => return fixture.ask(export, kind, range, false),
        }
        Ok(())
    }
}
