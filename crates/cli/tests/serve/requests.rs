// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `serve --log` writes a row for each request when the service ends, but at most
//! `--log-rows` of them. The log affects neither whether the service starts nor how it ends.
//! Method: a few requests to two exports, and the file.

use std::process::{Command, Stdio};

use crate::common::Folder;
use crate::nbd::Client;
use crate::server::{Server, done};

const SERVE: &str = "\
simulate = \"fujitsu-max3036rc\"
socket = \"s.sock\"
[[export]]
name = \"camera\"
size = \"1MiB\"
read_only = true
contract = { period = \"300ms\", size_max = \"128KiB\", op = \"read\" }
[[export]]
name = \"backup\"
size = \"1MiB\"
best_effort = true
";

/// Runs a command that serves, with its output in the file `log`.
fn spawn(folder: &Folder, mut command: Command) -> Server {
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    Server::spawn(folder, &mut command)
}

#[test]
fn each_request_has_a_row_up_to_the_limit() {
    let folder = Folder::new();
    assert!(Server::is_possible(&folder, SERVE, &[]));
    let arguments = ["serve", "s.toml", "--log", "rows.csv", "--log-rows", "3"];
    let server = spawn(&folder, folder.command(&arguments));
    let [mut camera, mut backup] =
        ["camera", "backup"].map(|name| Client::connect(&server.socket(), name).unwrap());
    assert_eq!(camera.read(0, 4096).unwrap().unwrap(), [0; 4096]);
    for offset in [4096, 8192, 12_288] {
        assert_eq!(backup.write(offset, &[2; 4096], false).unwrap(), 0);
    }
    assert!(!folder.path().join("rows.csv").exists(), "it appears whole");
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("requests without a row in rows.csv: 1 (see --log-rows)"), "{said}");
    let text = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let columns = |name: &str| {
        let index = rows[0].iter().position(|column| *column == name).expect(name);
        rows[1..].iter().map(move |row| row[index]).collect::<Vec<_>>()
    };
    assert_eq!(columns("source"), ["camera", "backup", "backup"]);
    assert_eq!(columns("class"), ["hard", "best-effort", "best-effort"]);
    assert_eq!(columns("outcome"), ["done"; 3]);
    assert_eq!(columns("size_bytes"), ["4096"; 3]);
    let times = ["released_ns", "dispatched_ns", "ended_ns"].map(|name| {
        columns(name).into_iter().map(|ns| ns.parse::<u64>().unwrap()).collect::<Vec<_>>()
    });
    let [released, dispatched, ended] = &times;
    for ((released, dispatched), ended) in released.iter().zip(dispatched).zip(ended) {
        assert!(released <= dispatched && dispatched < ended, "{text}");
    }
    assert!(
        columns("due_ns")[0].parse::<u64>().unwrap() > times[2][0]
            && columns("due_ns")[1].is_empty()
    );
}

#[test]
fn a_service_starts_beside_earlier_logs_and_without_one() {
    let folder = Folder::new();
    assert!(Server::is_possible(&folder, SERVE, &[]));
    let expected = [
        ("rows.csv", "logged in rows.csv"),
        ("rows.csv", "logged in rows-2.csv"),
        ("missing/rows.csv", "warning: requests are not logged: cannot write missing/rows.csv"),
    ];
    for (file, expected) in expected {
        let server = spawn(&folder, folder.command(&["serve", "s.toml", "--log", file]));
        let (code, said) = server.stop();
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(expected), "{expected} in {said}");
    }
    for file in ["rows.csv", "rows-2.csv"] {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap();
        assert!(text.starts_with("policy,request,") && text.lines().count() == 1, "{text}");
    }
}

/// Goal: a full disk is reported as soon as it is full, the rows before are kept complete, and the
/// service ends as usual. Method: a limit on the size of files.
#[test]
fn a_full_disk_ends_the_log_and_not_the_service() {
    const REQUESTS: usize = 200;
    let folder = Folder::new();
    if !Server::is_possible(&folder, SERVE, &["prlimit"]) {
        return;
    }
    let mut command = Command::new("sh");
    let limited = "trap '' XFSZ; echo $$ > pid; exec \"$@\"";
    command.current_dir(folder.path()).args(["-c", limited, "sh", env!("CARGO_BIN_EXE_tidegate")]);
    command.args(["serve", "s.toml", "--log", "rows.csv"]);
    let mut server = spawn(&folder, command);
    // The service has already created its store.
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    done("prlimit", &["--pid", pid.trim(), "--fsize=4096"]);
    let mut backup = Client::connect(&server.socket(), "backup").unwrap();
    for _ in 0..REQUESTS {
        backup.read(0, 4096).unwrap().unwrap();
    }
    let log = folder.path().join("log");
    server.wait_for("warning", || {
        std::fs::read_to_string(&log).unwrap().contains("warning: cannot write rows.csv")
    });
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("cannot write").count(), 1, "{said}");
    let text = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    let rows = text.lines().count() - 1;
    assert!(text.ends_with('\n') && (20..REQUESTS).contains(&rows), "{text}");
    assert!(text.lines().all(|row| row.split(',').count() == 13), "{text}");
    let lacking = said.lines().filter(|line| line.contains("without a row"));
    let lacking: Vec<&str> = lacking.collect();
    assert!(lacking.len() == 1 && lacking[0].contains("could not be written"), "{said}");
}
