// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The manager: looks at a thread of the system, raises and lowers it, and puts it back as it was.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;
use tidegate_cpu_model::{ServerKind, ServerParams, ServerParamsError};
use tidegate_model::{Duration, Time};
use tidegate_platform::affinity::Affinity;
use tidegate_platform::realtime;
use tidegate_platform::threads::Watch;
use tidegate_platform::{Clock, Scheduling, ThreadId};

use super::keeper::{Keeper, KeeperCounts, KeeperLimits, Sample};

/// Looks are no closer together: a look takes some ten microseconds.
const LIMITS: KeeperLimits =
    KeeperLimits { grain: Duration::from_us(50), tolerance: Duration::from_us(100) };

/// The manager looks at least so often, to see that it is to stop.
const LOOK_MAX: Duration = Duration::from_ms(100);

/// What a thread out of budget may do. It cannot be stopped from user space, so it goes on where
/// nobody with a real-time priority wants to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Background {
    /// `SCHED_OTHER`: shares what is left with ordinary threads.
    #[default]
    Other,
    /// `SCHED_IDLE`: takes what ordinary threads leave.
    Idle,
}

/// Which thread gets how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadServerParams {
    /// The thread.
    pub thread: ThreadId,
    /// The processor on which it and the manager run meanwhile.
    pub cpu: u32,
    /// Its SCHED_FIFO priority within its budget, 1 to 98; the manager is one above.
    pub priority: u8,
    /// The rules: a sporadic server or a hybrid.
    pub server: ServerParams,
    /// Its scheduling without budget.
    pub background: Background,
    /// End after so long.
    pub time_limit: Option<Duration>,
}

/// Why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadServerEnd {
    /// It was told to.
    Stopped,
    /// Its time was over.
    TimeOver,
    /// The thread has ended.
    ThreadGone,
}

/// What it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadServerReport {
    /// Why it ended.
    pub end: ThreadServerEnd,
    /// What the thread did.
    pub counts: KeeperCounts,
    /// How long it went on.
    pub took: Duration,
    /// How long the manager itself executed.
    pub manager: Duration,
    /// The latest look after it was due.
    pub lateness_max: Duration,
    /// How the thread was scheduled before, and is again.
    pub before: Scheduling,
    /// Why it is not again what it was, where it is not; never of a thread that has ended.
    pub not_put_back: Option<NotPutBack>,
}

/// What of a thread could not be made again what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot put back the {what} of thread {thread}: {reason}")]
pub struct NotPutBack {
    /// Which thread.
    pub thread: ThreadId,
    /// Its scheduling, or its processors.
    pub what: &'static str,
    /// What the kernel says.
    pub reason: Errno,
}

/// Why a thread is not served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThreadServerError {
    /// There is no such server.
    #[error(transparent)]
    Params(#[from] ServerParamsError),
    /// A kind that does not fit, or promises nothing.
    #[error(
        "a {kind} server cannot manage a thread; take sporadic, hybrid-immediate or hybrid-gradual"
    )]
    Kind {
        /// Which.
        kind: ServerKind,
    },
    /// Used up before anybody looks again.
    #[error("the budget is {budget}, and a manager in user space looks every {grain} at most")]
    Budget {
        /// The budget.
        budget: Duration,
        /// How far two looks are apart.
        grain: Duration,
    },
    /// The manager cannot be where the thread is to be.
    #[error("the manager cannot run on processor {cpu}: {reason}")]
    Processor {
        /// Its number.
        cpu: u32,
        /// What the kernel says.
        reason: String,
    },
    /// Two managers would put back what the other one made of it.
    #[error("thread {thread} is served already, by another process")]
    Served {
        /// Which.
        thread: ThreadId,
    },
    /// The manager cannot be above the thread.
    #[error(
        "the manager needs SCHED_FIFO {priority} on processor {cpu} ({reason}): run as root, or with \
         CAP_SYS_NICE"
    )]
    Manager {
        /// Its priority.
        priority: u8,
        /// Its processor.
        cpu: u32,
        /// What the kernel says.
        reason: String,
    },
    /// The thread is gone, or not ours to manage.
    #[error("cannot {what} of thread {thread}: {reason}")]
    Thread {
        /// Which.
        thread: ThreadId,
        /// What was tried.
        what: &'static str,
        /// What the kernel says.
        reason: String,
    },
}

