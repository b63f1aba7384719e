// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The `[policy]` table of a workload file: the policy, its batch size, its regulators, and the
//! parameters in `[policy.NAME]`.

use std::num::NonZeroU32;
use std::ops::Range;

use serde::de::Error;
use toml::Spanned;

use super::written::{Written, deserialize_written};
use crate::best_effort_order::BestEffortOrder;
use crate::did_you_mean;
use crate::file_error::FileError;
use crate::names::PolicyName;
use crate::parameters::{Parameters, PolicyTable};
use crate::regulator::RegulatorName;
use crate::workload::{BatchChoice, DepthChoice};

/// The policy of the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Policy {
    pub(super) name: PolicyName,
    pub(super) batch: BatchChoice,
    pub(super) batch_span: Range<usize>,
    /// The position of `batch_cost`, empty if it is not written.
    pub(super) batch_cost_span: Range<usize>,
    pub(super) best_effort_depth: DepthChoice,
    /// The order of best effort; `None`: the default for the drive.
    pub(super) best_effort_order: Option<BestEffortOrder>,
    pub(super) regulators: Vec<RegulatorName>,
    /// The position of each regulator.
    pub(super) regulator_spans: Vec<Range<usize>>,
    /// The `[policy.NAME]` tables of the file, with their positions.
    pub(super) sections: Vec<(&'static str, Range<usize>)>,
    pub(super) parameters: Parameters,
    /// The share by which the drive may exceed its tables, in parts per million.
    pub(crate) margin_ppm: u32,
}

impl Policy {
    /// Creates a policy with default settings.
    pub(crate) fn of(name: PolicyName) -> Self {
        Self {
            name,
            batch: BatchChoice::Auto,
            batch_span: 0..0,
            batch_cost_span: 0..0,
            best_effort_depth: DepthChoice::Proven,
            best_effort_order: None,
            regulators: Vec::new(),
            regulator_spans: Vec::new(),
            sections: Vec::new(),
            parameters: Parameters::default(),
            margin_ppm: 0,
        }
    }

    /// Wraps all other regulators in tokens for each task, unless they are already there, because a
    /// server's clients can send any requests.
    pub(crate) fn regulate_tasks(&mut self) {
        if !self.regulators.contains(&RegulatorName::TokensPerTask) {
            self.regulators.insert(0, RegulatorName::TokensPerTask);
            self.regulator_spans.insert(0, 0..0);
        }
    }

    /// Reads the table, or the defaults if there is none.
    pub(crate) fn read(raw: Option<RawPolicy>) -> Result<Self, FileError> {
        let Some(raw) = raw else { return Ok(Self::of(PolicyName::Dqf)) };
        let name = PolicyName::from_name(raw.name.get_ref()).ok_or_else(|| {
            FileError::new(
                raw.name.span(),
                format!("there is no policy `{}` in this version", raw.name.get_ref()),
                did_you_mean::advice(raw.name.get_ref(), PolicyName::ALL.map(PolicyName::name)),
            )
        })?;
        let regulators = raw.regulators.iter().flatten().map(read_regulator);
        let regulators = regulators.collect::<Result<Vec<_>, _>>()?;
        let regulator_spans = raw.regulators.iter().flatten().map(Spanned::span).collect();
        check_depth_limit(&raw)?;
        let (sections, parameters) = (raw.sections(), raw.parameters());
        let batch_cost = raw.dqf.as_ref().and_then(|dqf| dqf.get_ref().batch_cost.as_ref());
        let batch_cost_span = batch_cost.map_or(0..0, Spanned::span);
        let best_effort_order = raw.best_effort_order.as_ref().map(read_order).transpose()?;
        let best_effort_depth =
            raw.best_effort_depth.map_or(Ok(DepthChoice::Proven), read_depth)?;
        let margin_ppm = raw.margin.as_ref().map_or(0, |margin| margin.ppm);
        let (batch, batch_span) = read_batch(raw.batch)?;
        Ok(Self {
            name,
            batch,
            batch_span,
            batch_cost_span,
            best_effort_depth,
            best_effort_order,
            regulators,
            regulator_spans,
            sections,
            parameters,
            margin_ppm,
        })
    }
}

