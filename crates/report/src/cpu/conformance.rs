// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate cpu conformance`: the suite's findings about implementations.

mod text;

use serde::Serialize;
use tidegate_cpu_conformance::{
    FamilyReport, Invariant, Report as Found, StreamResult, Supports, TraceLine, Verdict, Violation,
};

use crate::page::{Answer, Page, Report};

/// The findings of the conformance suite.
#[derive(Debug, Serialize)]
pub struct ConformanceReport<'a> {
    seed: u64,
    implementations: Vec<ImplementationReport<'a>>,
    #[serde(skip)]
    found: &'a [(String, Found)],
}

#[derive(Debug, Serialize)]
struct ImplementationReport<'a> {
    implementation: &'a str,
    conforms: bool,
    supports: SupportsFindings,
    families: Vec<FamilyFindings<'a>>,
    invariants: [InvariantFindings<'a>; Invariant::COUNT],
    random_runs: u64,
    random_events: u64,
}

#[derive(Debug, Serialize)]
struct FamilyFindings<'a> {
    family: &'static str,
    passes: bool,
    streams: Vec<StreamFindings<'a>>,
}

#[derive(Debug, Serialize)]
struct StreamFindings<'a> {
    stream: &'a str,
    verdict: &'static str,
    invariant: Option<&'static str>,
    violation: Option<String>,
    calls: &'a [TraceLine],
    differs: Option<Difference<'a>>,
}

/// The part of the suite that the implementation supports; the other parts were not tested.
#[derive(Debug, Serialize)]
struct SupportsFindings {
    all: bool,
    preemption_charge: bool,
    replenishments_min: u32,
    replenishments_max: u32,
    granularity_ns: u64,
}

impl SupportsFindings {
    fn of(supports: &Supports) -> Self {
        Self {
            all: supports.is_all(),
            preemption_charge: supports.preemption_charge,
            replenishments_min: supports.replenishments_min,
            replenishments_max: supports.replenishments_max,
            granularity_ns: supports.granularity.ns(),
        }
    }
}

/// The first call of a stream to which the implementation replied differently.
#[derive(Debug, Serialize)]
struct Difference<'a> {
    call: usize,
    expected: &'a Option<Box<TraceLine>>,
    found: &'a Option<Box<TraceLine>>,
}

#[derive(Debug, Serialize)]
struct InvariantFindings<'a> {
    invariant: &'static str,
    checks: u64,
    failed_runs: u64,
    first_seed: Option<u64>,
    violation: Option<String>,
    calls: &'a [TraceLine],
}

/// An implementation whose reply ended the suite immediately.
#[derive(Debug, Serialize)]
pub struct FaultReport {
    seed: u64,
    implementations: [Fault; 1],
}

#[expect(clippy::struct_field_names, reason = "keys of the JSON output")]
#[derive(Debug, Serialize)]
struct Fault {
    implementation: String,
    conforms: bool,
    fault: String,
}

impl<'a> ConformanceReport<'a> {
    /// Reports the findings for each implementation; the seeds of the random runs start at `seed`.
    pub fn of(found: &'a [(String, Found)], seed: u64) -> Self {
        let implementations = found.iter().map(|(name, found)| ImplementationReport {
            implementation: name,
            conforms: found.conforms(),
            supports: SupportsFindings::of(&found.supports),
            families: found.families.iter().map(FamilyFindings::of).collect(),
            invariants: Invariant::ALL.map(|it| InvariantFindings::of(it, found)),
            random_runs: found.runs,
            random_events: found.events,
        });
        Self { seed, implementations: implementations.collect(), found }
    }
}

impl Report for ConformanceReport<'_> {
    fn answer(&self) -> Option<Answer> {
        Some(text::answer(self.found))
    }

    fn write(&self, page: &mut Page) {
        text::write(self.found, self.seed, page);
    }
}

impl FaultReport {
    /// Reports the fault of the implementation called `name`.
    pub fn of(name: &str, fault: &impl ToString, seed: u64) -> Self {
        let (implementation, fault) = (name.to_owned(), fault.to_string());
        Self { seed, implementations: [Fault { implementation, conforms: false, fault }] }
    }
}

impl Report for FaultReport {
    fn answer(&self) -> Option<Answer> {
        let [Fault { implementation, fault, .. }] = &self.implementations;
        Some(Answer::bad(format!("FAILS: {implementation} does not conform: {fault}.")))
    }

    fn write(&self, _: &mut Page) {}
}

impl<'a> FamilyFindings<'a> {
    fn of(found: &'a FamilyReport) -> Self {
        Self {
            family: found.family.name(),
            passes: found.failed().is_none(),
            streams: found.streams.iter().map(StreamFindings::of).collect(),
        }
    }
}

impl<'a> StreamFindings<'a> {
    fn of(found: &'a StreamResult) -> Self {
        let (verdict, failure, differs) = match &found.verdict {
            Verdict::AsExpected => ("as_expected", None, None),
            Verdict::NotSupported => ("not_supported", None, None),
            Verdict::Differs { call, expected, found } => {
                ("differs", None, Some(Difference { call: *call, expected, found }))
            }
            Verdict::Failed(failure) => ("failed", Some(failure), None),
        };
        let violation = failure.map(|it| &it.violation);
        Self {
            stream: &found.name,
            verdict,
            invariant: violation.map(|it| it.invariant().name()),
            violation: violation.map(Violation::to_string),
            calls: failure.map_or(&[], |it| &it.calls),
            differs,
        }
    }
}

impl<'a> InvariantFindings<'a> {
    fn of(invariant: Invariant, found: &'a Found) -> Self {
        let random = &found.invariants[invariant as usize];
        Self {
            invariant: invariant.name(),
            checks: random.checks,
            failed_runs: random.failed_runs,
            first_seed: random.first.as_ref().map(|it| it.seed),
            violation: random.first.as_ref().map(|it| it.failure.violation.to_string()),
            calls: random.first.as_ref().map_or(&[], |it| &it.failure.calls),
        }
    }
}
