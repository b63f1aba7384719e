// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Gives the shared library a name of its own, by which programs find it wherever it was linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libtidegate.so");
}
