// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parses values of the command line.

use clap::ValueEnum;
use tidegate_measure::Experiment;
use tidegate_model::quantity::Quantity;
use tidegate_model::{DriveKind, Duration, Op, PolicyName};

/// A drive model by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Model {
    /// As slow as the drive's batch table allows
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

/// A drive model that can be measured. Recorded times are excluded: measuring them would return the
/// earlier measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MeasurableModel {
    /// As slow as the drive's batch table allows
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
        format!("this version has no policy of that name; write one of {known}")
    })
}

/// Reads the name of an experiment.
pub(crate) fn experiment(name: &str) -> Result<Experiment, String> {
    Experiment::from_name(name).ok_or_else(|| {
        let known = Experiment::ALL.map(Experiment::name).join(", ");
        format!("write one of {known}")
    })
}

/// Parses a name that can appear in a drive file.
pub(crate) fn printable(name: &str) -> Result<String, String> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err("write a name that can be printed".to_owned());
    }
    Ok(name.to_owned())
}

/// Parses a run length; zero is refused, because it is certainly a mistake.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    match quantity(text)? {
        Duration::ZERO => {
            Err("the time is zero; write a longer one, or leave the option out".to_owned())
        }
        length => Ok(length),
    }
}

/// Reads a quantity with its unit.
pub(crate) fn quantity<Q: Quantity>(text: &str) -> Result<Q, String> {
    Q::parse(text).map_err(|error| format!("{}; {}", error.message, error.help))
}
