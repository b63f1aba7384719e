// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes the experiments that are asked for and makes a drive file of what they gave.
//!
//! The first is b(i) for i = 1 to K: batches of i requests at random places are given to the
//! idle device at once, each with one submission; what is measured is the time until the last
//! is complete. The others have files of their own.
//!
//! Source: Stanovich, dissertation, 7.4.2 (batches, confidence).

use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use tidegate_device::{Access, DeviceFacts, Ring, RingError, Target, Temperature};
use tidegate_drive::Drive;
use tidegate_model::drive_file::Identity;
use tidegate_model::{Bytes, DriveFile, Duration, Op, Time};
use tidegate_platform::Clock;
use tidegate_platform::realtime::{RealTime, Throttling};

use crate::drain::Start;
use crate::experiment::Experiment;
use crate::finding::Finding;
use crate::journal::Journal;
use crate::kind::Kind;
use crate::lateness;
use crate::outcome::finish;
use crate::places::Places;
use crate::plan::{self, Step};
use crate::record::{self, HostRecord};
use crate::rounds::{Followers, Progress};
use crate::run::Run;
use crate::run_record::RunRecord;
use crate::subject::{RealSubject, SimulatedSubject, Subject, SubjectError};
use crate::warning::{self, Warning};

/// A simulated drive takes requests of whole sectors.
const SECTOR: Bytes = Bytes::new(512);

/// The largest request of the experiments that look at what a device is made of.
const PROBE_MAX: Bytes = Bytes::from_kib(256);

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileParams {
    /// What people will call the drive.
    pub name: String,
    /// What is measured; the order does not matter.
    pub experiments: Vec<Experiment>,
    /// What requests are of, each measured by itself. Writing destroys what is on the target.
    pub kinds: Vec<Kind>,
    /// K, the largest batch.
    pub depth: u32,
    /// Whether experiments that write by themselves (flush) may; writes among `kinds` are
    /// allowed anyhow.
    pub allows_writes: bool,
    /// How often each is measured.
    pub samples: u32,
    /// Decides all places and orders.
    pub seed: u64,
    /// What the host granted to this thread; `None` if nobody asked.
    pub real_time: Option<RealTime>,
}

impl ProfileParams {
    /// The depth that is measured where the device accepts as many.
    pub const DEPTH: u32 = 32;
    /// How often each batch size is measured unless told otherwise.
    pub const SAMPLES: u32 = 1000;
    /// The size of a request unless told otherwise.
    pub const SIZE: Bytes = Bytes::from_kib(128);

    /// Reads of the default size, as deep as the device goes and at most [`Self::DEPTH`].
    pub fn new(name: impl Into<String>, facts: &DeviceFacts) -> Self {
        Self {
            name: name.into(),
            experiments: Experiment::ALL.to_vec(),
            kinds: vec![Kind { op: Op::Read, size: Self::SIZE }],
            depth: warning::accepted(facts).map_or(Self::DEPTH, |count| count.min(Self::DEPTH)),
            allows_writes: false,
            samples: Self::SAMPLES,
            seed: 1,
            real_time: None,
        }
    }

    /// Whether this can be measured on a target of `capacity`, which need not exist yet.
    ///
    /// # Errors
    /// [`ProfileError`]: what [`profile()`] would refuse before it sends a request. The
    /// alignment of the target is not known here.
    pub fn check(&self, capacity: Bytes) -> Result<(), ProfileError> {
        let Self { depth, samples, .. } = *self;
        match () {
            () if samples == 0 => return Err(ProfileError::SamplesZero),
            () if depth == 0 => return Err(ProfileError::DepthZero),
            () if self.kinds.is_empty() => return Err(ProfileError::NoKinds),
            () => (),
        }
        self.kinds.iter().try_for_each(|&kind| self.check_kind(kind, capacity))
    }

    fn check_kind(&self, kind: Kind, capacity: Bytes) -> Result<(), ProfileError> {
        let (size, depth) = (kind.size, self.depth);
        if size.get() == 0 || !size.get().is_multiple_of(512) {
            return Err(ProfileError::SizeOdd { size });
        }
        if Places::of(capacity, kind).count < depth as usize {
            return Err(ProfileError::TooSmall { capacity, size, depth });
        }
        Ok(())
    }

