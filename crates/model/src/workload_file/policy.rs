// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The `[policy]` table of a workload file: the policy, its batch size, its regulators, and the
//! parameters in `[policy.NAME]`.

use std::num::NonZeroU32;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::raw::RawBatch;
use crate::file_error::FileError;
use crate::names::{PolicyName, RegulatorName};
use crate::parameters::{
    DasParameters, DepthLimitParameters, DqfParameters, GroupEdfParams, MdnParameters, Parameters,
    PriorityTag, RtioPriority, TokenBucketParameters,
};
use crate::quantity::Share;
use crate::units::Duration;
use crate::workload::BatchChoice;

/// The policy of the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Policy {
    pub(super) name: PolicyName,
    pub(super) batch: BatchChoice,
    pub(super) batch_span: Range<usize>,
    /// The position of `batch_cost`, empty if it is not written.
    pub(super) batch_cost_span: Range<usize>,
    pub(super) regulators: Vec<RegulatorName>,
    /// The position of each regulator.
    pub(super) regulator_spans: Vec<Range<usize>>,
    /// The `[policy.NAME]` tables of the file, with their positions.
    pub(super) sections: Vec<(&'static str, Range<usize>)>,
    pub(super) parameters: Parameters,
}

impl Policy {
    /// Creates a policy with default settings.
    pub(crate) fn of(name: PolicyName) -> Self {
        Self {
            name,
            batch: BatchChoice::Auto,
            batch_span: 0..0,
            batch_cost_span: 0..0,
            regulators: Vec::new(),
            regulator_spans: Vec::new(),
            sections: Vec::new(),
            parameters: Parameters::default(),
        }
    }

    /// Wraps all other regulators in tokens for each task, unless they are already there, because a
    /// server's clients may send any requests.
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
                format!("write one of {}", PolicyName::ALL.map(PolicyName::name).join(", ")),
            )
        })?;
        let regulators = raw.regulators.iter().flatten().map(read_regulator);
        let regulators = regulators.collect::<Result<Vec<_>, _>>()?;
        let regulator_spans = raw.regulators.iter().flatten().map(Spanned::span).collect();
        let sections = raw.sections();
        let parameters = raw.parameters()?;
        let batch_cost_span = raw.batch_cost().map_or(0..0, Spanned::span);
        let (batch, batch_span) = read_batch(raw.batch)?;
        Ok(Self {
            name,
            batch,
            batch_span,
            batch_cost_span,
            regulators,
            regulator_spans,
            sections,
            parameters,
        })
    }
}

fn read_regulator(name: &Spanned<String>) -> Result<RegulatorName, FileError> {
    RegulatorName::from_name(name.get_ref()).ok_or_else(|| {
        FileError::new(
            name.span(),
            format!("there is no regulator `{}` in this version", name.get_ref()),
            format!(
                "write some of {}, or delete the line",
                RegulatorName::ALL.map(RegulatorName::name).join(", ")
            ),
        )
    })
}

/// Returns the parameters of a table, or their defaults.
fn value<T: Copy + Default>(table: Option<&Spanned<T>>) -> T {
    table.map_or_else(T::default, |table| *table.get_ref())
}

fn read_batch(batch: Option<Spanned<RawBatch>>) -> Result<(BatchChoice, Range<usize>), FileError> {
    let Some(batch) = batch else { return Ok((BatchChoice::Auto, 0..0)) };
    let span = batch.span();
    match batch.into_inner() {
        RawBatch::Auto => Ok((BatchChoice::Auto, span)),
        RawBatch::Fixed(0) => Err(FileError::new(
            span,
            "batch is 0, so no request would ever be served",
            "write batch = \"auto\", or a number of requests from 1 on",
        )),
        RawBatch::Fixed(batch_max) => Ok((BatchChoice::Fixed(batch_max), span)),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPolicy {
    name: Spanned<String>,
    batch: Option<Spanned<RawBatch>>,
    regulators: Option<Vec<Spanned<String>>>,
    das: Option<Spanned<RawDas>>,
    dqf: Option<Spanned<RawDqf>>,
    #[serde(rename = "g-edf")]
    group_edf: Option<Spanned<RawGroupEdf>>,
    #[serde(rename = "rtio-priority")]
    rtio_priority: Option<Spanned<RawRtioPriority>>,
    #[serde(rename = "depth-limit")]
    depth_limit: Option<Spanned<RawDepthLimit>>,
    #[serde(rename = "token-bucket")]
    token_bucket: Option<Spanned<TokenBucketParameters>>,
    mdn: Option<Spanned<MdnParameters>>,
    #[serde(rename = "mdn-extended")]
    mdn_extended: Option<Spanned<MdnParameters>>,
}

/// `[policy.das]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDas {
    margin: Option<Duration>,
}

/// `[policy.dqf]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDqf {
    batch_cost: Option<Spanned<Duration>>,
}

