// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A hard disk modelled from its parts.

mod access;
mod batch_ceiling;
mod ceiling;
mod command;
mod disk;
mod faults;
pub mod layout;
mod mechanism;
mod queue;
mod reader;
pub mod rotation;
mod round_trip;
pub mod seek;
mod segments;
mod stream;
mod wrong;

pub use access::AccessModel;
pub use batch_ceiling::BatchCeiling;
pub use ceiling::Ceiling;
pub use disk::MechanicalDrive;
pub use layout::{Extent, Held, Layout, Position, ZoneFacts};
pub use rotation::{Angle, Rotation};
pub use seek::SeekCurve;
