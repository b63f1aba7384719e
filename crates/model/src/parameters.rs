// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Parameters of policies and regulators that a workload file may set in `[policy.NAME]`.
//!
//! [`Parameters`] and the tables of a file are generated from one list at the end of this file.
//! Types with one or two parameters are defined here, others in files of their own.

use std::num::NonZeroU32;
use std::ops::Range;

use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use crate::quantity::Share;
use crate::units::{Duration, Time};

mod mq_deadline;
mod rtio;
mod token_bucket;

pub use mq_deadline::MqDeadlineParameters;
pub use rtio::{PriorityTag, RtioPriority};
pub use token_bucket::{
    BestEffortRate, MdnParameters, Shaping, TokenBucketParameters, TokenRate, TokenUnit,
};

/// The parameters of `das`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DasParameters {
    /// The longest time by which a request can exceed the drive model's estimate. `None`, the
    /// default: the largest error that was measured on the drive.
    pub margin: Option<Duration>,
}

/// The parameters of `dqf`: limits on batches in addition to their count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DqfParameters {
    /// Z: the largest total cost of a batch's requests, without the batch's own cost A. `None`
    /// by default: only z limits a batch.
    pub batch_cost: Option<Duration>,
}

/// `[policy.dqf]`, with the position of the limit for messages.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawDqf {
    pub(crate) batch_cost: Option<Spanned<Duration>>,
}

impl From<RawDqf> for DqfParameters {
    fn from(raw: RawDqf) -> Self {
        Self { batch_cost: raw.batch_cost.map(Spanned::into_inner) }
    }
}

names! {
    /// The orders of `g-edf` in a group of near deadlines.
    #[derive(Default, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum GroupRule {
        /// The smallest request first, then the nearest: g-EDF, with sizes for execution times.
        #[default]
        Smallest => "smallest",
        /// The nearest request to the head first: Fg-EDF.
        Nearest => "nearest",
    }
}

/// The parameters of `g-edf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "RawGroupEdf")]
pub struct GroupEdfParams {
    /// The width of a group of near deadlines, as a share of the relative deadline of its earliest
    /// request, in parts per million; 0 to 1,000,000. Key `group`, a share.
    pub group_ppm: u32,
    /// The order in a group.
    pub order: GroupRule,
}

impl Default for GroupEdfParams {
    /// Returns 40 %: this project's choice, because the literature leaves the factor to experiment.
    fn default() -> Self {
        Self { group_ppm: 400_000, order: GroupRule::default() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawGroupEdf {
    group: Option<Share>,
    #[serde(default)]
    order: GroupRule,
}

impl From<RawGroupEdf> for GroupEdfParams {
    fn from(raw: RawGroupEdf) -> Self {
        let group_ppm = raw.group.map_or(Self::default().group_ppm, |group| group.ppm);
        Self { group_ppm, order: raw.order }
    }
}

/// The parameters of `scan-edf`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScanEdfParameters {
    /// The width of a window: deadlines in the same window count as equal. Windows follow each
    /// other from the start of the run. With zero, the default, only equal deadlines count as
    /// equal.
    pub window: Duration,
}

impl ScanEdfParameters {
    /// Returns the beginning of the window in which `due` lies; `due` itself if the width is zero.
    pub fn window_start(&self, due: Time) -> Time {
        let width = self.window.ns();
        due.ns().checked_div(width).map_or(due, |windows| Time::from_ns(windows * width))
    }
}

/// The parameters of the regulator `depth-limit`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DepthLimitParameters {
    /// The most requests on the drive at the same time. `None` means as many as the drive accepts;
    /// a file that names the regulator must state it. Key `in_flight`.
    #[serde(rename = "in_flight", deserialize_with = "in_flight")]
    pub in_flight_max: Option<NonZeroU32>,
}

fn in_flight<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NonZeroU32>, D::Error> {
    let number = NonZeroU32::new(u32::deserialize(deserializer)?);
    number.map(Some).ok_or_else(|| {
        de::Error::custom(
            "in_flight is 0, so no request would ever be served\n\
             write a number from 1 on, or delete the regulator",
        )
    })
}

/// The parameter of `deadline-drain`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeadlineDrainParameters {
    /// A request that has been on the drive for this long stops all dispatches until it completes.
    pub drain_after: Duration,
}

