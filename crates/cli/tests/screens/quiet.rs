// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `--quiet` prints only the first line, for every command. Method: each line of the table is
//! run with and without `--quiet`. The commands come from the help, so that none is forgotten.

use std::path::Path;
use std::process::Output;

use crate::service::{Serving, listen};
use crate::{folders, run};

/// A width at which no line is wrapped.
const WIDE: &str = "10000";

/// Each command with its lines. The earlier lines prepare the last one, which runs with and without
/// `--quiet`.
const QUIET: [(&str, &[&str]); 29] = [
    ("check", &["tidegate check tight.toml"]),
    ("verify", &["tidegate check inline.toml --certificate c.json", "tidegate verify c.json"]),
    ("sim", &["tidegate sim recorder.toml --policy noop,fifo --jobs 20"]),
    ("profile", &["tidegate profile fujitsu-max3036rc --plan --only batch"]),
    ("tune", &["sh machine.sh", "tidegate tune sda house.toml --root machine"]),
    ("attach", &["sh gate.sh", "tidegate attach sda --workload gated.toml --root machine"]),
    ("detach", &["sh gate.sh", "tidegate detach sda --root machine"]),
    ("status", &["sh gate.sh", "tidegate status sda --root machine"]),
    ("serve", &["tidegate serve workloads/media.serve.toml --print"]),
    ("ctl", &["tidegate ctl good.ctl status"]),
    ("ctl", &["tidegate ctl good.ctl statistics"]),
    ("ctl", &["tidegate ctl good.ctl missed camera"]),
    ("ctl", &["tidegate ctl good.ctl check second.export.toml"]),
    ("ctl", &["tidegate ctl bad.ctl admit second.export.toml"]),
    ("ctl", &["tidegate ctl good.ctl remove second"]),
    ("nbd list", &["tidegate nbd list 'nbd+unix:///?socket=nbd.serve.sock'"]),
    ("nbd info", &["tidegate nbd info 'nbd+unix:///camera?socket=nbd.serve.sock'"]),
    (
        "nbd read",
        &["tidegate nbd read 'nbd+unix:///rest?socket=nbd.serve.sock' --size 4KiB -o part"],
    ),
    (
        "nbd write",
        &[
            "head -c 4096 /dev/zero > data",
            "tidegate nbd write 'nbd+unix:///rest?socket=nbd.serve.sock' -i data --allow-writes",
        ],
    ),
    ("reproduce", &["tidegate reproduce saturated-processor --quick"]),
    ("reproduce", &["tidegate reproduce --list"]),
    ("drive list", &["tidegate drive list"]),
    ("drive show", &["tidegate drive show inline.drive.toml"]),
    ("drive compare", &["tidegate drive compare inline.drive.toml cost.drive.toml"]),
    ("drive replay", &["tidegate drive replay fujitsu-max3036rc --trace d.trace"]),
    ("drive detach", &["tidegate drive detach"]),
    ("cpu check", &["tidegate cpu check processor.toml"]),
    ("cpu sim", &["tidegate cpu sim server.toml --duration 1s"]),
    ("cpu conformance", &["tidegate cpu conformance --server sporadic --runs 2"]),
];

/// Commands whose output differs from run to run, or that only root can run.
const ONE_LINE: [(&str, &str); 4] = [
    ("profile", "tidegate profile fujitsu-max3036rc --depth 2 --samples 3 --only batch -o x.toml"),
    (
        "nbd measure",
        "tidegate nbd measure 'nbd+unix:///rest?socket=nbd.serve.sock' --duration 50ms",
    ),
    ("drive import", "tidegate drive import disk/*.diskspecs -o i.drive.toml"),
    (
        "drive make",
        "tidegate drive make --seek-track 1ms --seek-average 8ms --seek-full 16ms --rpm 7200 \
         --rate 100MB/s --name made -o made.drive.toml",
    ),
];

/// Commands that are not run here, with the reasons.
const ELSEWHERE: [(&str, &str); 9] = [
    ("watch", "root and a disk: `make test-vm PART=watch` runs it with --quiet"),
    ("run", "needs direct I/O; its report is that of `sim`"),
    ("drive attach", "needs root"),
    ("cpu profile", "needs a real-time thread"),
    ("cpu serve", "needs root"),
    ("sweep", "needs Python: the package's tests run it"),
    ("place", "needs Python: the package's tests run it"),
    ("report", "writes a page, which has no first line; it has no --quiet"),
    ("top", "a live view, which has no first line; it has no --quiet"),
];

fn printed(line: &str, folder: &Path) -> (String, String) {
    let Output { stdout, stderr, .. } = run(line, folder, WIDE);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(stdout), text(stderr))
}

#[test]
fn quiet_prints_the_first_line_alone() {
    let folders = folders();
    let folder = folders[0].path();
    let _serving = Serving::start(&folders);
    listen(folder, "good");
    listen(folder, "bad");
    for (_, lines) in QUIET {
        let (line, before) = lines.split_last().unwrap();
        for line in before {
            assert!(run(line, folder, WIDE).status.success(), "{line}");
        }
        let (full, _) = printed(line, folder);
        let (quiet, said) = printed(&format!("{line} --quiet"), folder);
        let first = full.lines().next().unwrap_or_default();
        assert!(!first.is_empty(), "{line}");
        assert_eq!((quiet.as_str(), said.as_str()), (format!("{first}\n").as_str(), ""), "{line}");
    }
    for (_, line) in ONE_LINE {
        let (quiet, said) = printed(&format!("{line} --quiet"), folder);
        assert_eq!((quiet.lines().count(), said.as_str()), (1, ""), "{line}: {quiet}");
    }
}

/// Goal: no command is forgotten above. Method: they are collected from the help.
#[test]
fn every_command_is_tested_for_quiet() {
    let folder = crate::folder();
    let mut commands = Vec::new();
    for command in subcommands("", folder.path()) {
        let below = subcommands(&command, folder.path());
        let below: Vec<String> = below.iter().map(|it| format!("{command} {it}")).collect();
        commands.extend(if below.is_empty() { vec![command] } else { below });
    }
    let listed = QUIET.iter().map(|it| it.0).chain(ONE_LINE.iter().map(|it| it.0));
    let mut listed: Vec<&str> = listed.chain(ELSEWHERE.iter().map(|it| it.0)).collect();
    listed.sort_unstable();
    listed.dedup();
    commands.sort_unstable();
    assert_eq!(commands, listed);
    for command in commands {
        let help = printed(&format!("tidegate {command} --help"), folder.path()).0;
        let has_none = ["report", "top"].contains(&command.as_str());
        assert_eq!(help.contains("--quiet"), !has_none, "{command}");
    }
}

/// Returns the commands that the help of a command lists.
fn subcommands(command: &str, folder: &Path) -> Vec<String> {
    let help = printed(&format!("tidegate {command} --help"), folder).0;
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let lines = lines.take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}
