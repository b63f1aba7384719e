// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares a device with the one on which the drive file was measured.
//!
//! A policy whose proof relies on predicted service times is refused unless both the device's
//! mechanics and the predictions' error were measured on this very device.
//!
//! A batch table that was measured on another device only adds a doubt to the bounds, because this
//! device can be as fast. Another device's mechanics say nothing about this device.

use std::path::{Path, PathBuf};

use tidegate_device::{DeviceFacts, Target};
use tidegate_model::drive_file::OtherDevice;
use tidegate_model::{
    Bytes, DriveFile, Measurement, Op, PolicyName, Premise, PremiseCode, Workload,
};

/// Returns the command that measures a device and writes a new drive file.
fn whole(device: &Path) -> String {
    format!("tidegate profile {} -o NEW.drive.toml", device.display())
}

/// Returns the command that measures the error of predictions.
fn prediction(device: &Path, kind: (Op, Bytes)) -> String {
    let command = Measurement::of("prediction").with([kind]).to_string();
    command.replace("TARGET", &device.display().to_string())
}

/// The reason why a policy must not predict a device's service times.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownDevice {
    /// The drive file was not measured on this device.
    #[error(
        "`{policy}` rests on the mechanics of this very device, but the drive file of `{drive}` \
         {source}; measure this device with `{}`, and name NEW.drive.toml as the drive",
        whole(device)
    )]
    Other {
        /// The policy.
        policy: PolicyName,
        /// The drive file's name.
        drive: String,
        /// The device.
        device: PathBuf,
        /// The fact that differs.
        source: OtherDevice,
    },
    /// The target is a file, and the drive file does not say where on the disk the file is.
    #[error(
        "`{policy}` rests on the positions of sectors on the disk, and {} is a file, whose place \
         on the disk is not known; name the block device, or choose another policy",
        device.display()
    )]
    File {
        /// The policy.
        policy: PolicyName,
        /// The target file.
        device: PathBuf,
    },
    /// The drive file has no mechanics.
    #[error(
        "`{policy}` rests on the mechanics of this very device, but the drive file of `{drive}` has \
         no [mechanics]; measure them with `{}`, and name NEW.drive.toml as the drive",
        whole(device)
    )]
    NoMechanics {
        /// The policy.
        policy: PolicyName,
        /// The drive file's name.
        drive: String,
        /// The device.
        device: PathBuf,
    },
    /// The drive file does not state the predictions' error.
    #[error(
        "`{policy}` rests on predicted service times, but the drive file of `{drive}` does not say \
         how far they are off for {}s of {size}; measure it with `{}`, where FILE is that drive file",
        op.name(), prediction(device, (*op, *size))
    )]
    NotMeasured {
        /// The policy.
        policy: PolicyName,
        /// The drive file's name.
        drive: String,
        /// The device.
        device: PathBuf,
        /// The operation of the requests.
        op: Op,
        /// The size of the largest request.
        size: Bytes,
    },
}

/// Refuses a policy that relies on predicted service times, unless the mechanics in `drive` and
/// their errors were measured on the device with these facts.
///
/// # Errors
/// [`UnknownDevice`], which says what differs and what to do.
pub fn check(
    policy: PolicyName,
    workload: &Workload,
    drive: &DriveFile,
    facts: &DeviceFacts,
) -> Result<(), UnknownDevice> {
    if !policy.facts().rests_on_predictions() {
        return Ok(());
    }
    let (name, device) = (|| drive.name.clone(), || facts.path.clone());
    // This check comes first, because no measurement can remove the obstacle.
    if facts.file_system.is_some() {
        return Err(UnknownDevice::File { policy, device: device() });
    }
    let other = drive.identity.check_is_of(&facts.identity());
    other.map_err(|source| UnknownDevice::Other {
        policy,
        drive: name(),
        device: device(),
        source,
    })?;
    if drive.mechanics.is_none() {
        return Err(UnknownDevice::NoMechanics { policy, drive: name(), device: device() });
    }
    let is_unmeasured = |(op, size): &&(Op, Bytes)| drive.late_max(*op, *size).is_none();
    match workload.contracts.covered.iter().find(is_unmeasured) {
        Some(&(op, size)) => {
            Err(UnknownDevice::NotMeasured { policy, drive: name(), device: device(), op, size })
        }
        None => Ok(()),
    }
}

