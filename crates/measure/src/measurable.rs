// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A common interface for the two things that can be measured: a device and a simulated drive.

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
    /// Returns the steps of [`Self::measure`], and how long each takes in the target's time.
    ///
    /// # Errors
    /// [`ProfileError`].
    fn plan(&self, params: &ProfileParams) -> Result<Vec<Step>, ProfileError>;

    /// Measures the target. It calls `progress` after every trial. After `cancelled` becomes true,
    /// it returns the results so far.
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

    /// Describes everything that all samples of a measurement share, besides the identity. A
    /// measurement can be resumed only if this text is equal.
    fn same(&self, params: &ProfileParams) -> String;

    /// Completes the result and returns the drive file to write. `is_added` says whether the result
    /// will be added to an existing file.
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
