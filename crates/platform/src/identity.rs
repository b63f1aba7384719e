// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Identifies the machine for records of measurements.

use std::fs;

/// Returns the kernel's release.
pub fn kernel_release() -> String {
    rustix::system::uname().release().to_string_lossy().into_owned()
}

/// Returns the name of the processor model; `None` if the kernel does not report it.
pub fn processor_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned()).filter(|model| !model.is_empty())
}

/// Returns whether the processor reports a hypervisor.
pub fn is_virtual() -> bool {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Returns the kernel's clock source; `None` if the kernel does not report it.
pub fn clock_source() -> Option<String> {
    const PATH: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Some(fs::read_to_string(PATH).ok()?.trim().to_owned())
}
