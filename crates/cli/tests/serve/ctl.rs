// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate ctl` and `tidegate top` query and control a service. Method: the binary, with a
//! running service.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::Folder;
use crate::server::{Server, done, tool};

const SERVE: &str = "simulate = \"sata-ssd\"\ncontrol = \"s.ctl\"\nmetrics = \"127.0.0.1:PORT\"\n\
    [[export]]\nname = \"camera\"\nsize = \"8MiB\"\nread_only = true\n\
    contract = { period = \"300ms\", size_max = \"128KiB\", op = \"read\" }\n\
    [[export]]\nname = \"rest\"\nsize = \"8MiB\"\nread_only = true\nbest_effort = true\n";

/// Starts a server with a control socket; returns it and the port of its metrics.
fn start(folder: &Folder, programs: &[&str]) -> Option<(Server, u16)> {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = Server::start(folder, &SERVE.replace("PORT", &port.to_string()), programs)?;
    Some((server, port))
}

#[test]
fn a_service_is_asked_and_told_and_stopped() {
    let folder = Folder::new();
    let Some((server, port)) = start(&folder, &[]) else { return };
    // The serve file names the socket; the socket's path is accepted too.
    let (code, stdout, stderr) = folder.run(&["ctl", "s.toml", "status"]);
    let is_degraded = stdout.contains("DEGRADED");
    assert_eq!(code, i32::from(is_degraded), "{stdout}{stderr}");
    for said in ["dqf", "camera", "1 read of 128KiB every 300ms", "best effort, weight 1"] {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
    let (code, seen) = folder.json(&["ctl", "s.ctl", "statistics"]);
    assert_eq!((code, &seen["exports"][1]["name"]), (0, &Value::from("rest")));
    let (code, stdout, _) = folder.run(&["ctl", "s.ctl", "statistics"]);
    assert!(code == 0 && stdout.contains("in flight"), "{stdout}");
    let (code, stdout, stderr) = folder.run(&["ctl", "s.ctl", "statistics", "--result", "s.json"]);
    assert!(code == 0 && stdout.contains("in flight"), "{stdout}{stderr}");
    let (code, stdout, stderr) = folder.run(&["report", "s.json", "--markdown"]);
    for said in ["- Policy: dqf", "- Running for: ", "### Exports", "| camera | 0 |", "| rest |"] {
        assert!(code == 0 && stdout.contains(said), "{said}: {stdout}{stderr}");
    }
    let (code, _, stderr) = folder.run(&["ctl", "s.ctl", "status", "--result", "t.json"]);
    assert!(code == 2 && stderr.contains("applies to `statistics`"), "{stderr}");
    let (code, stdout, _) = folder.run(&["ctl", "s.ctl", "missed", "camera"]);
    assert!(code == 0 && stdout.contains("has no effect"), "{stdout}");
    let (code, _, stderr) = folder.run(&["ctl", "s.ctl", "ended", "nobody"]);
    assert!(code == 2 && stderr.contains("no export of that name"), "{stderr}");
    let (code, answer) = folder.json(&["ctl", "s.ctl", "missed", "rest"]);
    assert_eq!((code, &answer["ok"]), (2, &Value::Bool(false)));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.contains("tidegate_export_bound_seconds{export=\"camera\"}"), "{page}");
    let (code, stdout, stderr) = folder.run(&["ctl", "s.toml", "stop"]);
    assert!(code == 0 && stdout.contains("stops after"), "{stdout}{stderr}");
    let (code, said) = server.ended();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("camera: 0 requests"), "{said}");
    assert!(!folder.path().join("s.ctl").exists());
}

