// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a run on a real file serves every request. Method: a short run. It needs direct I/O and
//! io_uring, and prints which of them is missing. No duration is asserted.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use tidegate_device::{Access, Target};
use tidegate_engine::{DeviceBackend, DeviceRun, Length, Limits, RunEnd, RunError, RunParams};
use tidegate_host::{Backend as _, Completion, SourceMetrics};
use tidegate_model::{
    BatchTable, BestEffort, Bytes, Class, Duration, Intensity, Lba, Op, Place, Plan, PolicyName,
    Request, RequestId, Task, Time, Workload,
};

const DEPTH: u32 = 8;
const SIZE: Bytes = Bytes::from_kib(16);

/// A file that is removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn path(name: &str) -> Self {
        let name = format!("{name}-{}", std::process::id());
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A file that was never created cannot be removed, which is harmless.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Makes a backend on a new file of 4 MiB; `None` with a printed reason if that is not possible.
fn backend(scratch: &Scratch, access: Access) -> Option<DeviceBackend> {
    let never = AtomicBool::new(false);
    let skip = |reason: String| eprintln!("skipped: {reason}");
    let target = Target::create(&scratch.0, Bytes::from_kib(4096), access, |_| (), &never)
        .map_err(|error| skip(error.to_string()))
        .ok()?;
    DeviceBackend::new(&target, DEPTH, SIZE).map_err(|error| skip(error.to_string())).ok()
}

/// Makes two tasks with 20 jobs of two requests each in 100 ms, and a closed-loop load.
fn workload(op: Op) -> Workload {
    let task = |name: &str, size: Bytes| Task {
        requests: 2,
        op,
        class: Class::Soft,
        ..Task::periodic(name, Duration::from_ms(5), size)
    };
    let load = BestEffort {
        place: Place::Sequential,
        ..BestEffort::reads("load", Intensity::Outstanding(6), Bytes::from_kib(4))
    };
    let times: Vec<_> = (1..=8).map(|requests| Duration::from_ms(10 * requests)).collect();
    Workload {
        tasks: vec![task("large", SIZE), task("small", Bytes::from_kib(4))],
        best_effort: vec![load],
        ..Workload::new("file", DEPTH, BatchTable::new(&times).unwrap())
    }
}

fn run(op: Op, policy: PolicyName, backend: &mut DeviceBackend) -> Result<DeviceRun, RunError> {
    let workload = workload(op);
    let plan = Plan { batch_max: 4, best_effort_fill: 4, ..Plan::of(&workload) };
    let (length, limits) = (Length::Jobs(20), backend.limits());
    let params = RunParams { workload: &workload, plan: &plan, policy, length, seed: 1, limits };
    tidegate_engine::run(&params, None, backend, (), &AtomicBool::new(false))
}

#[test]
fn real_file_serves_every_job_under_every_policy() {
    let scratch = Scratch::path("engine-read");
    let Some(mut backend) = backend(&scratch, Access::ReadOnly) else { return };
    for policy in [PolicyName::Noop, PolicyName::Fifo, PolicyName::Dqf] {
        let DeviceRun { run, watch } = run(Op::Read, policy, &mut backend).unwrap();
        assert_eq!(run.end, RunEnd::Complete, "{policy}");
        let metrics = run.metrics;
        let jobs: Vec<_> = metrics.tasks().iter().map(SourceMetrics::jobs).collect();
        assert_eq!((jobs, metrics.all().failed_requests), (vec![20, 20], 0), "{policy}");
        assert!(metrics.best_effort().completed_in_window.requests > 0, "{policy}");
        assert!(run.ended >= Time::ZERO + Duration::from_ms(95), "{policy}");
        assert!(policy == PolicyName::Noop || watch.batches.batches > 0, "{policy}");
    }
}

/// Requests with and without priority are both served if the kernel permits priority.
#[test]
fn requests_of_either_class_are_served() {
    let scratch = Scratch::path("engine-priority");
    let Some(mut backend) = backend(&scratch, Access::ReadOnly) else { return };
    if !tidegate_device::io_priority::is_permitted() {
        eprintln!("skipped: no permission for the I/O class \"real time\"");
        return;
    }
    backend.rank(true);
    let metrics = run(Op::Read, PolicyName::RtioPriority, &mut backend).unwrap().run.metrics;
    assert_eq!((metrics.tasks()[0].jobs(), metrics.all().failed_requests), (20, 0));
}

/// Goal: a device with all request slots in use still takes a flush, which returns no payload.
/// Method: as many reads as the backend allows, then a flush.
#[test]
fn a_full_device_has_room_for_a_flush() {
    let scratch = Scratch::path("engine-flush");
    let Some(mut backend) = backend(&scratch, Access::ReadOnly) else { return };
    let read = |id: u32| {
        let start = Lba::new(u64::from(id) * SIZE.sectors_ceil());
        Request { start, ..Request::plain(RequestId(id.into()), Class::BestEffort, SIZE) }
    };
    let reads: Vec<Request> = (0..DEPTH).map(read).collect();
    let flush = RequestId(u64::from(DEPTH));
    backend.begin();
    backend.submit(&reads, &mut vec![(); reads.len()]).unwrap();
    backend.flush(flush);
    let mut returned = Vec::new();
    while returned.len() <= reads.len() {
        backend.wait(None).unwrap();
        backend.reap(&mut returned).unwrap();
    }
    assert!(returned.iter().all(|completion| completion.result.is_ok()), "{returned:?}");
    for Completion { id, payload, .. } in returned {
        assert_eq!(payload.is_none(), id == flush, "{id:?}");
    }
}

#[test]
fn writes_need_a_target_opened_for_them() {
    let scratch = Scratch::path("engine-write");
    let Some(mut refusing) = backend(&scratch, Access::ReadOnly) else { return };
    let refused = run(Op::Write, PolicyName::Dqf, &mut refusing);
    assert!(matches!(refused, Err(RunError::WritesNotAllowed { .. })));
    drop(refusing);
    let target = Target::open(&scratch.0, Access::ReadWrite).unwrap();
    let mut allowed = DeviceBackend::new(&target, DEPTH, SIZE).unwrap();
    let metrics = run(Op::Write, PolicyName::Dqf, &mut allowed).unwrap().run.metrics;
    assert_eq!((metrics.tasks()[0].jobs(), metrics.all().failed_requests), (20, 0));
}

/// Goal: failed requests are counted and do not stop the run. Method: the file loses its second
/// half after it was opened, so that many reads are short.
#[test]
fn requests_that_the_device_fails_are_counted() {
    let scratch = Scratch::path("engine-short");
    let Some(mut backend) = backend(&scratch, Access::ReadOnly) else { return };
    let Limits { capacity, .. } = backend.limits();
    let file = std::fs::OpenOptions::new().write(true).open(&scratch.0).unwrap();
    file.set_len(capacity.get() / 2).unwrap();
    let run = run(Op::Read, PolicyName::Dqf, &mut backend).unwrap().run;
    assert_eq!(run.end, RunEnd::Complete);
    let all = run.metrics.all();
    assert!(all.failed_requests > 0 && all.completed.requests > 0);
    let large = &run.metrics.tasks()[0];
    assert_eq!(large.jobs() + large.failed_jobs, 20);
    assert!(large.failed_jobs > 0 && !run.metrics.is_kept());
}
