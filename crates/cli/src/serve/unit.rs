// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The drop-in for the service manager: limits computed from the serve file.

use tidegate_engine::serve::Footprint;

/// Returns a drop-in for the unit of this server.
pub(super) fn drop_in(footprint: &Footprint) -> String {
    format!(
        "# The server takes {footprint}.\n\
         [Service]\n\
         MemoryMax={}\n\
         LimitNOFILE={}",
        footprint.memory_max().get(),
        footprint.descriptors
    )
}
