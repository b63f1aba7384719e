// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a fault of the store affects only the calls that encounter it. Method: a store with
//! injected faults.

use std::sync::mpsc::{Receiver, sync_channel};

use rustix::io::Errno;
use tidegate_device::{IoBuffer, IoError, RingError};
use tidegate_host::Backend;
use tidegate_model::{Bytes, Duration, Lba, PolicyName, Request, RequestId, Time};

use super::clients::{Bench, EXPORT_BLOCKS, export};
use crate::service::call::{Awaited, Call, CallKind, CallPart, mailbox};
use crate::service::core::Core;
use crate::service::data_backend::Returned;
use crate::service::harness::store::{BLOCK, EIO, Store, stamp_of};
use crate::service::harness::{self, table};
use crate::service::offer::ExportId;
use crate::service::statistics::{Trouble, Watch};
use crate::service::{CallError, Service};

const NO_SPACE: IoError = IoError::Device(Errno::NOSPC);

/// Makes a service of two exports on a drive whose batches take 4, 6 or 8 ms, and the receiver
/// of its troubles.
fn service(policy: PolicyName) -> (Core<Store>, Receiver<Trouble>) {
    let bench = Bench {
        exports: (0..2).map(|number| export(number, None)).collect(),
        clients: 1,
        policy,
        table: table(&[4, 6, 8]),
        seed: 1,
        calls: 0,
        pause_ms: 0,
        has_trims: false,
        is_disordered: false,
    };
    let (heard_by, heard) = sync_channel(16);
    // A flush of 3 ms may follow each batch.
    (bench.core_with(Watch::new(Some(table(&[7, 9, 11]))).telling(heard_by)), heard)
}

/// Makes a call for one block of an export.
fn call(core: &Core<Store>, export: usize, block: usize, kind: CallKind) -> (Call, Awaited) {
    let size = Bytes::new(BLOCK as u64);
    let start = Lba::new(((export * EXPORT_BLOCKS + block) * BLOCK / 512) as u64);
    let data = (kind != CallKind::Flush).then(|| {
        let mut data = tidegate_device::IoBuffer::new(size);
        data.bytes_mut()[..4].copy_from_slice(&7_u32.to_le_bytes());
        data
    });
    let (answer, awaited) = mailbox();
    let parts = vec![CallPart { start, size, data }];
    (
        Call { export: ExportId(export as u64), kind, released: core.backend().now, parts, answer },
        awaited,
    )
}

/// Runs until all calls have their reply.
fn settle(core: &mut Core<Store>) {
    while !core.is_idle() {
        core.wait_until(None);
        core.run_iteration(std::iter::empty());
    }
}

/// Runs a call of this kind alone and returns its result.
fn ask(
    core: &mut Core<Store>,
    export: usize,
    block: usize,
    kind: CallKind,
) -> Result<(), CallError> {
    let (call, awaited) = call(core, export, block, kind);
    core.run_iteration(std::iter::once(call));
    settle(core);
    awaited.poll().expect("answered").0.map(drop)
}

const WRITE: CallKind = CallKind::Write { is_durable: false };
const DURABLE: CallKind = CallKind::Write { is_durable: true };

#[test]
fn a_bad_region_fails_who_touches_it_and_nobody_else() {
    for error in [EIO, NO_SPACE] {
        let (mut core, heard) = service(PolicyName::Dqf);
        core.backend_mut().faults.region = Some((2..4, error));
        let bad = [WRITE, CallKind::Read, DURABLE].map(|kind| call(&core, 0, 3, kind));
        let good = [WRITE, DURABLE, CallKind::Flush].map(|kind| call(&core, 1, 3, kind));
        let (calls, answers): (Vec<_>, Vec<_>) = bad.into_iter().chain(good).unzip();
        core.run_iteration(calls.into_iter());
        settle(&mut core);
        let results: Vec<_> =
            answers.iter().map(|it| it.poll().expect("answered").0.map(drop)).collect();
        assert_eq!(results[..3], [Err(CallError::Store(error)); 3]);
        assert_eq!(results[3..], [Ok(()); 3]);
        let seen = core.statistics();
        assert_eq!((seen.exports[0].failed, seen.exports[1].failed), (3, 0));
        assert_eq!((seen.in_flight, seen.exports[0].outstanding), (0, 0));
        // Outside the region the same export still works, and completed writes are there.
        assert_eq!(ask(&mut core, 0, 4, WRITE), Ok(()));
        assert_eq!(core.backend().blocks[4], 7);
        assert_eq!(core.backend().blocks[EXPORT_BLOCKS + 3], 7);
        assert_eq!(heard.try_recv().ok(), None);
    }
}

