// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: every command that an error or a note suggests works when it is pasted. Method: make the
//! error, run the first suggestion as it is printed, and see that it gets further.

use std::process::Output;

use crate::{COLUMNS, folder, run};

/// The effect that a suggestion must have.
enum Then {
    /// It exits with this code.
    Exits(i32),
    /// It exits with 0, and then this command exits with the code.
    Allows(&'static str, i32),
    /// Its error is another one, with this text.
    Says(&'static str),
    /// It serves until it is stopped, and then exits with 0.
    Serves,
}

use Then::{Allows, Exits, Says, Serves};

/// Lines that make the error; the last one prints the suggestion.
struct Case {
    name: &'static str,
    lines: &'static [&'static str],
    then: Then,
}

const CASES: &[Case] = &[
    Case {
        name: "an interrupted measurement, which is a no, says how to go on",
        lines: &[
            "tidegate profile fujitsu-max3036rc --depth 4 --samples 300 --seed 1 --only batch \
                  -o x.drive.toml --time-limit 1ms; test $? = 1",
        ],
        then: Exits(0),
    },
    Case {
        name: "samples in the way",
        lines: &[
            "tidegate profile fujitsu-max3036rc --depth 4 --samples 300 --seed 1 --only batch \
             -o x.drive.toml --time-limit 1ms; mv x.drive.toml old",
            "tidegate profile fujitsu-max3036rc --depth 4 --samples 300 --seed 1 --only batch \
             -o x.drive.toml",
        ],
        then: Exits(0),
    },
    Case {
        name: "nothing to resume",
        lines: &["tidegate profile fujitsu-max3036rc --depth 2 --samples 3 --seed 1 --only batch \
                  -o x.drive.toml --resume"],
        then: Exits(0),
    },
    Case {
        name: "writes without leave",
        lines: &["tidegate profile 'my disk.img' --only batch --op write -o x.drive.toml"],
        then: Says("my disk.img"),
    },
    Case {
        name: "a size that was not measured",
        lines: &[
            "tidegate profile fujitsu-max3036rc --depth 3 --samples 3 --seed 1 --only batch -o small.drive.toml",
            "sed 's/128KiB/1MiB/; s/doubts/small/' doubts.toml > large.toml",
            "tidegate check large.toml",
        ],
        then: Allows("tidegate check large.toml -q; test $? -lt 2", 0),
    },
    Case {
        name: "an operation that was not measured",
        lines: &[
            "cp doubts.drive.toml reads.drive.toml",
            "sed 's/doubts/reads/; s/^size.*/&\\nop = \"write\"/' doubts.toml > writes.toml",
            "tidegate check writes.toml",
        ],
        then: Says("DEVICE"),
    },
    Case {
        name: "places that were not measured",
        lines: &[
            "tidegate profile fujitsu-max3036rc --depth 3 --samples 3 --seed 1 --only batch -o p.drive.toml",
            "awk '/^\\[/ {left_out = /^\\[\\[batch.families/} !left_out' p.drive.toml > q.drive.toml",
            "sed 's/doubts/q/' doubts.toml > q.toml",
            "tidegate check q.toml",
        ],
        then: Exits(0),
    },
    Case {
        name: "a set of contracts that is not proved",
        lines: &[
            "sed 's/250ms/10ms/' workloads/media.serve.toml > fast.toml",
            "tidegate serve fast.toml",
        ],
        then: Serves,
    },
];

fn said(output: &Output) -> String {
    let text = [output.stdout.as_slice(), b"\n", output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the first command that a text suggests: a line `To do`, or a span in backquotes.
fn suggestion(text: &str) -> Option<&str> {
    let lines = text.lines().filter_map(|line| line.trim().strip_prefix("To do "));
    let spans = text.split("`tidegate ").skip(1).filter_map(|rest| rest.split('`').next());
    let from =
        |rest: &str| text.find(rest).map(|at| &text[at - "tidegate ".len()..at + rest.len()]);
    let spans = spans.filter_map(from);
    lines.chain(spans).map(str::trim).find(|it| it.starts_with("tidegate ") && it.contains(" -"))
}

/// Returns a line that starts a server, stops it as soon as it is ready, and ends with its exit
/// code.
fn served(command: &str) -> String {
    format!(
        "{command} > served & server=$!; \
         until grep -q ^Ready served; do kill -0 $server || exit 9; sleep 0.1; done; \
         kill $server; wait $server"
    )
}

#[test]
fn suggested_commands_work_when_pasted() {
    for Case { name, lines, then } in CASES {
        let folder = folder();
        let mut text = String::new();
        for line in *lines {
            text = said(&run(line, folder.path(), COLUMNS[1]));
        }
        let command = suggestion(&text).unwrap_or_else(|| panic!("{name}: no command in\n{text}"));
        let output = match then {
            Serves => run(&served(command), folder.path(), COLUMNS[1]),
            Exits(_) | Allows(..) | Says(_) => run(command, folder.path(), COLUMNS[1]),
        };
        let (code, after) = (output.status.code(), said(&output));
        assert_ne!(after, text, "{name}: {command} gets no further");
        match then {
            Serves => assert_eq!(code, Some(0), "{name}: {command}\n{after}"),
            Exits(expected) => assert_eq!(code, Some(*expected), "{name}: {command}\n{after}"),
            Allows(line, expected) => {
                assert_eq!(code, Some(0), "{name}: {command}\n{after}");
                let output = run(line, folder.path(), COLUMNS[1]);
                let said = said(&output);
                assert_eq!(output.status.code(), Some(*expected), "{name}: {line}\n{said}");
            }
            Says(expected) => assert!(after.contains(expected), "{name}: {command}\n{after}"),
        }
    }
}
