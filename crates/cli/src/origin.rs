// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Whether the times of a drive file are of a device or of what stands for it.
//!
//! A file that was measured on a device bounds that device. Simulated times, even of a drive that
//! was made from that file, bound nothing of it: both never stand in one file under one name.

use std::path::Path;

use tidegate_model::drive_file::Identity;

use crate::failure::Failure;

/// How `where` begins in a file of simulated times that were made from a measured one.
const SIMULATED: &str = "simulated from what was measured on ";

/// How the host line begins that every measurement of a device leaves.
const KERNEL: &str = "kernel ";

/// Where the times of a file come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A device.
    Device,
    /// A simulated drive that was made from the file of a device.
    Simulation,
    /// Figures that were published or chosen, and what was simulated from these.
    Other,
}

impl Origin {
    /// Of the file that this identity is of.
    pub(crate) fn of(identity: &Identity) -> Self {
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

    /// Refuses to put times of this origin into the file at `path`, about `existing`.
    pub(crate) fn check(self, path: &Path, existing: &Identity) -> Result<(), Failure> {
        let (new, known) = match (self, Self::of(existing)) {
            (Self::Simulation | Self::Other, Self::Device) => {
                ("simulated times", "was measured on a device")
            }
            (Self::Device, Self::Simulation) => ("times of a device", "has simulated times"),
            _ => return Ok(()),
        };
        Err(Failure::input(
            format!("{} {known}: {new} are not added to it", path.display()),
            "leave --add out and name a new file",
        ))
    }
}

/// The identity of a file of simulated times that were made from a file of `target`.
pub(crate) fn simulated(target: Identity) -> Identity {
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
            let checked = origin.check(Path::new("d.toml"), existing);
            assert_eq!(checked.is_ok(), is_right, "{origin:?}, {existing:?}");
        }
    }
}
