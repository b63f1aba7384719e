// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The services of a workload in their current state.

use serde::Serialize;
use tidegate_tune::Running;

use super::Extent;
use crate::figures::count;

/// A service of the workload in its current state.
#[derive(Debug, Serialize)]
pub(super) struct ServiceReport<'a> {
    pub(super) unit: &'a str,
    pub(super) class: &'static str,
    threads: usize,
    /// The number of the service's threads in another class.
    other_class: usize,
}

impl<'a> ServiceReport<'a> {
    pub(super) fn of(running: &'a Running) -> Self {
        let Running { unit, threads, others, .. } = running;
        Self { unit, class: running.class(), threads: *threads, other_class: *others }
    }

    pub(super) fn state(&self, extent: Extent) -> String {
        let threads = count(self.threads, "thread");
        match (self.threads, self.other_class, extent) {
            (0, _, Extent::Installed) => "gets it when it starts".to_owned(),
            (0, _, Extent::Shown | Extent::Applied) => "not running".to_owned(),
            (_, others, _) => format!("{} of {threads}", self.threads - others),
        }
    }
}
