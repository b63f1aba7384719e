// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the decisions also link into a 32-bit kernel, which has no 64-bit division. Method:
//! compile them for 32 bits without a library, and check the functions that they call.

use std::path::Path;
use std::process::Command;

use tidegate_kernel::library::{KERNEL, SOURCES};

/// Functions to which a compiler can always emit calls.
const PROVIDED: [&str; 4] = ["memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_"];

/// Compiles a source for 32 bits; `false` if the compiler cannot.
fn compile(source: &Path, object: &Path) -> bool {
    let mut command = Command::new("cc");
    command.args(["-m32", "-std=gnu11", "-O2", "-ffreestanding", "-Wall", "-Werror", "-c"]);
    command.arg(source).arg("-o").arg(object).output().is_ok_and(|done| done.status.success())
}

/// Returns the functions that an object calls and no source defines.
fn undefined(object: &Path) -> Vec<String> {
    let listed = Command::new("nm").args(["-u", "-j"]).arg(object).output().expect("nm starts");
    let names = String::from_utf8(listed.stdout).expect("names are ASCII");
    let is_foreign = |name: &&str| !name.starts_with("tg_") && !PROVIDED.contains(name);
    names.lines().filter(is_foreign).map(str::to_owned).collect()
}

#[test]
fn nothing_divides_64_bits_on_a_32_bit_machine() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let object = folder.path().join("object.o");
    let probe = folder.path().join("probe.c");
    let divides =
        "unsigned long long f(unsigned long long a, unsigned long long b) { return a / b; }";
    std::fs::write(&probe, divides).expect("writable");
    if !compile(&probe, &object) {
        return println!("skipped: cc is not installed, or does not compile for 32 bits");
    }
    assert_ne!(undefined(&object), [""; 0], "the canary divides");
    for source in SOURCES {
        assert!(compile(&Path::new(KERNEL).join(source), &object), "{source}");
        assert_eq!(undefined(&object), [""; 0], "{source}");
    }
}
