// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the committed header matches the library, for users without Rust. Method: generate the
//! header from the library's source and compare.

use std::path::Path;

#[test]
fn the_header_is_the_library_s() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::Builder::new().with_crate(folder).with_config(config).generate();
    let mut made = Vec::new();
    bindings.unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap().replace("// # Safety\n// ", "// Safety: ");
    let path = folder.join("include/tidegate.h");
    if std::env::var_os("TIDEGATE_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        committed, made,
        "regenerate: TIDEGATE_BLESS=1 cargo test -p tidegate-capi --test header"
    );
}
