// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads a device's temperature: a device that is too warm throttles itself.

use std::fmt;

use crate::facts::DeviceFacts;
use crate::sysfs::SysfsDevice;

/// A reading of the device's own sensor, in thousandths of a degree Celsius.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Temperature {
    /// The current temperature.
    pub now: i64,
    /// The temperature at which the device starts to throttle, if it reports one.
    pub limit: Option<i64>,
}

impl Temperature {
    /// Returns the current reading; `None` if the kernel has no sensor for the device (NVMe has
    /// one, SATA needs the driver `drivetemp`).
    pub fn read(facts: &DeviceFacts) -> Option<Self> {
        let device = SysfsDevice::find(facts.number?)?.whole();
        Self::of(&device)
    }

    fn of(device: &SysfsDevice) -> Option<Self> {
        let sensor = device.sensors().into_iter().next()?;
        let number = |name: &str| sensor.attribute(name)?.parse().ok();
        let limit = ["temp1_max", "temp1_crit"].into_iter().find_map(number);
        Some(Self { now: number("temp1_input")?, limit })
    }

    /// Returns whether the temperature has reached the limit at which the device throttles.
    pub fn is_too_warm(self) -> bool {
        self.limit.is_some_and(|limit| self.now >= limit)
    }
}

impl fmt::Display for Temperature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} degrees Celsius", self.now / 1000)?;
        self.limit.map_or(Ok(()), |limit| write!(f, " (limit {})", limit / 1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sensor is in the controller's folder, for some drivers one folder deeper.
    #[test]
    fn sensor_is_found_and_its_limit_told() {
        for folder in ["device/hwmon3", "device/hwmon/hwmon3", "device/device/hwmon3"] {
            let root = tempfile::tempdir().expect("a temporary directory");
            let sensor = root.path().join(folder);
            std::fs::create_dir_all(&sensor).expect("a folder");
            std::fs::write(sensor.join("temp1_input"), "71850\n").expect("a reading");
            std::fs::write(sensor.join("temp1_max"), "70000\n").expect("a limit");
            let read = Temperature::of(&SysfsDevice::at(root.path().to_owned()));
            let read = read.unwrap_or_else(|| panic!("{folder}"));
            assert_eq!(read, Temperature { now: 71850, limit: Some(70000) });
            assert!(read.is_too_warm());
            assert_eq!(read.to_string(), "71 degrees Celsius (limit 70)");
        }
    }
}
