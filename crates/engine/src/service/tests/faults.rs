// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a fault of the store affects only the calls that encounter it. Method: a store with
//! injected faults.

use rustix::io::Errno;
use tidegate_device::{IoBuffer, IoError, RingError};
use tidegate_host::Backend;
use tidegate_model::{
    BatchTable, Bytes, DriveLimits, Duration, Lba, PolicyName, Request, RequestId, Time,
};

use super::asking::{call_of, part, run_until, settle};
use crate::service::call::{Awaited, Call, CallKind};
use crate::service::core::Core;
use crate::service::data_backend::Returned;
use crate::service::harness::offered::{SPREAD, core_on, exports};
use crate::service::harness::store::{BLOCK, EIO, Store, stamp_of};
use crate::service::harness::{params, table};
use crate::service::incidents::{Incident, Incidents, incidents};
use crate::service::statistics::Watch;
use crate::service::{CallError, Guarantee, Service};

const NO_SPACE: IoError = IoError::Device(Errno::NOSPC);

/// Makes a service of two exports on a drive whose batches take 4, 6 or 8 ms, and the receiver
/// of its incidents.
fn service(policy: PolicyName) -> (Core<Store>, Incidents) {
    // A flush of 3 ms may follow each batch.
    service_on(&table(&[4, 6, 8]), policy, Some(table(&[7, 9, 11])))
}

/// Makes the same service on a drive with the batch times `times`; its batches are compared with
/// the table `watched`, if there is one.
fn service_on(
    times: &BatchTable,
    policy: PolicyName,
    watched: Option<BatchTable>,
) -> (Core<Store>, Incidents) {
    let (heard_by, heard) = incidents();
    let limits = watched.map(DriveLimits::of_table);
    let watch = Watch::new(limits.as_ref()).telling(heard_by);
    (core_on(&params(exports(2), policy, times), times, watch, 1), heard)
}

/// Makes a call for one block of an export.
fn call(core: &Core<Store>, export: usize, block: usize, kind: CallKind) -> (Call, Awaited) {
    let offset = ((export * SPREAD + block) * BLOCK) as u64;
    let mut part = part(kind, offset, Bytes::new(BLOCK as u64));
    if let Some(data) = &mut part.data {
        data.bytes_mut()[..4].copy_from_slice(&7_u32.to_le_bytes());
    }
    call_of(export as u64, kind, core.backend().now, vec![part])
}

/// Runs these calls until they are answered, and returns their results.
fn ask_all(
    core: &mut Core<Store>,
    calls: impl IntoIterator<Item = (Call, Awaited)>,
) -> Vec<Result<(), CallError>> {
    let (calls, answers): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
    core.run_iteration(calls.into_iter());
    settle(core);
    answers.iter().map(result).collect()
}

/// Returns the result of a call that has been answered.
fn result(answer: &Awaited) -> Result<(), CallError> {
    answer.poll().expect("answered").0.map(drop)
}

/// Runs a call of this kind alone and returns its result.
fn ask(
    core: &mut Core<Store>,
    export: usize,
    block: usize,
    kind: CallKind,
) -> Result<(), CallError> {
    let call = call(core, export, block, kind);
    ask_all(core, [call])[0]
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
        let results = ask_all(&mut core, bad.into_iter().chain(good));
        assert_eq!(results[..3], [Err(CallError::Store(error)); 3]);
        assert_eq!(results[3..], [Ok(()); 3]);
        let seen = core.statistics();
        assert_eq!((seen.exports[0].failed, seen.exports[1].failed), (3, 0));
        assert_eq!((seen.in_flight, seen.exports[0].outstanding), (0, 0));
        // Outside the faulty region the same export still works, and completed writes are in the
        // store.
        assert_eq!(ask(&mut core, 0, 4, WRITE), Ok(()));
        assert_eq!(core.backend().blocks[4], 7);
        assert_eq!(core.backend().blocks[SPREAD + 3], 7);
        assert_eq!(heard.try_iter().next(), None);
    }
}

/// A call of several parts fails as a whole if one part fails, and gets one reply, after all parts
/// are complete.
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

/// The kernel reports a failed flush once. All unanswered durable requests, in flight or queued,
/// must fail with it, because their data may be lost.
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
            result(&answer).expect_err("a flush failed");
        }
        // Requests that need not be durable continue.
        assert_eq!(result(&is_read), Ok(()));
        assert_eq!(ask(&mut core, 1, 5, WRITE), Ok(()));
        assert_eq!(ask(&mut core, 1, 5, DURABLE), Err(CallError::FlushBroken));
        let said: Vec<_> = heard.try_iter().collect();
        let [Incident::FlushFailed { error: EIO, .. }] = said[..] else { panic!("{said:?}") };
    }
}