/// `[policy.g-edf]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGroupEdf {
    group: Option<Share>,
}

/// `[policy.rtio-priority]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRtioPriority {
    #[serde(default)]
    tag: PriorityTag,
}

/// `[policy.depth-limit]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawDepthLimit {
    in_flight: Spanned<u32>,
}

impl RawPolicy {
    /// Returns the `[policy.NAME]` tables of the file, with their positions.
    fn sections(&self) -> Vec<(&'static str, Range<usize>)> {
        fn section<T>(
            name: &'static str,
            table: Option<&Spanned<T>>,
        ) -> Option<(&'static str, Range<usize>)> {
            Some((name, table?.span()))
        }
        [
            section(PolicyName::Das.name(), self.das.as_ref()),
            section(PolicyName::Dqf.name(), self.dqf.as_ref()),
            section(PolicyName::GroupEdf.name(), self.group_edf.as_ref()),
            section(PolicyName::RtioPriority.name(), self.rtio_priority.as_ref()),
            section(RegulatorName::DepthLimit.name(), self.depth_limit.as_ref()),
            section(RegulatorName::TokenBucket.name(), self.token_bucket.as_ref()),
            section(RegulatorName::Mdn.name(), self.mdn.as_ref()),
            section(RegulatorName::MdnExtended.name(), self.mdn_extended.as_ref()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the parameters in `[policy.NAME]`, with defaults for all others.
    fn parameters(&self) -> Result<Parameters, FileError> {
        Ok(Parameters {
            das: self.das(),
            depth_limit: self.depth_limit()?,
            dqf: DqfParameters { batch_cost: self.batch_cost().map(|cost| *cost.get_ref()) },
            group_edf: self.group_edf(),
            rtio_priority: self.rtio_priority(),
            token_bucket: value(self.token_bucket.as_ref()),
            mdn: value(self.mdn.as_ref()),
            mdn_extended: value(self.mdn_extended.as_ref()),
        })
    }

    fn das(&self) -> DasParameters {
        let margin = self.das.as_ref().and_then(|raw| raw.get_ref().margin);
        margin.map_or_else(DasParameters::default, |margin| DasParameters { margin })
    }

    fn batch_cost(&self) -> Option<&Spanned<Duration>> {
        self.dqf.as_ref().and_then(|raw| raw.get_ref().batch_cost.as_ref())
    }

    fn group_edf(&self) -> GroupEdfParams {
        let group = self.group_edf.as_ref().and_then(|raw| raw.get_ref().group);
        group.map_or_else(GroupEdfParams::default, |group| GroupEdfParams { group_ppm: group.ppm })
    }

    fn rtio_priority(&self) -> RtioPriority {
        self.rtio_priority
            .as_ref()
            .map_or_else(RtioPriority::default, |raw| RtioPriority { tag: raw.get_ref().tag })
    }

    fn depth_limit(&self) -> Result<DepthLimitParameters, FileError> {
        let Some(RawDepthLimit { in_flight }) = self.depth_limit.as_ref().map(Spanned::get_ref)
        else {
            let lacks_limit = |name: &&Spanned<String>| {
                RegulatorName::from_name(name.get_ref())
                    .is_some_and(RegulatorName::needs_parameters)
            };
            return match self.regulators.iter().flatten().find(lacks_limit) {
                None => Ok(DepthLimitParameters::default()),
                Some(named) => Err(FileError::new(
                    named.span(),
                    "`depth-limit` needs the number of requests that may be on the drive",
                    "add [policy.depth-limit] with, for example, in_flight = 8",
                )),
            };
        };
        let in_flight_max = NonZeroU32::new(*in_flight.get_ref()).ok_or_else(|| {
            FileError::new(
                in_flight.span(),
                "in_flight is 0, so no request would ever be served",
                "write a number from 1 on, or delete the regulator",
            )
        })?;
        Ok(DepthLimitParameters { in_flight_max: Some(in_flight_max) })
    }
}