/// Returns the premises of a target's verdicts other than the drive file: how the target is
/// reached, and whether the drive file was measured on it.
pub fn premises(target: &Target, workload: &Workload, drive: &DriveFile) -> Vec<Premise> {
    let mut premises: Vec<Premise> = target.notes().iter().map(Premise::from).collect();
    premises.extend(other_device(drive, target.facts()));
    if let Some(splitting) = target.facts().splits(workload.size_max()) {
        let (pieces, size_max) = (splitting.pieces, splitting.size_max);
        let text =
            format!("the kernel splits the largest request into {pieces} of at most {size_max}");
        premises.push(Premise::new(PremiseCode::SplitRequests, "split requests", text));
    }
    premises
}

/// Returns the doubt about a drive file that was measured on another device.
fn other_device(drive: &DriveFile, facts: &DeviceFacts) -> Option<Premise> {
    let (measured, here) = (&drive.identity, facts.identity());
    let is_same = measured.model == here.model && measured.place == here.place;
    let known = |what: &Option<String>| what.clone().unwrap_or_else(|| "unknown".to_owned());
    let text = format!(
        "the table of {} was measured on {} ({}), this is {} ({}): its bounds may not hold here",
        drive.name,
        known(&measured.model),
        known(&measured.place),
        known(&here.model),
        known(&here.place)
    );
    (!is_same).then(|| Premise::new(PremiseCode::OtherDevice, "another device", text))
}

#[cfg(test)]
mod tests {
    use tidegate_model::workload_file::WorkloadFile;

    use super::*;

    const SOURCES: &str = "[[task]]\nname = \"a\"\nperiod = \"1s\"\nsize = \"128KiB\"\n";

    /// Returns a device and the drive file that was measured on it.
    fn measured() -> (DeviceFacts, DriveFile) {
        let facts = DeviceFacts {
            path: PathBuf::from("/dev/sdz"),
            device: Some("sdz".to_owned()),
            model: Some("a disk".to_owned()),
            serial_hash: Some("1234".to_owned()),
            ..DeviceFacts::default()
        };
        let mut drive = tidegate_drive::builtin::load("fujitsu-max3036rc").expect("built in");
        drive.identity = facts.identity();
        (facts, drive)
    }

    fn checked(policy: PolicyName, drive: &DriveFile, facts: &DeviceFacts) -> Result<(), String> {
        let file = WorkloadFile::parse(&format!("drive = \"d\"\n{SOURCES}")).expect("well formed");
        let workload = file.bind(drive).expect("measured");
        check(policy, &workload, drive, facts).map_err(|error| error.to_string())
    }

    #[test]
    fn a_device_that_was_measured_itself_is_known() {
        let (facts, drive) = measured();
        assert_eq!(checked(PolicyName::Das, &drive, &facts), Ok(()));
    }

    #[test]
    fn every_difference_is_said_with_the_command_that_mends_it() {
        let (facts, drive) = measured();
        let refused = |drive: &DriveFile, facts: &DeviceFacts| {
            checked(PolicyName::Das, drive, facts).expect_err("refused")
        };
        let other = DeviceFacts { serial_hash: Some("5678".to_owned()), ..facts.clone() };
        let said = refused(&drive, &other);
        assert!(said.contains("its serial_hash is `1234`, but this device's is `5678`"), "{said}");
        assert!(said.contains("tidegate profile /dev/sdz -o NEW.drive.toml"), "{said}");
        let still = DriveFile { mechanics: None, ..drive.clone() };
        assert!(refused(&still, &facts).contains("has no [mechanics]"));
        let unsure = DriveFile { prediction: Vec::new(), ..drive.clone() };
        let said = refused(&unsure, &facts);
        assert!(said.contains("--only prediction --op read --size 128KiB --add -o FILE"), "{said}");
        let file = DeviceFacts { file_system: Some("ext4".to_owned()), ..facts };
        let own = DriveFile { identity: file.identity(), ..drive.clone() };
        assert!(refused(&own, &file).contains("is a file"));
        assert!(refused(&drive, &file).contains("is a file"));
    }

    #[test]
    fn policies_that_predict_nothing_or_promise_nothing_may_run_anywhere() {
        let (_, drive) = measured();
        for policy in PolicyName::ALL.into_iter().filter(|&policy| policy != PolicyName::Das) {
            assert_eq!(checked(policy, &drive, &DeviceFacts::default()), Ok(()), "{policy}");
        }
    }
}
