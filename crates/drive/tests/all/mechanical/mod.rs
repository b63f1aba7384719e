// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The mechanical drive and its parts, through their public interface.

mod access;
mod any_disk;
mod batch_ceiling;
mod ceiling;
mod disk;
mod disk_support;
mod head_rules;
mod layout_checks;
mod layout_hostile;
mod layout_index;
mod layout_oracle;
mod layout_refused;
mod layout_support;
mod layout_zones;
mod memory;
mod rotation;
mod seek;
mod shortcuts;
mod table;
mod wide_ceiling;
