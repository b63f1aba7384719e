// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The manager: samples a thread of the system, raises and lowers it, and restores it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use tidegate_cpu_model::{ServerKind, ServerParams, ServerParamsError};
use tidegate_model::{Duration, Time};
use tidegate_platform::affinity::Affinity;
use tidegate_platform::realtime;
use tidegate_platform::threads::Watch;
use tidegate_platform::{Clock, Scheduling, ThreadId};

use super::keeper::{KeeperCounts, KeeperLimits, Sample};
use super::thread_keeper::ThreadKeeper;

/// The manager's time resolution; a check takes about ten microseconds.
const LIMITS: KeeperLimits =
    KeeperLimits { grain: Duration::from_us(50), tolerance: Duration::from_us(100) };

/// The longest time between checks, so that the manager notices a stop request.
const LOOK_MAX: Duration = Duration::from_ms(100);

/// The scheduling of a thread that is out of budget. User space cannot stop the thread, so it
/// continues while no real-time thread wants to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// `SCHED_OTHER`: shares the remaining time with ordinary threads.
    #[default]
    Other,
    /// `SCHED_IDLE`: gets the time that ordinary threads leave unused.
    Idle,
}

/// The thread to serve, and its budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadServerParams {
    /// The thread.
    pub thread: ThreadId,
    /// The processor on which the thread and the manager run during the service.
    pub cpu: u32,
    /// The thread's SCHED_FIFO priority within its budget, 1 to 98; the manager is one above.
    pub priority: u8,
    /// The rules: a sporadic server, a hybrid or a polling server.
    pub server: ServerParams,
    /// The thread's scheduling when it is out of budget.
    pub background: Background,
    /// The time after which the service ends; `None` for no limit.
    pub time_limit: Option<Duration>,
}

/// Why the service ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadServerEnd {
    /// The service was stopped.
    Stopped,
    /// The service's time limit was reached.
    TimeOver,
    /// The thread has ended.
    ThreadGone,
}

/// The report of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadServerReport {
    /// The reason why the service ended.
    pub end: ThreadServerEnd,
    /// The counts of the thread's checks and execution.
    pub counts: KeeperCounts,
    /// The duration of the service.
    pub took: Duration,
    /// The execution time of the manager itself.
    pub manager: Duration,
    /// The longest delay of a check.
    pub lateness_max: Duration,
    /// The thread's original scheduling, which is restored.
    pub before: Scheduling,
    /// The property that could not be restored; `None` if all were, or if the thread has ended.
    pub not_put_back: Option<NotPutBack>,
}

/// A property of a thread that could not be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot restore the {what} of thread {thread}: {reason}")]
pub struct NotPutBack {
    /// The thread.
    pub thread: ThreadId,
    /// The property: scheduling or processors.
    pub what: &'static str,
    /// The kernel's error.
    pub reason: Errno,
}

/// Why a thread is not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadServerError {
    /// The server's parameters are invalid.
    #[error(transparent)]
    Params(#[from] ServerParamsError),
    /// A server of this kind cannot manage a thread, or guarantees nothing to other threads.
    #[error(
        "a {kind} server cannot manage a thread; write sporadic, hybrid-immediate, hybrid-gradual or polling"
    )]
    Kind {
        /// The kind.
        kind: ServerKind,
    },
    /// The budget is so small that it would be used up before the next check.
    #[error(
        "the budget {budget} is too small: a manager in user space checks at most every {grain}"
    )]
    Budget {
        /// The budget.
        budget: Duration,
        /// The least time between two checks.
        grain: Duration,
    },
    /// The manager cannot run on the thread's processor.
    #[error("the manager cannot run on processor {cpu}: {reason}")]
    Processor {
        /// The processor's number.
        cpu: u32,
        /// The kernel's error.
        reason: String,
    },
    /// The thread already has a manager. A second one would restore the scheduling that the first
    /// one set.
    #[error("thread {thread} is already served by another process")]
    Served {
        /// The thread.
        thread: ThreadId,
    },
    /// The manager cannot get a priority above the thread.
    #[error(
        "the manager needs SCHED_FIFO {priority} on processor {cpu} ({reason}): {}",
        tidegate_platform::privileges::advice("run as root, or with CAP_SYS_NICE")
    )]
    Manager {
        /// The manager's priority.
        priority: u8,
        /// The thread's processor.
        cpu: u32,
        /// The kernel's error.
        reason: String,
    },
    /// The thread is gone, or this process may not manage it.
    #[error("cannot {what} of thread {thread}: {reason}")]
    Thread {
        /// The thread.
        thread: ThreadId,
        /// The action that failed.
        what: &'static str,
        /// The kernel's error.
        reason: String,
    },
}

