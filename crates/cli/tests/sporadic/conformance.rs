// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate cpu conformance` through the binary: servers of ours, and programs that speak lines.

use crate::common::Folder;

const OURS: &str = env!("CARGO_BIN_EXE_tidegate");

#[test]
fn all_of_ours_are_an_overview() {
    let folder = Folder::new();
    let (code, report) = folder.json(&["cpu", "conformance", "--runs", "30"]);
    assert_eq!(code, 0);
    let conforms = |name: &str| {
        let all = report["implementations"].as_array().unwrap();
        all.iter().find(|it| it["implementation"] == name).unwrap()["conforms"].as_bool().unwrap()
    };
    for name in ["sporadic", "hybrid-immediate", "hybrid-gradual", "polling"] {
        assert!(conforms(name), "{name}");
    }
    for name in ["deferrable", "posix-sporadic", "posix-sporadic-strict"] {
        assert!(!conforms(name), "{name}");
    }
}

#[test]
fn a_failure_is_shown_with_its_stream_and_a_diagram() {
    let folder = Folder::new();
    let posix = ["cpu", "conformance", "--server", "posix-sporadic", "--runs", "20"];
    let (code, text, _) = folder.run(&posix);
    assert_eq!(code, 1);
    assert!(text.contains("`3` released at 0ms answers in 117us, the bound is 99us"), "{text}");
    assert!(text.contains("  server      #########...."), "{text}");
    let ours = ["cpu", "conformance", "--server", "sporadic", "--runs", "20"];
    assert_eq!(folder.run(&ours).0, 0);
}

/// Goal: any program can be tested. Method: our own binary as one, on the other side of a pipe.
#[test]
fn programs_are_tested_through_lines() {
    let folder = Folder::new();
    for (kind, code) in [("hybrid-gradual", 0), ("posix-sporadic", 1)] {
        let program = ["--runs", "5", "--", OURS, "cpu", "conformance", "--answer", kind];
        let (found, text, error) = folder.run(&[&["cpu", "conformance"], &program[..]].concat());
        assert_eq!(found, code, "{kind}: {text}{error}");
    }
}

#[test]
fn programs_that_cannot_be_tested_are_refused() {
    let folder = Folder::new();
    folder.file("babbler.sh", "read question; echo hello; cat");
    let cases = [
        (&["./nowhere"][..], "cannot start `./nowhere`"),
        (&["sh", "babbler.sh"], "the program answers `hello`"),
        (&["true"], "program"),
    ];
    for (program, message) in cases {
        let (code, _, error) = folder.run(&[&["cpu", "conformance", "--"], program].concat());
        assert_eq!(code, 2, "{error}");
        assert!(error.contains(message), "{error}");
    }
    let sleeper = ["cpu", "conformance", "--time-limit", "100ms", "--", "sleep", "600"];
    let (code, _, error) = folder.run(&sleeper);
    assert_eq!(code, 2);
    assert!(error.contains("`sleep` was not done after 100ms"), "{error}");
}
