// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes the metrics page: names with units, and a label for each export.
//!
//! # Source
//! OpenMetrics 1.0. The crate `prometheus-client` formats the text.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use tidegate_model::{Duration, ExportSpec, Grade, PremiseCode};

use crate::service::{ExportStatistics, Look, ResponseCounts, View};

/// Returns the page; `None` if the service does not reply.
pub(super) fn exposition(view: &View) -> Option<String> {
    let look = view.look()?;
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Snapshot { view: view.clone(), look }));
    let mut text = String::new();
    // Writing to a string cannot fail.
    prometheus_client::encoding::text::encode(&mut text, &registry).ok()?;
    Some(text)
}

/// A service's state at one instant.
#[derive(Debug)]
struct Snapshot {
    view: View,
    look: Look,
}

fn seconds(time: Duration) -> f64 {
    std::time::Duration::from_nanos(time.ns()).as_secs_f64()
}

type Encoder<'a, 'b> = &'a mut DescriptorEncoder<'b>;

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let to = &mut encoder;
        self.service(to)?;
        self.premises(to)?;
        self.responses(to)?;
        self.socket_responses(to)?;
        self.counters(to)?;
        self.gauges(to)?;
        self.drive(to)
    }
}

impl Snapshot {
    fn exports(&self) -> impl Iterator<Item = (&ExportSpec, &ExportStatistics)> {
        self.look.offer.exports().iter().zip(&self.look.seen.exports)
    }

    fn service(&self, to: Encoder<'_, '_>) -> fmt::Result {
        let labels = [
            ("policy", self.look.offer.policy().name()),
            ("version", env!("CARGO_PKG_VERSION")),
            ("grade", self.look.offer.grade().map_or("none", Grade::name)),
        ];
        to.encode_descriptor(
            "tidegate_service",
            "The service's policy and version, and the grade of its bounds",
            None,
            MetricType::Info,
        )?
        .encode_info(&labels)?;
        let uptime = seconds(self.view.uptime());
        gauge(to, "tidegate_uptime_seconds", "Time since the service started", &uptime)?;
        let is_granted = u64::from(self.view.real_time().is_complete());
        let help = "Whether real-time scheduling and locked memory were granted";
        gauge(to, "tidegate_real_time_granted", help, &is_granted)?;
        let help = "Whether any export's bound does not hold now";
        gauge(to, "tidegate_degraded", help, &u64::from(self.look.is_degraded()))?;
        let (name, help) = ("tidegate_degradations", "Times that the guarantee was degraded");
        let count = self.look.seen.guarantee.degradations;
        to.encode_descriptor(name, help, None, MetricType::Counter)?
            .encode_counter::<NoLabelSet, _, u64>(&count, None)
    }

    fn premises(&self, to: Encoder<'_, '_>) -> fmt::Result {
        let help = "What the bounds rest on: premises of each code";
        let mut metric =
            to.encode_descriptor("tidegate_premises", help, None, MetricType::Gauge)?;
        for code in PremiseCode::ALL {
            let premises = self.look.offer.premises().iter();
            let count = premises.filter(|premise| premise.code == code).count() as u64;
            if count > 0 {
                let labels = [("code", code.name()), ("weight", code.weight().name())];
                metric.encode_family(&labels)?.encode_gauge(&count)?;
            }
        }
        Ok(())
    }

    fn responses(&self, to: Encoder<'_, '_>) -> fmt::Result {
        let help = "Response times: in-contract requests from when the contract allows them, \
                    best-effort requests from arrival";
        let name = "tidegate_export_response_seconds";
        let mut metric = to.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for (export, seen) in self.exports() {
            let name = export.name.as_str();
            let kinds = [
                ("contract", &seen.bounded_counts, export.contract.is_some()),
                ("best_effort", &seen.best_effort_counts, true),
            ];
            for (kind, counts, is_possible) in kinds {
                if !is_possible {
                    continue;
                }
                let labels = [("export", name), ("kind", kind)];
                metric.encode_family(&labels)?.encode_histogram::<NoLabelSet>(
                    seconds(counts.sum()),
                    counts.count(),
                    &buckets(counts),
                    None,
                )?;
            }
        }
        Ok(())
    }

    /// The times until the reply is at the client's socket, for clients of the NBD server.
    fn socket_responses(&self, to: Encoder<'_, '_>) -> fmt::Result {
        let help = "Response times at the socket: until the reply was handed to the client's \
                    socket, without the time for which the client left no room for it";
        let name = "tidegate_export_socket_response_seconds";
        let mut metric = to.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for (export, seen) in self.exports() {
            let (labels, counts) = ([("export", export.name.as_str())], &seen.at_socket);
            metric.encode_family(&labels)?.encode_histogram::<NoLabelSet>(
                seconds(counts.sum()),
                counts.count(),
                &buckets(counts),
                None,
            )?;
        }
        Ok(())
    }

