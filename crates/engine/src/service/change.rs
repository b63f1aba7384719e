// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Admits and removes exports while a service runs.
//!
//! ```text
//!   admit    place -> prove the new set -> wait for a quiet instant -> switch -> offered
//!   remove   no longer offered -> no more calls -> completed or refused -> prove -> quiet -> free
//! ```
//! Only one change runs at a time; other changes requested meanwhile are refused. `core::switch`
//! describes the switch, and why it delays no in-contract request. In addition to the time of the
//! proof, the caller waits at most [`QUIET_MAX`] plus [`DRAIN_MAX`]; the service does not wait for
//! the caller.

use std::sync::{Arc, MutexGuard, PoisonError, TryLockError};

use oneshot::channel;
use tidegate_model::{Duration, ExportSpec, NewExport};

use super::Service;
use super::connections::room_bytes;
use super::core::GivenUp;
use super::export_statistics::ExportStatistics;
use super::export_table::ExportTable;
use super::inbox::{Change, Message};
use super::offer::{Arrangement, ExportId, Member, Offer};
use super::params::ServiceParams;
use super::prover::{Prover, Refusal};
use super::shared::Shared;
use super::view::View;

/// The longest time that a change waits for an instant at which no in-contract request is pending.
/// It is short, because best effort is held back meanwhile.
const QUIET_MAX: Duration = Duration::from_ms(4_000);

/// The longest time that the removal of an export waits until its requests are complete.
const DRAIN_MAX: Duration = Duration::from_ms(4_000);

/// The interval between two checks of the outstanding requests.
const DRAIN_LOOK: std::time::Duration = std::time::Duration::from_millis(5);

/// The longest time by which a change can exceed its time limit before the service's thread is
/// considered dead.
const GRACE: Duration = Duration::from_ms(2_000);

/// The longest time of a change, without its proof.
pub(crate) const CHANGE_MAX: std::time::Duration =
    std::time::Duration::from_nanos(QUIET_MAX.ns() + DRAIN_MAX.ns() + GRACE.ns());

/// The reason why the set of exports did not change.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// There is no room for the export, or its contract cannot be proved.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is already an export with that name.
    #[error("there is an export `{name}` already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is no export with that name.
    #[error("there is no export `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// Another change is in progress.
    #[error("another change is in progress")]
    InProgress,
    /// Contracts kept the drive busy without interruption.
    #[error(
        "for {waited} there was no instant without a pending in-contract request, and the plan can \
         change only at such an instant"
    )]
    NeverQuiet {
        /// The time for which the change waited.
        waited: Duration,
    },
    /// The service was stopped before a quiet instant came.
    #[error("the service is stopping and accepts no changes")]
    Ending,
    /// The service has no prover for other sets.
    #[error("this service was started with a fixed set of exports")]
    Fixed,
    /// The new set's policy cannot be built.
    #[error(transparent)]
    Policy(#[from] tidegate_policy::BuildError),
    /// The service ended.
    #[error("the service ended")]
    Ended,
}

/// An export that was admitted, or that a check found admissible.
#[derive(Debug, Clone)]
pub struct Admitted {
    /// The export with its range of the store.
    pub export: ExportSpec,
    /// The offer that includes it, with all bounds.
    pub offer: Arc<Offer>,
}

/// An export that was removed.
#[derive(Debug, Clone)]
pub struct Removed {
    /// The export's statistics, up to the last check.
    pub statistics: ExportStatistics,
    /// Whether the export's range and its share of the drive are free for other exports. If not, no
    /// quiet instant came; the next change frees them.
    pub is_free: bool,
    /// The offer without the export, with all bounds.
    pub offer: Arc<Offer>,
}

impl Service {
    /// Admits an export while the service runs, if its contract and all other contracts are proved
    /// together. Clients can then open it, until the service ends.
    ///
    /// Waits up to some seconds for an instant at which the change delays no in-contract request.
    ///
    /// # Errors
    /// [`ChangeError`]; then nothing has changed.
    pub fn admit(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        self.shared.admit(new)
    }

    /// Returns the result that [`Self::admit`] would return, and changes nothing.
    ///
    /// # Errors
    /// The same as [`Self::admit`].
    pub fn check(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        self.shared.check(new)
    }

    /// Removes an export while the service runs. The export accepts no more calls and completes the
    /// calls that it has read; then its share of the drive and its range of the store are free.
    /// Requests that a contract still keeps waiting after some seconds are refused. The data stays
    /// in the store. The clients get [`super::CallError::Removed`].
    ///
    /// The call waits for this, and for an instant at which the change delays no in-contract
    /// request.
    ///
    /// # Errors
    /// [`ChangeError`]; then nothing has changed, unless the service is ending: the export may then
    /// be closed already.
    pub fn remove(&self, name: &str) -> Result<Removed, ChangeError> {
        self.shared.remove(name)
    }
}

