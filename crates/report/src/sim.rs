// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate sim`: policies side by side on a simulated drive.

use serde::Serialize;
use tidegate_host::ContractWatch;
use tidegate_model::{DriveKind, Duration, PolicyName, PremiseCode, Workload};

use crate::arrivals;
use crate::drive_record::{ContractsReport, DriveRecord};
use crate::host::HostReport;
use crate::origin::Origin;
use crate::page::{Answer, Page, Report};
use crate::premises;
use crate::runs::{self, NotApplicable, PolicyReport, Requested, verdict};

/// One policy's run in the simulator.
pub struct SimulatedRun<'a> {
    /// The policy's results.
    pub result: PolicyReport<'a>,
    /// The violations that the checkers found.
    pub violations: Vec<String>,
    /// Whether the drive kept its contracts.
    pub watch: ContractWatch,
}

/// The parameters of a simulation.
#[derive(Debug)]
pub struct Simulation {
    /// The kind of drive.
    pub kind: DriveKind,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The version of the program, and the files that it read.
    pub origin: Origin,
}

/// Policies side by side on a simulated drive.
#[derive(Debug, Serialize)]
pub struct SimReport<'a> {
    drive: &'a str,
    model: &'static str,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<HostReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arrivals: Option<String>,
    policies: Vec<Requested<SimulatedPolicy<'a>>>,
    /// Policies that do not apply, with the reasons.
    not_applicable: Vec<NotApplicable>,
    origin: Origin,
    /// Policies that an interruption left out.
    #[serde(skip)]
    not_run: Vec<PolicyName>,
    #[serde(skip)]
    workload: &'a Workload,
    #[serde(skip)]
    kind: DriveKind,
    /// The command that prints doubts and notes in full.
    #[serde(skip)]
    more: String,
    /// Promises of Tidegate that did not hold.
    #[serde(skip)]
    defects: Vec<String>,
}

#[derive(Debug, Serialize)]
struct SimulatedPolicy<'a> {
    #[serde(flatten)]
    result: PolicyReport<'a>,
    #[serde(flatten)]
    contracts: ContractsReport,
    /// The effect of a broken drive contract, in words; `None` if there is none.
    #[serde(skip)]
    overruns: Option<String>,
}

impl<'a> SimReport<'a> {
    /// Reports all runs of a workload, and the policies that an interruption left out.
    pub fn of(
        workload: &'a Workload,
        simulation: Simulation,
        runs: Vec<SimulatedRun<'a>>,
        not_run: Vec<PolicyName>,
        not_applicable: Vec<NotApplicable>,
    ) -> Self {
        let Simulation { kind, seed, origin } = simulation;
        Self {
            not_applicable,
            origin,
            drive: &workload.drive_name,
            model: kind.name(),
            seed,
            host: HostReport::of(workload),
            arrivals: arrivals::arrivals(workload),
            workload,
            kind,
            more: String::new(),
            defects: runs.iter().flat_map(SimulatedRun::defects).collect(),
            policies: Requested::all(runs.into_iter().map(SimulatedPolicy::of), &not_run),
            not_run,
        }
    }

    /// Returns whether every requested policy ran, and the deciding policies kept every deadline.
    /// The policies that promise all deadlines decide; if none does, all policies decide.
    pub fn is_kept(&self) -> bool {
        verdict::is_kept(&self.results(), &self.not_run)
    }

    fn results(&self) -> Vec<&PolicyReport<'a>> {
        self.ran().map(|policy| &policy.result).collect()
    }

    fn ran(&self) -> impl Iterator<Item = &SimulatedPolicy<'a>> {
        self.policies.iter().filter_map(Requested::ran)
    }

    /// Returns a sentence for each promise of Tidegate that did not hold.
    pub fn defects(&self) -> &[String] {
        &self.defects
    }
}

impl<'a> SimulatedPolicy<'a> {
    fn of(run: SimulatedRun<'a>) -> Self {
        let is_broken = !run.defects().is_empty();
        let SimulatedRun { result, watch, .. } = run;
        let result = if is_broken { result.blamed() } else { result };
        let record = DriveRecord::new(&result, &watch);
        let (contracts, overruns) = (record.report(), record.sentence());
        Self { result, contracts, overruns }
    }
}

impl SimReport<'_> {
    /// Adds the command that prints doubts and notes in full.
    #[must_use]
    pub fn with_more(self, more: String) -> Self {
        Self { more, ..self }
    }
}

impl SimulatedRun<'_> {
    /// Returns a sentence for each promise of Tidegate that did not hold.
    pub fn defects(&self) -> Vec<String> {
        let Self { result, violations, watch } = self;
        let record = DriveRecord::new(result, watch);
        let is_ours = |task: usize, excess: Duration| {
            record.allowance(task).is_some_and(|allowance| excess > allowance)
        };
        let exceeded = result.excesses().filter(|&(task, _, excess)| is_ours(task, excess));
        let exceeded = exceeded.map(|(_, task, excess)| {
            format!("{task} under {} exceeded its proven bound by {excess}", result.policy())
        });
        let broken = violations
            .iter()
            .map(|violation| format!("{} broke its own rule: {violation}", result.policy()));
        let report = "This is a defect of Tidegate: please report it with the workload, the drive \
                      file and the seed.";
        exceeded.chain(broken).map(|what| format!("{what}. {report}")).collect()
    }
}

impl Report for SimReport<'_> {
    fn answer(&self) -> Option<Answer> {
        Some(verdict::answer(&self.results(), &self.not_run))
    }

    fn write(&self, page: &mut Page) {
        writeln!(page);
        let results = self.results();
        runs::text::write(&results, page);
        for policy in &self.not_applicable {
            policy.write(page);
        }
        runs::write_not_run(&self.not_run, page);
        for sentence in self.ran().filter_map(|policy| policy.overruns.as_ref()) {
            page.labelled("Overruns", sentence);
        }
        // Figures that assume perfect knowledge of service times, which no device provides, must be
        // shown with this premise.
        let premises = results.iter().map(|result| result.premises());
        let perfect = premises.flat_map(|it| it.of_code(PremiseCode::PerfectKnowledge));
        premises::write(&perfect.cloned().collect(), page);
        let what = self.kind.simulates();
        page.labelled("Drive", format!("{} as {}: {what}", self.drive, self.model));
        if let Some(host) = &self.host {
            host.write_delays(page);
        }
        arrivals::write(self.arrivals.as_deref(), page);
        page.labelled("Seed", format!("{}: the same command gives the same figures", self.seed));
        premises::write_short(
            &verdict::premises(&self.workload.premises, &results),
            &self.more,
            page,
        );
    }
}