    fn counters(&self, to: Encoder<'_, '_>) -> fmt::Result {
        type Pick = fn(&ExportStatistics) -> u64;
        let counters: [(&str, &str, Pick); 7] = [
            ("misses", "In-contract requests that completed after their deadline", |seen| {
                seen.misses
            }),
            ("exceeded", "In-contract requests that completed after their bound", |seen| {
                seen.exceeded
            }),
            (
                "unexplained",
                "Requests after their bound that the lateness of drive and host does not explain",
                |seen| seen.unexplained,
            ),
            ("beyond", "Requests beyond the contract", |seen| seen.beyond),
            ("failed", "Requests that failed in the store", |seen| seen.failed),
            ("flushes", "Flushes and durable writes", |seen| seen.flushes),
            ("transferred_bytes", "Bytes read and written", |seen| seen.bytes),
        ];
        for (what, help, pick) in counters {
            let name = format!("tidegate_export_{what}");
            let mut metric = to.encode_descriptor(&name, help, None, MetricType::Counter)?;
            for (export, seen) in self.exports() {
                let labels = [("export", export.name.as_str())];
                metric
                    .encode_family(&labels)?
                    .encode_counter::<NoLabelSet, _, u64>(&pick(seen), None)?;
            }
        }
        Ok(())
    }

    fn gauges(&self, to: Encoder<'_, '_>) -> fmt::Result {
        let (exports, bounds) = (self.look.offer.exports(), self.look.offer.bounds());
        let contracts = || exports.iter().map(|export| export.contract.as_ref());
        let proved = bounds.iter().map(|bound| bound.map(seconds));
        self.of_exports(to, "bound_seconds", "Proved bound on the response time", proved)?;
        let deadlines = contracts().map(|contract| contract.map(|it| seconds(it.deadline)));
        self.of_exports(to, "deadline_seconds", "The contract's deadline", deadlines)?;
        let seen = &self.look.seen.exports;
        let tokens = contracts().zip(seen).map(|(contract, seen)| contract.map(|_| seen.tokens));
        self.of_exports(to, "tokens", "Requests that the contract allows now", tokens)?;
        let outstanding = seen.iter().map(|seen| Some(seen.outstanding));
        self.of_exports(to, "outstanding", "Outstanding requests", outstanding)?;
        let degraded = bounds
            .iter()
            .enumerate()
            .map(|(index, bound)| bound.map(|_| u64::from(self.look.is_export_degraded(index))));
        let help = "Whether the export's bound does not hold now: the drive exceeded its table, or \
                    a response exceeded the bound, and the guarantee does not stand again yet";
        self.of_exports(to, "degraded", help, degraded)?;
        let excess = bounds.iter().zip(seen).map(|(bound, seen)| bound.map(|_| seen.excess_max));
        let full = seen.iter().map(|seen| Some(seconds(seen.client_full)));
        let help = "Sum of the times for which clients left no room for their replies";
        self.of_exports(to, "client_full_seconds", help, full)?;
        let help = "Largest excess over the export's bound since the service started";
        self.of_exports(to, "excess_max_seconds", help, excess.map(|excess| excess.map(seconds)))
    }

    /// Writes a gauge for each export that has a value.
    fn of_exports<T: EncodeGaugeValue>(
        &self,
        to: Encoder<'_, '_>,
        what: &str,
        help: &str,
        values: impl Iterator<Item = Option<T>>,
    ) -> fmt::Result {
        let name = format!("tidegate_export_{what}");
        let mut metric = to.encode_descriptor(&name, help, None, MetricType::Gauge)?;
        for (export, value) in self.look.offer.exports().iter().zip(values) {
            if let Some(value) = value {
                metric.encode_family(&[("export", export.name.as_str())])?.encode_gauge(&value)?;
            }
        }
        Ok(())
    }

    fn drive(&self, to: Encoder<'_, '_>) -> fmt::Result {
        let seen = &self.look.seen;
        gauge(to, "tidegate_drive_in_flight", "Requests in flight", &seen.in_flight)?;
        for (name, help, count) in [
            ("tidegate_drive_batches", "Batches compared with the drive's table", seen.batches),
            (
                "tidegate_drive_overruns",
                "Batches that took longer than the table allows",
                seen.overruns,
            ),
            (
                "tidegate_drive_overruns_tolerated",
                "Of these batches, those within what the proof tolerates",
                seen.overruns_tolerated,
            ),
            (
                "tidegate_drive_stalls",
                "Times when the drive completed nothing for seconds",
                seen.stalls,
            ),
        ] {
            to.encode_descriptor(name, help, None, MetricType::Counter)?
                .encode_counter::<NoLabelSet, _, u64>(&count, None)?;
        }
        let (name, help) = ("tidegate_drive_overrun_seconds", "Sum of all overruns");
        to.encode_descriptor(name, help, None, MetricType::Counter)?
            .encode_counter::<NoLabelSet, _, u64>(&seconds(seen.overrun_sum), None)
    }
}

fn gauge(
    to: Encoder<'_, '_>,
    name: &str,
    help: &str,
    value: &impl EncodeGaugeValue,
) -> fmt::Result {
    to.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(value)
}

fn buckets(counts: &ResponseCounts) -> Vec<(f64, u64)> {
    let limit = |limit: Option<Duration>| limit.map_or(f64::INFINITY, seconds);
    counts.classes().map(|(longest, count)| (limit(longest), count)).collect()
}
