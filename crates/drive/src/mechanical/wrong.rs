// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The error for a fault in a drive file's description of mechanics.

use tidegate_model::mechanics::MechanicsError;

/// Returns an error that states the fault, its place, and what to write instead.
pub(super) fn wrong(
    place: impl Into<String>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> MechanicsError {
    MechanicsError { place: place.into(), message: message.into(), help: help.into() }
}
