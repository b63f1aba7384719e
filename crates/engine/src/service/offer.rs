// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a service offers at one time, and how it is carried out. Both change as a whole.

use std::sync::{Arc, PoisonError, RwLock};

use tidegate_model::{BatchTable, Duration, ExportSpec, Plan, PolicyName, RegulatorName, Workload};

/// Tells exports apart for as long as a service runs: none gets that of another, so whoever
/// holds on to an export that was removed does not reach what took its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExportId(pub(crate) u64);

/// How a set of exports is carried out, and what was proved of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrangement {
    /// Who decides.
    pub policy: PolicyName,
    /// By what. Exports with a contract are its tasks, in the same order.
    pub plan: Plan,
    /// What was proved of each export: the longest time from when its contract allows a request
    /// to its answer; none where nothing was.
    pub bounds: Vec<Option<Duration>>,
    /// How much best effort the policy may choose from.
    pub window: u32,
}

impl Arrangement {
    /// Where nothing is offered nothing is to be carried out.
    pub(crate) fn of_nobody() -> Self {
        let table = BatchTable::new(&[Duration::from_ms(1_000)]).expect("a table of one time");
        let plan = Plan::of(&Workload::new("nobody", 1, table));
        Self { policy: PolicyName::Noop, plan, bounds: Vec::new(), window: 1 }
    }
}

/// One export as the core is told of it.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) id: ExportId,
    pub(crate) spec: ExportSpec,
    pub(crate) bound: Option<Duration>,
}

impl Member {
    /// These exports under the names `0, 1, ..`, with their bounds as far as there are any.
    pub(crate) fn of_exports(exports: &[ExportSpec], bounds: &[Option<Duration>]) -> Vec<Self> {
        let bounds = bounds.iter().copied().chain(std::iter::repeat(None));
        let members = (0..).map(ExportId).zip(exports).zip(bounds);
        members.map(|((id, spec), bound)| Self { id, spec: spec.clone(), bound }).collect()
    }
}

/// What is offered at one time.
#[derive(Debug, Clone)]
pub struct Offer {
    exports: Vec<ExportSpec>,
    bounds: Vec<Option<Duration>>,
    ids: Vec<ExportId>,
    policy: PolicyName,
    hears_notices: bool,
}

impl Offer {
    pub(crate) fn new(members: &[Member], policy: PolicyName, plan: &Plan) -> Self {
        let hears = |name: &RegulatorName| name.is_steered();
        Self {
            exports: members.iter().map(|member| member.spec.clone()).collect(),
            bounds: members.iter().map(|member| member.bound).collect(),
            ids: members.iter().map(|member| member.id).collect(),
            policy,
            hears_notices: plan.regulators.iter().any(hears),
        }
    }

    /// The exports, in the order in which they came.
    pub fn exports(&self) -> &[ExportSpec] {
        &self.exports
    }

    /// What was proved of each of them, as [`Arrangement::bounds`].
    pub fn bounds(&self) -> &[Option<Duration>] {
        &self.bounds
    }

    /// Who decides.
    pub fn policy(&self) -> PolicyName {
        self.policy
    }

    /// Whether notices change anything: only regulators that they steer hear them.
    pub fn hears_notices(&self) -> bool {
        self.hears_notices
    }

    pub(crate) fn ids(&self) -> &[ExportId] {
        &self.ids
    }
}

/// The offer that stands.
#[derive(Debug)]
pub(crate) struct CurrentOffer(RwLock<Arc<Offer>>);

impl CurrentOffer {
    pub(crate) fn new(offer: Offer) -> Self {
        Self(RwLock::new(Arc::new(offer)))
    }

    pub(crate) fn get(&self) -> Arc<Offer> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, offer: Offer) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(offer);
    }
}
