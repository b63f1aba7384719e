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
    assert!(
        text.contains(
            "the job of `3` that arrived at 0ms responded in 117us, but its bound is 99us"
        ),
        "{text}"
    );
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
fn only_words_that_occur_are_explained_and_the_first_difference_is_shown() {
    let folder = Folder::new();
    let of = |kind| folder.run(&["cpu", "conformance", "--runs=0", "--server", kind]).1;
    let (sporadic, polling) = (of("sporadic"), of("polling"));
    assert!(!sporadic.contains("differs"), "{sporadic}");
    assert!(polling.contains("differs      the invariants hold"), "{polling}");
    let expected = "premature-table-6.1 differs from call 1 on\n  expected {\"now_ns\":0,";
    assert!(polling.contains(expected) && polling.contains("\n  got      {"), "{polling}");
}

/// Goal: a program that wants to be asked again at once is told so, and does not conform.
#[test]
fn an_alarm_that_is_over_does_not_conform() {
    let folder = Folder::new();
    folder.file("hasty.sh", "while read q; do echo '{\"budget_ns\":0,\"alarm_ns\":0}'; done");
    let hasty = ["cpu", "conformance", "--time-limit=60s", "--", "sh", "hasty.sh"];
    let (code, text, error) = folder.run(&hasty);
    assert_eq!(code, 1, "{text}{error}");
    assert!(text.contains("FAILS        sh: alarm_ns is not after now_ns"), "{text}");
    let (code, object, _) = folder.run(&["cpu", "conformance", "--json", "--", "sh", "hasty.sh"]);
    assert!(code == 1 && object.contains("\"conforms\": false"), "{object}");
}

#[test]
fn programs_that_cannot_be_tested_are_refused() {
    let folder = Folder::new();
    folder.file("babbler.sh", "read question; echo hello; cat");
    let cases = [
        (&["./nowhere"][..], "cannot start `./nowhere`"),
        (&["sh", "babbler.sh"], "the program answered `hello`"),
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