/// A call of several parts fails as a whole if one part fails, and gets one reply, after all parts.
#[test]
fn a_part_that_fails_fails_its_call_after_the_others() {
    let (mut core, _heard) = service(PolicyName::Noop);
    core.backend_mut().faults.region = Some((1..2, EIO));
    let (mut first, awaited) = call(&core, 0, 0, WRITE);
    for block in 1..3 {
        let (mut more, _) = call(&core, 0, block, WRITE);
        first.parts.append(&mut more.parts);
    }
    core.run_iteration(std::iter::once(first));
    settle(&mut core);
    let (result, parts) = awaited.poll().expect("answered");
    assert_eq!(result, Err(CallError::Store(EIO)));
    assert!(parts.iter().all(|part| part.data.is_some()), "memory is returned");
    assert_eq!(core.backend().blocks[..3], [7, 0, 7]);
}

/// A client that disconnects while its calls are in flight leaves nothing behind.
#[test]
fn who_left_is_answered_into_the_void() {
    let (mut core, _heard) = service(PolicyName::Dqf);
    for block in 0..10 {
        let (call, awaited) = call(&core, 0, block, DURABLE);
        drop(awaited);
        core.run_iteration(std::iter::once(call));
    }
    let (read, awaited) = call(&core, 0, 9, CallKind::Read);
    core.run_iteration(std::iter::once(read));
    settle(&mut core);
    let (result, parts) = awaited.poll().expect("answered");
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(stamp_of(parts[0].data.as_ref().unwrap().bytes()), 7);
    assert_eq!(core.statistics().exports[0].outstanding, 0);
}

/// The kernel reports a failed flush once. All durable requests without a reply, in flight or
/// queued, must fail with it, because their data may be lost.
#[test]
fn what_waits_for_a_flush_while_one_fails_is_not_answered_as_durable() {
    for policy in [PolicyName::Noop, PolicyName::Dqf, PolicyName::Fifo] {
        let (mut core, heard) = service(policy);
        assert_eq!(ask(&mut core, 0, 1, WRITE), Ok(()));
        core.backend_mut().faults.flushes = 1;
        let mut answers = Vec::new();
        for round in 0..5 {
            for export in [0, 1] {
                let kind = if round % 2 == 0 { CallKind::Flush } else { DURABLE };
                let (call, awaited) = call(&core, export, round, kind);
                core.run_iteration(std::iter::once(call));
                answers.push(awaited);
            }
        }
        let (read, is_read) = call(&core, 1, 9, CallKind::Read);
        core.run_iteration(std::iter::once(read));
        settle(&mut core);
        for answer in answers {
            answer.poll().expect("answered").0.expect_err("a flush failed");
        }
        // Requests without a promise of durability continue.
        assert_eq!(is_read.poll().expect("answered").0.map(drop), Ok(()));
        assert_eq!(ask(&mut core, 1, 5, WRITE), Ok(()));
        assert_eq!(ask(&mut core, 1, 5, DURABLE), Err(CallError::FlushBroken));
        let said: Vec<_> = heard.try_iter().collect();
        let [Trouble::FlushFailed { error: EIO, .. }] = said[..] else { panic!("{said:?}") };
    }
}

#[test]
fn a_stall_is_said_once_and_degrades_while_it_lasts_and_after() {
    let (mut core, heard) = service(PolicyName::Dqf);
    assert_eq!(ask(&mut core, 0, 0, WRITE), Ok(()));
    assert!(!core.statistics().is_drive_late());
    let begun = core.backend().now;
    core.backend_mut().faults.stalled_until = begun + Duration::from_ms(20_000);
    let (write, awaited) = call(&core, 0, 1, WRITE);
    core.run_iteration(std::iter::once(write));
    let at = |ms| begun + Duration::from_ms(ms);
    run_until(&mut core, at(7));
    assert!(!core.statistics().is_drive_late(), "b(1) is 4 ms, and a flush");
    run_until(&mut core, at(8));
    let seen = core.statistics();
    assert!(seen.is_overdue && seen.is_drive_late() && seen.overruns == 0);
    assert_eq!(heard.try_recv().ok(), None, "a short overrun is not reported");
    run_until(&mut core, at(19_000));
    let said: Vec<_> = heard.try_iter().collect();
    let [Trouble::Stall(stall)] = said[..] else { panic!("{said:?}") };
    // Five seconds more than the longest batch.
    assert_eq!((stall.at, stall.waited, stall.in_flight), (at(5_011), Duration::from_ms(5_011), 1));
    settle(&mut core);
    assert_eq!(awaited.poll().expect("answered").0.map(drop), Ok(()));
    let said: Vec<_> = heard.try_iter().collect();
    let [Trouble::Overrun(overrun)] = said[..] else { panic!("{said:?}") };
    assert_eq!((overrun.time.ns(), overrun.excess.ns()), (20_000_000_000, 19_993_000_000));
    let seen = core.statistics();
    assert_eq!((seen.overruns, seen.stalls, seen.is_overdue), (1, 1, false));
    assert_eq!((seen.overrun_sum, seen.overrun_max), (overrun.excess, overrun.excess));
    // All exports continue, best effort after waiting as long as the drive was late, and the next
    // stall is reported again.
    assert_eq!(ask(&mut core, 1, 1, WRITE), Ok(()));
    assert!(core.backend().now >= at(39_993));
    core.backend_mut().faults.stalled_until = core.backend().now + Duration::from_ms(6_000);
    assert_eq!(ask(&mut core, 1, 1, DURABLE), Ok(()));
    assert!(matches!(heard.try_iter().next(), Some(Trouble::Stall(_))));
}