    /// Whether experiments that write by themselves may.
    pub(crate) fn may_write(&self) -> bool {
        self.allows_writes || self.kinds.iter().any(|kind| kind.op == Op::Write)
    }

    fn writes(&self) -> bool {
        let is_flushed = self.experiments.contains(&Experiment::Flush) && self.allows_writes;
        is_flushed || self.kinds.iter().any(|kind| kind.op == Op::Write)
    }

    /// What the ring has room for: also for the requests that look at what a device is made of.
    fn ring_size(&self) -> Bytes {
        self.size_max().max(PROBE_MAX)
    }

    fn size_max(&self) -> Bytes {
        self.kinds.iter().map(|kind| kind.size).max().unwrap_or_default()
    }
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The drive file, ready to be written: what was not measured is not in it.
    pub file: DriveFile,
    /// The longest drains from each start that was tried.
    pub starts: Vec<StartTimes>,
    /// Whether some request was not served at all: then the device bounds no wait.
    pub is_endless: bool,
    /// What the samples tell beside their tables.
    pub findings: Vec<Finding>,
    /// What its readers have to know.
    pub warnings: Vec<Warning>,
    /// Whether the measurement was stopped before the end.
    pub is_cancelled: bool,
}

/// The longest drains from one start.
///
/// # Shape
/// Entry `q - 1` of `longest` is about q outstanding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartTimes {
    /// Of which requests.
    pub kind: Kind,
    /// Which start.
    pub start: Start,
    /// The longest times.
    pub longest: Vec<Duration>,
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// No samples asked for.
    #[error("0 samples measure nothing: ask for at least 1, better {}", ProfileParams::SAMPLES)]
    SamplesZero,
    /// No batch asked for.
    #[error("depth 0 measures nothing: ask for at least 1")]
    DepthZero,
    /// No requests asked for.
    #[error("no operation and no size measure nothing: ask for at least one of each")]
    NoKinds,
    /// A request size that is no number of sectors.
    #[error("requests of {size}: ask for a multiple of 512B")]
    SizeOdd {
        /// What was asked for.
        size: Bytes,
    },
    /// The target has not room enough for the requests of one batch.
    #[error(
        "the target of {capacity} has no room for {depth} requests of {size} side by side: make a larger one, or ask for a smaller size or depth"
    )]
    TooSmall {
        /// What the target holds.
        capacity: Bytes,
        /// Size of a request.
        size: Bytes,
        /// Largest batch.
        depth: u32,
    },
    /// Writing was asked for and the target was not opened for it.
    #[error("measuring writes destroys what is on the target: open it for writing")]
    ReadOnly,
    /// The measurement was stopped too early.
    #[error("stopped before the first request alone was measured: allow more time")]
    NothingMeasured,
    /// No ring on the target.
    #[error(transparent)]
    Ring(#[from] RingError),
    /// The device failed.
    #[error(transparent)]
    Subject(#[from] SubjectError),
}

/// Measures a block device or a file. `progress` is told after every trial, when the
/// device is idle; after `cancelled` becomes true what was measured so far is returned: a
/// shorter table where larger batches have no sample yet.
///
/// The caller asks for real-time scheduling of its own thread before
/// ([`tidegate_platform::realtime::request`]) and passes on what was granted.
///
/// # Errors
/// [`ProfileError`].
pub fn profile(
    target: &Target,
    params: &ProfileParams,
    mut progress: impl FnMut(Progress),
    cancelled: &AtomicBool,
    journal: Option<&mut Journal>,
) -> Result<Profile, ProfileError> {
    params.check(target.size())?;
    if params.writes() && target.access() == Access::ReadOnly {
        return Err(ProfileError::ReadOnly);
    }
    let measured_at = SystemTime::now();
    let mut ring = Ring::new(target, params.depth, params.ring_size())?;
    let (clock, setup) = (Clock::start(), ring.setup());
    let lateness = lateness::highest(&mut ring, clock)?;
    let (facts, throttling) = (target.facts(), Throttling::read());
    let host = HostRecord { real_time: params.real_time, setup, lateness, throttling };
    let record = record::run(params, facts, measured_at, &host);
    let warmth_before = Temperature::read(facts);
    let mut subject = RealSubject::new(ring, clock, facts);
    let followers = Followers { progress: &mut progress, cancelled, kinds: &params.kinds, journal };
    let (capacity, begun) = (target.size(), clock.now());
    let block = target.alignment();
    let mut run = Run { params, capacity, block, has_tags: false, begun, record, followers };
    let found = run.make(&mut subject)?;
    let load = subject.load().unwrap_or_default();
    run.end(load.with_warmth(warmth_before, Temperature::read(facts)));
    let runs = run.runs();
    let before = warnings_of_target(target, params);
    let identity = record::identity(params, facts, &runs);
    finish(params, found, identity, before.into_iter().chain(runs.warnings()))
}

/// Measures a simulated drive of `capacity` in virtual time; `model` says what it is.
///
/// # Errors
/// [`ProfileError`].
///
/// # Panics
/// When the drive accepts fewer requests than the largest batch.
pub fn profile_drive(
    drive: &mut dyn Drive,
    model: &str,
    capacity: Bytes,
    params: &ProfileParams,
    mut progress: impl FnMut(Progress),
    cancelled: &AtomicBool,
    journal: Option<&mut Journal>,
) -> Result<Profile, ProfileError> {
    params.check(capacity)?;
    let mut subject = SimulatedSubject::new(drive);
    let followers = Followers { progress: &mut progress, cancelled, kinds: &params.kinds, journal };
    let (begun, block) = (Time::ZERO, SECTOR);
    let record = RunRecord::of_options(record::options(params, true));
    let mut run = Run { params, capacity, block, has_tags: true, begun, record, followers };
    let found = run.make(&mut subject)?;
    let identity = Identity {
        model: Some(model.to_owned()),
        place: Some("a simulated drive, in virtual time".to_owned()),
        how: Some(record::how(params, true, &run.runs())),
        ..Identity::default()
    };
    finish(params, found, identity, [])
}

/// What [`profile()`] will do on this target, and how long that takes: found out by a few
/// requests of each kind. Writes are taken to be as fast as reads: nothing is written.
///
/// # Errors
/// [`ProfileError`].
pub fn plan(target: &Target, params: &ProfileParams) -> Result<Vec<Step>, ProfileError> {
    params.check(target.size())?;
    let ring = Ring::new(target, params.depth, params.ring_size())?;
    let mut subject = RealSubject::new(ring, Clock::start(), target.facts());
    steps(&mut subject, false, target.size(), params)
}

/// What [`profile_drive`] will do, and how long that takes in the time of the drive.
///
/// # Errors
/// [`ProfileError`].
pub fn plan_drive(
    drive: &mut dyn Drive,
    capacity: Bytes,
    params: &ProfileParams,
) -> Result<Vec<Step>, ProfileError> {
    params.check(capacity)?;
    steps(&mut SimulatedSubject::new(drive), true, capacity, params)
}

fn steps(
    subject: &mut dyn Subject,
    has_tags: bool,
    capacity: Bytes,
    params: &ProfileParams,
) -> Result<Vec<Step>, ProfileError> {
    let pace = |kind: &Kind| {
        let places = Places::of(capacity, Kind { op: Op::Read, ..*kind });
        plan::pace(subject, places, params)
    };
    let paces = params.kinds.iter().map(pace).collect::<Result<Vec<_>, _>>()?;
    Ok(plan::steps(params, has_tags, &paces))
}

fn warnings_of_target(target: &Target, params: &ProfileParams) -> Vec<Warning> {
    let facts = target.facts();
    let file_only = facts.file_system.is_some().then(|| Warning::FileOnly {
        size: target.size(),
        rotational: facts.rotational == Some(true),
    });
    let notes = target.notes().iter().cloned().map(Warning::Target);
    let host = warning::about_host(facts, params.writes(), params.size_max(), params.depth);
    file_only.into_iter().chain(notes).chain(host).collect()
}
