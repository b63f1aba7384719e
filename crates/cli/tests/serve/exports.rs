// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `tidegate serve` refuses wrong serve files, and clients find the exports. Method: the
//! binary and common clients.

use std::fs;
use std::os::unix::net::UnixDatagram;
use std::process::Stdio;

use serde_json::Value;

use crate::common::Folder;
use crate::nbd::Client;
use crate::server::{Server, has, image, tool};

const SCRATCH: &str = "simulate = \"sata-ssd\"\n\
    [[export]]\nname = \"scratch\"\nsize = \"8MiB\"\nbest_effort = true\n\
    [[export]]\nname = \"notes\"\nsize = \"1MiB\"\nread_only = true\nbest_effort = true\n";

#[test]
fn clients_find_the_exports_and_their_data() {
    let folder = Folder::new();
    let Some(server) = Server::start(&folder, SCRATCH, &["nbdinfo", "nbdcopy"]) else { return };
    let (_, listed, _) = tool("nbdinfo", &["--list", &server.uri("")]);
    for said in ["export=\"scratch\"", "description: read-only, best effort", "8388608 (8M)"] {
        assert!(listed.contains(said), "{listed}");
    }
    let image: Vec<u8> = (0..8_u32 << 18).flat_map(u32::to_le_bytes).collect();
    std::fs::write(folder.path().join("in.img"), &image).unwrap();
    let (from, to) = (folder.path().join("in.img"), folder.path().join("out.img"));
    let (from, to) = (from.display().to_string(), to.display().to_string());
    let copied = tool("nbdcopy", &["--flush", &from, &server.uri("scratch")]);
    assert_eq!(copied.0, Some(0), "{}", copied.2);
    assert_eq!(tool("nbdcopy", &[&server.uri("scratch"), &to]).0, Some(0));
    assert!(std::fs::read(&to).unwrap() == image, "what was read is not what was written");
    let refused = tool("nbdcopy", &[&from, &server.uri("notes")]);
    assert_ne!(refused.0, Some(0));
    // No export has a contract, so trim is offered.
    assert_eq!(tool("nbdinfo", &["--can", "trim", &server.uri("scratch")]).0, Some(0));
    assert_ne!(tool("nbdinfo", &["--can", "trim", &server.uri("notes")]).0, Some(0));
    if has(&["qemu-io"]) {
        let discard = ["-f", "raw", "-d", "unmap", "-c", "discard 1M 2M", "-c", "read -P 0 1M 2M"];
        let uri = server.uri("scratch");
        let trimmed = tool("qemu-io", &[&discard[..], &[&uri]].concat());
        let is_right = trimmed.0 == Some(0) && !trimmed.1.contains("failed");
        assert!(is_right, "{}{}", trimmed.1, trimmed.2);
    }
    let unknown = tool("nbdinfo", &[&server.uri("nobody")]);
    assert!(unknown.2.contains("No such file"), "{}", unknown.2);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("scratch: ") && said.contains("best effort"), "{said}");
}

const CHANGING: &str = "simulate = \"fujitsu-max3036rc\"\ncontrol = \"s.ctl\"\n\
    [[export]]\nname = \"camera\"\nsize = \"8MiB\"\nread_only = true\n\
    contract = { period = \"300ms\", size_max = \"128KiB\", op = \"read\" }\n\
    [[export]]\nname = \"rest\"\nsize = \"8MiB\"\nbest_effort = true\n\
    [[export]]\nname = \"old\"\nsize = \"8MiB\"\nbest_effort = true\n";

