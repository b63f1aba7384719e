// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: code that distinguishes policies, theorems, bounds, contracts, regulators, their facts,
//! kinds and parts of drives, grades or premises matches them exhaustively, so that an addition
//! stops the build there. `==`, `.eq(`, `matches!`, `if let`, `[A, B].contains(` and wildcards
//! would silently decide for the addition, so they are not allowed anywhere.
//!
//! `clippy::wildcard_enum_match_arm` finds plain wildcards in the four crates that deny it. This
//! test searches the source for all other cases: comparisons, lists, wildcards in tuples, and every
//! other crate. It relies on rustfmt's layout of the source.

use std::fs;
use std::path::{Path, PathBuf};

const TYPES: [&str; 14] = [
    "PolicyName",
    "RegulatorName",
    "BoundName",
    "DriveContract",
    "Theorem",
    "DispatchMode",
    "ConservesWork",
    "Knowledge",
    "BatchLimit",
    "UnprovedDepth",
    "DriveKind",
    "Parts",
    "Grade",
    "PremiseCode",
];

/// The crates in which clippy denies wildcards over enums.
const DENYING: [&str; 4] = ["model", "policy", "analysis", "sim"];

/// A line's number and its fault.
type Fault = (usize, &'static str);

/// Returns whether a text names a variant of one of the checked types.
fn names_variant(text: &str) -> bool {
    let starts_word = |before: &str| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_variant = |after: &str| {
        after.strip_prefix("::").is_some_and(|it| {
            let word: String =
                it.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            word != "ALL" && word.starts_with(char::is_uppercase)
        })
    };
    TYPES.iter().any(|name| {
        text.match_indices(name)
            .any(|(at, _)| starts_word(&text[..at]) && is_variant(&text[at + name.len()..]))
    })
}

/// Returns a line without its comment. A `//` in a string counts as a comment too, because lines
/// that name the checked types hardly ever contain such a string.
fn code(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the contents of the `matches!(` that opens at the end of `lines[0][..at]`.
fn in_parentheses(lines: &[&str], at: usize) -> String {
    let (mut depth, mut inside) = (1, String::new());
    let text = lines.iter().take(40).enumerate();
    for character in text.flat_map(|(n, line)| code(line)[if n == 0 { at } else { 0 }..].chars()) {
        depth += i32::from(character == '(') - i32::from(character == ')');
        if depth == 0 {
            break;
        }
        inside.push(character);
    }
    inside
}

/// Returns whether a side of a comparison names a variant.
fn is_compared(line: &str) -> bool {
    let is_called = [".eq(", ".ne("].iter().any(|call| {
        line.split(call)
            .skip(1)
            .any(|argument| names_variant(argument.split(')').next().unwrap_or_default()))
            || line.match_indices(call).any(|(at, _)| names_variant(last_word(&line[..at])))
    });
    is_called
        || ["==", "!="].iter().any(|operator| {
            line.match_indices(operator).any(|(at, _)| {
                let right = line[at + operator.len()..].split([')', ';', ',', '{', '&', '|']);
                let left = line[..at].trim_end().trim_end_matches(')');
                let right = right.into_iter().find(|text| !text.trim().is_empty());
                names_variant(right.unwrap_or_default()) || names_variant(last_word(left))
            })
        })
}

/// Returns the end of a text, after its last space, `(` or `!`.
fn last_word(text: &str) -> &str {
    text.rsplit(['(', ' ', '!']).next().unwrap_or_default()
}

/// Returns the elements of the list that ends in `lines.last()[..at]`.
fn in_brackets(lines: &[&str], at: usize) -> String {
    let (mut depth, mut inside) = (1, String::new());
    let text = lines.iter().rev().take(40).enumerate();
    let text = text.map(|(n, line)| if n == 0 { &line[..at] } else { code(line) });
    for character in text.flat_map(|line| line.chars().rev()) {
        depth += i32::from(character == ']') - i32::from(character == '[');
        if depth == 0 {
            break;
        }
        inside.push(character);
    }
    inside.chars().rev().collect()
}

/// Returns the patterns of a `match` that begins in `lines[0]`, each with its line number.
fn patterns<'a>(lines: &[&'a str]) -> Vec<(usize, &'a str)> {
    let own = indent(lines[0]);
    let body = lines.iter().enumerate().skip(1);
    body.take_while(|(_, line)| line.trim().is_empty() || indent(line) > own)
        .filter(|(_, line)| indent(line) == own + 4 && !line.trim_start().starts_with(['}', ')']))
        .map(|(number, line)| (number, line.split("=>").next().unwrap_or_default().trim()))
        .collect()
}

