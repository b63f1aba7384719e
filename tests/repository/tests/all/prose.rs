// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the project's sentences and names follow the rules of `docs/reference/prose.md`, as far as
//! a machine can check. Method: patterns over docs, README, CHANGELOG, and the comments and texts
//! of all Rust files. Each rule has a canary.

use tidegate_repository::files::{self, SourceFile};
use tidegate_repository::prose::faults;

/// Files that quote forbidden phrases.
const QUOTES: &[&str] = &["docs/reference/prose.md", "tests/repository/"];

fn is_below(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| path.starts_with(place))
}

/// Returns the files whose sentences are checked.
fn written() -> Vec<SourceFile> {
    let mut files = files::all();
    files.retain(|file| file.has_extension(&["md", "rs"]) && !is_below(&file.path, QUOTES));
    files
}

#[test]
fn sentences_keep_the_rules() {
    let files = written();
    let found: Vec<String> = files.iter().flat_map(faults).collect();
    assert!(found.is_empty(), "{} faults:\n  {}", found.len(), found.join("\n  "));
}

/// Returns the faults of an invented file, without the advice and the sentences.
fn faults_of(path: &str, text: &str) -> Vec<String> {
    let file = SourceFile::new(path, text);
    let cut = |fault: String| fault.split(": ").take(2).collect::<Vec<_>>().join(": ");
    faults(&file).into_iter().map(cut).collect()
}

#[test]
fn canary_free_relatives_are_found() {
    let begins = |word: &str| format!("a.md:1: a sentence begins with `{word}`");
    for word in ["Who", "Whoever", "Whatever", "Nobody", "What"] {
        assert_eq!(
            faults_of("a.md", &format!("It is.\n{word} comes is served.\n")),
            [begins(word)]
        );
    }
    assert_eq!(faults_of("a.md", "- Whose turn it is goes.\n"), [begins("Whose")]);
    assert_eq!(faults_of("a.md", "| a | What is new is b. |\n"), [begins("What")]);
    let allowed = ["Who uses it?\n", "# What it costs\n", "| What |\n", "```\nWho is.\n```\n"];
    assert!(allowed.iter().all(|text| faults_of("a.md", text).is_empty()));
}

#[test]
fn canary_phrases_are_found() {
    for (text, phrase) in [
        ("It shall go", "shall"),
        ("What is to be sent", "is to be"),
        ("They are to be sent", "are to be"),
        ("None has, of that", ", of that"),
        ("The how manieth it was", "manieth"),
        ("It is dearer", "dearer"),
        ("Shown and asked for apart", "asked for apart"),
        ("Bounds come along", "come along"),
        ("One comes along", "comes along"),
        ("1 for whatever it failed of", "for whatever it"),
        ("Once more quits at once", "quits at once"),
    ] {
        assert_eq!(faults_of("a.md", text), [format!("a.md:1: `{phrase}`")]);
    }
    let allowed = ["POSIX says \"it shall go\".", "`shall`", "marshall it", "```\nshall\n```"];
    assert!(allowed.iter().all(|text| faults_of("a.md", text).is_empty()));
}

#[test]
fn canary_comments_and_texts_of_code_are_read() {
    let code =
        "/// Holds all.\n///\n/// It\n/// shall.\nfn a() {\n    say(\"Who asks waits.\");\n}\n";
    assert_eq!(
        faults_of("a.rs", code),
        ["a.rs:3: `shall`", "a.rs:6: a sentence begins with `Who`"]
    );
    assert_eq!(faults_of("a.rs", "let a = r#\"it \"so\" is to be\"#;\n"), ["a.rs:1: `is to be`"]);
    assert_eq!(faults_of("a.rs", "let (shall, quote) = ('\"', 1);\n"), [""; 0]);
}

#[test]
fn canary_names_are_found() {
    let name = |code: &str| faults_of("a.rs", code);
    assert_eq!(name("pub struct Pile<T> {\n"), ["a.rs:1: `Pile` is no term of the field"]);
    assert_eq!(name("const BREATH: u64 = 1;\n"), ["a.rs:1: `BREATH` is no term of the field"]);
    assert!(name("struct PileUp;\n// struct Pile\nlet a = Pile;\n").is_empty());
}