/// After a failed flush, the lost data is unknown, so no later flush may succeed.
#[test]
fn no_flush_succeeds_after_one_that_failed() {
    let (mut core, _heard) = service(PolicyName::Dqf);
    assert_eq!(ask(&mut core, 0, 0, CallKind::Flush), Ok(()));
    let error = IoError::Short { moved: Bytes::new(0), size: Bytes::from_kib(4) };
    core.backend_mut().faults.all = Some(error);
    assert_eq!(ask(&mut core, 0, 0, CallKind::Flush), Err(CallError::Store(error)));
    core.backend_mut().faults.all = None;
    assert_eq!(ask(&mut core, 0, 0, CallKind::Flush), Err(CallError::FlushBroken));
}

#[test]
fn a_stall_is_said_once_and_degrades_while_it_lasts() {
    let (mut core, heard) = service(PolicyName::Dqf);
    assert_eq!(ask(&mut core, 0, 0, WRITE), Ok(()));
    assert!(!core.statistics().was_drive_late());
    let begun = core.backend().now;
    core.backend_mut().faults.stalled_until = begun + Duration::from_ms(20_000);
    let (write, awaited) = call(&core, 0, 1, WRITE);
    core.run_iteration(std::iter::once(write));
    let at = |ms| begun + Duration::from_ms(ms);
    run_until(&mut core, at(7));
    assert!(!core.statistics().was_drive_late(), "b(1) is 4 ms, and a flush");
    run_until(&mut core, at(8));
    let seen = core.statistics();
    assert!(seen.is_overdue && seen.is_drive_degraded && seen.overruns == 0);
    assert_eq!(heard.try_iter().next(), None, "a short overrun is not reported");
    run_until(&mut core, at(19_000));
    let said: Vec<_> = heard.try_iter().collect();
    let [Incident::Stall(stall)] = said[..] else { panic!("{said:?}") };
    // The stall is reported five seconds after the longest batch time.
    assert_eq!((stall.at, stall.waited, stall.in_flight), (at(5_011), Duration::from_ms(5_011), 1));
    settle(&mut core);
    assert_eq!(result(&awaited), Ok(()));
    let said: Vec<_> = heard.try_iter().collect();
    let [Incident::Overrun(overrun)] = said[..] else { panic!("{said:?}") };
    assert_eq!((overrun.time.ns(), overrun.excess.ns()), (20_000_000_000, 19_993_000_000));
    let seen = core.statistics();
    assert_eq!((seen.overruns, seen.stalls, seen.is_overdue), (1, 1, false));
    let guarantee = Guarantee { is_degraded: false, since: at(20_000), degradations: 1 };
    assert_eq!((seen.is_drive_degraded, seen.guarantee), (false, guarantee));
    assert_eq!((seen.overrun_sum, seen.overrun_max), (overrun.excess, overrun.excess));
    // All exports continue, best effort after the stall has ended, and the next stall is reported
    // again.
    assert_eq!(ask(&mut core, 1, 1, WRITE), Ok(()));
    assert!(core.backend().now >= at(39_993));
    core.backend_mut().faults.stalled_until = core.backend().now + Duration::from_ms(6_000);
    assert_eq!(ask(&mut core, 1, 1, DURABLE), Ok(()));
    assert!(matches!(heard.try_iter().next(), Some(Incident::Stall(_))));
}

/// Without a table lateness is unknown, but a store that completes nothing is reported.
#[test]
fn a_stall_of_an_unknown_store_is_said() {
    let (mut core, heard) = service_on(&table(&[4]), PolicyName::Noop, None);
    core.backend_mut().faults.stalled_until = Time::ZERO + Duration::from_ms(10_000);
    assert_eq!(ask(&mut core, 0, 0, WRITE), Ok(()));
    let said: Vec<_> = heard.try_iter().collect();
    assert!(
        matches!(said[..], [Incident::Stall(stall)] if stall.at == Time::from_ns(5_000_000_000))
    );
}

/// A store that fails, or whose code panics.
struct Unusable {
    clock: tidegate_platform::Clock,
    is_panicking: bool,
    was_used: bool,
}

impl crate::service::DataBackend for Unusable {}

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
        let params = params(exports(1), PolicyName::Noop, &table(&[4, 6]));
        let make = move |clock, _| Ok(Unusable { clock, is_panicking, was_used: false });
        let service = Service::start(params, make).unwrap();
        let incidents = service.incidents().expect("the first caller gets it");
        let export = service.export("export-0").unwrap();
        assert_eq!(export.write(0, &[1; BLOCK], false), Err(CallError::Ended));
        let Ok(Incident::Ended { reason }) = incidents.recv() else { panic!("it reports the end") };
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
