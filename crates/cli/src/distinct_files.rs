// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Refuses options that name the same file, before a command does anything.

use std::path::Path;

use tidegate_platform::NewFile;

use crate::failure::Failure;

/// An option, and the file that it names.
pub(crate) type NamedFile<'a> = (&'static str, Option<&'a Path>);

/// Refuses two options that name the same file: the later one would fail at the end, or replace the
/// earlier one's output.
pub(crate) fn check_distinct(files: &[NamedFile<'_>]) -> Result<(), Failure> {
    // A path that cannot be written is reported later, with its own option.
    let known = |&(option, path): &NamedFile<'_>| Some((option, NewFile::numbered(path?).ok()?));
    let known: Vec<_> = files.iter().filter_map(known).collect();
    for (index, (option, file)) in known.iter().enumerate() {
        if let Some((other, _)) = known[..index].iter().find(|(_, other)| other.is_same(file)) {
            return Err(Failure::input(
                format!("{other} and {option} name the same file"),
                "name two files",
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: no two options of a command write the same file, whatever path names it and whether or
    /// not it exists. Method: each pair of three options.
    #[test]
    fn each_option_has_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("old"), "").unwrap();
        std::os::unix::fs::symlink(folder.path(), path("link")).unwrap();
        for (names, refused) in [
            (["a", "b", "c"], None),
            (["a", "a", "c"], Some("-o and --log")),
            (["a", "b", "./a"], Some("-o and --result")),
            (["a", "b", "link/b"], Some("--log and --result")),
            (["old", "a", "old"], Some("-o and --result")),
            (["none/a", "none/a", "b"], None),
        ] {
            let paths = names.map(path);
            let options = ["-o", "--log", "--result"];
            let files: Vec<NamedFile<'_>> =
                options.into_iter().zip(paths.iter().map(|it| Some(it.as_path()))).collect();
            let said = check_distinct(&files).err().map(|failure| failure.message());
            let expected = refused.map(|pair| format!("{pair} name the same file"));
            assert_eq!(said, expected, "{names:?}");
        }
    }
}
