// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the help of every command, short and long, and the errors for wrong command lines stay as
//! they are. Method: snapshots.

use crate::screens;

screens! {
    help: ["tidegate --help", "tidegate -h", "tidegate", "tidegate --version"];
    help_check: ["tidegate check -h", "tidegate check --help"];
    help_sim: ["tidegate sim -h", "tidegate sim --help"];
    help_profile: ["tidegate profile -h", "tidegate profile --help"];
    help_run: ["tidegate run -h", "tidegate run --help"];
    help_report: ["tidegate report -h", "tidegate report --help"];
    help_reproduce: ["tidegate reproduce -h", "tidegate reproduce --help"];
    help_serve: ["tidegate serve -h", "tidegate serve --help"];
    help_ctl: ["tidegate ctl -h", "tidegate ctl --help"];
    help_top: ["tidegate top -h", "tidegate top --help"];
    help_watch: ["tidegate watch -h", "tidegate watch --help"];
    help_drive: [
        "tidegate drive --help",
        "tidegate drive list --help",
        "tidegate drive show --help",
        "tidegate drive compare --help",
        "tidegate drive import --help",
        "tidegate drive replay --help",
        "tidegate drive attach --help",
        "tidegate drive detach --help",
    ];
    help_python: [
        "tidegate sweep --help",
        "tidegate place --help",
    ];
    help_nbd: [
        "tidegate nbd --help",
        "tidegate nbd list --help",
        "tidegate nbd info --help",
        "tidegate nbd read --help",
        "tidegate nbd write --help",
        "tidegate nbd measure --help",
    ];
    help_cpu: [
        "tidegate cpu --help",
        "tidegate cpu check --help",
        "tidegate cpu sim --help",
        "tidegate cpu conformance --help",
        "tidegate cpu profile --help",
        "tidegate cpu serve --help",
    ];
    no_commands: [
        "tidegate dance",
        "tidegate chekc inline.toml",
        "tidegate check inline.toml --polcy dqf",
        "tidegate check inline.toml tight.toml",
        "tidegate drive",
        "tidegate cpu dance",
    ];
}
