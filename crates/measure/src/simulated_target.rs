// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A simulated drive as the target of a measurement. It is made from a drive file and measured in
//! virtual time, and the tables are written to a file about the same drive.

use std::sync::atomic::AtomicBool;

use tidegate_device::DeviceFacts;
use tidegate_device::facts::hashed;
use tidegate_drive::{BuildError, Drive};
use tidegate_model::drive_file::{Identity, Parts};
use tidegate_model::{Bytes, DriveFile, DriveKind, Op};

use crate::journal::Journal;
use crate::kind::Kind;
use crate::measurable::Measurable;
use crate::origin::{self, Origin};
use crate::outcome::Profile;
use crate::params::{ProfileError, ProfileParams};
use crate::plan::Step;
use crate::run_control::Progress;
use crate::selection::Selection;
use crate::warning::Warning;
use crate::{merge, profile};

/// The capacity of a drive for which only times are known, so that positions do not matter.
const ANY_CAPACITY: Bytes = Bytes::from_kib(1 << 30);

/// The reason why a drive file gives no drive to measure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SimulatedTargetError {
    /// Several kinds of requests were requested, but a pseudo-disk has the table of one kind.
    #[error("--model pseudo serves only one operation in one size")]
    SeveralKinds,
    /// The drive file has no table that covers the requests.
    #[error("`{drive}` has no batch table for {}s of {size}", op.name())]
    NoTable {
        /// The drive file's name.
        drive: String,
        /// Read or write.
        op: Op,
        /// The size of the requests.
        size: Bytes,
    },
    /// The drive has only batch tables, and none of the requested experiments applies to it.
    #[error("a pseudo drive has no cache to flush")]
    NothingToMeasure,
    /// The drive accepts fewer requests than the largest batch.
    #[error("`{drive}` accepts {accepted} requests, not {depth}")]
    TooDeep {
        /// The drive file's name.
        drive: String,
        /// The number of requests that it accepts.
        accepted: u32,
        /// The largest batch.
        depth: u32,
    },
    /// The drive cannot be made from the file's parts.
    #[error(transparent)]
    Parts(#[from] BuildError),
}

impl SimulatedTargetError {
    /// Returns an instruction for the user; `None` if the message contains it already.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::SeveralKinds => "give one --op and one --size",
            Self::NoTable { .. } => "give a size that it has, or leave --model out",
            Self::NothingToMeasure => "leave --model out: the drive is then made from its parts",
            Self::TooDeep { accepted, .. } => {
                return Some(format!("ask for a depth of at most {accepted}"));
            }
            Self::Parts(_) => return None,
        };
        Some(help.to_owned())
    }
}

/// A simulated drive to measure.
pub struct SimulatedTarget {
    file: DriveFile,
    kind: DriveKind,
    kinds: Vec<Kind>,
    seed: u64,
    drive: Box<dyn Drive + Send>,
}

impl SimulatedTarget {
    /// Returns the kind of drive to measure: the `wanted` one, or else one with the file's parts.
    ///
    /// A drive that has only tables is measured only on request, because measuring it returns the
    /// same tables.
    pub fn kind_of(file: &DriveFile, wanted: Option<DriveKind>) -> DriveKind {
        wanted.unwrap_or_else(|| file.parts().map_or(DriveKind::Mechanical, Parts::kind))
    }

    /// Returns the default parameters for these experiments on the drive that `file` describes, as
    /// a drive of this kind. Writing is allowed, because it destroys nothing.
    pub fn params(file: &DriveFile, kind: DriveKind, selection: Selection<'_>) -> ProfileParams {
        let defaults = ProfileParams::new(file.name.as_str(), &DeviceFacts::default());
        ProfileParams {
            experiments: selection.on_drive(file, kind),
            depth: file.depth.min(ProfileParams::DEPTH),
            allows_writes: true,
            is_quick: selection.is_quick,
            // The simulated disk is made of exactly these mechanics.
            mechanics: file.mechanics.clone(),
            ..defaults
        }
    }

