// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Collects the files of `studies/`, so that the program can reproduce the studies without a
//! checkout.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../studies");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut list = String::from("&[\n");
    for folder in sorted(&root)?.into_iter().filter(|it| it.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        let _ = writeln!(list, "({:?}, &[", name(&folder));
        for file in sorted(&folder)? {
            println!("cargo::rerun-if-changed={}", file.display());
            let path = fs::canonicalize(&file)?.to_string_lossy().into_owned();
            let _ = writeln!(list, "({:?}, include_str!({path:?})),", name(&file));
        }
        list.push_str("]),\n");
    }
    list.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("studies.rs"), list)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|it| it.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().expect("an entry of a folder").to_string_lossy().into_owned()
}