/// Serves the thread until `stop` is set, the time limit is reached, or the thread ends. Then it
/// restores the thread's scheduling, even after a panic. The calling thread becomes the manager:
/// afterwards it is pinned, with a real-time priority and locked memory.
///
/// The manager calls `begin` once every permission has been granted, before the thread has any
/// budget; `begin` must not block.
///
/// After SIGKILL nothing is restored: the thread keeps its last scheduling.
///
/// # Errors
/// If the thread or the manager cannot be set up; the thread is then restored.
///
/// # Panics
/// If the priority is not 1 to 98.
pub fn serve(
    params: &ThreadServerParams,
    begin: impl FnOnce(),
    stop: &AtomicBool,
) -> Result<ThreadServerReport, ThreadServerError> {
    let kind = params.server.kind;
    if !ThreadKeeper::can_keep(kind) {
        return Err(ThreadServerError::Kind { kind });
    }
    let budget = params.server.checked()?.budget;
    if budget < LIMITS.grain {
        return Err(ThreadServerError::Budget { budget, grain: LIMITS.grain });
    }
    become_manager(params)?;
    let watch =
        Watch::of(params.thread).map_err(|error| fault(params, "read the times", &error))?;
    if !watch.claim() {
        return Err(ThreadServerError::Served { thread: params.thread });
    }
    let mut held = HeldThread::take(params)?;
    let refused = |error: Errno| fault(params, "change the scheduling", &error);
    held.try_both().map_err(refused)?;
    begin();
    let own = Watch::of(ThreadId::this()).ok();
    let own_executed = || own.as_ref().and_then(|own| own.read().ok()).map(|own| own.executed);
    let (clock, own_before) = (Clock::start(), own_executed());
    let mut lateness_max = Duration::ZERO;
    let first = look(&watch, clock).map_err(|error| fault(params, "read the times", &error))?;
    let mut keeper =
        ThreadKeeper::new(&params.server, LIMITS, first).ok_or(ThreadServerError::Kind { kind })?;
    held.raise().map_err(refused)?;
    let mut look_and_move = || {
        let sample = look(&watch, clock)?;
        let order = keeper.look(sample);
        let moved = if order.is_raised { held.raise() } else { held.lower() };
        moved.map_err(io::Error::from).map(|()| (sample, order))
    };
    let end = loop {
        let (sample, order) = match look_and_move() {
            Ok(seen) => seen,
            Err(error) if is_gone(&error) => break ThreadServerEnd::ThreadGone,
            // The thread may belong to another user by now.
            Err(error) => return Err(fault(params, "continue the scheduling", &error)),
        };
        if stop.load(Ordering::Relaxed) {
            break ThreadServerEnd::Stopped;
        }
        if params.time_limit.is_some_and(|limit| sample.now.since(Time::ZERO) >= limit) {
            break ThreadServerEnd::TimeOver;
        }
        let look_at = order.look_at.min(sample.now + LOOK_MAX);
        clock.sleep_until(look_at);
        lateness_max = lateness_max.max(clock.now().since(look_at));
    };
    let before = held.before;
    let not_put_back = held.put_back().err().filter(|error| error.reason != Errno::SRCH);
    let manager = own_before.zip(own_executed()).and_then(|(before, now)| now.checked_sub(before));
    Ok(ThreadServerReport {
        end,
        counts: keeper.counts(),
        took: clock.now().since(Time::ZERO),
        manager: manager.unwrap_or(Duration::ZERO),
        lateness_max,
        before,
        not_put_back,
    })
}

fn look(watch: &Watch, clock: Clock) -> io::Result<Sample> {
    let now = clock.now();
    let progress = watch.read()?;
    Ok(Sample { now, executed: progress.executed, has_work: progress.has_work })
}

