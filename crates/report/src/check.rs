// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The report of `tidegate check`: the proof for a disk's workload.

mod explain;
mod limit;
mod text;

use serde::{Serialize, Serializer};
use tidegate_analysis::{
    Answer, Assessment, BoundName, Bounds, Comparison, assess, compare, expected_best_effort,
    explain, headroom, shares_bounds,
};
use tidegate_model::{BestEffortOrder, Duration, Grade, PolicyName, Premises, Task, Workload};

use crate::certificate::{Certificate, NoCertificate};
use crate::figures;
use crate::host::HostReport;
use crate::ns::Ns;
use crate::origin::Origin;
use crate::overruns::OverrunForecast;
use crate::result::CurvesRecord;
use crate::soft::{Soft, SoftBound};
use crate::tolerance::ToleranceReport;

use explain::StepsReport;

/// The proof for a workload under a policy.
#[derive(Debug, Serialize)]
pub struct CheckReport<'a> {
    drive: &'a str,
    depth: u32,
    policy: &'static str,
    batch: Option<u32>,
    verdict: Verdict,
    grade: Option<Grade>,
    reason: Option<String>,
    schedulable: bool,
    tasks: Vec<TaskReport<'a>>,
    limited_by: Option<String>,
    best_effort_fill: u32,
    batch_cost_ns: Option<Ns>,
    best_effort_fill_cost_ns: Option<Ns>,
    headroom: Vec<HeadroomReport<'a>>,
    headroom_computed: bool,
    would_fit: Vec<String>,
    /// The command that measures the data that the policy's proof lacks.
    to_do: Option<String>,
    best_effort_depth: Option<u32>,
    best_effort_order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    best_effort_expected_bytes_per_s: Option<u64>,
    margin_ppm: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<HostReport>,
    tolerance: Option<ToleranceReport>,
    overruns: Option<OverrunForecast>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overruns_unknown: Option<&'static str>,
    premises: Premises,
    #[serde(skip)]
    detail: Detail,
    #[serde(skip)]
    more: String,
    #[serde(skip)]
    workload: &'a Workload,
    #[serde(skip)]
    assessment: Assessment,
    /// The soft bounds, the highest quantile first.
    #[serde(skip)]
    soft: Vec<Soft>,
}

/// The level of detail of a report's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// The first clause of each doubt, and only the subjects of notes.
    Short,
    /// Every premise in full.
    Premises,
    /// Every premise in full, all bounds, and the steps to each bound.
    Explained,
}

/// A report's verdict, with its JSON name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every deadline is proven.
    Proven,
    /// At least one deadline is not proven.
    NotProven,
    /// The analysis does not cover this workload.
    NotApplicable,
}

/// The proof for one task.
#[derive(Debug, Serialize)]
struct TaskReport<'a> {
    name: &'a str,
    period_ns: Option<Ns>,
    deadline_ns: Ns,
    #[serde(skip_serializing_if = "Option::is_none")]
    jitter_ns: Option<Ns>,
    requests: u32,
    bounds: BoundsReport,
    comparison: ComparisonReport,
    response_ns_max: Option<Ns>,
    /// The bound as the policy sees it, without the host's time and jitter; missing if the workload
    /// states neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk_response_ns_max: Option<Ns>,
    /// The longest response that a search found; present only with all details.
    #[serde(skip_serializing_if = "Option::is_none")]
    response_ns_reached: Option<Ns>,
    bound_used: Option<&'static str>,
    meets_deadline: bool,
    soft: Vec<SoftBound>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<StepsReport>,
    #[serde(skip)]
    entry: u32,
}

/// Every bound of a task, each under the key `NAME_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BoundsReport(Bounds);

impl BoundsReport {
    fn of(self, name: BoundName) -> Option<Ns> {
        Ns::of(self.0.of(name))
    }
}

impl Serialize for BoundsReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entry = |name: BoundName| (format!("{name}_ns"), self.of(name));
        serializer.collect_map(BoundName::ALL.map(entry))
    }
}

/// Bounds under other policies; that of the report's own policy is left out.
#[expect(clippy::struct_field_names, reason = "keys of the JSON output")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct ComparisonReport {
    #[serde(skip_serializing_if = "OtherBound::is_own")]
    edf_ns: OtherBound,
    #[serde(skip_serializing_if = "OtherBound::is_own")]
    fifo_ns: OtherBound,
    #[serde(skip_serializing_if = "OtherBound::is_own")]
    dqf_ns: OtherBound,
}