/// Returns whether a pattern has a wildcard at any depth, except as the content of a variant of the
/// checked types or of an error.
fn has_wildcard(pattern: &str) -> bool {
    let pattern = pattern.split(" if ").next().unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    pattern.match_indices('_').any(|(at, _)| {
        let (before, after) = (&pattern[..at], &pattern[at + 1..]);
        let is_alone = !before.ends_with(is_part) && !after.starts_with(is_part);
        let holder = before.strip_suffix('(').map(last_word);
        is_alone && !holder.is_some_and(|holder| holder == "Err" || names_variant(holder))
    })
}

/// Returns the faults of a file.
fn faults(text: &str) -> Vec<Fault> {
    let lines: Vec<&str> = text.lines().collect();
    let mut faults = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let line = code(line);
        if let Some(at) = line.find("matches!(")
            && names_variant(&in_parentheses(&lines[number..], at + "matches!(".len()))
        {
            faults.push((number + 1, "matches!"));
        }
        if let Some(at) = line.find("].contains(")
            && names_variant(&in_brackets(&lines[..=number], at))
        {
            faults.push((number + 1, "list"));
        }
        if is_compared(line) {
            faults.push((number + 1, "comparison"));
        }
        if let Some((_, bound)) = line.split_once("let ")
            && names_variant(bound.split(" = ").next().unwrap_or_default())
            && bound.contains(" = ")
            && !bound.split(" = ").next().unwrap_or_default().contains(": ")
        {
            faults.push((number + 1, "if let"));
        }
        if line.contains("match ") && line.trim_end().ends_with('{') {
            let patterns = patterns(&lines[number..]);
            if patterns.iter().any(|(_, pattern)| names_variant(pattern)) {
                let wild = patterns.iter().filter(|(_, pattern)| has_wildcard(pattern));
                faults.extend(wild.map(|(arm, _)| (number + arm + 1, "wildcard")));
            }
        }
    }
    faults
}

/// Collects the Rust files of a folder, except tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !["tests", "harness", "target"].contains(&name) {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn policies_are_told_apart_by_their_facts() {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates")).expect("the crates") {
        let source = entry.expect("a crate").path().join("src");
        if source.is_dir() {
            sources(&source, &mut files);
        }
    }
    assert!(files.len() > 100, "only {} files were found", files.len());
    let mut all = Vec::new();
    for path in files {
        let name = path.strip_prefix(root()).expect("below the root").display().to_string();
        // Unit tests at the end of a file are ignored, because they are not part of the program.
        let text = fs::read_to_string(&path).expect("a source file");
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        all.extend(faults(text).into_iter().map(|(line, what)| format!("{name}:{line}: {what}")));
    }
    assert_eq!(all, Vec::<String>::new(), "match the type exhaustively, or ask the policy's facts");
}

#[test]
fn wildcards_over_enums_are_denied_where_promises_are_made() {
    for name in DENYING {
        let library = root().join("crates").join(name).join("src/lib.rs");
        let text = fs::read_to_string(library).expect("a crate");
        let is_denied = text.contains("#![deny(clippy::wildcard_enum_match_arm)]");
        assert!(is_denied, "{name} denies clippy::wildcard_enum_match_arm");
    }
}

