// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kernel's I/O priority classes, and whether this process may use the highest.
//!
//! A request carries its class to the kernel's scheduler and to the driver. libata makes the
//! high priority of NCQ of class "real time", for devices that have it and where it is
//! switched on (`ncq_prio_enable` in sysfs); other drivers make nothing of it.
//!
//! Source: the kernel's documentation of I/O priorities; ATA/ATAPI Command Set 3, NCQ
//! priority.

use crate::ring::IoClass;

/// Where the class stands in the kernel's number.
const CLASS_SHIFT: u16 = 13;
const CLASS_REAL_TIME: u16 = 1;
const CLASS_BEST_EFFORT: u16 = 2;
/// The level inside a class that nobody asked to be above or below.
const LEVEL_USUAL: u16 = 4;

/// The kernel's number; 0 leaves it to the thread.
pub(crate) const fn value(class: IoClass) -> u16 {
    match class {
        IoClass::Inherited => 0,
        IoClass::RealTime => CLASS_REAL_TIME << CLASS_SHIFT | LEVEL_USUAL,
        IoClass::BestEffort => CLASS_BEST_EFFORT << CLASS_SHIFT | LEVEL_USUAL,
    }
}

/// Whether the kernel takes requests of class `RealTime` from this process. Tried in a thread
/// of its own, whose class goes with it.
pub fn is_permitted() -> bool {
    let tried = std::thread::spawn(|| set_own_class(value(IoClass::RealTime)));
    tried.join().is_ok_and(|is_set| is_set)
}

/// Gives the calling thread a class; whether the kernel did.
#[expect(unsafe_code, reason = "neither rustix nor libc has a call for this")]
fn set_own_class(value: u16) -> bool {
    /// `IOPRIO_WHO_PROCESS`, which means a thread.
    const WHO_THREAD: libc::c_int = 1;
    // SAFETY: three numbers, no memory; 0 names the calling thread.
    unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_THREAD, 0, libc::c_int::from(value)) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the kernel's `linux/ioprio.h`.
    #[test]
    fn classes_have_the_numbers_of_the_kernel() {
        assert_eq!(value(IoClass::Inherited), 0);
        assert_eq!(value(IoClass::RealTime), 0x2004);
        assert_eq!(value(IoClass::BestEffort), 0x4004);
    }

    #[test]
    fn class_below_real_time_needs_no_permission() {
        assert!(set_own_class(value(IoClass::BestEffort)) || !is_permitted());
    }
}
