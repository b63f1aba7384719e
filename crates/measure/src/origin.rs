// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The origin of a drive file's times: a device or a simulation.
//!
//! A file that was measured on a device bounds that device. Simulated times do not bound the
//! device, even if the simulated drive was made from its file: the two are never put into one file.

use tidegate_model::drive_file::Identity;

/// The beginning of `where` in a file of simulated times that were made from a measured file.
const SIMULATED: &str = "simulated from what was measured on ";

/// The beginning of the host line that every measurement of a device writes.
const KERNEL: &str = "kernel ";

/// The origin of a file's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A device.
    Device,
    /// A simulated drive that was made from a device's file.
    Simulation,
    /// Published or chosen figures, or a simulation of these.
    Other,
}

impl Origin {
    /// Returns the origin of the file with this identity.
    pub fn of(identity: &Identity) -> Self {
        let is_simulated = identity.place.as_ref().is_some_and(|it| it.starts_with(SIMULATED));
        // If the runs had different kernels, each line names its run.
        let is_kernel = |line: &String| line.split(": ").any(|part| part.starts_with(KERNEL));
        let has_host = identity.host.iter().any(is_kernel);
        match identity.when {
            _ if is_simulated => Self::Simulation,
            Some(_) if has_host => Self::Device,
            _ => Self::Other,
        }
    }

    /// Refuses to put times of this origin into the file with the identity `existing`.
    ///
    /// # Errors
    /// If one is measured on a device and the other simulated.
    pub fn check(self, existing: &Identity) -> Result<(), MixedOrigins> {
        match (self, Self::of(existing)) {
            (Self::Simulation | Self::Other, Self::Device) => Err(MixedOrigins::IntoMeasured),
            (Self::Device, Self::Simulation) => Err(MixedOrigins::IntoSimulated),
            _ => Ok(()),
        }
    }
}

/// Times of two origins for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MixedOrigins {
    /// Simulated times, for a device's file.
    #[error("was measured on a device; simulated times cannot be added")]
    IntoMeasured,
    /// Times of a device, for a file of simulated times.
    #[error("has simulated times; times measured on a device cannot be added")]
    IntoSimulated,
}

/// Returns the identity of a file of simulated times whose drive was made from the file of
/// `target`.
pub fn simulated(target: Identity) -> Identity {
    if Origin::of(&target) != Origin::Device {
        return target;
    }
    let known = target.place.as_deref().unwrap_or("an unknown device");
    Identity { place: Some(format!("{SIMULATED}{known}")), ..target }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(simulated(simulation.clone()), simulation, "the text appears once");
        assert_eq!(simulated(published.clone()), published);
        for (origin, existing, is_right) in [
            (Origin::Device, &device, true),
            (Origin::Device, &simulation, false),
            (Origin::Simulation, &device, false),
            (Origin::Simulation, &simulation, true),
            (Origin::Other, &device, false),
            (Origin::Other, &published, true),
        ] {
            let checked = origin.check(existing);
            assert_eq!(checked.is_ok(), is_right, "{origin:?}, {existing:?}");
        }
    }
}
