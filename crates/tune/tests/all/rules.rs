// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the rule of a disk matches this disk and no other. Method: permanent names that differ
//! only in punctuation, and a matcher written from udev's documentation. Where `udevadm verify` is
//! installed, it also checks the file.

use std::fs;
use std::process::Command;

use tidegate_tune::NewFile;

use crate::machine::{DEMAND, DEVICE, Machine};

/// Returns the rule of a disk with this permanent name.
fn rule(wwid: &str) -> Option<NewFile> {
    let machine = Machine::new();
    machine.write(&format!("{DEVICE}/wwid"), &format!("{wwid}\n"));
    let disk = machine.disk();
    NewFile::rule(&disk, &disk.settings(&DEMAND))
}

/// Returns the pattern for the permanent name in a rule.
fn pattern(rule: &str) -> &str {
    let (_, rest) = rule.split_once("ATTRS{wwid}==\"").expect("a match of the name");
    rest.split_once("\", \\\n").expect("an end of the value").0
}

/// Matches a value like udev: `|` separates alternatives, each of which is a text or a pattern.
fn is_match(value: &str, text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    value.split('|').any(|part| {
        let pattern: Vec<char> = part.chars().collect();
        if part.contains(['*', '?', '[']) { fnmatch(&pattern, &text) } else { pattern == text }
    })
}

/// Matches like `fnmatch(3)` without flags.
fn fnmatch(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], _) => text.is_empty(),
        (['*', rest @ ..], _) => (0..=text.len()).any(|skipped| fnmatch(rest, &text[skipped..])),
        (_, []) => false,
        (['?', rest @ ..], [_, more @ ..]) => fnmatch(rest, more),
        (['[', rest @ ..], [c, more @ ..]) => match bracket(rest, *c) {
            Some((is_in, rest)) => is_in && fnmatch(rest, more),
            None => *c == '[' && fnmatch(rest, more),
        },
        (['\\', quoted, rest @ ..], [c, more @ ..]) => quoted == c && fnmatch(rest, more),
        ([plain, rest @ ..], [c, more @ ..]) => plain == c && fnmatch(rest, more),
    }
}

/// Returns whether a character is in the brackets that have just been opened, and the rest of the
/// pattern; `None` if the brackets are not closed.
fn bracket(pattern: &[char], c: char) -> Option<(bool, &[char])> {
    let is_negated = matches!(pattern, ['!' | '^', ..]);
    let mut rest = &pattern[usize::from(is_negated)..];
    let mut is_in = false;
    for index in 0.. {
        match rest {
            [']', after @ ..] if index > 0 => return Some((is_in != is_negated, after)),
            ['\\', quoted, after @ ..] => (is_in, rest) = (is_in || *quoted == c, after),
            [from, '-', to, after @ ..] if *to != ']' => {
                (is_in, rest) = (is_in || (*from..=*to).contains(&c), after);
            }
            [one, after @ ..] => (is_in, rest) = (is_in || *one == c, after),
            [] => return None,
        }
    }
    None
}

/// Returns names with each punctuation character in one place, and names that look like patterns.
fn names() -> Vec<String> {
    let punctuation = (' '..='~').filter(|c| !c.is_ascii_alphanumeric() && !"|\"".contains(*c));
    let each = punctuation.map(|c| format!("t10.ATA     DISK{c}S1"));
    let odd =
        ["[a-z]", "[!x]", "[]x]", "[[:alpha:]]", "a]b", "\\*", "*", "x\\", "\\[?]", "disk\u{e9}"];
    each.chain(odd.map(str::to_owned)).collect()
}

#[test]
fn each_rule_matches_its_own_disk_alone() {
    let names = names();
    for of in &names {
        let rule = rule(of).expect("a rule").text;
        for name in &names {
            assert_eq!(is_match(pattern(&rule), name), of == name, "{of}: {name} in\n{rule}");
        }
    }
}

/// No udev pattern matches these names alone, so no rule is installed for such a disk.
#[test]
fn a_name_that_no_pattern_matches_has_no_rule() {
    for name in ["a|b", "a\"b", "a\tb"] {
        assert_eq!(rule(name), None, "{name:?}");
        let machine = Machine::new();
        machine.write(&format!("{DEVICE}/wwid"), &format!("{name}\n"));
        assert!(!NewFile::can_name(&machine.disk()), "{name:?}");
    }
    assert!(NewFile::can_name(&Machine::new().disk()));
}

/// Canary: the matcher finds that a `?` matches two disks, and supports negation, ranges and
/// quoting.
#[test]
fn the_matcher_of_this_test_knows_patterns() {
    for (value, text, is_it) in [
        ("A?B", "A-B", true),
        ("A?B", "A B", true),
        ("A|B", "B", true),
        ("a*c", "abbc", true),
        ("a*c", "abbcd", false),
        ("[!x]", "x", false),
        ("[!x]", "y", true),
        ("[a-c]d", "bd", true),
        ("[a-c]d", "-d", false),
        ("[]]", "]", true),
        ("[a", "[a", true),
        (r"\*a*", "*ab", true),
        (r"\x", r"\x", true),
    ] {
        assert_eq!(is_match(value, text), is_it, "{value} {text}");
    }
}

/// `udevadm verify` exists since systemd 254.
#[test]
fn udev_accepts_the_rules() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut paths = Vec::new();
    for (index, name) in names().iter().enumerate() {
        let path = folder.path().join(format!("{index}.rules"));
        fs::write(&path, rule(name).expect("a rule").text).expect("a file");
        paths.push(path);
    }
    let has_verify = Command::new("udevadm").args(["verify", "--help"]).output();
    if !has_verify.is_ok_and(|it| it.status.success()) {
        println!("skipped: there is no `udevadm verify` (systemd 254)");
        return;
    }
    let found = Command::new("udevadm").arg("verify").args(paths).output().expect("it runs");
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
}
