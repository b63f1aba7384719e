// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What the machine says of itself, for records of measurements.

use std::fs;

/// The kernel's release.
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// What the processors are called; none where the kernel does not tell.
pub fn processor_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned()).filter(|model| !model.is_empty())
}

/// Whether the processor says that a hypervisor is below.
pub fn is_virtual() -> bool {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// What the kernel takes the time from; none where it does not tell.
pub fn clock_source() -> Option<String> {
    const PATH: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Some(fs::read_to_string(PATH).ok()?.trim().to_owned())
}
