// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The serve file as written: one struct for each table.

use serde::Deserialize;
use toml::Spanned;

use super::limits::{RawLimits, RawPlacement};
use crate::drive_file::PlaceFamily;
use crate::host_section::RawHost;
use crate::task::Op;
use crate::units::{Bandwidth, Bytes, Duration};
use crate::workload_file::RawPolicy;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawServe {
    pub(super) backing: Option<Spanned<String>>,
    pub(super) simulate: Option<Spanned<String>>,
    pub(super) store: Option<Spanned<String>>,
    pub(super) drive: Option<Spanned<String>>,
    pub(super) socket: Option<Spanned<String>>,
    pub(super) listen: Option<Spanned<String>>,
    pub(super) tls: Option<Spanned<RawTls>>,
    pub(super) control: Option<Spanned<String>>,
    pub(super) metrics: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) read_only: bool,
    pub(super) busy_poll: Option<Spanned<Duration>>,
    pub(super) size_max: Option<Spanned<Bytes>>,
    pub(super) absent_places: Option<Spanned<Vec<PlaceFamily>>>,
    pub(super) limits: Option<RawLimits>,
    pub(super) thread: Option<RawPlacement>,
    pub(super) policy: Option<RawPolicy>,
    pub(super) host: Option<RawHost>,
    #[serde(default)]
    pub(super) export: Vec<RawExport>,
}

/// One export without a serve file around it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSnippet {
    pub(super) export: Vec<RawExport>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTls {
    pub(super) psk: Option<Spanned<String>>,
    pub(super) certificates: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExport {
    pub(super) name: Spanned<String>,
    pub(super) offset: Option<Spanned<Bytes>>,
    pub(super) size: Option<Spanned<Bytes>>,
    pub(super) share: Option<Spanned<RawShare>>,
    pub(super) contract: Option<Spanned<RawContract>>,
    pub(super) best_effort: Option<Spanned<bool>>,
    pub(super) soft: Option<Spanned<bool>>,
    pub(super) weight: Option<Spanned<u32>>,
    pub(super) limit: Option<Spanned<Bandwidth>>,
    pub(super) beyond: Option<Spanned<RawBeyond>>,
    #[serde(default)]
    pub(super) read_only: bool,
}

/// The value of `share = "whole"`.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RawShare {
    Whole,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RawBeyond {
    Wait,
    BestEffort,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawContract {
    pub(super) period: Spanned<Duration>,
    pub(super) deadline: Option<Spanned<Duration>>,
    #[serde(default = "one")]
    pub(super) requests: Spanned<u32>,
    pub(super) size_max: Spanned<Bytes>,
    pub(super) op: Option<Spanned<Op>>,
}

fn one() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}
