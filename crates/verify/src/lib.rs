// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks certificates. A certificate is a verdict of `tidegate check` with all numbers that are
//! needed to check it.
//!
//! This crate is small and depends on no other crate of the workspace. It shares no code with the
//! analysis that made the verdict, so an error must be made twice to go unnoticed. It does not
//! search for bounds; it only checks that the stated responses satisfy one of the theorems of
//! `docs/theory`. Clarity takes precedence over speed: no work is shared or skipped.
//!
//! A certificate contains only numbers: tasks, a batch table, z, beta. This crate does not check
//! that these numbers are those of the workload and the drive; `tidegate verify --workload` does.

mod arguments;
mod certificate;
mod costs;
mod gated;
mod host;
mod refusal;
mod system;
mod window;

pub use certificate::{
    BacklogStep, BusyInterval, Certificate, CertifiedTask, Client, Costs, Drain, FileHash,
    HostTime, VERSION,
};
pub use refusal::Refusal;

use system::System;

/// The result of a check that found no fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    /// The number of tasks, all of which are proven.
    pub tasks: usize,
    /// The number of tasks whose stated R only the window argument of Theorem 1 can prove.
    pub by_window: usize,
}

/// Checks that every stated response is a bound and within the deadline.
///
/// # Errors
/// The first fault found; then the certificate proves nothing.
///
/// # Complexity
/// O(n z) without the window argument. With it, each release in a window costs O(n).
pub fn verify(certificate: &Certificate) -> Result<Accepted, Refusal> {
    if certificate.format != VERSION {
        return Err(Refusal::Version { found: certificate.format });
    }
    let bounds = match &certificate.drain {
        Some(drain) => gated::bounds(certificate, drain)?,
        None => arguments::bounds(certificate, &System::of(certificate)?)?,
    };
    for (task, bound) in certificate.tasks.iter().zip(&bounds.responses) {
        let stated = u128::from(task.response_ns_max);
        let Some(bound) = *bound else {
            return Err(Refusal::NoArgument { task: task.name.clone() });
        };
        if stated < bound {
            let bound_ns = bound;
            return Err(Refusal::BelowBound {
                task: task.name.clone(),
                stated_ns: stated,
                bound_ns,
            });
        }
        if task.response_ns_max > task.deadline_ns {
            return Err(Refusal::DeadlineMissed { task: task.name.clone() });
        }
        host::check(certificate, task)?;
    }
    Ok(Accepted { tasks: certificate.tasks.len(), by_window: bounds.by_window })
}
