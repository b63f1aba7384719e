// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: nbdkit is restarted if it aborts, and services never share a file that one of them writes.
//! Method: a script takes nbdkit's place, early in PATH, and aborts as often as a file says.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::Folder;
use crate::nbd::Client;
use crate::server::{Server, image, until};

const SCRATCH: &str = "simulate = \"sata-ssd\"\nsocket = \"s.sock\"\n\
    [[export]]\nname = \"scratch\"\nsize = \"8MiB\"\nbest_effort = true\n";

/// Records its start. Aborts while the file `aborts` contains a number above 0, and counts that
/// number down; otherwise serves until SIGTERM and exits with 7.
const SCRIPT: &str = "#!/bin/sh\n\
    echo \"$$ $*\" >> begun\n\
    left=$(cat aborts)\n\
    if [ \"$left\" -gt 0 ]; then echo $((left - 1)) > aborts; kill -ABRT $$; sleep 60; fi\n\
    trap 'exit 7' TERM\n\
    touch serving\n\
    while :; do sleep 0.1; done\n";

/// Returns the command with the script in nbdkit's place, which aborts this many times; `None`,
/// after printing the reason, if the plugin is missing.
fn command(folder: &Folder, aborts: u32) -> Option<Command> {
    if !Server::is_possible(folder, SCRATCH, &[]) {
        return None;
    }
    let script = folder.file("nbdkit", SCRIPT);
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    folder.file("aborts", &format!("{aborts}\n"));
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let mut command = folder.command(&["serve", "s.toml"]);
    command.env("PATH", path).stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    Some(command)
}

/// Returns the number of starts.
fn begun(folder: &Folder) -> usize {
    fs::read_to_string(folder.path().join("begun")).unwrap_or_default().lines().count()
}

fn is_serving(folder: &Folder) -> bool {
    Path::new(&folder.path().join("serving")).exists()
}

#[test]
fn a_server_that_aborts_is_started_again_and_its_end_is_ours() {
    let folder = Folder::new();
    let Some(mut command) = command(&folder, 2) else { return };
    let mut server = Server::begin(&folder, &mut command);
    server.wait_for("serving", || is_serving(&folder));
    assert_eq!(begun(&folder), 3);
    let (code, said) = server.stop();
    assert_eq!(code, Some(7), "{said}");
    assert_eq!(said.matches("restarting it").count(), 2, "{said}");
    assert_eq!(begun(&folder), 3, "a stopped server is not restarted");
}

#[test]
fn a_server_that_aborts_all_the_time_is_given_up() {
    let folder = Folder::new();
    let Some(mut command) = command(&folder, 1_000) else { return };
    let (code, said) = Server::begin(&folder, &mut command).ended();
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("is not restarted"), "{said}");
    assert_eq!(begun(&folder), 6, "{said}");
}

#[test]
fn a_server_that_is_killed_is_not_started_again() {
    let folder = Folder::new();
    let Some(mut command) = command(&folder, 0) else { return };
    let mut server = Server::begin(&folder, &mut command);
    server.wait_for("serving", || is_serving(&folder));
    server.signal_server("-KILL");
    let (code, said) = server.ended();
    assert!(code == Some(3) && said.contains("killed by signal 9"), "{code:?} {said}");
    assert_eq!(begun(&folder), 1);
}

/// Goal: with the real nbdkit, clients lose their connections and can connect again, and it ends on
/// request.
#[test]
fn clients_come_back_after_an_abort() {
    let folder = Folder::new();
    let text = SCRATCH.replace("\"sata-ssd\"\n", "\"sata-ssd\"\nstore = \"store.img\"\n");
    let Some(server) = Server::start(&folder, &text, &[]) else { return };
    let mut client = Client::connect(&server.socket(), "scratch").unwrap();
    assert_eq!(client.write(0, &[5; 4096], true).unwrap(), 0);
    server.signal_server("-ABRT");
    // A signal takes time to arrive; requests that come before it are still completed.
    assert!(until(|| client.flush().is_err()), "it goes on: {}", server.said());
    let mut again = None;
    let is_back = until(|| {
        again = Client::connect(&server.socket(), "scratch").ok();
        again.is_some()
    });
    assert!(is_back, "{}", server.said());
    let data = again.unwrap().read(0, 4096).unwrap().unwrap();
    assert_eq!(data, vec![5; 4096]);
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches("restarting it").count(), 1, "{said}");
}

/// Goal: a backing file belongs to one writer alone, or is shared by readers.
#[test]
fn a_backing_that_is_served_is_refused_to_who_writes() {
    let folder = Folder::new();
    if image(&folder, "disk.img", 8).is_none() {
        return;
    }
    let of = |socket: &str, more: &str| {
        format!(
            "backing = \"disk.img\"\nsocket = \"{socket}\"\n\
             [[export]]\nname = \"scratch\"\nsize = \"8MiB\"\nbest_effort = true\n{more}"
        )
    };
    let readers = of("s.sock", "read_only = true\n");
    let Some(server) = Server::start(&folder, &readers, &[]) else { return };
    folder.file("other.toml", &of("other.sock", ""));
    let (code, _, stderr) = folder.run(&["serve", "other.toml"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("disk.img is served by another service"), "{stderr}");
    folder.file("other.toml", &of("other.sock", "read_only = true\n"));
    let log = fs::File::create(folder.path().join("other.log")).unwrap();
    let mut command = folder.command(&["serve", "other.toml"]);
    let mut other = Server::begin(&folder, command.stdin(Stdio::null()).stderr(log));
    let socket = folder.path().join("other.sock");
    other.wait_for("other reader", || Client::connect(&socket, "scratch").is_ok());
    assert_eq!((other.stop().0, server.stop().0), (Some(0), Some(0)));
}

/// Goal: two services never write to one file. Canary: after the first has ended, the second can.
#[test]
fn a_store_that_is_served_is_refused() {
    let folder = Folder::new();
    let text = SCRATCH.replace("\"sata-ssd\"\n", "\"sata-ssd\"\nstore = \"store.img\"\n");
    let Some(server) = Server::start(&folder, &text, &[]) else { return };
    folder.file("other.toml", &text.replace("s.sock", "other.sock"));
    let (code, _, stderr) = folder.run(&["serve", "other.toml"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("store.img is served by another service"), "{stderr}");
    assert_eq!(server.stop().0, Some(0));
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let mut command = folder.command(&["serve", "other.toml"]);
    let mut other = Server::begin(&folder, command.stdin(Stdio::null()).stderr(log));
    let socket = folder.path().join("other.sock");
    other.wait_for("other service", || Client::connect(&socket, "scratch").is_ok());
    assert_eq!(other.stop().0, Some(0));
}
