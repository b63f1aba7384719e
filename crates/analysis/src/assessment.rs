// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The assessment of a workload: the verdict, the bounds of each task, and the limiting task.

use tidegate_model::{
    BatchCost, BatchTable, DispatchMode, DriveLimits, Duration, Grade, Plan, PolicyName, Premises,
    Workload,
};

use crate::bounds::{BoundName, Bounds};

/// The promise to a workload under a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assessment {
    /// The assessed policy.
    pub policy: PolicyName,
    /// z, the largest number of requests in a batch; for `noop` the drive's depth, for `fifo` 1.
    pub batch_max: u32,
    /// beta: best effort may fill batches up to this many requests; 0 without best effort.
    pub best_effort_fill: u32,
    /// Z and F, if batches are also limited by cost.
    pub batch_cost: Option<BatchCost>,
    /// The limit on best-effort requests on the drive, for policies that have a separate one.
    pub best_effort_depth: u32,
    /// The limit that the workload file's `best_effort_depth` sets on best effort, on the drive or
    /// in a batch; `None` if it sets none for this policy.
    pub best_effort_limit: Option<u32>,
    /// The premises of the verdict besides the batch table: the workload's premises, then the
    /// proof's.
    pub premises: Premises,
    /// The verdict.
    pub answer: Answer,
    /// One entry per task, in order.
    pub tasks: Vec<TaskAssessment>,
    /// The limiting task or resource; `None` if no bound applies or there is no task.
    pub limit: Option<Limit>,
}

/// The three verdicts, none of which is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// Every task has a bound within its deadline.
    Proven,
    /// Some task has no bound within its deadline.
    NotProven,
    /// No analysis applies to the policy and workload.
    NotApplicable {
        /// The reason, a sentence without its full stop.
        reason: &'static str,
    },
}

/// The promise to one task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskAssessment {
    /// The bounds that are valid for this policy and workload.
    pub bounds: Bounds,
    /// The least valid bound, and its name.
    pub response_max: Option<(Duration, BoundName)>,
    /// Whether the least valid bound is within the deadline.
    pub is_deadline_met: bool,
}

/// Bounds of one task under other policies; `None` also for the assessed policy itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Comparison {
    /// First in, first out, one request at a time, best effort in the same queue.
    pub fifo: Option<Duration>,
    /// Earliest deadline first, one request at a time, best effort behind real time.
    pub edf: Option<Duration>,
    /// Dual-queue FIFO with the best batch size.
    pub dqf: Option<Duration>,
}

/// The limiting task or resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The task with the smallest margin relative to its deadline.
    Margin {
        /// Index of the task.
        task: usize,
    },
    /// The task whose bound exceeds its deadline by the largest fraction.
    Deadline {
        /// Index of the task.
        task: usize,
    },
    /// The tasks' long-run request rate exceeds the rate of full batches.
    Capacity,
    /// The tasks' request rate exceeds the rate of full batches only with the periods that the
    /// policy sees, which jitter and the host's time shorten.
    CapacityBehindJitter,
    /// A task for which the analysis found no bound.
    NoBound {
        /// Index of the task.
        task: usize,
    },
}

impl TaskAssessment {
    /// Returns whether the bound in use charges each request its own cost.
    pub fn rests_on_costs(&self) -> bool {
        self.response_max.is_some_and(|(_, name)| name.rests_on_costs())
    }

    /// Returns the assessment as the client sees it. Each bound grows by `around`: the longest time
    /// from a job's arrival until the policy sees it, and from the completion until the client has
    /// the reply. A bound that overflows becomes `None`.
    pub(crate) fn at_client(self, around: Duration) -> Self {
        let bounds = self.bounds.later_by(around);
        Self { bounds, response_max: bounds.least(), ..self }
    }
}

impl Assessment {
    /// Returns whether any bound in use charges each request its own cost. The promise then holds
    /// provided no batch takes longer than A plus its requests' costs, which may be less than b(i).
    pub fn rests_on_costs(&self) -> bool {
        self.batch_cost.is_some() || self.tasks.iter().any(TaskAssessment::rests_on_costs)
    }

    /// Returns whether every bound in use charges each request its own cost.
    pub fn rests_on_costs_alone(&self) -> bool {
        let mut bounded = self.tasks.iter().filter(|task| task.response_max.is_some());
        self.rests_on_costs()
            && (self.batch_cost.is_some() || bounded.all(TaskAssessment::rests_on_costs))
    }

    /// Returns whether the policy ever sends best effort to the drive.
    pub fn serves_best_effort(&self, workload: &Workload) -> bool {
        let has_room = match self.policy.facts().dispatch {
            DispatchMode::Batches => self.best_effort_fill > 0,
            DispatchMode::OneAtATime | DispatchMode::UpToDepth | DispatchMode::BestEffortDepth => {
                true
            }
        };
        has_room && !workload.best_effort.is_empty()
    }

    /// Returns whether positions decide which requests are served together or in succession. The
    /// times of requests at random places then do not show how often long times occur
    /// (`docs/theory/tolerance.md` section 28).
    pub fn serves_by_position(&self, workload: &Workload) -> bool {
        let facts = self.policy.facts();
        let order = workload.best_effort_order_under(self.policy);
        let is_ordered = facts.best_effort.has_order() && order.is_by_position();
        facts.serves_by_position || (is_ordered && self.serves_best_effort(workload))
    }

    /// Returns the workload for a pseudo-disk that is as slow as the proof allows. Its batches are
    /// timed by their requests' costs only if the proof charges costs.
    pub fn charged(&self, workload: &Workload) -> Workload {
        let mut workload = workload.clone();
        if !self.rests_on_costs() {
            workload.contracts.costs = None;
        }
        workload
    }

    /// Returns the grade of the proof; `None` if not everything is proven. Without tasks the grade
    /// is strong, because no premise is used.
    pub fn grade(&self) -> Option<Grade> {
        match self.answer {
            Answer::Proven if self.tasks.is_empty() => Some(Grade::Strong),
            Answer::Proven => Some(self.premises.grade()),
            Answer::NotProven | Answer::NotApplicable { .. } => None,
        }
    }

    /// Returns this assessment, or one that proves nothing if a premise voids it.
    pub(crate) fn unless_void(mut self) -> Self {
        if self.premises.void().is_none() {
            return self;
        }
        self.tasks.fill(TaskAssessment::default());
        Self { answer: Answer::NotProven, limit: None, ..self }
    }

    /// Returns the plan for the simulator and the engine, with this assessment's parameters. Its
    /// limits tolerate the workload's margin, and nothing more.
    pub fn plan(&self, workload: &Workload) -> Plan {
        let whole = Plan::of(workload);
        Plan {
            batch_max: self.batch_max.min(workload.table.batch_max()),
            best_effort_fill: self.best_effort_fill,
            batch_cost: self.batch_cost.clone(),
            best_effort_depth: self.best_effort_depth,
            best_effort_order: workload.best_effort_order_under(self.policy),
            limits: self.limits(workload, &whole),
            ..whole
        }
    }

    /// Returns limits that tolerate the workload's margin. Under `das` a request may take C, even
    /// if b(1) is less.
    fn limits(&self, workload: &Workload, plan: &Plan) -> DriveLimits {
        let mut limits = DriveLimits::of(workload, self.rests_on_costs());
        if self.policy.facts().rests_on_predictions() {
            let service = BatchTable::new(&[plan.active_subset.service_max]);
            let batches = &mut limits.tolerated.batches;
            batches.table = batches.table.at_least(&service.expect("b(1) is not 0"));
        }
        limits
    }
}