impl View {
    /// Does the same as [`Service::admit`].
    ///
    /// # Errors
    /// The same as [`Service::admit`].
    pub fn admit(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        self.shared().admit(new)
    }

    /// Replaces the export that has the same name as `new`, if `new` and all other exports are
    /// proved together. The old export's clients get [`super::CallError::Removed`], and can connect
    /// again.
    ///
    /// # Errors
    /// [`ChangeError`]; then nothing has changed.
    pub fn replace(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        self.shared().replace(new)
    }

    /// Does the same as [`Service::check`].
    ///
    /// # Errors
    /// The same as [`Service::check`].
    pub fn check(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        self.shared().check(new)
    }

    /// Does the same as [`Service::remove`].
    ///
    /// # Errors
    /// The same as [`Service::remove`].
    pub fn remove(&self, name: &str) -> Result<Removed, ChangeError> {
        self.shared().remove(name)
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, ExportTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a change, unless another is in progress. The change lasts until the guard is dropped.
    fn begin(&self) -> Result<MutexGuard<'_, ()>, ChangeError> {
        match self.changing.try_lock() {
            Ok(changing) => Ok(changing),
            Err(TryLockError::Poisoned(changing)) => Ok(changing.into_inner()),
            Err(TryLockError::WouldBlock) => Err(ChangeError::InProgress),
        }
    }

    fn prover(&self) -> Result<&dyn Prover, ChangeError> {
        self.params.prover.as_deref().ok_or(ChangeError::Fixed)
    }

    pub(super) fn check(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        let table = self.table().clone();
        let (export, changed) = self.with(&table, table.staying(), new)?;
        Ok(Admitted { export, offer: Arc::new(changed.offer()) })
    }

    pub(super) fn admit(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        let _changing = self.begin()?;
        let table = self.table().clone();
        let (export, changed) = self.with(&table, table.staying(), new)?;
        let may_continue = self.may_continue(&table, &changed)?;
        self.change(changed, may_continue)?;
        Ok(Admitted { export, offer: self.offer.get() })
    }

    /// Replaces the export that has the same name as `new`, in one switch.
    pub(super) fn replace(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        let _changing = self.begin()?;
        let table = self.table().clone();
        let mut others = table.staying();
        let Some(old) = others.iter().position(|member| member.spec.name == new.name) else {
            return Err(ChangeError::Unknown { name: new.name.clone() });
        };
        others.remove(old);
        let (export, changed) = self.with(&table, others, new)?;
        // The old export is open until the switch, so the policy may still hold requests of it.
        self.change(changed, false)?;
        Ok(Admitted { export, offer: self.offer.get() })
    }

    /// Returns the new export, and the table of `members` and this export.
    fn with(
        &self,
        table: &ExportTable,
        mut members: Vec<Member>,
        new: &NewExport,
    ) -> Result<(ExportSpec, ExportTable), ChangeError> {
        let prover = self.prover()?;
        if members.iter().any(|member| member.spec.name == new.name) {
            return Err(ChangeError::NameTaken { name: new.name.clone() });
        }
        let export = prover.place(&ExportTable::specs(&members), new)?;
        let id = ExportId(table.next_id);
        let member = Member { id, spec: export.clone(), bound: None };
        // An export that is being removed keeps its room until its last request is complete.
        self.params.check_memory(table.members.iter().chain([&member]))?;
        members.push(member);
        let arrangement = prover.prove(&ExportTable::specs(&members), Some(members.len() - 1))?;
        self.params.check_arrangement(&arrangement)?;
        let changed = table.arranged(members, arrangement);
        Ok((export, ExportTable { next_id: id.0 + 1, ..changed }))
    }

    pub(super) fn remove(&self, name: &str) -> Result<Removed, ChangeError> {
        let prover = self.prover()?;
        let _changing = self.begin()?;
        let mut table = self.table().clone();
        let is_it =
            |member: &&Member| member.spec.name == name && !table.leaving.contains(&member.id);
        let Some(id) = table.members.iter().find(is_it).map(|member| member.id) else {
            return Err(ChangeError::Unknown { name: name.to_owned() });
        };
        table.leaving.push(id);
        self.stand(table.clone());
        self.inbox.send(Message::Close { export: id });
        let statistics = self.drained(id)?;
        let members = table.staying();
        // The proof of a set with fewer contracts can still fail; then the removed share stays
        // reserved.
        let without = prover.prove(&ExportTable::specs(&members), None).map_err(ChangeError::from);
        let changed = without.map(|arrangement| table.arranged(members, arrangement));
        let changed = changed.and_then(|changed| {
            let may_continue = self.may_continue(&table, &changed)?;
            self.change(changed, may_continue)
        });
        let is_free = match changed {
            Err(end @ (ChangeError::Ending | ChangeError::Ended)) => return Err(end),
            changed => changed.is_ok(),
        };
        Ok(Removed { statistics, is_free, offer: self.offer.get() })
    }

