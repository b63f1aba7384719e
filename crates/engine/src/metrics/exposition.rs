// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes the metrics page: names with units, and a label for each export.

use tidegate_metrics::{Families, Value, labels};
use tidegate_model::{ExportSpec, Grade, PremiseCode};

use crate::service::{ExportStatistics, Look, View};

/// Returns the page; `None` if the service does not reply.
pub(super) fn exposition(view: &View) -> Option<Families> {
    let snapshot = Snapshot { view, look: view.look()? };
    let mut page = Families::default();
    snapshot.service(&mut page);
    snapshot.premises(&mut page);
    snapshot.responses(&mut page);
    snapshot.counters(&mut page);
    snapshot.gauges(&mut page);
    snapshot.drive(&mut page);
    Some(page)
}

/// A service's state at one instant.
#[derive(Debug)]
struct Snapshot<'a> {
    view: &'a View,
    look: Look,
}

impl Snapshot<'_> {
    fn exports(&self) -> impl Iterator<Item = (&ExportSpec, &ExportStatistics)> {
        self.look.offer.exports().iter().zip(&self.look.seen.exports)
    }

    fn service(&self, page: &mut Families) {
        let facts = labels([
            ("policy", self.look.offer.policy().name()),
            ("version", env!("CARGO_PKG_VERSION")),
            ("grade", self.look.offer.grade().map_or("none", Grade::name)),
        ]);
        let help = "The service's policy and version, and the grade of its bounds";
        page.info("tidegate_service", help, facts);
        let uptime = self.view.uptime();
        page.gauge("tidegate_uptime_seconds", "Time since the service started", uptime);
        let is_granted = u64::from(self.view.real_time().is_complete());
        let help = "Whether real-time scheduling and locked memory were granted";
        page.gauge("tidegate_real_time_granted", help, is_granted);
        let is_degraded = u64::from(self.look.is_degraded());
        let help = "Whether any export's bound does not hold now";
        page.gauge("tidegate_degraded", help, is_degraded);
        let count = self.look.seen.guarantee.degradations;
        page.counter("tidegate_degradations", "Times that the guarantee was degraded", count);
    }

    fn premises(&self, page: &mut Families) {
        let premises = self.look.offer.premises();
        let counts = PremiseCode::ALL.into_iter().filter_map(|code| {
            let count = premises.iter().filter(|premise| premise.code == code).count() as u64;
            let labels = labels([("code", code.name()), ("weight", code.weight().name())]);
            (count > 0).then_some((labels, count))
        });
        let help = "What the bounds rest on: premises of each code";
        page.gauges("tidegate_premises", help, counts);
    }

    fn responses(&self, page: &mut Families) {
        let help = "Response times: in-contract requests from when the contract allows them, \
                    best-effort requests from arrival";
        let samples = self.exports().flat_map(|(export, seen)| {
            let kinds = [
                ("contract", &seen.bounded_counts, export.contract.is_some()),
                ("best_effort", &seen.best_effort_counts, true),
            ];
            kinds.into_iter().filter(|(_, _, is_possible)| *is_possible).map(|(kind, counts, _)| {
                (labels([("export", &*export.name), ("kind", kind)]), counts.clone())
            })
        });
        page.histograms("tidegate_export_response_seconds", help, samples);
        // Response times at the socket exist only for clients of the NBD server.
        let help = "Response times at the socket: until the reply was handed to the client's \
                    socket, without the time for which the client left no room for it";
        let samples = self
            .exports()
            .map(|(export, seen)| (labels([("export", &*export.name)]), seen.at_socket.clone()));
        page.histograms("tidegate_export_socket_response_seconds", help, samples);
    }

    fn counters(&self, page: &mut Families) {
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
            let samples = self
                .exports()
                .map(|(export, seen)| (labels([("export", &*export.name)]), pick(seen)));
            page.counters(format!("tidegate_export_{what}"), help, samples);
        }
    }

    fn gauges(&self, page: &mut Families) {
        let (exports, bounds) = (self.look.offer.exports(), self.look.offer.bounds());
        let contracts = || exports.iter().map(|export| export.contract.as_ref());
        let proved = bounds.iter().copied();
        self.of_exports(page, "bound_seconds", "Proved bound on the response time", proved);
        let deadlines = contracts().map(|contract| contract.map(|it| it.deadline));
        self.of_exports(page, "deadline_seconds", "The contract's deadline", deadlines);
        let seen = &self.look.seen.exports;
        let tokens = contracts().zip(seen);
        let tokens = tokens.map(|(contract, seen)| contract.map(|_| u64::from(seen.tokens)));
        self.of_exports(page, "tokens", "Requests that the contract allows now", tokens);
        let outstanding = seen.iter().map(|seen| Some(seen.outstanding));
        self.of_exports(page, "outstanding", "Outstanding requests", outstanding);
        let degraded = bounds
            .iter()
            .enumerate()
            .map(|(index, bound)| bound.map(|_| u64::from(self.look.is_export_degraded(index))));
        let help = "Whether the export's bound does not hold now: the drive exceeded its table, or \
                    a response exceeded the bound, and the guarantee does not stand again yet";
        self.of_exports(page, "degraded", help, degraded);
        let full = seen.iter().map(|seen| Some(seen.client_full));
        let help = "Sum of the times for which clients left no room for their replies";
        self.of_exports(page, "client_full_seconds", help, full);
        let excess = bounds.iter().zip(seen).map(|(bound, seen)| bound.map(|_| seen.excess_max));
        let help = "Largest excess over the export's bound since the service started";
        self.of_exports(page, "excess_max_seconds", help, excess);
    }

    /// Adds a gauge with one sample for each export that has a value.
    fn of_exports<T: Into<Value>>(
        &self,
        page: &mut Families,
        what: &str,
        help: &'static str,
        values: impl Iterator<Item = Option<T>>,
    ) {
        let samples = self.look.offer.exports().iter().zip(values);
        let samples = samples
            .filter_map(|(export, value)| Some((labels([("export", &*export.name)]), value?)));
        page.gauges(format!("tidegate_export_{what}"), help, samples);
    }

    fn drive(&self, page: &mut Families) {
        let seen = &self.look.seen;
        page.gauge("tidegate_drive_in_flight", "Requests in flight", u64::from(seen.in_flight));
        let counters: [(&str, &str, Value); 5] = [
            ("batches", "Batches compared with the drive's table", seen.batches.into()),
            ("overruns", "Batches that took longer than the table allows", seen.overruns.into()),
            (
                "overruns_tolerated",
                "Of these batches, those within what the proof tolerates",
                seen.overruns_tolerated.into(),
            ),
            ("stalls", "Times when the drive completed nothing for seconds", seen.stalls.into()),
            ("overrun_seconds", "Sum of all overruns", seen.overrun_sum.into()),
        ];
        for (what, help, value) in counters {
            page.counter(format!("tidegate_drive_{what}"), help, value);
        }
    }
}
