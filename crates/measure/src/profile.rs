// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measures a device or a simulated drive, or plans the measurement.

use std::sync::atomic::AtomicBool;
use std::time::SystemTime;

use tidegate_device::{Access, DeviceFacts, Ring, Target, Temperature};
use tidegate_drive::Drive;
use tidegate_model::drive_file::Identity;
use tidegate_model::{Bytes, Op, Premise, PremiseCode, Time};
use tidegate_platform::Clock;
use tidegate_platform::realtime::Throttling;

use crate::context::Context;
use crate::experiment::Experiment;
use crate::experiments::{made, procedure};
use crate::journal::Journal;
use crate::kind::Kind;
use crate::lateness;
use crate::outcome::{Profile, finish};
use crate::params::{ProfileError, ProfileParams};
use crate::plan::{self, Step};
use crate::record::{self, HostRecord};
use crate::run;
use crate::run_control::{Progress, RunControl};
use crate::run_record::RunRecord;
use crate::subject::{RealSubject, SimulatedSubject};
use crate::warning::{Warning, host};

/// The smallest request of a simulated drive: one sector.
const SECTOR: Bytes = Bytes::new(512);

impl ProfileParams {
    /// Creates the parameters for reads of the default size, with the device's depth but at most
    /// [`Self::DEPTH`].
    pub fn new(name: impl Into<String>, facts: &DeviceFacts) -> Self {
        Self {
            name: name.into(),
            experiments: Experiment::ALL.to_vec(),
            kinds: vec![Kind { op: Op::Read, size: Self::SIZE }],
            depth: host::accepted(facts).map_or(Self::DEPTH, |count| count.min(Self::DEPTH)),
            allows_writes: false,
            samples: Self::SAMPLES,
            is_quick: false,
            seed: 1,
            mechanics: None,
            real_time: None,
        }
    }

    /// Returns the kinds of requests that are measured. If only one experiment is run, it can have
    /// its own kinds.
    pub fn measured_kinds(&self) -> Vec<Kind> {
        match self.experiments[..] {
            [experiment] => procedure(experiment).kinds(self),
            _ => self.kinds.clone(),
        }
    }
}

/// Measures a block device or a file. It calls `progress` after every trial, when the device is
/// idle. After `cancelled` becomes true, it returns the results so far; tables are then shorter if
/// larger batches have no sample yet.
///
/// The caller should first request real-time scheduling for its own thread
/// ([`tidegate_platform::realtime::request`]), and pass on what was granted.
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
    let made = made(params, false);
    let record = record::run(record::options(params, &made), facts, measured_at, &host);
    let warmth_before = Temperature::read(facts);
    let mut subject = RealSubject::new(ring, clock, facts);
    let mut unwritten = Journal::unwritten();
    let journal = journal.unwrap_or(&mut unwritten);
    let control = RunControl { progress: &mut progress, cancelled, kinds: &params.kinds, journal };
    let (capacity, begun) = (target.size(), clock.now());
    let block = target.alignment();
    let mut context = Context { params, capacity, block, begun, control, subject: &mut subject };
    let found = run::make(&mut context, false, record)?;
    let load = context.subject.load().unwrap_or_default();
    let journal = context.control.journal;
    journal.keep_load(load.with_warmth(warmth_before, Temperature::read(facts)));
    let runs = journal.runs_in_file();
    let before = warnings_of_target(target, params);
    let identity = record::identity(&made, facts, &runs);
    finish(params, found, identity, before.into_iter().chain(runs.warnings()))
}

/// Measures a simulated drive of `capacity` in virtual time. `model` describes the drive.
///
/// # Errors
/// [`ProfileError`].
///
/// # Panics
/// If the drive accepts fewer requests than the largest batch.
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
    let mut unwritten = Journal::unwritten();
    let journal = journal.unwrap_or(&mut unwritten);
    let control = RunControl { progress: &mut progress, cancelled, kinds: &params.kinds, journal };
    let (begun, block) = (Time::ZERO, SECTOR);
    let made = made(params, true);
    let record = RunRecord::of_options(record::options(params, &made));
    let mut context = Context { params, capacity, block, begun, control, subject: &mut subject };
    let found = run::make(&mut context, true, record)?;
    let identity = Identity {
        model: Some(model.to_owned()),
        place: Some("a simulated drive, in virtual time".to_owned()),
        how: Some(record::how(&made, &context.control.journal.runs_in_file())),
        ..Identity::default()
    };
    let mut profile = finish(params, found, identity, [])?;
    profile.file.premises.push(simulated());
    Ok(profile)
}

/// Returns the premise that the times are simulated.
fn simulated() -> Premise {
    let text = "the tables are those of a simulated drive: they bound no device";
    Premise::new(PremiseCode::Simulated, "simulated times", text)
}

/// Returns the steps of [`profile()`] on this target and their duration, after timing a few reads
/// of each size. Writes are assumed to be as fast as reads, because a plan must not write.
///
/// # Errors
/// [`ProfileError`].
pub fn plan(target: &Target, params: &ProfileParams) -> Result<Vec<Step>, ProfileError> {
    params.check(target.size())?;
    let ring = Ring::new(target, params.depth, params.ring_size())?;
    let mut subject = RealSubject::new(ring, Clock::start(), target.facts());
    Ok(plan::steps(&mut subject, false, target.size(), params)?)
}

/// Returns the steps of [`profile_drive`], and their duration in the drive's virtual time.
///
/// # Errors
/// [`ProfileError`].
pub fn plan_drive(
    drive: &mut dyn Drive,
    capacity: Bytes,
    params: &ProfileParams,
) -> Result<Vec<Step>, ProfileError> {
    params.check(capacity)?;
    Ok(plan::steps(&mut SimulatedSubject::new(drive), true, capacity, params)?)
}

fn warnings_of_target(target: &Target, params: &ProfileParams) -> Vec<Warning> {
    let facts = target.facts();
    let file_only = facts.file_system.is_some().then(|| Warning::FileOnly {
        size: target.size(),
        rotational: facts.rotational == Some(true),
    });
    let notes = target.notes().iter().cloned().map(Warning::Target);
    let host = host::about_host(facts, params.writes(), params.size_max(), params.depth);
    file_only.into_iter().chain(notes).chain(host).collect()
}
