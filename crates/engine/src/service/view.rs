// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A handle on a service, for monitoring and control.
//!
//! Monitoring must not disturb the service's thread: regardless of the number of viewers, the
//! thread gets one query for each export and one for the drive at most five times per second, and
//! viewers wait for a limited time.

use std::sync::{Arc, PoisonError};

use tidegate_model::{Bytes, Duration, PolicyName, Time};
use tidegate_platform::realtime::RealTime;

use super::Service;
use super::connections::Newcomer;
use super::export::Export;
use super::inbox::Message;
use super::look::Look;
use super::offer::Offer;
use super::request_sink::ServedRequest;
use super::shared::Shared;

/// The age up to which earlier statistics are returned again.
const RECENT: Duration = Duration::from_ms(200);

/// The longest wait for a reply from the service's thread.
const ANSWER_MAX: std::time::Duration = std::time::Duration::from_secs(2);

/// A view of a service. It does not keep the service running.
#[derive(Debug, Clone)]
pub struct View {
    pub(super) shared: Arc<Shared>,
    pub(super) real_time: RealTime,
}

impl Service {
    /// Returns a view of the service.
    pub fn view(&self) -> View {
        View { shared: self.shared.clone(), real_time: self.real_time }
    }
}

impl View {
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns the current offer with its bounds.
    pub fn offer(&self) -> Arc<Offer> {
        self.shared.offer.get()
    }

    /// Returns the store's alignment.
    pub(crate) fn alignment(&self) -> Bytes {
        self.shared.params.alignment
    }

    /// Returns the policy's name.
    pub fn policy(&self) -> PolicyName {
        self.offer().policy()
    }

    /// Returns whether notices have an effect: only some policies have regulators that use them.
    pub fn hears_notices(&self) -> bool {
        self.offer().hears_notices()
    }

    /// Returns the real-time settings that the host granted to the service's thread.
    pub fn real_time(&self) -> RealTime {
        self.real_time
    }

    /// Returns the time since the service started.
    pub fn uptime(&self) -> Duration {
        self.shared.inbox.now().since(Time::ZERO)
    }

    /// Returns the export called `name`; `None` if there is none.
    pub fn export(&self, name: &str) -> Option<Export> {
        Export::named(&self.shared, name)
    }

    /// Returns the name of the export with this identifier; `None` if it is no longer offered.
    pub(crate) fn name_of(&self, id: super::offer::ExportId) -> Option<String> {
        let offer = self.offer();
        let index = offer.ids().iter().position(|&other| other == id)?;
        Some(offer.exports()[index].name.clone())
    }

    /// Returns the name of the export of an ended request; `None` if it is no longer offered.
    pub fn export_of(&self, served: &ServedRequest) -> Option<String> {
        self.name_of(served.export)
    }

    /// Lets the service's thread serve a client that has named its export.
    pub(crate) fn connect(&self, newcomer: Newcomer) {
        self.shared.inbox.send(Message::Connect(Box::new(newcomer)));
    }

    /// Returns the statistics, at most 200 ms old; `None` if the service has ended or does not
    /// reply.
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
        // Each query asks for one export, so that the service's thread does its own work between
        // queries.
        for &id in offer.ids() {
            seen.exports.extend(inbox.ask(vec![id], Some(ANSWER_MAX))?.exports);
        }
        let look = Look { offer, seen: Arc::new(seen) };
        *recent = Some((inbox.now(), look.clone()));
        Some(look)
    }
}
