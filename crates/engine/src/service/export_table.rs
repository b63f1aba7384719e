// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The exports of a service, and their plan.

use tidegate_model::ExportSpec;

use super::offer::{Arrangement, ExportId, Member, Offer};

/// The exports of a service, and their plan.
#[derive(Debug, Clone)]
pub(crate) struct ExportTable {
    pub(super) members: Vec<Member>,
    /// The members that are being removed.
    pub(super) leaving: Vec<ExportId>,
    pub(super) arrangement: Arrangement,
    pub(super) next_id: u64,
}

impl ExportTable {
    pub(crate) fn new(exports: &[ExportSpec], arrangement: &Arrangement) -> Self {
        let members = Member::of_exports(exports, &arrangement.bounds);
        let next_id = members.len() as u64;
        Self { members, leaving: Vec::new(), arrangement: arrangement.clone(), next_id }
    }

    /// Returns the offer: all members except those that are being removed.
    pub(crate) fn offer(&self) -> Offer {
        Offer::new(&self.staying(), &self.arrangement)
    }

    /// Returns all members except those that are being removed.
    pub(super) fn staying(&self) -> Vec<Member> {
        let stays = |member: &&Member| !self.leaving.contains(&member.id);
        self.members.iter().filter(stays).cloned().collect()
    }

    /// Returns a table of these members with another arrangement; members that were being removed
    /// are gone.
    pub(super) fn arranged(&self, members: Vec<Member>, arrangement: Arrangement) -> Self {
        let bounds = arrangement.bounds.iter().copied().chain(std::iter::repeat(None));
        let bounded = members.into_iter().zip(bounds);
        let members = bounded.map(|(it, bound)| Member { bound, ..it }).collect();
        Self { members, leaving: Vec::new(), arrangement, next_id: self.next_id }
    }

    pub(super) fn specs(members: &[Member]) -> Vec<ExportSpec> {
        members.iter().map(|member| member.spec.clone()).collect()
    }

    /// Returns the policy's tasks, in order: the members with a contract.
    fn tasks(&self) -> impl Iterator<Item = ExportId> {
        let members = self.members.iter().filter(|member| member.spec.contract.is_some());
        members.map(|member| member.id)
    }

    /// Returns whether the current policy can continue with the other table: it must have the same
    /// policy, plan and tasks. The policy keeps accounts per task number, so a different export
    /// with the same number would be charged for the old export's requests.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let (here, there) = (&self.arrangement, &other.arrangement);
        (here.policy, here.window) == (there.policy, there.window)
            && here.plan == there.plan
            && self.tasks().eq(other.tasks())
            && self.streams().eq(other.streams())
    }

    /// Returns the streams without figures, each with its index among the members without a
    /// contract, which determines its number for the policy.
    fn streams(&self) -> impl Iterator<Item = (usize, ExportId)> {
        let others = self.members.iter().filter(|member| member.spec.contract.is_none());
        let streams = others.enumerate().filter(|(_, member)| member.spec.is_soft);
        streams.map(|(place, member)| (place, member.id))
    }
}