/// Returns whether the kernel reports that the thread has ended.
fn is_gone(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        || error.raw_os_error() == Some(Errno::SRCH.raw_os_error())
}

fn fault(
    params: &ThreadServerParams,
    what: &'static str,
    reason: &dyn std::error::Error,
) -> ThreadServerError {
    ThreadServerError::Thread { thread: params.thread, what, reason: reason.to_string() }
}

fn become_manager(params: &ThreadServerParams) -> Result<(), ThreadServerError> {
    let (priority, cpu) = (params.priority + 1, params.cpu);
    let nowhere = |reason| ThreadServerError::Processor { cpu, reason };
    let only = Affinity::only(cpu).ok_or_else(|| nowhere("no such number".to_owned()))?;
    only.apply(None).map_err(|error| nowhere(error.to_string()))?;
    let granted = realtime::request(priority).scheduling;
    granted.map(|_| ()).map_err(|error| {
        let reason = error.to_string();
        ThreadServerError::Manager { priority, cpu, reason }
    })
}

/// A thread whose scheduling is changed while this value lives, and restored afterwards.
struct HeldThread {
    thread: ThreadId,
    before: Scheduling,
    /// The thread's original processors, if it was moved. A kernel thread can be bound to its
    /// processor; even setting the same processor then fails.
    moved_from: Option<Affinity>,
    raised: Scheduling,
    lowered: Scheduling,
    is_raised: Option<bool>,
    is_put_back: bool,
}

impl HeldThread {
    fn take(params: &ThreadServerParams) -> Result<Self, ThreadServerError> {
        let thread = params.thread;
        let before =
            Scheduling::of(thread).map_err(|error| fault(params, "read the scheduling", &error))?;
        let processors = Affinity::of(Some(thread))
            .map_err(|error| fault(params, "read the processors", &error))?;
        let lowered = match params.background {
            Background::Other => Scheduling::other(),
            Background::Idle => Scheduling::idle(),
        };
        // A thread that the served thread starts has no budget, so it does not inherit the
        // priority.
        let lowered = lowered.with_reset_on_fork();
        let raised = Scheduling::fifo(params.priority).with_reset_on_fork();
        let only = Affinity::only(params.cpu).expect("the manager is there");
        let moved_from = (processors != only).then_some(processors);
        if moved_from.is_some() {
            only.apply(Some(thread))
                .map_err(|error| fault(params, "change the processor", &error))?;
        }
        let (is_raised, is_put_back) = (None, false);
        Ok(Self { thread, before, moved_from, raised, lowered, is_raised, is_put_back })
    }

    /// Tests whether both schedulings can be applied.
    fn try_both(&mut self) -> Result<(), Errno> {
        self.raise()?;
        self.lower()
    }

    fn raise(&mut self) -> Result<(), Errno> {
        self.change(true, self.raised)
    }

    fn lower(&mut self) -> Result<(), Errno> {
        self.change(false, self.lowered)
    }

    fn change(&mut self, is_raised: bool, to: Scheduling) -> Result<(), Errno> {
        if self.is_raised == Some(is_raised) {
            return Ok(());
        }
        to.apply(Some(self.thread))?;
        self.is_raised = Some(is_raised);
        Ok(())
    }
}

impl HeldThread {
    /// Restores the thread, once.
    fn put_back(&mut self) -> Result<(), NotPutBack> {
        if self.is_put_back {
            return Ok(());
        }
        self.is_put_back = true;
        let thread = Some(self.thread);
        let scheduled = self.before.apply(thread).or_else(|error| match error {
            // A thread that has its priority only by `ulimit -r` may not be allowed to clear the
            // reset-on-fork flag again.
            Errno::PERM => self.before.with_reset_on_fork().apply(thread),
            error => Err(error),
        });
        let moved = self.moved_from.as_ref().map_or(Ok(()), |processors| processors.apply(thread));
        let thread = self.thread;
        let fault = |what| move |reason| NotPutBack { thread, what, reason };
        scheduled.map_err(fault("scheduling")).and(moved.map_err(fault("processors")))
    }
}