/// A task's bound under another policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum OtherBound {
    /// The policy of the report itself.
    Own,
    /// The bound; `None` if the other policy has none.
    Bound(Option<Ns>),
}

/// The number of further tasks like an entry's that can be proven.
#[derive(Debug, Serialize)]
struct HeadroomReport<'a> {
    name: &'a str,
    more: usize,
    count_max: usize,
    is_at_least: bool,
}

impl<'a> CheckReport<'a> {
    /// Assesses `workload` under `policy`.
    pub fn of(workload: &'a Workload, policy: PolicyName) -> Self {
        let assessment = assess(workload, policy);
        let headroom = match assessment.answer {
            Answer::NotApplicable { .. } => Some(Vec::new()),
            Answer::Proven | Answer::NotProven => headroom(workload, policy),
        };
        let (verdict, reason) = match assessment.answer {
            Answer::Proven => (Verdict::Proven, None),
            Answer::NotProven => {
                let void = assessment.premises.void();
                (Verdict::NotProven, void.map(|premise| premise.text.clone()))
            }
            Answer::NotApplicable { reason } => (Verdict::NotApplicable, Some(reason.to_owned())),
        };
        let soft = Soft::promises(workload, &assessment);
        let cost = assessment.batch_cost.as_ref();
        Self {
            drive: &workload.drive_name,
            depth: workload.depth,
            policy: assessment.policy.name(),
            batch: figures::batch_max(&assessment),
            verdict,
            grade: assessment.grade(),
            reason,
            schedulable: verdict == Verdict::Proven,
            tasks: tasks(workload, &assessment, &soft),
            limited_by: limit::limited_by(workload, &assessment),
            best_effort_fill: assessment.best_effort_fill,
            batch_cost_ns: cost.map(|cost| cost.cost_max.into()),
            best_effort_fill_cost_ns: cost.map(|cost| cost.best_effort_fill.into()),
            headroom_computed: headroom.is_some(),
            headroom: headroom
                .into_iter()
                .flatten()
                .map(|room| HeadroomReport {
                    name: &workload.entries[room.entry as usize],
                    more: room.more,
                    count_max: room.count_max,
                    is_at_least: room.is_at_least,
                })
                .collect(),
            best_effort_depth: figures::best_effort_depth(&assessment),
            best_effort_order: figures::best_effort_order(workload, assessment.policy)
                .map(BestEffortOrder::name),
            best_effort_expected_bytes_per_s: expected_best_effort(workload, &assessment),
            margin_ppm: workload.margin_ppm,
            host: HostReport::of(workload),
            tolerance: ToleranceReport::of(workload, &assessment),
            overruns: OverrunForecast::of(workload, &assessment),
            overruns_unknown: OverrunForecast::unknown(workload, &assessment),
            would_fit: Vec::new(),
            to_do: None,
            premises: assessment.premises.clone(),
            detail: Detail::Short,
            more: String::new(),
            workload,
            assessment,
            soft,
        }
    }