/// Goal: clients can connect to exports that were added after the start, and no longer to removed
/// ones.
#[test]
fn exports_come_and_go() {
    let folder = Folder::new();
    let Some((server, port)) = start(&folder, &["nbdinfo"]) else { return };
    let names = || {
        let listed = done("nbdinfo", &["--list", "--json", &server.uri("")]);
        let list: Value = serde_json::from_str(&listed).unwrap();
        let name = |export: &Value| export["export-name"].as_str().unwrap().to_owned();
        list["exports"].as_array().unwrap().iter().map(name).collect::<Vec<_>>()
    };
    let is_opened = |name: &str| tool("nbdinfo", &["--size", &server.uri(name)]).0 == Some(0);
    let keys = "name = \"second\"\nsize = \"8MiB\"\nread_only = true\n\
                contract = { period = \"300ms\", size_max = \"128KiB\", op = \"read\" }\n";
    folder.file("second.toml", keys);
    let (code, stdout, stderr) = folder.run(&["ctl", "s.ctl", "check", "second.toml"]);
    assert!(code == 0 && stdout.contains("would be admitted"), "{stdout}{stderr}");
    let (code, stdout, stderr) = folder.run(&["ctl", "s.ctl", "admit", "second.toml"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    for said in ["`second` is admitted: 8MiB", "camera", "until the service ends"] {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
    // A server with contracts does not offer trim.
    assert_ne!(tool("nbdinfo", &["--can", "trim", &server.uri("rest")]).0, Some(0));
    // This export was added to the serve file later, and is named; its deadline is shorter than any
    // drive can meet.
    let greedy = keys.replace("second", "greedy").replace("\"300ms\"", "\"50us\"");
    let port = port.to_string();
    folder.file("s.toml", &format!("{}[[export]]\n{greedy}", SERVE.replace("PORT", &port)));
    let (code, stdout, stderr) = folder.run(&["ctl", "s.toml", "admit", "greedy"]);
    assert_eq!(code, 1, "{stdout}{stderr}");
    assert!(stdout.contains("Not admitted: ") && stdout.contains("Would fit:"), "{stdout}");
    for (arguments, said) in [
        (["admit", "nowhere"], "neither a file nor an export"),
        (["admit", "second.toml"], "`second` already"),
        (["remove", "nobody"], "no export `nobody`"),
    ] {
        let (code, _, stderr) = folder.run(&["ctl", "s.toml", arguments[0], arguments[1]]);
        assert!(code == 2 && stderr.contains(said), "{arguments:?}: {stderr}");
    }
    assert_eq!(names(), ["camera", "rest", "second"]);
    assert!(is_opened("second"));
    let (code, stdout, stderr) = folder.run(&["ctl", "s.ctl", "remove", "second"]);
    assert!(code == 0 && stdout.contains("share of the drive are free"), "{stdout}{stderr}");
    assert!(!is_opened("second"));
    assert_eq!(names(), ["camera", "rest"]);
}

/// Goal: the live view restores the terminal however the view ends. Method: `script` provides a
/// terminal; the last bytes sent to it must leave the alternate screen and show the cursor.
#[test]
fn the_live_view_gives_the_terminal_back() {
    let folder = Folder::new();
    let Some((server, _)) = start(&folder, &["script"]) else { return };
    let (_, _, stderr) = folder.run(&["top", "s.ctl"]);
    assert!(stderr.contains("needs a terminal"), "{stderr}");
    for (keys, is_signal) in [(&b"q"[..], false), (b"\x03", false), (b"", true)] {
        let screen = viewed(folder.path(), keys, is_signal);
        assert!(screen.contains("camera"), "{screen:?}");
        let (_, after) = screen.rsplit_once("\u{1b}[?1049l").expect("it leaves its screen");
        assert!(screen.contains("\u{1b}[?1049h") && after.contains("\u{1b}[?25h"), "{screen:?}");
    }
    drop(server);
}

/// Returns the output of `tidegate top` until these keys or a signal end it.
fn viewed(folder: &Path, keys: &[u8], is_signal: bool) -> String {
    let program = env!("CARGO_BIN_EXE_tidegate");
    let how = if is_signal {
        // A shell redirects the input of a background command unless told otherwise.
        format!(
            "exec 3<&0; '{program}' top s.ctl <&3 & \
             until [ -e seen ]; do sleep 0.1; done; kill -TERM $!; wait; rm seen"
        )
    } else {
        format!("exec '{program}' top s.ctl")
    };
    let guarded = format!("stty rows 24 cols 120; {how}");
    let mut child = Command::new("script")
        .args(["-q", "-e", "-c", &guarded, "/dev/null"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut screen, mut piece) = (Vec::new(), [0; 4096]);
    let mut is_sent = false;
    while let Ok(count @ 1..) = stdout.read(&mut piece) {
        screen.extend_from_slice(&piece[..count]);
        if !is_sent && String::from_utf8_lossy(&screen).contains("camera") {
            stdin.write_all(keys).unwrap();
            if is_signal {
                std::fs::write(folder.join("seen"), "").unwrap();
            }
            is_sent = true;
        }
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&screen).into_owned()
}