    /// Makes the drive that `file` describes, for requests with these parameters.
    ///
    /// # Errors
    /// [`SimulatedTargetError`].
    pub fn new(
        file: DriveFile,
        kind: DriveKind,
        params: &ProfileParams,
    ) -> Result<Self, SimulatedTargetError> {
        if params.experiments.is_empty() {
            return Err(SimulatedTargetError::NothingToMeasure);
        }
        if params.depth > file.depth {
            return Err(SimulatedTargetError::TooDeep {
                drive: file.name,
                accepted: file.depth,
                depth: params.depth,
            });
        }
        let (kinds, seed) = (params.kinds.clone(), params.seed);
        let drive = make(&file, kind, &kinds, seed)?;
        Ok(Self { file, kind, kinds, seed, drive })
    }

    fn capacity(&self) -> Bytes {
        self.file.capacity().unwrap_or(ANY_CAPACITY)
    }
}

/// Makes a drive from its parts, or a drive that always takes the longest time of its batch table.
fn make(
    file: &DriveFile,
    kind: DriveKind,
    kinds: &[Kind],
    seed: u64,
) -> Result<Box<dyn Drive + Send>, SimulatedTargetError> {
    if !kind.takes_longest_times() {
        return Ok(tidegate_drive::from_parts(kind, file, seed)?);
    }
    let &[Kind { op, size }] = kinds else { return Err(SimulatedTargetError::SeveralKinds) };
    let missing = || SimulatedTargetError::NoTable { drive: file.name.clone(), op, size };
    tidegate_drive::from_table(file, op, size, seed).ok_or_else(missing)
}

impl Measurable for SimulatedTarget {
    /// Measures the pace on a second drive, because serving requests changes a drive's state.
    fn plan(&self, params: &ProfileParams) -> Result<Vec<Step>, ProfileError> {
        let other = make(&self.file, self.kind, &self.kinds, self.seed);
        let mut other = other.expect("it was made before");
        profile::plan_drive(&mut *other, self.capacity(), params)
    }

    fn measure(
        &mut self,
        params: &ProfileParams,
        progress: &mut dyn FnMut(Progress),
        cancelled: &AtomicBool,
        journal: Option<&mut Journal>,
    ) -> Result<Profile, ProfileError> {
        let capacity = self.capacity();
        let drive = &mut *self.drive;
        let model = &self.file.name;
        let mut measured =
            profile::profile_drive(drive, model, capacity, params, progress, cancelled, journal)?;
        if !measured.file.priority.is_empty() && !self.file.honours_priority() {
            measured.warn(Warning::PriorityIgnored);
        }
        Ok(measured)
    }

    fn identity(&self) -> Identity {
        origin::simulated(self.file.identity.clone())
    }

    fn origin(&self) -> Origin {
        Origin::of(&self.identity())
    }

    /// Describes the exact drive, its model, and the depth. The hash excludes the tables unless the
    /// drive is made of them: a drive file with added tables describes the same drive.
    fn same(&self, params: &ProfileParams) -> String {
        let Self { file, kind, .. } = self;
        let hash = hashed(&file.parts_text());
        let is_of_tables = kind.takes_longest_times();
        let tables =
            if is_of_tables { hashed(&format!("{:?}", file.batch)) } else { String::new() };
        format!("{} as {} {hash}{tables}, 1 to {} at once", file.name, kind.name(), params.depth)
    }

    /// The file describes the parts exactly; the observed mechanics must not replace them.
    fn conclude(&self, measured: &mut Profile, is_added: bool) -> DriveFile {
        if is_added {
            let how = measured.file.identity.how.take();
            measured.file.identity = Identity { how, ..self.identity() };
            measured.file.mechanics = None;
            return measured.file.clone();
        }
        let file = DriveFile { identity: self.identity(), ..self.file.clone() };
        merge::replaced(file, measured.file.clone())
    }
}