impl Drop for HeldThread {
    fn drop(&mut self) {
        // After a panic or an early error, no caller can receive this error.
        let _ = self.put_back();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_ms(ms)
    }

    fn params(thread: ThreadId, kind: ServerKind) -> ThreadServerParams {
        ThreadServerParams {
            thread,
            cpu: Affinity::of(None).unwrap().cpus().last().unwrap(),
            priority: 30,
            server: ServerParams::new(kind, ms(2), ms(20)),
            background: Background::Other,
            time_limit: Some(ms(400)),
        }
    }

    /// Keeps the processor busy until the flag is set; first sends its own thread id.
    fn busy(stop: &AtomicBool, tell: &mpsc::Sender<ThreadId>) {
        tell.send(ThreadId::this()).unwrap();
        while !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }

    /// Goal: a thread that always wants to execute gets its budget at its priority, as the kernel's
    /// own accounting confirms, and is restored afterwards. The report contains the host's
    /// lateness.
    #[test]
    fn a_greedy_thread_is_kept_within_its_budget_and_put_back() {
        let (stop, (tell, told)) = (AtomicBool::new(false), mpsc::channel());
        thread::scope(|scope| {
            scope.spawn(|| busy(&stop, &tell));
            let greedy = told.recv().unwrap();
            let before = (Scheduling::of(greedy).unwrap(), Affinity::of(Some(greedy)).unwrap());
            let serve = move || {
                serve(&params(greedy, ServerKind::HybridGradual), || (), &AtomicBool::new(false))
            };
            let served = scope.spawn(serve).join();
            let after = (Scheduling::of(greedy), Affinity::of(Some(greedy)));
            stop.store(true, Ordering::Relaxed);
            assert_eq!(after, (Ok(before.0), Ok(before.1)));
            match served.unwrap() {
                Ok(report) => {
                    assert_eq!(report.end, ThreadServerEnd::TimeOver);
                    assert_eq!(report.not_put_back, None);
                    let counts = report.counts;
                    let late = counts.overrun_max + LIMITS.tolerance;
                    assert!(counts.window_max <= ms(2) + late, "{report:?}");
                    assert!(counts.executed > Duration::ZERO && counts.exhaustions > 0);
                }
                Err(ThreadServerError::Manager { reason, .. }) => eprintln!("skipped: {reason}"),
                Err(error) => panic!("{error}"),
            }
        });
    }

    /// Goal: a thread started by the served thread gets no priority without a budget.
    #[test]
    fn a_thread_started_by_a_served_thread_has_no_priority() {
        let (stop, (tell, told)) = (AtomicBool::new(false), mpsc::channel());
        let started = thread::scope(|scope| {
            let parent = scope.spawn(|| {
                tell.send(ThreadId::this()).unwrap();
                let own = || Scheduling::of(ThreadId::this()).unwrap().real_time_priority();
                while own().is_none() && !stop.load(Ordering::Relaxed) {}
                thread::spawn(move || Scheduling::of(ThreadId::this()).unwrap()).join().unwrap()
            });
            let thread = told.recv().unwrap();
            let kept = params(thread, ServerKind::Sporadic);
            let served = scope.spawn(move || serve(&kept, || (), &AtomicBool::new(false))).join();
            stop.store(true, Ordering::Relaxed);
            let is_refused = matches!(served.unwrap(), Err(ThreadServerError::Manager { .. }));
            if is_refused {
                eprintln!("skipped: no permission for real-time priorities");
            }
            parent.join().unwrap()
        });
        assert_eq!(started.real_time_priority(), None);
    }

