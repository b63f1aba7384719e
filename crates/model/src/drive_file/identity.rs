// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `[identity]` of a drive file: which device was measured, and how.

use serde::{Deserialize, Serialize};

/// The device that a file describes. Free text for people, one line each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Vendor and model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Firmware revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// The first digits of a hash of the serial number, to distinguish devices of one model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial_hash: Option<String>,
    /// Date of the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Machine and path of the measurement, or the publication of the figures.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Method of the measurement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Conditions on the host that may have disturbed or changed the measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<String>,
}

impl Identity {
    /// The line of `host` which says that the device's volatile write cache is on.
    pub const DEFERS_WRITES: &'static str = "write cache: write back";

    /// The line of `host` which says that the device rotates.
    pub const ROTATES: &'static str = "rotational";

    /// Refuses measurements of another device.
    ///
    /// # Errors
    /// The first fact about the device that differs from `here`.
    pub fn check_is_of(&self, here: &Self) -> Result<(), OtherDevice> {
        let facts = [
            ("model", &self.model, &here.model),
            ("firmware", &self.firmware, &here.firmware),
            ("serial_hash", &self.serial_hash, &here.serial_hash),
            ("where", &self.place, &here.place),
        ];
        match facts.into_iter().find(|(_, known, here)| known != here) {
            Some((fact, known, here)) => {
                Err(OtherDevice { fact, known: known.clone(), here: here.clone() })
            }
            None => Ok(()),
        }
    }
}

/// The first fact that differs between a file's device and another one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "describes another device: its {fact} is {}, but this device's is {}",
    OtherDevice::said(.known.as_deref()),
    OtherDevice::said(.here.as_deref())
)]
pub struct OtherDevice {
    /// The key under `[identity]`.
    pub fact: &'static str,
    /// The file's value; `None` if the file has none.
    pub known: Option<String>,
    /// The value of the device that the file is compared with.
    pub here: Option<String>,
}

impl OtherDevice {
    fn said(value: Option<&str>) -> String {
        value.map_or_else(|| "unknown".to_owned(), |text| format!("`{text}`"))
    }
}