impl Default for DeadlineDrainParameters {
    /// Returns 500 ms, the time after which `deadline` sends a read out of order: the source leaves
    /// the time open.
    fn default() -> Self {
        Self { drain_after: Duration::from_ms(500) }
    }
}

/// Generates [`Parameters`] and [`PolicyTable`] from the list of all parameters.
macro_rules! parameters {
    ($($(#[$about:meta])* $field:ident: $Parameters:ty, $name:literal as $Written:ty;)+) => {
        /// The parameters of all policies and regulators that have parameters, with their defaults.
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct Parameters { $($(#[$about])* pub $field: $Parameters,)+ }

        /// `[policy]` as written, with a table for each of the parameters. `N` is a number of
        /// requests as written.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct PolicyTable<N> {
            pub(crate) name: Spanned<String>,
            pub(crate) batch: Option<Spanned<N>>,
            pub(crate) best_effort_depth: Option<Spanned<N>>,
            pub(crate) best_effort_order: Option<Spanned<String>>,
            pub(crate) margin: Option<Share>,
            pub(crate) regulators: Option<Vec<Spanned<String>>>,
            $(#[serde(rename = $name)] pub(crate) $field: Option<Spanned<$Written>>,)+
        }

        impl<N> PolicyTable<N> {
            /// Returns the names of the `[policy.NAME]` tables of the file, with their positions.
            pub(crate) fn sections(&self) -> Vec<(&'static str, Range<usize>)> {
                let sections = [$(self.$field.as_ref().map(|table| ($name, table.span()))),+];
                sections.into_iter().flatten().collect()
            }

            /// Returns the parameters in the `[policy.NAME]` tables, with defaults for all others.
            pub(crate) fn parameters(&self) -> Parameters {
                Parameters { $($field: value(self.$field.as_ref()),)+ }
            }
        }
    };
}

parameters! {
    // Columns: field, type, name in files, type as written.
    /// `[policy.das]`.
    das: DasParameters, "das" as DasParameters;
    /// `[policy.deadline-drain]`.
    deadline_drain: DeadlineDrainParameters, "deadline-drain" as DeadlineDrainParameters;
    /// `[policy.dqf]`.
    dqf: DqfParameters, "dqf" as RawDqf;
    /// `[policy.g-edf]`.
    group_edf: GroupEdfParams, "g-edf" as GroupEdfParams;
    /// `[policy.mq-deadline-tuned]`.
    mq_deadline_tuned: MqDeadlineParameters, "mq-deadline-tuned" as MqDeadlineParameters;
    /// `[policy.rtio-priority]`.
    rtio_priority: RtioPriority, "rtio-priority" as RtioPriority;
    /// `[policy.scan-edf]`.
    scan_edf: ScanEdfParameters, "scan-edf" as ScanEdfParameters;
    /// `[policy.depth-limit]`.
    depth_limit: DepthLimitParameters, "depth-limit" as DepthLimitParameters;
    /// `[policy.token-bucket]`.
    token_bucket: TokenBucketParameters, "token-bucket" as TokenBucketParameters;
    /// `[policy.mdn]`.
    mdn: MdnParameters, "mdn" as MdnParameters;
    /// `[policy.mdn-extended]`.
    mdn_extended: MdnParameters, "mdn-extended" as MdnParameters;
}

/// Returns the parameters of a table, or the defaults if the file has no such table.
fn value<W: Clone, P: Default + From<W>>(table: Option<&Spanned<W>>) -> P {
    table.map_or_else(P::default, |table| P::from(table.get_ref().clone()))
}
