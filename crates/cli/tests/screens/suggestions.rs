// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: every command that an error or a note suggests works when it is pasted. Method: cause the
//! error, run the first suggestion as printed, and check that it gets further.

use std::path::Path;
use std::process::Output;

use crate::service::listen;
use crate::{COLUMNS, folder, run};

/// The effect that a suggestion must have.
enum Then {
    /// The command exits with this code.
    Exits(i32),
    /// The command exits with 0, and then this other command exits with the code.
    Allows(&'static str, i32),
    /// The command fails with another error, which contains this text.
    Says(&'static str),
    /// The command serves until it is stopped, and then exits with 0.
    Serves,
    /// With these options, which make the command short and its files small, it exits with this
    /// code. Without direct I/O in the test's folder, nothing is tested.
    Short(&'static str, i32),
}

use Then::{Allows, Exits, Says, Serves, Short};

/// Lines that cause the error; the last one prints the suggestion.
struct Case {
    name: &'static str,
    lines: &'static [&'static str],
    then: Then,
}

const CASES: &[Case] = &[
    Case {
        name: "an interrupted measurement, which is a no, says how to go on",
        // On a busy host, the time can run out before the first sample.
        lines: &["for i in 1 2 3 4 5 6 7 8 9; do \
                  tidegate profile fujitsu-max3036rc --depth 4 --samples 300 --seed 1 --only batch \
                  -o x.drive.toml --time-limit 1ms; code=$?; \
                  test -e x.drive.toml && break; done; test $code = 1"],
        then: Exits(0),
    },
    Case {
        name: "samples in the way",
        lines: &[
            "for i in 1 2 3 4 5 6 7 8 9; do \
             tidegate profile fujitsu-max3036rc --depth 4 --samples 300 --seed 1 --only batch \
             -o x.drive.toml --time-limit 1ms; test -e x.drive.toml && break; done; \
             mv x.drive.toml old",
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
    Case {
        name: "doubts in full",
        lines: &["tidegate check doubts.toml | grep -A 2 ^More"],
        then: Says("Bounds of other policies"),
    },
    Case {
        name: "doubts of a simulation in full",
        lines: &[
            "tidegate sim recorded.toml --jobs 5 --drive recorded.drive.toml | grep -A 2 ^More",
        ],
        then: Says("Bounds of other policies"),
    },
    Case {
        name: "a drive file in place of a workload",
        lines: &["tidegate check doubts.drive.toml"],
        then: Exits(0),
    },
    Case {
        name: "a workload in place of a serve file",
        lines: &["tidegate serve recorder.toml"],
        then: Exits(0),
    },
    Case {
        name: "a serve file in place of a workload",
        lines: &["tidegate check workloads/media.serve.toml"],
        then: Exits(0),
    },
    Case {
        name: "a processor in place of a disk",
        lines: &["tidegate sim processor.toml"],
        then: Exits(0),
    },
    Case {
        name: "flushes that were not measured",
        lines: &["tidegate serve flushes.serve.toml"],
        then: Says("DEVICE"),
    },
    Case {
        name: "a store that does not exist",
        lines: &["tidegate serve gone.serve.toml"],
        then: Short("--samples 3 --depth 2 --size 4KiB", 0),
    },
    Case {
        name: "a store without a drive",
        lines: &[
            "tidegate profile store.img --create 8MiB --only batch --size 4KiB --samples 3 --depth 2 \
             -o first.drive.toml",
            "mkdir of && sed '/^simulate/d; /^store/d' workloads/media.serve.toml > of/s.toml",
            "sed -i '1i backing = \"../store.img\"' of/s.toml",
            "tidegate serve of/s.toml",
        ],
        then: Short("--samples 3 --depth 2", 0),
    },
    Case {
        name: "a drive file without a table",
        lines: &[
            "printf 'name = \"x\"\nkind = \"recorded\"\ndepth = 2\n' > x.drive.toml",
            "tidegate check inline.toml --drive x.drive.toml",
        ],
        then: Says("DEVICE"),
    },
    Case {
        name: "a recorded drive without quantiles",
        lines: &["tidegate sim recorder.toml --model recorded"],
        then: Short("--samples 3 --depth 2", 0),
    },
    Case {
        name: "drains that were not measured",
        lines: &[
            "tidegate profile fujitsu-max3036rc --depth 3 --samples 3 --seed 1 --only batch -o doubts.drive.toml.new",
            "mv doubts.drive.toml.new doubts.drive.toml",
            "tidegate check doubts.toml --policy gated-drain",
        ],
        then: Exits(0),
    },
    Case {
        name: "a policy that needs mechanics",
        lines: &["tidegate sim inline.toml --policy satf"],
        then: Exits(0),
    },
    Case {
        name: "costs that were not measured together",
        lines: &[
            "tidegate profile fujitsu-max3036rc --depth 3 --samples 3 --seed 1 -o d.toml \
             --only batch,mixed --size 4KiB,128KiB",
            "tidegate profile fujitsu-max3036rc --depth 3 --samples 3 --seed 9 -o d.toml --add \
             --only batch --size 64KiB",
        ],
        then: Short("--samples 3 --depth 3", 0),
    },
    Case {
        name: "a file with holes",
        lines: &["truncate -s 8MiB s.img && tidegate profile s.img"],
        then: Short("--samples 3 --depth 2 --size 4KiB", 0),
    },
    Case {
        name: "a file that is too small",
        lines: &["touch s.img && tidegate profile s.img"],
        then: Short("--samples 3 --depth 2 --size 4KiB", 0),
    },
    Case {
        name: "a processor profile with a faulty line",
        lines: &[
            "sed -i 's/^offset_ns.*/offset_ns = 0/' thief.cpu.toml",
            "tidegate cpu check disturbed.toml",
        ],
        then: Short("--trials 3 --longest 2ms --lengths 3", 0),
    },
    Case {
        name: "a drive without plots",
        lines: &[
            "awk '/^\\[/ {left_out = /^\\[\\[batch/} !left_out' drives/sata-ssd.drive.toml \
             > s.drive.toml",
            "tidegate drive show s.drive.toml --svg x.svg",
        ],
        then: Exits(0),
    },
    Case {
        name: "a trace on a drive of tables",
        lines: &["tidegate drive replay inline.drive.toml --trace d.trace"],
        then: Exits(0),
    },
    Case {
        name: "a misspelt drive file",
        lines: &["tidegate check inline.toml --drive doubts.drive.tml"],
        then: Exits(0),
    },
    Case {
        name: "an attached drive of another name",
        lines: &["tidegate drive detach nosuch"],
        then: Exits(0),
    },
    Case {
        name: "an export without its name",
        lines: &["tidegate ctl good.ctl missed"],
        then: Exits(0),
    },
    Case {
        name: "a misspelt study",
        lines: &["tidegate reproduce premature-replenishmnt"],
        then: Exits(0),
    },
    Case { name: "a live view in a script", lines: &["tidegate top good.ctl"], then: Exits(0) },
];

/// Source files that suggest commands: the number of lines with a suggestion, and the tests of
/// these commands or the reason why they need none.
const SOURCES: &[(&str, usize, &str)] = &[
    ("attach/src/error.rs", 1, "needs root: `tests/commands/attach.rs` detaches by name"),
    ("cli/src/attach.rs", 3, "a detach or an undo, which `attach_faults` and `attach_made` run"),
    (
        "cli/src/attach/kernel/checks.rs",
        3,
        "a check, an undo and a detach, which `attach_made` and others run",
    ),
    ("cli/src/command_line.rs", 1, "doubts in full; doubts of a simulation in full"),
    ("cli/src/ctl.rs", 1, "an export without its name"),
    ("cli/src/drive/attach.rs", 1, "needs root: `tests/commands/attach.rs` detaches by name"),
    ("cli/src/drive/detach.rs", 1, "an attached drive of another name"),
    ("cli/src/drive/show.rs", 1, "a drive without plots"),
    ("cli/src/nbd.rs", 1, "an export that the server does not have: `nbd_client`"),
    ("cli/src/python.rs", 1, "names the command; `tests/python.rs`"),
    ("cli/src/top.rs", 1, "a live view in a script"),
    ("cli/src/tune.rs", 1, "a detach, which `attach_made` runs"),
    ("cli/src/verify.rs", 1, "names a file"),
    (
        "cli/src/watch.rs",
        2,
        "the next command, which needs root and a disk: `make test-vm` learns a file",
    ),
    ("commands/src/drive.rs", 1, "a misspelt drive file"),
    ("commands/src/processor.rs", 1, "names a file"),
    ("commands/src/replay.rs", 1, "a trace on a drive of tables"),
    ("cpu/analysis/src/host.rs", 2, "names a file"),
    ("cpu/measure/src/calibration.rs", 1, "as of cpu/model; reached with a granted priority only"),
    ("cpu/model/src/profile.rs", 1, "a processor profile with a faulty line"),
    ("device/src/open_error.rs", 2, "a file with holes; a file that is too small"),
    ("drive/src/named.rs", 1, "names a file"),
    ("engine/src/known_device.rs", 1, "needs a block device: its unit tests read the command"),
    ("engine/src/serve/host.rs", 1, "names a file"),
    ("engine/src/serve/mod.rs", 2, "a store that does not exist; the other names a file"),
    (
        "mapping/src/files.rs",
        1,
        "the origin of a file, with the detach that `attach_installed` runs",
    ),
    ("measure/src/journal/file.rs", 1, "names a file"),
    ("measure/src/origin.rs", 1, "names a command"),
    ("measure/src/record.rs", 1, "names a measurement"),
    ("model/src/drive_file.rs", 1, "a drive file without a table"),
    (
        "model/src/file_kind.rs",
        4,
        "a drive file, a workload, a serve file and a profile in place of others",
    ),
    ("model/src/measurement.rs", 1, "what was not measured; a store without a drive"),
    ("model/src/serve_file.rs", 1, "flushes that were not measured"),
    ("model/src/workload_file.rs", 1, "a processor in place of a disk"),
    ("policy/src/build.rs", 1, "a policy that needs mechanics"),
    ("report/src/attach.rs", 2, "names commands"),
    ("report/src/drive/attached.rs", 1, "needs root: `tests/commands/attach.rs` detaches by name"),
    ("report/src/drive/list.rs", 1, "names a command"),
    ("report/src/page/wrap.rs", 1, "the start of a command"),
    ("report/src/tune.rs", 1, "names a command"),
    ("report/src/watch/notes.rs", 1, "names a command"),
    ("studies/src/study.rs", 1, "a misspelt study"),
    ("tune/src/install.rs", 2, "the origin of a file, with the undo that `tune_made` runs"),
    ("tune/src/refusal.rs", 3, "names a command"),
    ("watch/src/learned_file.rs", 1, "names commands"),
];

/// Calls that suggest the user's own command with changes: the file, the number of calls, and the
/// tests.
const CHANGED: &[(&str, usize, &str)] = &[
    ("cli/src/check.rs", 2, "doubts in full, of a workload and of a serve file"),
    ("cli/src/profile.rs", 1, "writes without leave"),
    ("cli/src/profile_output.rs", 2, "an interrupted measurement; nothing to resume"),
    ("cli/src/run.rs", 1, "doubts of a simulation in full"),
    ("cli/src/serve.rs", 1, "a set of contracts that is not proved"),
    ("cli/src/sim.rs", 1, "doubts of a simulation in full"),
];

/// Goal: no new suggestion is forgotten. Method: the source lines that contain a command are
/// counted; a new one needs a case above, or a reason here.
#[test]
fn every_suggestion_in_the_sources_is_listed() {
    let is_command = |line: &str| {
        let starts = ["profile", "check", "serve", "drive", "cpu", "ctl", "sim", "run", "verify"];
        ["`tidegate ", "\"tidegate "].iter().any(|quote| {
            line.split(quote).skip(1).any(|rest| {
                rest.is_empty()
                    || *quote == "`tidegate "
                    || starts.iter().any(|it| rest.starts_with(it))
            })
        })
    };
    let is_changed = |line: &str| {
        ["command_line::changed(", "command_line::explaining("].iter().any(|it| line.contains(it))
    };
    assert_listed(SOURCES, is_command);
    assert_listed(CHANGED, is_changed);
}

fn assert_listed(listed: &[(&str, usize, &str)], is_one: impl Fn(&str) -> bool) {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    count_in(crates, crates, &is_one, &mut found);
    found.sort();
    let listed: Vec<(String, usize)> =
        listed.iter().map(|&(file, count, _)| (file.to_owned(), count)).collect();
    assert_eq!(found, listed, "list each suggestion in {}, with its test", file!());
}

/// Counts, for each source file below `folder`, the lines for which `is_one` returns true;
/// comments, tests and help are left out.
fn count_in(
    folder: &Path,
    crates: &Path,
    is_one: &impl Fn(&str) -> bool,
    found: &mut Vec<(String, usize)>,
) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(crates).unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if !["tests", "examples", "benches"].iter().any(|it| path.ends_with(it)) {
                count_in(&path, crates, is_one, found);
            }
            continue;
        }
        let is_source = path.extension().is_some_and(|it| it == "rs") && name.contains("/src/");
        if !is_source || name.ends_with("tests.rs") || name.ends_with("arguments.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        let count = lines.filter(|line| is_one(line)).count();
        if count > 0 {
            found.push((name, count));
        }
    }
}

fn said(output: &Output) -> String {
    let text = [output.stdout.as_slice(), b"\n", output.stderr.as_slice()].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    // A shell joins two lines at a backslash.
    let mut lines = text.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start())
}

/// Returns the first command that a text suggests: a line labelled `To do` or `More`, or a span in
/// backquotes that does more than name a file.
fn suggestion(text: &str) -> Option<&str> {
    let labelled = |line: &'_ str| {
        let line = line.trim();
        ["To do ", "More "].iter().any(|label| line.starts_with(label))
    };
    let lines = text.lines().filter(|line| labelled(line));
    let lines = lines.filter_map(|line| line.find("tidegate ").map(|at| &line[at..]));
    let spans = text.match_indices("`tidegate ").filter_map(|(at, _)| {
        let is_name = text[..at].trim_end().ends_with("file that");
        (!is_name).then(|| text[at + 1..].split('`').next()).flatten()
    });
    lines.chain(spans).map(str::trim).next()
}

/// Returns a line that starts a server, stops it once it is ready, and ends with its exit code.
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
        listen(folder.path(), "good");
        let mut text = String::new();
        for line in *lines {
            text = said(&run(line, folder.path(), COLUMNS[1]));
        }
        if text.contains("direct I/O") && matches!(then, Short(..)) {
            eprintln!("skipped: {name}: {text}");
            continue;
        }
        let command = suggestion(&text).unwrap_or_else(|| panic!("{name}: no command in\n{text}"));
        let command = &match then {
            Serves => served(command),
            Short(options, _) => format!("{} {options}", command.replace("1GiB", "8MiB")),
            Exits(_) | Allows(..) | Says(_) => command.to_owned(),
        };
        let output = run(command, folder.path(), COLUMNS[1]);
        let (code, after) = (output.status.code(), said(&output));
        assert_ne!(after, text, "{name}: {command} gets no further");
        match then {
            Serves => assert_eq!(code, Some(0), "{name}: {command}\n{after}"),
            Exits(expected) | Short(_, expected) => {
                assert_eq!(code, Some(*expected), "{name}: {command}\n{after}");
            }
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
