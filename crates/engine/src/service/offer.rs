// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exports that a service offers at one time, and their plan. Both change together.

use std::sync::{Arc, PoisonError, RwLock};

use tidegate_model::{
    BatchTable, Duration, ExportSpec, Grade, Plan, PolicyName, Premises, RegulatorName, Workload,
};
use tidegate_policy::NoticeKind;

/// Identifies an export for the lifetime of a service. Identifiers are not reused, so a client of a
/// removed export cannot reach the export that replaced it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExportId(pub(crate) u64);

/// The policy, plan and bounds of a set of exports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrangement {
    /// The policy.
    pub policy: PolicyName,
    /// The policy's plan. The exports with a contract are its tasks, in the same order.
    pub plan: Plan,
    /// The proved bound of each export: the longest time from when its contract allows a request to
    /// its reply, which is at the client if the host's time is stated; `None` if nothing is proved.
    pub bounds: Vec<Option<Duration>>,
    /// The premises of the bounds.
    pub premises: Premises,
    /// The number of best-effort requests from which the policy can choose.
    pub window: u32,
}

impl Arrangement {
    /// Makes the arrangement of an empty set.
    pub(crate) fn of_nobody() -> Self {
        let table = BatchTable::new(&[Duration::from_ms(1_000)]).expect("a table of one time");
        let plan = Plan::of(&Workload::new("nobody", 1, table));
        let premises = Premises::default();
        Self { policy: PolicyName::Noop, plan, bounds: Vec::new(), premises, window: 1 }
    }
}

/// An export's entry in the core.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) id: ExportId,
    pub(crate) spec: ExportSpec,
    pub(crate) bound: Option<Duration>,
}

impl Member {
    /// Numbers these exports `0, 1, ..`, and assigns their bounds, if any.
    pub(crate) fn of_exports(exports: &[ExportSpec], bounds: &[Option<Duration>]) -> Vec<Self> {
        let bounds = bounds.iter().copied().chain(std::iter::repeat(None));
        let members = (0..).map(ExportId).zip(exports).zip(bounds);
        members.map(|((id, spec), bound)| Self { id, spec: spec.clone(), bound }).collect()
    }
}

/// The exports that a service offers at one time, with their bounds.
#[derive(Debug, Clone)]
pub struct Offer {
    exports: Vec<ExportSpec>,
    bounds: Vec<Option<Duration>>,
    ids: Vec<ExportId>,
    policy: PolicyName,
    premises: Premises,
    hears_notices: bool,
    hears_stream_ends: bool,
}

impl Offer {
    pub(crate) fn new(members: &[Member], arrangement: &Arrangement) -> Self {
        let shaper = arrangement.policy.facts().shaper;
        let regulators = || arrangement.plan.regulators.iter().copied().chain(shaper);
        Self {
            exports: members.iter().map(|member| member.spec.clone()).collect(),
            bounds: members.iter().map(|member| member.bound).collect(),
            ids: members.iter().map(|member| member.id).collect(),
            policy: arrangement.policy,
            premises: arrangement.premises.clone(),
            hears_notices: regulators().any(RegulatorName::is_steered),
            hears_stream_ends: regulators().any(RegulatorName::hears_stream_ends),
        }
    }

    /// Returns the exports, in the order of their admission.
    pub fn exports(&self) -> &[ExportSpec] {
        &self.exports
    }

    /// Returns the bound of each export, in the same order as [`Arrangement::bounds`].
    pub fn bounds(&self) -> &[Option<Duration>] {
        &self.bounds
    }

    /// Returns the policy's name.
    pub fn policy(&self) -> PolicyName {
        self.policy
    }

    /// Returns the premises of the bounds.
    pub fn premises(&self) -> &Premises {
        &self.premises
    }

    /// Returns the grade of the bounds; `None` if nothing is proved.
    pub fn grade(&self) -> Option<Grade> {
        let is_proved = self.bounds.iter().any(Option::is_some);
        is_proved.then(|| self.premises.grade())
    }

    /// Returns whether notices have an effect: only some policies have regulators that use them.
    pub fn hears_notices(&self) -> bool {
        self.hears_notices
    }

    /// Returns whether the regulators use a notice of this kind.
    pub fn hears(&self, kind: NoticeKind) -> bool {
        match kind {
            NoticeKind::DeadlineMissed => self.hears_notices,
            NoticeKind::StreamEnded => self.hears_stream_ends,
            _ => false,
        }
    }

    pub(crate) fn ids(&self) -> &[ExportId] {
        &self.ids
    }
}

/// The current offer.
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