/// Serves until `stop`, the end of time, or the end of the thread; then the thread is scheduled as
/// it was, also after a panic. The calling thread becomes the manager: it is pinned, has a real-time
/// priority and locked memory afterwards.
///
/// `begin` is called once all that may be refused was granted, before the thread has any budget, and by the
/// manager: it must not block.
///
/// Whoever is killed (SIGKILL) cannot put anything back: the thread keeps what it had last.
///
/// # Errors
/// When the thread or the manager cannot be what they have to be; the thread is as it was then.
///
/// # Panics
/// When the priority is not 1 to 98.
pub fn serve(
    params: &ThreadServerParams,
    begin: impl FnOnce(),
    stop: &AtomicBool,
) -> Result<ThreadServerReport, ThreadServerError> {
    let kind = params.server.kind;
    if !matches!(
        kind,
        ServerKind::Sporadic | ServerKind::HybridImmediate | ServerKind::HybridGradual
    ) {
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
    let mut keeper = Keeper::new(&params.server, LIMITS, first);
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
            // It may have come to belong to somebody else.
            Err(error) => return Err(fault(params, "go on with the scheduling", &error)),
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

/// Whether that is what the kernel says of a thread that has ended.
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

/// A thread that is another while this lives, and then again what it was.
struct HeldThread {
    thread: ThreadId,
    before: Scheduling,
    /// Where it was, if it had to be moved. A thread of the kernel may be bound to its processor, and not even
    /// be told to stay there.
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
        // A thread that it starts meanwhile has no budget, so it gets no priority either.
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

    /// Whether it may be given its priority, and the other one again.
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
    /// Makes it what it was, once.
    fn put_back(&mut self) -> Result<(), NotPutBack> {
        if self.is_put_back {
            return Ok(());
        }
        self.is_put_back = true;
        let thread = Some(self.thread);
        let scheduled = self.before.apply(thread).or_else(|error| match error {
            // Who has a priority by `ulimit -r` alone may not let children have it again.
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
        // After a panic or an early error there is nobody to tell.
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

    /// A thread that executes until the flag is set; gives its number first.
    fn busy(stop: &AtomicBool, tell: &mpsc::Sender<ThreadId>) {
        tell.send(ThreadId::this()).unwrap();
        while !stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }

    /// Goal: a thread that always wants to execute gets its budget at its priority, told by the
    /// kernel's own account, and is what it was afterwards. Lateness of the host is in the report.
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

    /// Goal: nobody gets a priority without a budget by being started while the served thread has one.
    #[test]
    fn what_a_served_thread_starts_has_no_priority() {
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

    /// Goal: processors that were not changed are not touched: threads of the kernel that are bound refuse
    /// that. Method: somebody else changes them meanwhile, and they stay so. Lowers nothing, so it needs
    /// no permission.
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
        assert_eq!(
            after, elsewhere,
            "it was on the one processor, and nobody was asked to change that"
        );
        let (after, elsewhere) = kept(all.clone());
        assert!(after == all || elsewhere == all, "one processor alone tells nothing");
    }

    /// Goal: who is told that a thread is served hears of nothing that is refused.
    #[test]
    fn what_is_refused_does_not_begin() {
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

    /// Goal: a refusal in the middle is not taken for the end of the thread.
    #[test]
    fn who_has_ended_is_told_from_who_may_not_be_changed() {
        assert!(is_gone(&Errno::SRCH.into()) && is_gone(&io::ErrorKind::NotFound.into()));
        assert!(!is_gone(&Errno::PERM.into()) && !is_gone(&Errno::BUSY.into()));
    }

    #[test]
    fn what_cannot_be_served_is_refused_and_left_alone() {
        let gone = ThreadId::from_raw(i32::MAX).unwrap();
        let serve =
            |params| thread::spawn(move || serve(&params, || (), &AtomicBool::new(false))).join();
        let polling = serve(params(gone, ServerKind::Polling)).unwrap().unwrap_err();
        assert!(matches!(polling, ThreadServerError::Kind { kind: ServerKind::Polling }));
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
