// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The origin of a drive file's times: a device or a simulation.
//!
//! A file that was measured on a device bounds that device. Simulated times do not bound it, even
//! if the simulated drive was made from its file, so the two are never put into one file. Times of
//! a device and times from a data sheet are not mixed either, because no sample supports the
//! latter.

use tidegate_model::drive_file::Identity;
use tidegate_model::{DriveFile, PremiseCode};

/// The beginning of `where` in a file of simulated times whose drive was made from a measured file.
const SIMULATED: &str = "simulated from what was measured on ";

/// The beginning of a host line that every measurement of a device writes.
const KERNEL: &str = "kernel ";

/// The origin of a file's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A device.
    Device,
    /// A simulated drive that was made from a device's file.
    Simulation,
    /// Published or chosen figures, or a simulation based on them.
    Other,
}

impl Origin {
    /// Returns the origin of the file with this identity.
    pub fn of(identity: &Identity) -> Self {
        let is_simulated = identity.place.as_ref().is_some_and(|it| it.starts_with(SIMULATED));
        // If the runs had different kernels, each line begins with the name of its run.
        let is_kernel = |line: &String| line.split(": ").any(|part| part.starts_with(KERNEL));
        let has_host = identity.host.iter().any(is_kernel);
        match identity.when {
            _ if is_simulated => Self::Simulation,
            Some(_) if has_host => Self::Device,
            _ => Self::Other,
        }
    }

    /// Checks that times of this origin can be added to the file `existing`.
    ///
    /// # Errors
    /// If one was measured on a device, and the other was simulated or computed from a data sheet.
    pub fn check(self, existing: &DriveFile) -> Result<(), MixedOrigins> {
        let mut computed = existing.premises.of_code(PremiseCode::DataSheet);
        let is_of_data_sheet = computed.next().is_some();
        match (self, Self::of(&existing.identity)) {
            (Self::Device, _) if is_of_data_sheet => Err(MixedOrigins::IntoDataSheet),
            (Self::Simulation | Self::Other, Self::Device) => Err(MixedOrigins::IntoMeasured),
            (Self::Device, Self::Simulation) => Err(MixedOrigins::IntoSimulated),
            _ => Ok(()),
        }
    }
}

/// Times of different origins cannot be put into one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MixedOrigins {
    /// Simulated times were to be added to a device's file.
    #[error("was measured on a device; simulated times cannot be added")]
    IntoMeasured,
    /// Times of a device were to be added to a file of simulated times.
    #[error("has simulated times; times measured on a device cannot be added")]
    IntoSimulated,
    /// Times of a device were to be added to a file with figures from a data sheet.
    #[error(
        "has times from a data sheet (`tidegate drive make`); times measured on a device cannot be \
         added"
    )]
    IntoDataSheet,
}

/// Returns the identity of a file of simulated times; the simulated drive was made from the file
/// with the identity `target`.
pub fn simulated(target: Identity) -> Identity {
    if Origin::of(&target) != Origin::Device {
        return target;
    }
    let known = target.place.as_deref().unwrap_or("an unknown device");
    Identity { place: Some(format!("{SIMULATED}{known}")), ..target }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{DriveKind, Premise};

    use super::*;

    fn measured() -> Identity {
        Identity {
            when: Some("2026-05-04T03:02:01Z".to_owned()),
            place: Some("sda".to_owned()),
            host: vec!["kernel 6.12".to_owned()],
            ..Identity::default()
        }
    }

    #[test]
    fn simulated_and_measured_times_do_not_come_together() {
        let (device, simulation) = (measured(), simulated(measured()));
        let host = vec!["run of 2026-05-04T03:02:01Z: kernel 6.12".to_owned()];
        assert_eq!(Origin::of(&Identity { host, ..measured() }), Origin::Device);
        let published = Identity { place: Some("published: ..".to_owned()), ..Identity::default() };
        let file = |identity: &Identity| DriveFile {
            identity: identity.clone(),
            ..DriveFile::new("d".to_owned(), DriveKind::Pseudo, 1)
        };
        let mut made = file(&Identity::default());
        made.premises.push(Premise::new(PremiseCode::DataSheet, "no measurement", "typical"));
        assert_eq!(simulated(simulation.clone()), simulation, "the text appears once");
        assert_eq!(simulated(published.clone()), published);
        for (origin, existing, is_right) in [
            (Origin::Device, file(&device), true),
            (Origin::Device, file(&simulation), false),
            (Origin::Simulation, file(&device), false),
            (Origin::Simulation, file(&simulation), true),
            (Origin::Other, file(&device), false),
            (Origin::Other, file(&published), true),
            (Origin::Device, made.clone(), false),
            (Origin::Other, made, true),
        ] {
            let checked = origin.check(&existing);
            assert_eq!(checked.is_ok(), is_right, "{origin:?}, {existing:?}");
        }
    }
}
