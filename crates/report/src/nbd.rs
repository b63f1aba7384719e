// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reports of `tidegate nbd`: the exports of a server, data copied from or to an export, and a
//! load on an export.

use std::io::{Read, Write};

use serde::Serialize;
use tidegate_model::{Bytes, Duration, Op};
use tidegate_nbd::client::{Client, Load, Loaded};
use tidegate_nbd::{Listed, wire};
use tidegate_stats::Distribution;

use crate::figures::{bound, count, ms_ceil, thousands, throughput};
use crate::ns::Ns;
use crate::page::{Answer, Page, Report, printable};

/// The exports of a server.
#[derive(Debug, Serialize)]
pub struct ListReport<'a> {
    exports: Vec<ListedExport<'a>>,
}

#[derive(Debug, Serialize)]
struct ListedExport<'a> {
    name: &'a str,
    description: &'a str,
}

impl<'a> ListReport<'a> {
    /// Reports the exports in a list.
    pub fn of(listed: &'a [Listed]) -> Self {
        let export = |it: &'a Listed| ListedExport { name: &it.name, description: &it.description };
        Self { exports: listed.iter().map(export).collect() }
    }
}

impl Report for ListReport<'_> {
    fn answer(&self) -> Option<Answer> {
        Some(Answer::good(count(self.exports.len(), "export")))
    }

    fn write(&self, page: &mut Page) {
        let row = |it: &ListedExport<'_>| vec![printable(it.name), printable(it.description)];
        page.table(&["name", "description"], self.exports.iter().map(row).collect(), 2);
    }
}

/// An export as its server describes it.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "what the export can do")]
pub struct ExportReport {
    name: String,
    description: String,
    size_bytes: u64,
    block_bytes_min: Option<u32>,
    block_bytes_preferred: Option<u32>,
    request_bytes_max: Option<u32>,
    is_read_only: bool,
    is_rotational: bool,
    can_flush: bool,
    can_fua: bool,
    can_trim: bool,
    can_write_zeroes: bool,
    can_multi_conn: bool,
}

impl ExportReport {
    /// Reports the export that this client has entered.
    pub fn of<S: Read + Write>(client: &Client<S>) -> Self {
        let has = |flag: u16| client.flags() & flag != 0;
        let block = client.block();
        Self {
            name: client.name().to_owned(),
            description: client.description().to_owned(),
            size_bytes: client.size(),
            block_bytes_min: block.map(|it| it.minimum),
            block_bytes_preferred: block.map(|it| it.preferred),
            request_bytes_max: block.map(|it| it.maximum),
            is_read_only: has(wire::FLAG_READ_ONLY),
            is_rotational: has(wire::FLAG_ROTATIONAL),
            can_flush: has(wire::FLAG_SEND_FLUSH),
            can_fua: has(wire::FLAG_SEND_FUA),
            can_trim: has(wire::FLAG_SEND_TRIM),
            can_write_zeroes: has(wire::FLAG_SEND_WRITE_ZEROES),
            can_multi_conn: has(wire::FLAG_CAN_MULTI_CONN),
        }
    }
}

impl Report for ExportReport {
    fn answer(&self) -> Option<Answer> {
        let how = if self.is_read_only { ", read-only" } else { "" };
        let (name, size) = (printable(&self.name), Bytes::new(self.size_bytes));
        Some(Answer::good(format!("`{name}` has {size}{how}")))
    }

    fn write(&self, page: &mut Page) {
        if !self.description.is_empty() {
            page.labelled("Description", printable(&self.description));
        }
        let size = |bytes: u32| Bytes::new(bytes.into());
        if let (Some(least), Some(preferred), Some(most)) =
            (self.block_bytes_min, self.block_bytes_preferred, self.request_bytes_max)
        {
            let (least, preferred, most) = (size(least), size(preferred), size(most));
            page.labelled("Blocks", format!("{least} at least, {preferred} preferred"));
            page.labelled("Requests", format!("{most} at most"));
        }
        let can = [
            (self.can_flush, "flush"),
            (self.can_fua, "durable writes (FUA)"),
            (self.can_trim, "trim"),
            (self.can_write_zeroes, "write zeroes"),
            (self.can_multi_conn, "several connections"),
        ];
        let can: Vec<&str> = can.into_iter().filter_map(|(it, what)| it.then_some(what)).collect();
        if !can.is_empty() {
            page.labelled("Can", can.join(", "));
        }
        if self.is_rotational {
            page.labelled("Store", "a rotating disk");
        }
    }
}

/// Data that was copied between an export and a file.
#[derive(Debug, Serialize)]
pub struct MovedReport<'a> {
    name: &'a str,
    op: &'static str,
    offset_bytes: u64,
    size_bytes: u64,
    file: Option<&'a str>,
    is_durable: Option<bool>,
}

impl<'a> MovedReport<'a> {
    /// Reports a read into a file.
    pub fn read(name: &'a str, offset_bytes: u64, size_bytes: u64, file: &'a str) -> Self {
        let op = Op::Read.name();
        Self { name, op, offset_bytes, size_bytes, file: Some(file), is_durable: None }
    }

