// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The kernel's I/O priority classes, whether this process may use the highest, and
//! the class of other threads.
//!
//! A request carries its class to the kernel's scheduler and to the driver. libata maps the class
//! "real time" to NCQ's high priority, on devices that support it and where it is enabled
//! (`ncq_prio_enable` in sysfs); other drivers ignore it.
//!
//! Source: the kernel's documentation of I/O priorities; ATA/ATAPI Command Set 3, NCQ priority.

use std::io;

/// The kernel's I/O priority class of a request. The kernel's scheduler orders by it, and a driver
/// may pass it to the device: NCQ has a high priority, which `RealTime` selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IoClass {
    /// The thread's class: real time for a thread with real-time scheduling.
    #[default]
    Inherited,
    /// The highest class; it needs permission, see [`is_permitted`].
    RealTime,
    /// The class below real time.
    BestEffort,
}

/// The position of the class in the kernel's priority number, in bits.
pub const CLASS_SHIFT: u16 = 13;
/// `IOPRIO_WHO_PROCESS`, which means a thread.
const WHO_THREAD: libc::c_int = 1;
/// `IOPRIO_CLASS_RT`, the real-time class.
const CLASS_REAL_TIME: u16 = 1;
/// `IOPRIO_CLASS_BE`, the best-effort class.
const CLASS_BEST_EFFORT: u16 = 2;
/// The default level within a class.
const LEVEL_USUAL: u16 = 4;

/// Returns the kernel's priority number; 0 means the thread's own class.
pub const fn value(class: IoClass) -> u16 {
    match class {
        IoClass::Inherited => 0,
        IoClass::RealTime => CLASS_REAL_TIME << CLASS_SHIFT | LEVEL_USUAL,
        IoClass::BestEffort => CLASS_BEST_EFFORT << CLASS_SHIFT | LEVEL_USUAL,
    }
}

/// Returns whether the kernel accepts requests of class `RealTime` from this process. Tries it in a
/// separate thread, so that no other thread's class changes.
pub fn is_permitted() -> bool {
    let tried = std::thread::spawn(|| set_own_class(value(IoClass::RealTime)));
    tried.join().is_ok_and(|is_set| is_set)
}

/// Sets the calling thread's class; returns whether the kernel accepted it.
fn set_own_class(value: u16) -> bool {
    set(0, value).is_ok()
}

/// Gives a thread this priority number; 0 removes the thread's own class. Returns whether the
/// thread exists.
///
/// # Errors
/// The kernel's reason, for example that this process may not use the real-time class.
pub fn set_of_thread(thread: u32, value: u16) -> io::Result<bool> {
    // No thread has the number 0; the kernel would take it for the calling thread.
    let Some(thread) = libc::c_int::try_from(thread).ok().filter(|&thread| thread > 0) else {
        return Ok(false);
    };
    match set(thread, value) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(false),
        set => set.map(|()| true),
    }
}

/// Sets the class of a thread; 0 means the calling thread.
#[expect(unsafe_code, reason = "neither rustix nor libc has a call for this")]
fn set(thread: libc::c_int, value: u16) -> io::Result<()> {
    // SAFETY: the arguments are three numbers, no memory.
    let result = unsafe {
        libc::syscall(libc::SYS_ioprio_set, WHO_THREAD, thread, libc::c_int::from(value))
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the kernel's priority number of a thread: 0 if it has no class of its own, `None` if the
/// thread has ended.
///
/// # Errors
/// The kernel's reason, for example that this process may not query the thread.
#[expect(unsafe_code, reason = "neither rustix nor libc has a call for this")]
pub fn of_thread(thread: u32) -> io::Result<Option<u16>> {
    let Ok(thread) = libc::c_int::try_from(thread) else { return Ok(None) };
    // SAFETY: the arguments are two numbers, no memory.
    let priority = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_THREAD, thread) };
    if let Ok(priority) = u16::try_from(priority) {
        return Ok(Some(priority));
    }
    match io::Error::last_os_error() {
        error if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        error => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected numbers are from the kernel's `linux/ioprio.h`.
    #[test]
    fn classes_have_the_numbers_of_the_kernel() {
        assert_eq!(value(IoClass::Inherited), 0);
        assert_eq!(value(IoClass::RealTime), 0x2004);
        assert_eq!(value(IoClass::BestEffort), 0x4004);
    }

    #[test]
    fn a_threads_class_is_read_back() {
        let read = std::thread::spawn(|| {
            assert!(set_own_class(value(IoClass::BestEffort)));
            let thread = rustix::thread::gettid().as_raw_nonzero().get();
            of_thread(u32::try_from(thread).unwrap()).unwrap()
        });
        assert_eq!(read.join().unwrap(), Some(0x4004));
        assert_eq!(of_thread(u32::MAX).unwrap(), None);
    }

    #[test]
    fn another_threads_class_is_set() {
        let (tell, told) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            let thread = rustix::thread::gettid().as_raw_nonzero().get();
            tell.send(u32::try_from(thread).unwrap()).unwrap();
            ended.recv().unwrap_err();
        });
        let thread = told.recv().unwrap();
        for number in [0x4007, 0] {
            assert!(set_of_thread(thread, number).unwrap());
            // For a thread without a class of its own, newer kernels report the class that follows
            // from its scheduling policy.
            let told = of_thread(thread).unwrap().unwrap();
            assert!(told == number || number == 0, "{told:#x}");
        }
        drop(end);
        other.join().unwrap();
        for thread in [0, u32::MAX] {
            assert!(!set_of_thread(thread, 0x4004).unwrap(), "{thread}");
        }
    }

    #[test]
    fn class_below_real_time_needs_no_permission() {
        assert!(set_own_class(value(IoClass::BestEffort)) || !is_permitted());
    }
}
