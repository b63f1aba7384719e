// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parses values of the command line.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tidegate_measure::Experiment;
use tidegate_model::did_you_mean;
use tidegate_model::quantity::Quantity;
use tidegate_model::{BestEffortOrder, DriveKind, Duration, Grade, Op, PolicyName};

/// Returns a parser of the drive models that can be simulated.
pub(crate) fn model() -> impl TypedValueParser<Value = DriveKind> {
    one_of(DriveKind::ALL)
}

/// Returns a parser of the orders of best effort.
pub(crate) fn order() -> impl TypedValueParser<Value = BestEffortOrder> {
    let named = |name: String| BestEffortOrder::from_name(&name).expect("a possible value");
    PossibleValuesParser::new(BestEffortOrder::ALL.map(BestEffortOrder::name)).map(named)
}

/// Returns a parser of the drive models that can be measured.
pub(crate) fn measurable_model() -> impl TypedValueParser<Value = DriveKind> {
    one_of(DriveKind::ALL.into_iter().filter(|kind| kind.is_measurable()))
}

fn one_of(kinds: impl IntoIterator<Item = DriveKind>) -> impl TypedValueParser<Value = DriveKind> {
    let value = |kind: DriveKind| PossibleValue::new(kind.name()).help(kind.about());
    let values: Vec<PossibleValue> = kinds.into_iter().map(value).collect();
    let named = |name: String| DriveKind::from_name(&name).expect("one of the possible values");
    PossibleValuesParser::new(values).map(named)
}

/// The operation that a command line names.
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

/// Returns a parser of grades.
pub(crate) fn grade() -> impl TypedValueParser<Value = Grade> {
    let named = |name: String| Grade::from_name(&name).expect("one of the possible values");
    PossibleValuesParser::new(Grade::ALL.map(Grade::name)).map(named)
}

/// Parses the name of a policy.
pub(crate) fn policy(name: &str) -> Result<PolicyName, String> {
    PolicyName::from_name(name).ok_or_else(|| {
        let advice = did_you_mean::advice(name, PolicyName::ALL.map(PolicyName::name));
        format!("this version has no policy of that name; {advice}")
    })
}

/// Parses the name of an experiment.
pub(crate) fn experiment(name: &str) -> Result<Experiment, String> {
    Experiment::from_name(name)
        .ok_or_else(|| did_you_mean::advice(name, Experiment::ALL.map(Experiment::name)))
}

/// Parses a name that can appear in a drive file.
pub(crate) fn printable(name: &str) -> Result<String, String> {
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err("write a name that can be printed".to_owned());
    }
    Ok(name.to_owned())
}

/// Parses a run length; refuses zero, which must be a mistake.
pub(crate) fn length(text: &str) -> Result<Duration, String> {
    match quantity(text)? {
        Duration::ZERO => {
            Err("the time is zero; write a longer one, or leave the option out".to_owned())
        }
        length => Ok(length),
    }
}

/// Parses a quantity with its unit.
pub(crate) fn quantity<Q: Quantity>(text: &str) -> Result<Q, String> {
    Q::parse(text).map_err(|error| format!("{}; {}", error.message, error.help))
}