    /// Reports a write, and whether it was flushed.
    pub fn written(name: &'a str, offset_bytes: u64, size_bytes: u64, is_durable: bool) -> Self {
        let (op, is_durable) = (Op::Write.name(), Some(is_durable));
        Self { name, op, offset_bytes, size_bytes, file: None, is_durable }
    }
}

impl Report for MovedReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let (size, offset) = (Bytes::new(self.size_bytes), Bytes::new(self.offset_bytes));
        let name = printable(self.name);
        let at = format!("{size} at {offset} of `{name}`");
        Some(match (self.file, self.is_durable) {
            (Some(file), _) => Answer::good(format!("Read {at} into {file}")),
            (None, Some(true)) => Answer::good(format!("Wrote {at}; the data is durable")),
            (None, _) => Answer::doubtful(format!(
                "Wrote {at}; the server cannot make it durable (no flush)"
            )),
        })
    }

    fn write(&self, _page: &mut Page) {}
}

/// The places of a load's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The requests are at random places.
    Random,
    /// Each request follows the previous one.
    Sequential,
}

/// The results of a load on one export, as its client measured them.
#[derive(Debug, Serialize)]
pub struct LoadReport<'a> {
    name: &'a str,
    op: &'static str,
    size_bytes: u32,
    place: Place,
    depth: u32,
    seed: u64,
    time_ns: u64,
    requests: u64,
    failed: u64,
    failure: Option<String>,
    requests_per_s: u64,
    throughput_bytes_per_s: u64,
    response_ns_min: Option<Ns>,
    response_ns_mean: Option<Ns>,
    response_ns_p50: Option<Ns>,
    response_ns_p99: Option<Ns>,
    response_ns_p999: Option<Ns>,
    response_ns_max: Option<Ns>,
}

impl<'a> LoadReport<'a> {
    /// Reports the response times of a load.
    pub fn of(
        name: &'a str,
        op: Op,
        place: Place,
        load: &Load,
        loaded: &Loaded,
        responses: &Distribution,
    ) -> Self {
        let requests = responses.count();
        let time_ns = loaded.time.as_nanos().max(1);
        let each_second = |amount: u128| u64::try_from(amount * 1_000_000_000 / time_ns);
        let quantile = |ppm| Ns::of(responses.quantile(ppm));
        Self {
            name,
            op: op.name(),
            size_bytes: load.size,
            place,
            depth: load.depth,
            seed: load.seed,
            time_ns: u64::try_from(time_ns).unwrap_or(u64::MAX),
            requests,
            failed: loaded.failed,
            failure: loaded.failure.map(|failure| failure.to_string()),
            requests_per_s: each_second(requests.into()).unwrap_or(u64::MAX),
            throughput_bytes_per_s: each_second(u128::from(requests) * u128::from(load.size))
                .unwrap_or(u64::MAX),
            response_ns_min: Ns::of(responses.min()),
            response_ns_mean: Ns::of(responses.mean()),
            response_ns_p50: quantile(500_000),
            response_ns_p99: quantile(990_000),
            response_ns_p999: quantile(999_000),
            response_ns_max: Ns::of(responses.max()),
        }
    }
}

impl Report for LoadReport<'_> {
    fn answer(&self) -> Option<Answer> {
        let Self { op, depth, .. } = self;
        let size = Bytes::new(self.size_bytes.into());
        let Some(Ns(longest)) = self.response_ns_max.filter(|_| self.failed == 0) else {
            let failed = thousands(self.failed);
            let why = self.failure.as_deref().unwrap_or("no request was answered");
            return Some(Answer::bad(format!("{failed} {op}s of {size} failed: {why}")));
        };
        let rate = thousands(self.requests_per_s);
        let longest = ms_ceil(longest);
        Some(Answer::good(format!(
            "{rate} {op}s of {size} a second at depth {depth}; none took longer than {longest}"
        )))
    }

    fn write(&self, page: &mut Page) {
        let time = |ns: Option<Ns>| bound(ns.map(|Ns(time)| time));
        let columns = [
            ("min", self.response_ns_min),
            ("mean", self.response_ns_mean),
            ("p50", self.response_ns_p50),
            ("p99", self.response_ns_p99),
            ("p99.9", self.response_ns_p999),
            ("max", self.response_ns_max),
        ];
        let columns: Vec<(&str, Vec<String>)> =
            columns.into_iter().map(|(title, ns)| (title, vec![time(ns)])).collect();
        page.columns(&columns, 0);
        let (requests, failed) = (thousands(self.requests), thousands(self.failed));
        let took = ms_ceil(Duration::from_ns(self.time_ns));
        let rate = throughput(self.throughput_bytes_per_s);
        let failed = if self.failed > 0 { format!(", {failed} failed") } else { String::new() };
        page.labelled("Requests", format!("{requests} in {took}{failed}; {rate}"));
        page.labelled("Times", "at this client: from sending a request to the end of its reply");
    }
}
