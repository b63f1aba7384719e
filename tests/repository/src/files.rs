// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files of the repository: their paths from its root, with `/`, and their text.

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The file's path from the root, with `/`.
    pub path: String,
    /// The file's whole text.
    pub text: String,
}

impl SourceFile {
    /// Makes a file that is not on disk, for canaries.
    pub fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns whether the file's name ends with `.` and one of these extensions.
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        let extension = Path::new(&self.path).extension().and_then(|found| found.to_str());
        extension.is_some_and(|found| extensions.contains(&found))
    }
}

/// The extensions of the files to read, and the names of those without an extension.
const READ: &[&str] = &["rs", "md", "toml", "py", "sh", "h", "c", "yml", "Makefile"];

/// Returns the repository's root.
///
/// # Panics
///
/// If the crate is not two folders below the root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate is in tests/repository").to_owned()
}

/// Returns all text files below the root, ordered by path, without build outputs and hidden
/// folders.
///
/// # Panics
///
/// If a folder or a file cannot be read.
pub fn all() -> Vec<SourceFile> {
    let root = root();
    let mut found = Vec::new();
    let mut open = vec![root.clone()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository") {
            let path = entry.expect("an entry of a folder").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" {
                    open.push(path);
                }
            } else if READ.contains(&name.rsplit('.').next().unwrap_or_default()) {
                found.push(read(&root, &path));
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn read(root: &Path, path: &Path) -> SourceFile {
    let text = fs::read_to_string(path).expect("source files are UTF-8");
    let below = path.strip_prefix(root).expect("a file below the root");
    let path = below.to_string_lossy().replace('\\', "/");
    SourceFile { path, text }
}

/// Returns the number of the line that contains the byte at `offset`, counted from 1.
pub fn line_at(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}