    /// Returns a closed export's statistics once all its requests are complete or the time limit is
    /// reached.
    fn drained(&self, id: ExportId) -> Result<ExportStatistics, ChangeError> {
        let end = self.inbox.now() + DRAIN_MAX;
        loop {
            let seen = self.seen(id)?;
            if seen.outstanding == 0 || self.inbox.now() >= end {
                return Ok(seen);
            }
            std::thread::sleep(DRAIN_LOOK);
        }
    }

    fn is_any_outstanding(&self, ids: &[ExportId]) -> Result<bool, ChangeError> {
        let outstanding = ids.iter().map(|&id| Ok(self.seen(id)?.outstanding));
        Ok(outstanding.collect::<Result<Vec<u64>, ChangeError>>()?.into_iter().any(|it| it > 0))
    }

    fn seen(&self, id: ExportId) -> Result<ExportStatistics, ChangeError> {
        let seen = self.inbox.ask(vec![id], Some(to_std(GRACE))).ok_or(ChangeError::Ended)?;
        seen.exports.into_iter().next().ok_or(ChangeError::Ended)
    }

    /// Returns whether the current policy can continue with the changed table.
    fn may_continue(
        &self,
        table: &ExportTable,
        changed: &ExportTable,
    ) -> Result<bool, ChangeError> {
        Ok(table.is_alike(changed) && !self.is_any_outstanding(&table.leaving)?)
    }

    /// Hands the changed table to the core, and offers it to clients. The current policy continues
    /// only if `may_continue` is set.
    fn change(&self, changed: ExportTable, may_continue: bool) -> Result<(), ChangeError> {
        let (answer, answered) = channel();
        let begun = self.inbox.now();
        self.inbox.send(Message::Change(Box::new(Change {
            members: changed.members.clone(),
            arrangement: (!may_continue).then(|| changed.arrangement.clone()),
            until: begun + QUIET_MAX,
            answer,
        })));
        match answered.recv_timeout(to_std(QUIET_MAX + GRACE)) {
            Ok(Ok(_)) => {}
            Ok(Err(GivenUp::Ending)) => return Err(ChangeError::Ending),
            Ok(Err(GivenUp::NeverQuiet)) => {
                return Err(ChangeError::NeverQuiet { waited: self.inbox.now().since(begun) });
            }
            Err(_) => return Err(ChangeError::Ended),
        }
        self.stand(changed);
        Ok(())
    }

    /// Makes the table current and offers it to clients.
    fn stand(&self, table: ExportTable) {
        let offer = table.offer();
        *self.table() = table;
        self.offer.set(offer);
    }
}

impl ServiceParams {
    /// Checks that the requests of these exports fit into the memory that was reserved at the
    /// start.
    fn check_memory<'a>(
        &self,
        members: impl Iterator<Item = &'a Member>,
    ) -> Result<(), ChangeError> {
        let Some(most) = self.requests_max else { return Ok(()) };
        let takes = |member: &Member| {
            let contract = member.spec.contract.as_ref();
            let part_max = contract.map_or(self.size_max, |contract| contract.size_max);
            room_bytes(&member.spec, usize::try_from(part_max.get()).unwrap_or(usize::MAX))
        };
        let needed = members.map(takes).fold(0, u64::saturating_add);
        if needed <= most.get() {
            return Ok(());
        }
        let mib = |bytes: u64| bytes.div_ceil(1 << 20);
        let reason = format!(
            "the requests of all exports would take up to {} MiB, those that leave included, and the \
             server was started with at most {} MiB for them",
            mib(needed),
            mib(most.get())
        );
        Err(Refusal::new(reason, "add it to the serve file, and restart the service").into())
    }

    /// Checks that the open store can execute this plan.
    fn check_arrangement(&self, arrangement: &Arrangement) -> Result<(), ChangeError> {
        let (has, needs) = (self.arrangement.plan.depth, arrangement.plan.depth);
        if needs > has {
            let reason = format!(
                "the plan needs a depth of {needs}, and the service was started with a depth of \
                 {has}"
            );
            return Err(
                Refusal::new(reason, "add it to the serve file, and restart the service").into()
            );
        }
        drop(self.policy(arrangement)?);
        Ok(())
    }
}

fn to_std(time: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(time.ns())
}