    /// Goal: processors that the service did not change are not set again, because bound kernel
    /// threads refuse that. Method: the processors are changed during the service, and must stay
    /// changed. The test changes no priority, so it needs no permission.
    #[test]
    fn processors_that_were_not_changed_are_left_alone() {
        let all = Affinity::of(None).unwrap();
        let kept = |cpus: Affinity| {
            let all = all.clone();
            let check = move || {
                cpus.apply(None).unwrap();
                let params = params(ThreadId::this(), ServerKind::Sporadic);
                let last = all.cpus().last().unwrap();
                let mut held =
                    HeldThread::take(&ThreadServerParams { cpu: last, ..params }).unwrap();
                assert_eq!(Affinity::of(None).unwrap(), Affinity::only(last).unwrap());
                let first = Affinity::only(all.cpus().next().unwrap()).unwrap();
                first.apply(None).unwrap();
                held.put_back().unwrap();
                (Affinity::of(None).unwrap(), first)
            };
            thread::spawn(check).join().unwrap()
        };
        let (after, elsewhere) = kept(Affinity::only(all.cpus().last().unwrap()).unwrap());
        assert_eq!(after, elsewhere, "it was on this processor already, so nothing is restored");
        let (after, elsewhere) = kept(all.clone());
        assert!(after == all || elsewhere == all, "one processor alone tells nothing");
    }

    /// Goal: `begin` is not called for a service that is refused.
    #[test]
    fn a_refused_service_does_not_begin() {
        let (stop, began) = (AtomicBool::new(false), &AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| busy(&stop, &tell));
            let thread = told.recv().unwrap();
            let other = Watch::of(thread).unwrap();
            assert!(other.claim());
            let of = params(thread, ServerKind::Sporadic);
            let note = || began.store(true, Ordering::Relaxed);
            let serve = move || serve(&of, note, &AtomicBool::new(true));
            assert!(scope.spawn(serve).join().unwrap().is_err());
            stop.store(true, Ordering::Relaxed);
            assert!(!began.load(Ordering::Relaxed));
        });
    }

    #[test]
    fn a_thread_has_one_manager_and_a_budget_that_can_be_kept() {
        let (stop, (tell, told)) = (AtomicBool::new(false), mpsc::channel());
        thread::scope(|scope| {
            scope.spawn(|| busy(&stop, &tell));
            let thread = told.recv().unwrap();
            let other = Watch::of(thread).unwrap();
            assert!(other.claim());
            let serve =
                |params| scope.spawn(move || serve(&params, || (), &AtomicBool::new(false))).join();
            let second = serve(params(thread, ServerKind::Sporadic)).unwrap().unwrap_err();
            let small = ServerParams::new(ServerKind::Sporadic, Duration::from_us(49), ms(20));
            let small = ThreadServerParams { server: small, ..params(thread, small.kind) };
            let small = serve(small).unwrap().unwrap_err();
            stop.store(true, Ordering::Relaxed);
            let is_known = matches!(
                second,
                ThreadServerError::Served { .. } | ThreadServerError::Manager { .. }
            );
            assert!(is_known, "{second}");
            assert!(matches!(small, ThreadServerError::Budget { .. }), "{small}");
        });
    }

    /// Goal: a refusal during the service is not mistaken for the end of the thread.
    #[test]
    fn an_ended_thread_is_distinguished_from_a_refusal() {
        assert!(is_gone(&Errno::SRCH.into()) && is_gone(&io::ErrorKind::NotFound.into()));
        assert!(!is_gone(&Errno::PERM.into()) && !is_gone(&Errno::BUSY.into()));
    }

    #[test]
    fn a_thread_that_cannot_be_served_is_refused_and_left_alone() {
        let gone = ThreadId::from_raw(i32::MAX).unwrap();
        let serve =
            |params| thread::spawn(move || serve(&params, || (), &AtomicBool::new(false))).join();
        for kind in [ServerKind::Deferrable, ServerKind::Spsl, ServerKind::FixedPriority] {
            let refused = serve(params(gone, kind)).unwrap().unwrap_err();
            assert!(matches!(refused, ThreadServerError::Kind { kind: of } if of == kind));
        }
        let gone = serve(params(gone, ServerKind::Sporadic)).unwrap().unwrap_err();
        let is_named = |error: &ThreadServerError| {
            matches!(error, ThreadServerError::Thread { .. } | ThreadServerError::Manager { .. })
        };
        assert!(is_named(&gone), "{gone}");
        let nowhere =
            ThreadServerParams { cpu: 1_000, ..params(ThreadId::this(), ServerKind::Sporadic) };
        let nowhere = serve(nowhere).unwrap().unwrap_err();
        assert!(matches!(nowhere, ThreadServerError::Processor { cpu: 1_000, .. }), "{nowhere}");
    }
}
