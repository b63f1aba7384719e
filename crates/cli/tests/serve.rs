// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `tidegate serve` through the binary: what it refuses, and what clients of NBD find.
//!
//! The tests that serve need nbdkit, the tools of libnbd, and the plugin beside the binary; they
//! say so and pass where one is missing.

mod common;

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::Folder;

const CAMERA: &str = "simulate = \"fujitsu-max3036rc\"\n\
    [[export]]\nname = \"camera\"\nsize = \"1GiB\"\nread_only = true\n\
    contract = { period = \"300ms\", size_max = \"128KiB\", op = \"read\" }\n\
    [[export]]\nname = \"back up\"\nsize = \"1GiB\"\nread_only = true\nbest_effort = true\n";

const SCRATCH: &str = "simulate = \"sata-ssd\"\n\
    [[export]]\nname = \"scratch\"\nsize = \"8MiB\"\nbest_effort = true\n\
    [[export]]\nname = \"notes\"\nsize = \"1MiB\"\nread_only = true\nbest_effort = true\n";

/// A server at work; killed when the test ends.
struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    /// `None`, with its reason, where it cannot be had.
    fn start(folder: &Folder, text: &str) -> Option<Self> {
        folder.file("s.toml", text);
        for tool in ["nbdkit", "nbdinfo", "nbdcopy"] {
            if Command::new(tool).arg("--version").output().is_err() {
                println!("skipped: {tool} is not installed");
                return None;
            }
        }
        let (code, _, stderr) = folder.run(&["serve", "s.toml", "--print"]);
        if stderr.contains("is not where it belongs") {
            println!("skipped: {stderr}");
            return None;
        }
        assert_eq!(code, 0, "{stderr}");
        let child = folder
            .command(&["serve", "s.toml"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let server = Self { child, socket: folder.path().join("s.sock") };
        let started = Instant::now();
        while tool("nbdinfo", &["--list", &server.uri("")]).0 != Some(0) {
            assert!(started.elapsed() < Duration::from_mins(1), "it does not serve");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    fn uri(&self, export: &str) -> String {
        // Paths of the build output have nothing in them that a URI would quote.
        format!("nbd+unix:///{export}?socket={}", self.socket.display())
    }

    /// Ends it as a service manager would; exit code and what it said.
    fn stop(mut self) -> (Option<i32>, String) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let (stdout, stderr) = (self.child.stdout.take(), self.child.stderr.take());
        let status = self.child.wait().unwrap();
        let said = [stdout.map(std::io::read_to_string), stderr.map(std::io::read_to_string)];
        (status.code(), said.into_iter().flatten().map(Result::unwrap).collect())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Exit code, standard output and standard error of a tool of libnbd.
fn tool(name: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = Command::new(name).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn contracts_are_proved_before_anything_is_served() {
    let folder = Folder::new();
    folder.file("s.toml", CAMERA);
    let (code, stdout, stderr) = folder.run(&["serve", "s.toml", "--print"]);
    if !stderr.contains("is not where it belongs") {
        assert_eq!(code, 0, "{stderr}");
        let command = stdout.lines().last().unwrap();
        assert!(command.starts_with("nbdkit --foreground --unix "), "{command}");
        assert!(command.contains("--threads 64") && command.contains("config="), "{command}");
    }
    assert!(stdout.contains("PROVEN") && stdout.contains("camera"), "{stdout}");
    folder.file("s.toml", &CAMERA.replace("300ms", "10ms"));
    let (code, stdout, stderr) = folder.run(&["serve", "s.toml"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stdout.contains("`camera` with a deadline of"), "{stdout}");
    assert!(stdout.contains("Nothing is served."), "{stdout}");
    let (_, stdout, stderr) = folder.run(&["serve", "s.toml", "--force", "--print"]);
    assert!(stderr.contains("nothing is promised") || stderr.contains("where it belongs"));
    assert!(stdout.contains("NOT PROVEN"), "{stdout}");
}

#[test]
fn a_faulty_file_is_shown_with_its_line() {
    let folder = Folder::new();
    folder.file("s.toml", &CAMERA.replace("size = \"1GiB\"", "size = 7"));
    let (code, _, stderr) = folder.run(&["serve", "s.toml"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("s.toml, line 4") && stderr.contains("has no unit"), "{stderr}");
    let (_, drive) = folder.json(&["drive", "show", "fujitsu-max3036rc"]);
    let capacity = drive["capacity_bytes"].as_u64().unwrap();
    folder.file("s.toml", &CAMERA.replace("\"1GiB\"", &format!("\"{capacity}B\"")));
    let (code, _, stderr) = folder.run(&["serve", "s.toml"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("s.toml, line 9") && stderr.contains("the store ends at"), "{stderr}");
    let drive = "name = \"d\"\nkind = \"pseudo\"\ndepth = 1\n\
        [[batch]]\nop = \"read\"\nsize = \"128KiB\"\nns_max = [5_000_000]\n\
        [[batch]]\nop = \"write\"\nsize = \"128KiB\"\nns_max = [5_000_000]\n";
    folder.file("d.drive.toml", drive);
    let written = CAMERA.replace("read_only = true\n", "");
    folder.file("s.toml", &written.replace("fujitsu-max3036rc", "d.drive.toml"));
    let (code, _, stderr) = folder.run(&["serve", "s.toml"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("how long a flush takes"), "{stderr}");
    let (code, _, stderr) = folder.run(&["serve", "missing.toml"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("cannot read missing.toml"), "{stderr}");
}

#[test]
fn clients_find_the_exports_and_their_data() {
    let folder = Folder::new();
    let Some(server) = Server::start(&folder, SCRATCH) else { return };
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
    // Nobody has a contract, so what is not wanted any more may be said.
    assert_eq!(tool("nbdinfo", &["--can", "trim", &server.uri("scratch")]).0, Some(0));
    assert_ne!(tool("nbdinfo", &["--can", "trim", &server.uri("notes")]).0, Some(0));
    if Command::new("qemu-io").arg("--version").output().is_ok() {
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

#[test]
fn a_file_holds_what_clients_wrote_to_its_parts() {
    let folder = Folder::new();
    let image = folder.path().join("disk.img");
    std::fs::write(&image, vec![7; 2 << 20]).unwrap();
    let text = "backing = \"disk.img\"\n\
        [[export]]\nname = \"first\"\nsize = \"1MiB\"\nbest_effort = true\n\
        [[export]]\nname = \"second\"\nsize = \"1MiB\"\nbest_effort = true\nweight = 3\n";
    // Where the build output has no direct I/O the server says so and ends.
    let probe = folder.run(&["profile", "disk.img", "--only=single", "--samples=1", "--size=4KiB"]);
    if probe.0 != 0 {
        println!("skipped: {}", probe.2);
        return;
    }
    let Some(server) = Server::start(&folder, text) else { return };
    let data = folder.path().join("in.img");
    std::fs::write(&data, vec![9; 1 << 20]).unwrap();
    let copied = tool("nbdcopy", &["--flush", &data.display().to_string(), &server.uri("second")]);
    assert_eq!(copied.0, Some(0), "{}", copied.2);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    let bytes = std::fs::read(&image).unwrap();
    assert!(bytes[..1 << 20].iter().all(|&byte| byte == 7), "the neighbour was overwritten");
    assert!(bytes[1 << 20..].iter().all(|&byte| byte == 9));
}

#[test]
fn a_socket_in_use_is_refused_and_one_that_was_left_is_not() {
    let folder = Folder::new();
    let Some(mut server) = Server::start(&folder, SCRATCH) else { return };
    let (code, _, stderr) = folder.run(&["serve", "s.toml"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("a server listens at"), "{stderr}");
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    assert!(server.socket.exists());
    let Some(server) = Server::start(&folder, SCRATCH) else { return };
    assert_eq!(server.stop().0, Some(0));
}