/// Goal: SIGHUP makes the exports match the file, one by one, and reports the changes that have no
/// effect. Method: a file with changes of each kind, then a faulty one; the log is parsed as a
/// program would.
#[test]
fn a_changed_file_is_read_again_on_sighup() {
    let folder = Folder::new();
    if !Server::is_possible(&folder, CHANGING, &[]) {
        return;
    }
    let manager = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let mut command = folder.command(&["serve", "s.toml", "--log-format", "json"]);
    command.env("NOTIFY_SOCKET", folder.path().join("notify"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    let mut server = Server::spawn(&folder, &mut command);
    let mut of_rest = Client::connect(&server.socket(), "rest").unwrap();
    let mut of_old = Client::connect(&server.socket(), "old").unwrap();
    assert_eq!(of_rest.write(0, &[7; 4096], true).unwrap(), 0);
    let later = "[[export]]\nname = \"late\"\nsize = \"1MiB\"\nbest_effort = true\n\
        [[export]]\nname = \"fast\"\nsize = \"1MiB\"\nread_only = true\n\
        contract = { period = \"1us\", size_max = \"128KiB\", op = \"read\" }\n";
    let changed = CHANGING
        .replace("300ms", "400ms")
        .replace("[[export]]\nname = \"old\"\nsize = \"8MiB\"\nbest_effort = true\n", "")
        .replace("s.ctl\"", "s.ctl\"\n[limits]\nconnections = 8");
    folder.file("s.toml", &(changed.clone() + later));
    server.signal("-HUP");
    server.wait_for("reload", || server_said(&folder, "reload: admitted"));
    let said = server.said();
    for line in [
        "admitted `late`; changed `camera`; removed `old`",
        "`limits` cannot change while the service runs: restart it",
        "`fast` is not admitted: no bound is known for",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    for line in said.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|it| panic!("{it}: {line}"));
        assert!(line["time"].is_string() && line["level"] != Value::Null, "{line}");
    }
    let (_, listed) = folder.json(&["nbd", "list", &server.uri("")]);
    let names: Vec<&str> = listed["exports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["rest", "camera", "late"]);
    assert_eq!(of_rest.read(0, 4096).unwrap(), Ok(vec![7; 4096]), "its client stays");
    assert!(!of_old.read(0, 4096).is_ok_and(|it| it.is_ok()));
    let mut late = Client::connect(&server.socket(), "late").unwrap();
    assert_eq!(late.write(0, &[1; 4096], true).unwrap(), 0);
    // A restart would place an export that comes first in the file where the data of `camera` is.
    let first = "[[export]]\nname = \"first\"\nsize = \"1MiB\"\nbest_effort = true\n[[export]]";
    folder.file("s.toml", &changed.replacen("[[export]]", first, 1));
    server.signal("-HUP");
    let moved =
        "`camera` stays at offset 0B with 8MiB, and a restart would place it at 1MiB with 8MiB";
    server.wait_for("report", || server_said(&folder, moved));
    server.wait_for("removal", || server_said(&folder, "reload: removed `late`"));
    assert!(server_said(&folder, "`first` is not admitted: `first` would overlap `camera`"));
    folder.file("s.toml", "nothing");
    server.signal("-HUP");
    server.wait_for("refusal", || server_said(&folder, "reload: nothing has changed"));
    assert_eq!(of_rest.read(0, 4096).unwrap(), Ok(vec![7; 4096]));
    // A reload that changes nothing does not affect which exports the next reload removes.
    let without =
        changed.replace("[[export]]\nname = \"rest\"\nsize = \"8MiB\"\nbest_effort = true\n", "");
    let bad = "[[export]]\nname = \"bad\"\noffset = \"0B\"\nsize = \"1MiB\"\nbest_effort = true\n";
    folder.file("s.toml", &(without.clone() + bad));
    server.signal("-HUP");
    let refusals = || {
        let log = fs::read_to_string(folder.path().join("log")).unwrap();
        log.matches("reload: nothing has changed").count()
    };
    server.wait_for("second refusal", || refusals() == 2);
    folder.file("s.toml", &without);
    server.signal("-HUP");
    server.wait_for("removal", || server_said(&folder, "reload: removed `rest`"));
    assert_eq!(server.stop().0, Some(0));
    manager.set_nonblocking(true).unwrap();
    let mut heard = String::new();
    let mut lines = [0; 4096];
    while let Ok(count) = manager.recv(&mut lines) {
        heard += &(String::from_utf8_lossy(&lines[..count]).into_owned() + "\n");
    }
    let at = |what: &str| heard.find(what).unwrap_or_else(|| panic!("{what}: {heard}"));
    assert!(at("READY=1") < at("RELOADING=1\nMONOTONIC_USEC="), "{heard}");
    assert!(at("RELOADING=1") < at("READY=1\nSTATUS=reload: admitted"), "{heard}");
}

/// Returns whether the server's log contains `what`.
fn server_said(folder: &Folder, what: &str) -> bool {
    fs::read_to_string(folder.path().join("log")).is_ok_and(|log| log.contains(what))
}

#[test]
fn a_file_holds_what_clients_wrote_to_its_parts() {
    let folder = Folder::new();
    let text = "backing = \"disk.img\"\n\
        [[export]]\nname = \"first\"\nsize = \"1MiB\"\nbest_effort = true\n\
        [[export]]\nname = \"second\"\nsize = \"1MiB\"\nbest_effort = true\nweight = 3\n";
    // If the folder of the build output has no direct I/O, the server reports that and ends.
    let Some(image) = image(&folder, "disk.img", 2) else { return };
    let Some(server) = Server::start(&folder, text, &["nbdcopy"]) else { return };
    let data = folder.path().join("in.img");
    std::fs::write(&data, vec![9; 1 << 20]).unwrap();
    let copied = tool("nbdcopy", &["--flush", &data.display().to_string(), &server.uri("second")]);
    assert_eq!(copied.0, Some(0), "{}", copied.2);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    let bytes = std::fs::read(&image).unwrap();
    assert!(bytes[..1 << 20].iter().all(|&byte| byte == 0), "the neighbour was overwritten");
    assert!(bytes[1 << 20..].iter().all(|&byte| byte == 9));
}

#[test]
fn a_socket_in_use_is_refused_and_one_that_was_left_is_not() {
    let folder = Folder::new();
    let Some(server) = Server::start(&folder, SCRATCH, &["nbdinfo", "nbdcopy"]) else { return };
    let (code, _, stderr) = folder.run(&["serve", "s.toml"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("a server already listens at"), "{stderr}");
    let socket = server.socket();
    server.kill();
    assert!(socket.exists());
    let Some(server) = Server::start(&folder, SCRATCH, &["nbdinfo", "nbdcopy"]) else { return };
    assert_eq!(server.stop().0, Some(0));
    assert!(!socket.exists(), "a stopped server leaves no socket");
}

/// Goal: no mistake in a serve file costs the user a file; each mistake is reported as wrong input,
/// with the reason.
#[test]
fn only_sockets_are_removed_for_a_socket() {
    let folder = Folder::new();
    let with = |lines: &str| format!("{lines}{SCRATCH}");
    if !Server::is_possible(&folder, SCRATCH, &[]) {
        return;
    }
    let precious = folder.file("precious", "data");
    fs::create_dir(folder.path().join("folder")).unwrap();
    let long = format!("socket = \"{}\"\n", "x".repeat(108));
    for (text, said) in [
        (with("socket = \"precious\"\n"), "another file has this name"),
        (with("socket = \"folder\"\n"), "another file has this name"),
        (with("socket = \"s.toml\"\n"), "another file has this name"),
        (with("socket = \"nowhere/s.sock\"\n"), "is in a folder that does not exist"),
        (with(&long), "more than 107 bytes"),
        (with("control = \"s.sock\"\n"), "this is the clients' socket"),
        (with("socket = \"a\"\ncontrol = \"./a\"\n"), "this is the clients' socket"),
        (
            format!("{}[tls]\npsk = \"gone\"\n", with("listen = \"127.0.0.1:9\"\n")),
            "no keys exist at",
        ),
    ] {
        folder.file("s.toml", &text);
        let (code, _, stderr) = folder.run(&["serve", "s.toml"]);
        let plain = stderr.replace('\n', " ");
        assert!(code == 2 && plain.contains(said), "{text}: {code} {stderr}");
        assert_eq!(fs::read_to_string(folder.path().join("s.toml")).unwrap(), text);
    }
    assert_eq!(fs::read_to_string(precious).unwrap(), "data");
}
