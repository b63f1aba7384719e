// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Exports that come and go while a service runs: who asks, who proves, and what stands then.
//!
//! ```text
//!   admit    place -> prove the new set -> wait for a quiet instant -> switch -> offered
//!   remove   no longer offered -> no more calls -> answered or refused -> prove -> quiet -> free
//! ```
//! One change at a time: another that is asked for meanwhile is refused. What happens at the switch,
//! and why nobody's bound suffers from it, stands in `core::switch`. Whoever asks waits, at most for
//! [`QUIET_MAX`] and [`DRAIN_MAX`]; the service does not wait for whoever asks.

use std::fmt;
use std::sync::{Arc, MutexGuard, PoisonError, TryLockError};

use oneshot::channel;
use tidegate_model::{Duration, ExportSpec, NewExport};

use super::core::GivenUp;
use super::inbox::{Change, Message};
use super::offer::{Arrangement, ExportId, Member, Offer};
use super::tenant::ExportStatistics;
use super::{Service, ServiceParams, Shared, View};

/// For how long a change waits for an instant at which nothing is pending that was promised.
/// Best effort is held back meanwhile, so it is not long.
const QUIET_MAX: Duration = Duration::from_ms(4_000);

/// For how long somebody who removes an export waits until its requests are answered.
const DRAIN_MAX: Duration = Duration::from_ms(4_000);

/// Between two looks at what is outstanding.
const DRAIN_LOOK: std::time::Duration = std::time::Duration::from_millis(5);

/// Beyond the time that a change may take, the service's thread answers nothing any more.
const GRACE: Duration = Duration::from_ms(2_000);

/// Who proves sets of exports: the rules of a serve file, on its drive.
pub trait Prover: fmt::Debug + Send + Sync {
    /// A new export with its place beside `others`.
    ///
    /// # Errors
    /// [`Refusal`] where it has none, or is nothing that this service can carry out.
    fn place(&self, others: &[ExportSpec], new: &NewExport) -> Result<ExportSpec, Refusal>;

    /// How these exports are carried out, all contracts among them proved together. `newcomer` is
    /// the one of them that is asked for.
    ///
    /// # Errors
    /// [`Refusal`] with why, and with what would fit of the newcomer.
    fn prove(
        &self,
        exports: &[ExportSpec],
        newcomer: Option<usize>,
    ) -> Result<Arrangement, Refusal>;
}

/// Why an export is not admitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// Why not, a sentence without its full stop.
    pub reason: String,
    /// What would be admitted instead, as far as it was tried: an entry each.
    pub would_fit: Vec<String>,
    /// What to do.
    pub help: String,
}

impl Refusal {
    /// A refusal that nothing was tried after.
    pub fn new(reason: impl Into<String>, help: impl Into<String>) -> Self {
        Self { reason: reason.into(), would_fit: Vec::new(), help: help.into() }
    }
}

/// Why the set of exports did not change.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The export cannot be had, or not be proved.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// There is an export of that name.
    #[error("there is an export `{name}` already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is none of that name.
    #[error("there is no export `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// Somebody else's change is not done.
    #[error("another change is under way")]
    UnderWay,
    /// Contracts kept the drive busy without a gap.
    #[error(
        "for {waited} there was no instant at which nothing was pending that other contracts \
         promise, and no other is safe to change plans at"
    )]
    NeverQuiet {
        /// How long it was waited for.
        waited: Duration,
    },
    /// The service was told to end before an instant was quiet.
    #[error("the service is about to end, and nothing of it changes any more")]
    Ending,
    /// Nobody proves other sets.
    #[error("this service was started with a set of exports that never changes")]
    Fixed,
    /// The policy of the new set cannot be had.
    #[error(transparent)]
    Policy(#[from] tidegate_policy::BuildError),
    /// The service ended.
    #[error("the service ended")]
    Ended,
}

/// An export that was admitted, or would be.
#[derive(Debug, Clone)]
pub struct Admitted {
    /// The export, with its place.
    pub export: ExportSpec,
    /// What is offered with it: the bounds of everybody.
    pub offer: Arc<Offer>,
}

