// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Reads the export to admit, with the keys of a serve file.
//!
//! The export comes from its own file, from standard input, or from the serve file. A user adds it
//! there so that the next start offers it too.

use std::io::Read as _;
use std::path::Path;

use serde_json::Value;
use tidegate_commands::Faults;
use tidegate_model::{FileKind, ServeFile};

use crate::failure::Failure;

/// Reads the export that `what` names: a file, `-`, or an entry of the serve file `target`.
pub(super) fn read(what: &str, target: &Path) -> Result<Value, Failure> {
    if what == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(|error| Failure::environment(&error))?;
        return of_text(Path::new("standard input"), &text);
    }
    if Path::new(what).is_file() {
        let text = std::fs::read_to_string(what).map_err(|error| {
            Failure::input(
                format!("cannot read {what}: {error}"),
                "name a file with one [[export]]",
            )
        })?;
        return of_text(Path::new(what), &text);
    }
    in_serve_file(what, target).ok_or_else(|| {
        Failure::input(
            format!("`{what}` is neither a file nor an export in {}", target.display()),
            "name a file with one [[export]]; or add it to the serve file, and give that file and \
             the export's name",
        )
    })
}

/// Parses the keys of one export, alone or under `[[export]]`.
fn of_text(path: &Path, text: &str) -> Result<Value, Failure> {
    let parse = ServeFile::parse_export;
    parse(text).map_err(|error| Faults::of_reading(path, text, FileKind::Serve, error, parse))?;
    let table: toml::Table = text.parse().expect("the text was parsed before");
    let own = table.get("export").and_then(|exports| exports.get(0)).cloned();
    Ok(to_json(own.unwrap_or(toml::Value::Table(table))))
}

fn in_serve_file(name: &str, target: &Path) -> Option<Value> {
    let table: toml::Table = std::fs::read_to_string(target).ok()?.parse().ok()?;
    let exports = table.get("export")?.as_array()?;
    let is_it = |export: &&toml::Value| export.get("name").and_then(|it| it.as_str()) == Some(name);
    exports.iter().find(is_it).cloned().map(to_json)
}

fn to_json(export: toml::Value) -> Value {
    serde_json::to_value(export).expect("a serve file has no dates")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_export_is_read_from_where_it_is_written() {
        let keys = "name = \"b\"\nsize = \"1GiB\"\nbest_effort = true\nweight = 2\n";
        let alone = of_text(Path::new("f"), keys).unwrap();
        assert_eq!((&alone["name"], &alone["weight"]), (&"b".into(), &2.into()));
        let under = of_text(Path::new("f"), &format!("[[export]]\n{keys}")).unwrap();
        assert_eq!(alone, under);
        let two = format!("[[export]]\n{keys}[[export]]\n{keys}");
        assert!(of_text(Path::new("f"), &two).is_err());
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("serve.toml");
        std::fs::write(&target, format!("backing = \"x\"\n[[export]]\n{keys}")).unwrap();
        assert_eq!(read("b", &target).unwrap(), alone);
        assert!(read("c", &target).is_err());
        assert!(read("b", Path::new("/nowhere")).is_err());
    }
}
