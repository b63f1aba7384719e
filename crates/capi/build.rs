// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Sets the shared library's soname, so that programs find it in any directory.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtidegate.so");
}
