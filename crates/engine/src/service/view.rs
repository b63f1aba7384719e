// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A service as it is seen by who looks and does not use it.
//!
//! The service's thread has better things to do than to be looked at: however many ask, it is
//! asked at most five times a second, for one export at a time, and not waited for without end.

use std::sync::{Arc, Mutex, PoisonError};

use tidegate_model::{Duration, PolicyName, Time};
use tidegate_platform::realtime::RealTime;

use super::offer::Offer;
use super::statistics::ServiceStatistics;
use super::{Export, Service, Shared};

/// What was seen so long ago is shown again.
const RECENT: Duration = Duration::from_ms(200);

/// No answer of the service's thread takes so long.
const ANSWER_MAX: std::time::Duration = std::time::Duration::from_secs(2);

/// The statistics that were asked for last, and when.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<Option<(Time, Look)>>);

/// What was seen, of what was offered then.
#[derive(Debug, Clone)]
pub struct Look {
    /// What was offered.
    pub offer: Arc<Offer>,
    /// What was seen of each export of it, in its order.
    pub seen: Arc<ServiceStatistics>,
}

impl Look {
    /// Whether what was proved of any export no longer stands.
    pub fn is_degraded(&self) -> bool {
        (0..self.offer.exports().len()).any(|index| self.is_export_degraded(index))
    }

    /// Whether what was proved of this export no longer stands: the drive broke its table, or a
    /// response exceeded the bound although it did not, because the host itself came late.
    pub fn is_export_degraded(&self, index: usize) -> bool {
        self.offer.bounds()[index].is_some()
            && (self.seen.overruns > 0 || self.seen.exports[index].exceeded > 0)
    }
}

/// See the module's text. A view does not keep its service at work.
#[derive(Debug, Clone)]
pub struct View {
    pub(super) shared: Arc<Shared>,
    pub(super) real_time: RealTime,
}

impl Service {
    /// A view of it.
    pub fn view(&self) -> View {
        View { shared: self.shared.clone(), real_time: self.real_time }
    }
}

impl View {
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// What is offered now, and what was proved of it.
    pub fn offer(&self) -> Arc<Offer> {
        self.shared.offer.get()
    }

    /// Who decides.
    pub fn policy(&self) -> PolicyName {
        self.offer().policy()
    }

    /// Whether notices change anything: only regulators that they steer hear them.
    pub fn hears_notices(&self) -> bool {
        self.offer().hears_notices()
    }

    /// What the host granted the service's thread.
    pub fn real_time(&self) -> RealTime {
        self.real_time
    }

    /// How long it has been at work.
    pub fn uptime(&self) -> Duration {
        self.shared.inbox.now().since(Time::ZERO)
    }

    /// The export of that name.
    pub fn export(&self, name: &str) -> Option<Export> {
        Export::named(&self.shared, name)
    }

    /// What was seen of the service, a fifth of a second ago or later; none when it ended or does
    /// not answer.
    pub fn look(&self) -> Option<Look> {
        let Shared { inbox, recent, .. } = &*self.shared;
        let mut recent = recent.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, offer) = (inbox.now(), self.offer());
        if let Some((at, look)) = &*recent
            && now.since(*at) < RECENT
            && Arc::ptr_eq(&look.offer, &offer)
        {
            return Some(look.clone());
        }
        let mut seen = inbox.ask(Vec::new(), Some(ANSWER_MAX))?;
        // One at a time: between them the service's thread does its own work.
        for &id in offer.ids() {
            seen.exports.extend(inbox.ask(vec![id], Some(ANSWER_MAX))?.exports);
        }
        let look = Look { offer, seen: Arc::new(seen) };
        *recent = Some((inbox.now(), look.clone()));
        Some(look)
    }
}
