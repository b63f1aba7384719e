// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Mappings of the kernel target `dm-tidegate`: a proved plan as a table line, the obstacles to a
//! mapping on a machine, the device mapper, and the files that create a mapping at each boot.
//!
//! All reads and writes stay below one directory, the [`Root`](tidegate_tune::Root), and the device
//! mapper is controlled through a program. So tests and rehearsals can use a copy of a machine and
//! their own program.
//!
//! ```text
//!   workload, plan ---> TableLine ---\
//!   Disk ---> obstacles, settings ----> Mapping --create--> dmsetup, and an Attachment on disk
//!                                               <--remove--
//! ```

mod attachment;
mod cgroup;
mod device_mapper;
mod files;
mod line;
mod line_error;
mod mapping;
mod obstacle;
mod sign;

pub use attachment::{Attachment, AttachmentError, Promise, Way};
pub use cgroup::{cgroup_of, groups_without_controller, missing_groups, moved_groups, signs};
pub use device_mapper::{DeviceMapper, DeviceMapperError, Figures, Step};
pub use files::installed;
pub use line::{Contract, TableLine, has_tokens};
pub use line_error::LineError;
pub use mapping::{Mapping, persistent_path, settings};
pub use obstacle::{Obstacle, held, name_of_own, of_disk, of_machine, of_signs};
pub use sign::{BioMarks, Sign, owner};