/// Without a table lateness is unknown, but a store that completes nothing is reported.
#[test]
fn a_stall_of_an_unknown_store_is_said() {
    let (heard_by, heard) = sync_channel(16);
    let bench = Bench {
        exports: vec![export(0, None)],
        clients: 1,
        policy: PolicyName::Noop,
        table: table(&[4]),
        seed: 1,
        calls: 0,
        pause_ms: 0,
        has_trims: false,
        is_disordered: false,
    };
    let mut core = bench.core_with(Watch::new(None).telling(heard_by));
    core.backend_mut().faults.stalled_until = Time::ZERO + Duration::from_ms(10_000);
    assert_eq!(ask(&mut core, 0, 0, WRITE), Ok(()));
    let said: Vec<_> = heard.try_iter().collect();
    assert!(
        matches!(said[..], [Trouble::Stall(stall)] if stall.at == Time::from_ns(5_000_000_000))
    );
}

fn run_until(core: &mut Core<Store>, instant: Time) {
    while core.backend().now < instant {
        core.wait_until(Some(instant));
        core.run_iteration(std::iter::empty());
    }
}

/// A store that fails, or whose code panics.
struct Unusable {
    clock: tidegate_platform::Clock,
    is_panicking: bool,
    was_used: bool,
}

impl Backend for Unusable {
    type Payload = IoBuffer;
    type Fault = IoError;
    type Error = RingError;

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn submit(
        &mut self,
        _batch: &[Request],
        payloads: &mut Vec<IoBuffer>,
    ) -> Result<(), RingError> {
        assert!(!self.is_panicking, "an injected fault");
        payloads.clear();
        self.was_used = true;
        Ok(())
    }

    fn flush(&mut self, _id: RequestId) {}

    fn trim(&mut self, _id: RequestId, _start: Lba, _size: Bytes) {}

    fn wait(&mut self, _until: Option<Time>) -> Result<(), RingError> {
        std::thread::yield_now();
        if self.was_used { Err(RingError::Enter { source: Errno::IO }) } else { Ok(()) }
    }

    fn reap(&mut self, _returned: &mut Vec<Returned>) -> Result<(), RingError> {
        Ok(())
    }
}

/// `stop` reports the failure again; `drop`, which must not panic, does not.
#[test]
fn a_service_that_ends_by_itself_says_why_and_refuses() {
    for (is_panicking, is_dropped) in [(false, false), (true, false), (false, true), (true, true)] {
        let why = if is_panicking { "fault of the program" } else { "cannot submit or wait" };
        let params = harness::params(vec![export(0, None)], PolicyName::Noop, &table(&[4, 6]));
        let make = move |clock, _| Ok(Unusable { clock, is_panicking, was_used: false });
        let service = Service::start(params, make).unwrap();
        let troubles = service.troubles().expect("the first caller gets it");
        let export = service.export("export-0").unwrap();
        assert_eq!(export.write(0, &[1; BLOCK], false), Err(CallError::Ended));
        let Ok(Trouble::Ended { reason }) = troubles.recv() else { panic!("it reports the end") };
        assert!(reason.contains(why), "{reason}");
        assert_eq!(export.flush(), Err(CallError::Ended));
        assert!(service.statistics().is_none() && service.summary().is_none());
        let end = || {
            if !is_dropped {
                return service.stop();
            }
            drop(service);
            Ok(())
        };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(end));
        assert_eq!(ended.is_err(), is_panicking && !is_dropped);
        assert_eq!(matches!(ended, Ok(Ok(()))), is_dropped);
    }
}
