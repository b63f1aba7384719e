// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The two objects that can be measured, a device and a simulated drive, behind one interface.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::sync::atomic::AtomicBool;

use tidegate_device::Target;
use tidegate_model::DriveFile;
use tidegate_model::drive_file::Identity;

use crate::journal::Journal;
use crate::origin::Origin;
use crate::outcome::Profile;
use crate::params::{ProfileError, ProfileParams};
use crate::plan::Step;
use crate::profile;
use crate::run_control::Progress;

/// A device or a simulated drive.
pub trait Measurable {
    /// Returns what [`Self::measure`] will do, and how long that takes in the target's time.
    ///
    /// # Errors
    /// [`ProfileError`].
    fn plan(&self, params: &ProfileParams) -> Result<Vec<Step>, ProfileError>;

    /// Measures. It calls `progress` after every trial; after `cancelled` becomes true it returns
    /// what was measured so far.
    ///
    /// # Errors
    /// [`ProfileError`].
    fn measure(
        &mut self,
        params: &ProfileParams,
        progress: &mut dyn FnMut(Progress),
        cancelled: &AtomicBool,
        journal: Option<&mut Journal>,
    ) -> Result<Profile, ProfileError>;

    /// Returns the identity of the device that the result describes.
    fn identity(&self) -> Identity;

    /// Returns the origin of the times.
    fn origin(&self) -> Origin;

    /// Describes everything, besides the identity, that all samples of a measurement share: a
    /// measurement is resumed only if this text is equal.
    fn same(&self, params: &ProfileParams) -> String;

    /// Completes the result, and returns the drive file to write; `is_added` says whether the
    /// result is added to an existing file.
    fn conclude(&self, measured: &mut Profile, is_added: bool) -> DriveFile;
}

impl Measurable for Target {
    fn plan(&self, params: &ProfileParams) -> Result<Vec<Step>, ProfileError> {
        profile::plan(self, params)
    }

    fn measure(
        &mut self,
        params: &ProfileParams,
        progress: &mut dyn FnMut(Progress),
        cancelled: &AtomicBool,
        journal: Option<&mut Journal>,
    ) -> Result<Profile, ProfileError> {
        profile::profile(self, params, progress, cancelled, journal)
    }

    fn identity(&self) -> Identity {
        self.facts().identity()
    }

    fn origin(&self) -> Origin {
        Origin::Device
    }

    fn same(&self, params: &ProfileParams) -> String {
        let file = fs::metadata(&self.facts().path).ok().filter(fs::Metadata::is_file);
        let file = file.map_or_else(String::new, |file| format!("file {}, ", file.ino()));
        format!("{file}{} bytes, 1 to {} at once", self.size().get(), params.depth)
    }

    fn conclude(&self, measured: &mut Profile, _is_added: bool) -> DriveFile {
        measured.file.clone()
    }
}
