// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether the times of a drive file are of a device or of what stands for it.
//!
//! A file that was measured on a device bounds that device. Simulated times, even of a drive that
//! was made from that file, bound nothing of it: both never stand in one file under one name.

use tidegate_model::drive_file::Identity;

/// How `where` begins in a file of simulated times that were made from a measured one.
const SIMULATED: &str = "simulated from what was measured on ";

/// How the host line begins that every measurement of a device leaves.
const KERNEL: &str = "kernel ";

/// Where the times of a file come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A device.
    Device,
    /// A simulated drive that was made from the file of a device.
    Simulation,
    /// Figures that were published or chosen, and what was simulated from these.
    Other,
}

impl Origin {
    /// Of the file that this identity is of.
    pub fn of(identity: &Identity) -> Self {
        let is_simulated = identity.place.as_ref().is_some_and(|it| it.starts_with(SIMULATED));
        // Where runs had different kernels each line names its run.
        let is_kernel = |line: &String| line.split(": ").any(|part| part.starts_with(KERNEL));
        let has_host = identity.host.iter().any(is_kernel);
        match identity.when {
            _ if is_simulated => Self::Simulation,
            Some(_) if has_host => Self::Device,
            _ => Self::Other,
        }
    }

    /// Refuses to put times of this origin into the file about `existing`.
    ///
    /// # Errors
    /// Times of a device and simulated times never stand in one file.
    pub fn check(self, existing: &Identity) -> Result<(), MixedOrigins> {
        match (self, Self::of(existing)) {
            (Self::Simulation | Self::Other, Self::Device) => Err(MixedOrigins::IntoMeasured),
            (Self::Device, Self::Simulation) => Err(MixedOrigins::IntoSimulated),
            _ => Ok(()),
        }
    }
}

/// Times of two origins that would come into one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MixedOrigins {
    /// Simulated times, into the file of a device.
    #[error("was measured on a device: simulated times are not added to it")]
    IntoMeasured,
    /// Times of a device, into a file of simulated times.
    #[error("has simulated times: times of a device are not added to it")]
    IntoSimulated,
}

/// The identity of a file of simulated times that were made from a file of `target`.
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
        assert_eq!(simulated(simulation.clone()), simulation, "it is said once");
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
