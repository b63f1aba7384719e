// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The proof that a service requires before its set of exports changes.

use std::fmt;

use tidegate_model::{ExportSpec, NewExport};

use super::offer::Arrangement;

/// Proves sets of exports by the rules of a serve file and for its drive.
pub trait Prover: fmt::Debug + Send + Sync {
    /// Finds a range of the store for a new export that does not overlap `others`.
    ///
    /// # Errors
    /// [`Refusal`] if there is no room, or the service cannot serve this export.
    fn place(&self, others: &[ExportSpec], new: &NewExport) -> Result<ExportSpec, Refusal>;

    /// Proves all contracts of the exports together, and returns the plan to serve them. `newcomer`
    /// is the index of the export to admit.
    ///
    /// # Errors
    /// [`Refusal`] with the reason, and with changes to the newcomer with which the set would be
    /// proved.
    fn prove(
        &self,
        exports: &[ExportSpec],
        newcomer: Option<usize>,
    ) -> Result<Arrangement, Refusal>;
}

/// The reason why an export is not admitted, with advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// The reason: a sentence without its full stop.
    pub reason: String,
    /// Changes that would get the export admitted, one per entry, as far as they were tried.
    pub would_fit: Vec<String>,
    /// The user's next step.
    pub help: String,
}

impl Refusal {
    /// Makes a refusal for which no changes were tried.
    pub fn new(reason: impl Into<String>, help: impl Into<String>) -> Self {
        Self { reason: reason.into(), would_fit: Vec::new(), help: help.into() }
    }
}
