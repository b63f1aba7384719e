// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A service as it is seen by who looks and does not use it.
//!
//! The service's thread has better things to do than to be looked at: however many ask, it is
//! asked at most five times a second, for one export at a time, and not waited for without end.

use std::sync::{Arc, Mutex, PoisonError};

use device::realtime::RealTime;
use model::{Duration, ExportSpec, PolicyName, RegulatorName, Time};

use super::statistics::ServiceStatistics;
use super::{Export, Service, Shared};

/// What was seen so long ago is shown again.
const RECENT: Duration = Duration::from_ms(200);

/// No answer of the service's thread takes so long.
const ANSWER_MAX: std::time::Duration = std::time::Duration::from_secs(2);

/// The statistics that were asked for last, and when.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<Option<(Time, Arc<ServiceStatistics>)>>);

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
    /// What is offered.
    pub fn exports(&self) -> &[ExportSpec] {
        &self.shared.params.exports
    }

    /// What was proved of each export.
    pub fn bounds(&self) -> &[Option<Duration>] {
        &self.shared.params.bounds
    }

    /// Who decides.
    pub fn policy(&self) -> PolicyName {
        self.shared.params.policy
    }

    /// Whether notices change anything: only regulators that they steer hear them.
    pub fn hears_notices(&self) -> bool {
        let hears =
            |name: &RegulatorName| matches!(name, RegulatorName::Mdn | RegulatorName::MdnExtended);
        self.shared.params.plan.regulators.iter().any(hears)
    }

    /// What the host granted the service's thread.
    pub fn real_time(&self) -> RealTime {
        self.real_time
    }

    /// Whether what was proved of any export no longer stands.
    pub fn is_degraded(&self, seen: &ServiceStatistics) -> bool {
        (0..self.exports().len()).any(|index| self.is_export_degraded(index, seen))
    }

    /// Whether what was proved of this export no longer stands: the drive broke its table, or a
    /// response exceeded the bound although it did not, because the host itself came late.
    pub fn is_export_degraded(&self, index: usize, seen: &ServiceStatistics) -> bool {
        self.bounds()[index].is_some_and(|bound| {
            seen.is_drive_late() || seen.exports[index].bounded.max() > Some(bound)
        })
    }

    /// How long it has been at work.
    pub fn uptime(&self) -> Duration {
        self.shared.inbox.now().since(Time::ZERO)
    }

    /// The export of that name.
    pub fn export(&self, name: &str) -> Option<Export> {
        let index = self.exports().iter().position(|export| export.name == name)?;
        Some(Export { shared: self.shared.clone(), index })
    }

    /// What was seen of the service, a fifth of a second ago or later; none when it ended or does
    /// not answer.
    pub fn statistics(&self) -> Option<Arc<ServiceStatistics>> {
        let Shared { inbox, recent, .. } = &*self.shared;
        let mut recent = recent.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = inbox.now();
        if let Some((at, seen)) = &*recent
            && now.since(*at) < RECENT
        {
            return Some(seen.clone());
        }
        let mut seen = inbox.ask(0..0, Some(ANSWER_MAX))?;
        // One at a time: between them the service's thread does its own work.
        for index in 0..self.exports().len() {
            seen.exports.extend(inbox.ask(index..index + 1, Some(ANSWER_MAX))?.exports);
        }
        let seen = Arc::new(seen);
        *recent = Some((inbox.now(), seen.clone()));
        Some(seen)
    }
}