/// An export that was removed.
#[derive(Debug, Clone)]
pub struct Removed {
    /// What it got, up to the last look.
    pub statistics: ExportStatistics,
    /// Whether its place and its share of the drive are free for others. Where they are not, no
    /// instant was quiet enough; the next change frees them.
    pub is_free: bool,
    /// What is offered without it: the bounds of everybody.
    pub offer: Arc<Offer>,
}

/// Who is there, by what plan.
#[derive(Debug, Clone)]
pub(crate) struct ExportTable {
    members: Vec<Member>,
    /// Those of them that were removed and are not gone.
    leaving: Vec<ExportId>,
    arrangement: Arrangement,
    next_id: u64,
}

impl ExportTable {
    pub(crate) fn new(exports: &[ExportSpec], arrangement: &Arrangement) -> Self {
        let members = Member::of_exports(exports, &arrangement.bounds);
        let next_id = members.len() as u64;
        Self { members, leaving: Vec::new(), arrangement: arrangement.clone(), next_id }
    }

    /// What is offered: all but what leaves.
    pub(crate) fn offer(&self) -> Offer {
        Offer::new(&self.staying(), self.arrangement.policy, &self.arrangement.plan)
    }

    /// All but what leaves.
    fn staying(&self) -> Vec<Member> {
        let stays = |member: &&Member| !self.leaving.contains(&member.id);
        self.members.iter().filter(stays).cloned().collect()
    }

    /// These members under another arrangement; what leaves is gone.
    fn arranged(&self, members: Vec<Member>, arrangement: Arrangement) -> Self {
        let bounds = arrangement.bounds.iter().copied().chain(std::iter::repeat(None));
        let bounded = members.into_iter().zip(bounds);
        let members = bounded.map(|(it, bound)| Member { bound, ..it }).collect();
        Self { members, leaving: Vec::new(), arrangement, next_id: self.next_id }
    }

    fn specs(members: &[Member]) -> Vec<ExportSpec> {
        members.iter().map(|member| member.spec.clone()).collect()
    }

    /// The tasks that a policy knows: who has a contract, in order.
    fn tasks(&self) -> impl Iterator<Item = ExportId> {
        let members = self.members.iter().filter(|member| member.spec.contract.is_some());
        members.map(|member| member.id)
    }

    /// Whether who decides can go on with another table: the same policy by the same plan, for
    /// the same tasks. It keeps accounts of them, and whoever got the number of another would be
    /// held to the requests of that one.
    fn is_alike(&self, other: &Self) -> bool {
        let (here, there) = (&self.arrangement, &other.arrangement);
        (here.policy, here.window) == (there.policy, there.window)
            && here.plan == there.plan
            && self.tasks().eq(other.tasks())
    }
}

impl Service {
    /// Admits an export while the service runs, if its contract and all others are proved
    /// together. From then on clients may ask for it. It is there until the service ends.
    ///
    /// Waits up to some seconds for an instant at which the change delays nobody.
    ///
    /// # Errors
    /// [`ChangeError`]; then nothing has changed.
    pub fn admit(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        self.shared.admit(new)
    }

    /// What [`Self::admit`] would say, without doing it.
    ///
    /// # Errors
    /// As [`Self::admit`].
    pub fn check(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        self.shared.check(new)
    }

    /// Removes an export while the service runs: it takes no more calls, what was read of it before
    /// is answered, and then its share of the drive and its place are free. What is not answered
    /// within some seconds, because its contract or others keep it waiting, is refused then. Its
    /// data stay in the store. Its clients get [`super::CallError::Removed`].
    ///
    /// Waits for that, and for an instant at which the change delays nobody.
    ///
    /// # Errors
    /// [`ChangeError`]; then nothing has changed.
    pub fn remove(&self, name: &str) -> Result<Removed, ChangeError> {
        self.shared.remove(name)
    }
}