fn read_order(name: &Spanned<String>) -> Result<BestEffortOrder, FileError> {
    BestEffortOrder::from_name(name.get_ref()).ok_or_else(|| {
        FileError::new(
            name.span(),
            format!("there is no order of best effort `{}`", name.get_ref()),
            format!(
                "write one of {}, or delete the line",
                BestEffortOrder::ALL.map(BestEffortOrder::name).join(", ")
            ),
        )
    })
}

fn read_regulator(name: &Spanned<String>) -> Result<RegulatorName, FileError> {
    RegulatorName::from_name(name.get_ref()).ok_or_else(|| {
        FileError::new(
            name.span(),
            format!("there is no regulator `{}` in this version", name.get_ref()),
            did_you_mean::advice(name.get_ref(), RegulatorName::ALL.map(RegulatorName::name))
                + ", or delete the line",
        )
    })
}

/// Refuses a regulator that does nothing without its own parameters, if the file has none.
fn check_depth_limit(raw: &RawPolicy) -> Result<(), FileError> {
    let lacks_limit = |name: &&Spanned<String>| {
        let regulator = RegulatorName::from_name(name.get_ref());
        raw.depth_limit.is_none() && regulator.is_some_and(RegulatorName::needs_parameters)
    };
    raw.regulators.iter().flatten().find(lacks_limit).map_or(Ok(()), |named| {
        Err(FileError::new(
            named.span(),
            "`depth-limit` needs the number of requests that may be on the drive",
            "add [policy.depth-limit] with, for example, in_flight = 8",
        ))
    })
}

fn read_batch(batch: Option<Spanned<RawNumber>>) -> Result<(BatchChoice, Range<usize>), FileError> {
    let Some(batch) = batch else { return Ok((BatchChoice::Auto, 0..0)) };
    let span = batch.span();
    let choice = match batch.into_inner().at_least_one("batch", span.clone())? {
        RawNumber::Auto => BatchChoice::Auto,
        RawNumber::Requests(batch_max) => BatchChoice::Fixed(batch_max),
    };
    Ok((choice, span))
}

fn read_depth(depth: Spanned<RawNumber>) -> Result<DepthChoice, FileError> {
    let span = depth.span();
    Ok(match depth.into_inner().at_least_one("best_effort_depth", span)? {
        RawNumber::Auto => DepthChoice::Auto,
        RawNumber::Requests(depth) => {
            NonZeroU32::new(depth).map_or(DepthChoice::Proven, DepthChoice::AtMost)
        }
    })
}

/// A number of requests as written: `"auto"` or the number.
pub(crate) enum RawNumber {
    Auto,
    Requests(u32),
}

impl RawNumber {
    /// Returns the number under this key, which must not be 0.
    fn at_least_one(self, key: &str, span: Range<usize>) -> Result<Self, FileError> {
        match self {
            Self::Requests(0) => Err(FileError::new(
                span,
                format!("{key} is 0, so no request would ever be served"),
                format!("write {key} = \"auto\", or a number of requests from 1 on"),
            )),
            Self::Auto | Self::Requests(_) => Ok(self),
        }
    }
}

impl Written for RawNumber {
    const EXPECTED: &'static str = "\"auto\", or a number of requests such as 8";

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => Err(not_a_number(text)),
        }
    }
    fn from_number<E: Error>(number: i64) -> Result<Self, E> {
        u32::try_from(number).map(Self::Requests).map_err(|_| not_a_number(number))
    }
}

fn not_a_number<E: Error>(written: impl std::fmt::Display) -> E {
    E::custom(format!("`{written}` is not a number of requests\nwrite {}", RawNumber::EXPECTED))
}

deserialize_written!(RawNumber);

/// `[policy]` as written.
pub(crate) type RawPolicy = PolicyTable<RawNumber>;