    /// Returns the certificate of the verdict.
    ///
    /// # Errors
    /// [`NoCertificate`] if nothing is proven, or if the proof uses a theorem that `tidegate
    /// verify` does not check.
    pub fn certificate(&self, origin: Origin) -> Result<Certificate<'_>, NoCertificate> {
        Certificate::of(self.workload, &self.assessment, origin)
    }

    /// Returns the curves behind the bounds.
    pub fn curves(&self) -> Vec<CurvesRecord> {
        CurvesRecord::all(self.workload, &self.assessment)
    }

    /// If the deadlines are not proven, adds changes with which they would be.
    #[must_use]
    pub fn with_fits(self) -> Self {
        let changes = tidegate_analysis::fit::fits(self.workload, &self.assessment);
        Self { would_fit: changes.iter().map(ToString::to_string).collect(), ..self }
    }

    /// Adds changes that the caller found, instead of [`Self::with_fits`].
    #[must_use]
    pub fn with_changes(self, would_fit: Vec<String>) -> Self {
        Self { would_fit, ..self }
    }

    /// Shows every premise in full, for commands that have no option for more detail.
    #[must_use]
    pub fn with_all_premises(self) -> Self {
        Self { detail: Detail::Premises, ..self }
    }

    /// Adds the steps of every bound and, if it was searched, the longest response that each task
    /// `reached`. The text then also shows all bounds, comparisons and premises.
    #[must_use]
    pub fn explained(mut self, reached: Option<&[Duration]>) -> Self {
        for (task, &reached) in self.tasks.iter_mut().zip(reached.unwrap_or_default()) {
            task.response_ns_reached = Some(Ns(reached));
        }
        self.detail = Detail::Explained;
        let explanations = explain(self.workload, &self.assessment);
        for (task, explanation) in self.tasks.iter_mut().zip(explanations) {
            task.steps = explanation.as_ref().map(StepsReport::of);
        }
        self
    }

    /// Completes the commands that remove doubts, and adds the command that measures the data that
    /// the policy's proof lacks; `more` is the command that prints all details.
    #[must_use]
    pub fn with_commands(mut self, complete: impl Fn(&str) -> String, more: String) -> Self {
        self.more = more;
        self.premises.change_to_do(&complete);
        self.assessment.premises.change_to_do(&complete);
        self.to_do = limit::lacking(self.workload, &self.assessment).map(|it| complete(&it));
        self
    }

    /// Returns the assessment of the workload.
    pub fn assessment(&self) -> &Assessment {
        &self.assessment
    }

    /// Returns whether every deadline is proven.
    pub fn is_proven(&self) -> bool {
        self.schedulable
    }

    pub(crate) fn verdict(&self) -> Verdict {
        self.verdict
    }

    pub(crate) fn grade(&self) -> Option<Grade> {
        self.grade
    }

    pub(crate) fn premises(&self) -> &Premises {
        &self.premises
    }
}

/// Returns whether response times can be longer at a client than at the policy.
fn is_later_at_client(workload: &Workload) -> bool {
    workload.host.stated().is_some() || workload.has_jitter()
}

fn tasks<'a>(
    workload: &'a Workload,
    assessment: &Assessment,
    soft: &[Soft],
) -> Vec<TaskReport<'a>> {
    let comparisons =
        compare(workload, assessment.policy).into_iter().zip(workload.around_policy());
    let all = workload.tasks.iter().zip(&assessment.tasks).zip(comparisons);
    let is_later = is_later_at_client(workload);
    let task = |((task, assessed), (comparison, around)): ((&'a Task, _), (_, Duration))| {
        let assessed: &tidegate_analysis::TaskAssessment = assessed;
        let bound = assessed.response_max.map(|(response, _)| response);
        let at_disk = || Ns::of(bound?.checked_sub(around));
        TaskReport {
            name: &task.name,
            period_ns: Ns::of(task.period_stated()),
            deadline_ns: task.deadline.into(),
            jitter_ns: (!task.jitter.is_zero()).then_some(Ns(task.jitter)),
            requests: task.requests,
            bounds: BoundsReport(assessed.bounds),
            comparison: ComparisonReport::of(workload, assessment.policy, &comparison),
            response_ns_max: Ns::of(bound),
            disk_response_ns_max: is_later.then(at_disk).flatten(),
            response_ns_reached: None,
            bound_used: assessed.response_max.map(|(_, name)| name.name()),
            meets_deadline: assessed.is_deadline_met,
            soft: soft.iter().map(|soft| soft.bound_of(task)).collect(),
            steps: None,
            entry: task.entry,
        }
    };
    all.map(task).collect()
}

impl ComparisonReport {
    fn of(workload: &Workload, policy: PolicyName, comparison: &Comparison) -> Self {
        let bound =
            |column, bound| OtherBound::unless(shares_bounds(workload, column, policy), bound);
        Self {
            edf_ns: bound(PolicyName::Edf, comparison.edf),
            fifo_ns: bound(PolicyName::Fifo, comparison.fifo),
            dqf_ns: bound(PolicyName::Dqf, comparison.dqf),
        }
    }
}

impl OtherBound {
    fn unless(is_own: bool, bound: Option<Duration>) -> Self {
        if is_own { Self::Own } else { Self::Bound(Ns::of(bound)) }
    }

    fn is_own(&self) -> bool {
        *self == Self::Own
    }

    fn bound(self) -> Option<Ns> {
        match self {
            Self::Own => None,
            Self::Bound(bound) => bound,
        }
    }
}
