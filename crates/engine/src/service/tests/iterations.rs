// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the work of one iteration of the service's thread is bounded, whatever a client requests.
//! Method: count the opened parts, and the parts with which each is compared; no clock.

use tidegate_device::Waker;
use tidegate_model::{Duration, Time};

use super::asking::{SIZE, call_of, calls, part};
use crate::service::call::{Awaited, Call, CallKind};
use crate::service::core::{Core, ITERATION_PARTS};
use crate::service::gate::PARTS;
use crate::service::harness::offered::{core, proved, share_with};
use crate::service::harness::store::Store;
use crate::service::offer::ExportId;
use crate::service::{CallError, Export, Shared};

/// The export of the harness's serve file that keeps its contract.
const KEEPS: u64 = 0;
/// The export of the harness's serve file whose calls flood the service.
const FLOODS: u64 = 2;
/// The number of requests in a piece of a large call.
const PIECE: usize = 64;

fn call(export: u64, kind: CallKind, parts: usize, released: Time) -> (Call, Awaited) {
    let part = |index| part(kind, (export * 64 + index as u64) * SIZE.get(), SIZE);
    call_of(export, kind, released, (0..parts).map(part).collect())
}

/// Runs one iteration; returns the number of parts that it opened.
fn opened_in_iteration(core: &mut Core<Store>, calls: Vec<Call>) -> u64 {
    let before = core.opened();
    core.run_iteration(calls.into_iter());
    core.opened() - before
}

/// Goal: an in-contract request is dispatched in the iteration that reads it, although a
/// best-effort client sent many requests for the same place before it. The same holds for an
/// in-contract request that arrives in the next iteration. Method: a flood of 100 calls.
#[test]
fn a_contract_is_not_kept_waiting_by_what_was_asked_before() {
    const CALLS: usize = 100;
    let params = proved();
    let bound = params.arrangement.bounds[0].expect("proven");
    for kind in [CallKind::Read, CallKind::Write { is_durable: false }] {
        let mut core = core(&params, 1);
        let keeps = |now| call(KEEPS, CallKind::Read, 1, now);
        let flood = (0..CALLS).map(|_| call(FLOODS, kind, PIECE, Time::ZERO));
        let (mut calls, answers): (Vec<_>, Vec<_>) = flood.unzip();
        let (first, first_answer) = keeps(Time::ZERO);
        calls.push(first);
        assert_eq!(opened_in_iteration(&mut core, calls), 1 + ITERATION_PARTS as u64);
        assert_eq!(core.backend().of_contracts(), 1);
        let (second, second_answer) = keeps(Time::ZERO);
        assert_eq!(opened_in_iteration(&mut core, vec![second]), 1 + ITERATION_PARTS as u64);
        while !core.is_idle() {
            core.wait_until(None);
            assert!(opened_in_iteration(&mut core, Vec::new()) <= ITERATION_PARTS as u64);
        }
        for answer in [first_answer, second_answer] {
            let (result, _) = answer.poll().expect("every call has its reply");
            assert!(result.expect("the drive has no fault").response <= bound);
        }
        assert!(answers.iter().all(|answer| answer.poll().is_some()));
    }
}

/// Goal: the parts of an export with many connections are compared with few others, and make no
/// contract late. Method: 20 clients overwrite the same place and one keeps its contract, in
/// virtual time except for the instants at which the clients' threads send.
#[test]
fn many_connections_have_no_more_on_their_way_than_one_export_may() {
    const CLIENTS: usize = 20;
    const CALLS: usize = 4;
    let shared = share_with(proved(), Waker::new().expect("a descriptor"));
    let export = |name| Export::named(&shared, name).expect("it is offered");
    let zero = |floods: &Export| floods.zero(0, PIECE * (16 << 10), false);
    let statistics = std::thread::scope(|scope| {
        // Both must be dropped if the test fails; otherwise the clients would wait forever.
        let (mut core, _closing) = (core(&shared.params, 1), Closing(&shared));
        let ask = |_| {
            let floods = export("floods");
            scope.spawn(move || (0..CALLS).map(|_| zero(&floods)).collect::<Vec<_>>())
        };
        let clients: Vec<_> = (0..CLIENTS).map(ask).collect();
        let mut next = Time::ZERO;
        while !(clients.iter().all(std::thread::ScopedJoinHandle::is_finished) && core.is_idle()) {
            let now = core.backend().now;
            // The calls count as if they had arrived at `now` in the drive's time.
            let arrived = calls(&shared).into_iter().map(|call| Call { released: now, ..call });
            let mut calls: Vec<Call> = arrived.collect();
            let mut agreed = 0;
            if next <= now {
                calls.push(call(KEEPS, CallKind::Read, 1, now).0);
                (agreed, next) = (1, now + Duration::from_ms(40));
            }
            let opened = opened_in_iteration(&mut core, calls);
            assert!(opened <= ITERATION_PARTS as u64 + agreed, "{opened}");
            let outstanding = core.in_order(ExportId(FLOODS)) as u64;
            assert!(outstanding <= PARTS, "{outstanding}");
            core.wait_until(Some(next));
            // Yielding costs a time slice, so the loop yields only when idle.
            if core.is_idle() {
                std::thread::yield_now();
            }
        }
        for client in clients {
            let results = client.join().expect("it does not panic");
            assert_eq!(results, [Ok(()); CALLS] as [Result<(), CallError>; CALLS]);
        }
        core.statistics()
    });
    let [keeps, _, floods] = &statistics.exports[..] else { panic!("three exports") };
    assert_eq!(floods.responses.count(), (CLIENTS * CALLS * PIECE) as u64);
    assert!(keeps.bounded.count() > 100, "{}", keeps.bounded.count());
    assert_eq!((keeps.exceeded, keeps.beyond, keeps.misses), (0, 0, 0));
}

/// Refuses clients once it is dropped.
struct Closing<'a>(&'a Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.inbox.close();
    }
}