impl View {
    /// As [`Service::admit`].
    ///
    /// # Errors
    /// As there.
    pub fn admit(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        self.shared().admit(new)
    }

    /// As [`Service::check`].
    ///
    /// # Errors
    /// As there.
    pub fn check(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        self.shared().check(new)
    }

    /// As [`Service::remove`].
    ///
    /// # Errors
    /// As there.
    pub fn remove(&self, name: &str) -> Result<Removed, ChangeError> {
        self.shared().remove(name)
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, ExportTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A change begins, unless another is under way; it lasts as long as what is given.
    fn begin(&self) -> Result<MutexGuard<'_, ()>, ChangeError> {
        match self.changing.try_lock() {
            Ok(changing) => Ok(changing),
            Err(TryLockError::Poisoned(changing)) => Ok(changing.into_inner()),
            Err(TryLockError::WouldBlock) => Err(ChangeError::UnderWay),
        }
    }

    fn prover(&self) -> Result<&dyn Prover, ChangeError> {
        self.params.prover.as_deref().ok_or(ChangeError::Fixed)
    }

    pub(super) fn check(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        let table = self.table().clone();
        let (export, changed) = self.with(&table, new)?;
        Ok(Admitted { export, offer: Arc::new(changed.offer()) })
    }

    pub(super) fn admit(&self, new: &NewExport) -> Result<Admitted, ChangeError> {
        let _changing = self.begin()?;
        let table = self.table().clone();
        let (export, changed) = self.with(&table, new)?;
        self.change(&table, changed)?;
        Ok(Admitted { export, offer: self.offer.get() })
    }

    /// The table with a new export, and without what is gone.
    fn with(
        &self,
        table: &ExportTable,
        new: &NewExport,
    ) -> Result<(ExportSpec, ExportTable), ChangeError> {
        let prover = self.prover()?;
        let mut members = table.staying();
        if members.iter().any(|member| member.spec.name == new.name) {
            return Err(ChangeError::NameTaken { name: new.name.clone() });
        }
        let export = prover.place(&ExportTable::specs(&members), new)?;
        let id = ExportId(table.next_id);
        members.push(Member { id, spec: export.clone(), bound: None });
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
        // A proof of fewer contracts that fails is the analysis' doing: then their share stays.
        let without = prover.prove(&ExportTable::specs(&members), None).map_err(ChangeError::from);
        let changed = without.map(|arrangement| table.arranged(members, arrangement));
        let is_free = match changed.and_then(|changed| self.change(&table, changed)) {
            Err(end @ (ChangeError::Ending | ChangeError::Ended)) => return Err(end),
            changed => changed.is_ok(),
        };
        Ok(Removed { statistics, is_free, offer: self.offer.get() })
    }

    /// What a closed export got, as soon as everything of it is answered or it was waited for
    /// long enough.
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

    /// Has the core take over another table, and offers it.
    fn change(&self, table: &ExportTable, changed: ExportTable) -> Result<(), ChangeError> {
        let is_alike = table.is_alike(&changed) && !self.is_any_outstanding(&table.leaving)?;
        let (answer, answered) = channel();
        let begun = self.inbox.now();
        self.inbox.send(Message::Change(Box::new(Change {
            members: changed.members.clone(),
            arrangement: (!is_alike).then(|| changed.arrangement.clone()),
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

    /// That is how it is from now on.
    fn stand(&self, table: ExportTable) {
        let offer = table.offer();
        *self.table() = table;
        self.offer.set(offer);
    }
}

impl ServiceParams {
    /// Whether the store that is open can be driven so.
    fn check_arrangement(&self, arrangement: &Arrangement) -> Result<(), ChangeError> {
        let (has, needs) = (self.arrangement.plan.depth, arrangement.plan.depth);
        if needs > has {
            let reason = format!(
                "the plan has {needs} requests on the drive at once, and the service was started \
                 for {has}"
            );
            return Err(Refusal::new(reason, "add it to the serve file, and start again").into());
        }
        drop(self.policy(arrangement)?);
        Ok(())
    }
}

fn to_std(time: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(time.ns())
}