/// Canary: each of these lines would silently decide for a policy that is added later.
#[test]
fn every_silent_answer_is_found() {
    for (text, expected) in [
        ("if policy == PolicyName::Dqf {", vec![(1, "comparison")]),
        ("if PolicyName::Dqf != policy {", vec![(1, "comparison")]),
        ("let is = facts.contract == Some(DriveContract::Drain);", vec![(1, "comparison")]),
        ("matches!(mode, DispatchMode::Batches)", vec![(1, "matches!")]),
        ("if [Knowledge::Nothing, Knowledge::DrainTimes].contains(&it) {", vec![(1, "list")]),
        ("[\n    Theorem::Edf,\n    Theorem::Fifo,\n].contains(&theorem)", vec![(4, "list")]),
        ("matches!(\n    name,\n    BoundName::Mixed\n)", vec![(1, "matches!")]),
        ("if let Some(Theorem::Edf) = theorem {", vec![(1, "if let")]),
        ("match name {\n    PolicyName::Fifo => 1,\n    _ => 2,\n}", vec![(3, "wildcard")]),
        ("match (mode, name) {\n    (DispatchMode::Batches, _) => 1,\n}", vec![(2, "wildcard")]),
        ("if kind == DriveKind::Pseudo {", vec![(1, "comparison")]),
        ("if *kind.get_ref() != DriveKind::Pseudo {", vec![(1, "comparison")]),
        ("let is = Ok(Some(Grade::Weak)) == grade;", vec![(1, "comparison")]),
        ("let is = grade == Ok(Some(Grade::Weak));", vec![(1, "comparison")]),
        ("codes.filter(|it| it.code.eq(&PremiseCode::Drift))", vec![(1, "comparison")]),
        ("codes.filter(|it| PremiseCode::Drift.ne(it))", vec![(1, "comparison")]),
        ("if let Parts::Ssd(ssd) = parts {", vec![(1, "if let")]),
        ("if [PremiseCode::Quick, PremiseCode::Drift].contains(&code) {", vec![(1, "list")]),
        (
            "match grade {\n    Some(Grade::Weak) => 1,\n    Some(_) => 2,\n    None => 3,\n}",
            vec![(3, "wildcard")],
        ),
        (
            "match kind {\n    Ok(Some(DriveKind::Ssd)) => 1,\n    Ok(Some(_)) | Err(_) => 2,\n}",
            vec![(3, "wildcard")],
        ),
        (
            "match (mode, is_so) {\n    (_, true) => 0,\n    (DispatchMode::Batches, _) if x => {\n    }\n}",
            vec![(2, "wildcard"), (3, "wildcard")],
        ),
    ] {
        assert_eq!(faults(text), expected, "{text}");
    }
}

#[test]
fn what_stops_the_build_is_not_accused() {
    for text in [
        "match name {\n    PolicyName::Fifo => 1,\n    PolicyName::Edf | PolicyName::Dqf => 2,\n}",
        "// if policy == PolicyName::Dqf {",
        "let policy = PolicyName::Dqf;",
        "let policy: PolicyName = PolicyName::Dqf;",
        "for name in PolicyName::ALL {",
        "[[0; 2], [1; 2]].contains(&PolicyName::ALL.len())",
        "matches!(class, Class::Hard) && names.contains(&PolicyName::Dqf)",
        "match kind {\n    Kind::A => 1,\n    _ => 2,\n}",
        "match theorem {\n    Ok(Theorem::Fifo) => 1,\n    Ok(Theorem::Edf) | Err(_) => 2,\n}",
        "match parts {\n    Parts::Ssd(_) => 1,\n    Parts::Mechanics(_) => 2,\n}",
        "match is_weak {\n    true => found(Grade::Weak, it_is_so),\n    false => Grade::Strong,\n}",
        "if batch_max == 1 { show(PolicyName::Dqf) }",
    ] {
        assert_eq!(faults(text), [], "{text}");
    }
}
