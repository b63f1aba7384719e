// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Values of the command line, each as it is written.

use clap::ValueEnum;
use tidegate_measure::Experiment;
use tidegate_model::quantity::Quantity;
use tidegate_model::{DriveKind, Duration, Op, PolicyName};

/// A simulated drive by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Model {
    /// The worst the drive's table allows.
    Pseudo,
    /// A hard disk from its mechanics.
    Mechanical,
    /// A solid-state drive from its chips.
    Ssd,
    /// Service times drawn from a measured profile.
    Recorded,
}

impl From<Model> for DriveKind {
    fn from(model: Model) -> Self {
        match model {
            Model::Pseudo => Self::Pseudo,
            Model::Mechanical => Self::Mechanical,
            Model::Ssd => Self::Ssd,
            Model::Recorded => Self::Recorded,
        }
    }
}

/// A simulated drive that can be measured: not one whose times are recorded, for a measurement
/// of these would tell what was measured before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasurableModel {
    /// The worst the drive's table allows.
    Pseudo,
    /// A hard disk from its mechanics.
    Mechanical,
    /// A solid-state drive from its chips.
    Ssd,
}

impl From<MeasurableModel> for DriveKind {
    fn from(model: MeasurableModel) -> Self {
        match model {
            MeasurableModel::Pseudo => Self::Pseudo,
            MeasurableModel::Mechanical => Self::Mechanical,
            MeasurableModel::Ssd => Self::Ssd,
        }
    }
}

/// An operation by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OpArgument {
    Read,
    Write,
}

impl From<OpArgument> for Op {
    fn from(op: OpArgument) -> Self {
        match op {
            OpArgument::Read => Self::Read,
            OpArgument::Write => Self::Write,
        }
    }
}

/// Reads the name of a policy.
pub(crate) fn policy(name: &str) -> Result<PolicyName, String> {
    PolicyName::from_name(name).ok_or_else(|| {
        let known = PolicyName::ALL.map(PolicyName::name).join(", ");
        format!("there is no policy of that name in this version; write one of {known}")
    })
}

/// Reads the name of an experiment.
pub(crate) fn experiment(name: &str) -> Result<Experiment, String> {
    Experiment::from_name(name).ok_or_else(|| {
        let known = Experiment::ALL.map(Experiment::name).join(", ");
        format!("write one of {known}")
    })
}

/// A name as drive files may have it.
pub(crate) fn printable(name: &str) -> Result<String, String> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err("write a name that can be printed".to_owned());
    }
    Ok(name.to_owned())
}

/// How long to go on: who writes a time of nothing meant another one.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    match quantity(text)? {
        Duration::ZERO => Err("no time at all; write how long, or leave it out".to_owned()),
        length => Ok(length),
    }
}

/// Reads a quantity with its unit.
pub(crate) fn quantity<Q: Quantity>(text: &str) -> Result<Q, String> {
    Q::parse(text).map_err(|error| format!("{}; {}", error.message, error.help))
}
