// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: services never share a file that one of them writes. Method: two servers with the same
//! file.

use std::fs;
use std::process::Stdio;

use crate::common::Folder;
use crate::nbd::Client;
use crate::server::{Server, image};

const SCRATCH: &str = "simulate = \"sata-ssd\"\nsocket = \"s.sock\"\n\
    [[export]]\nname = \"scratch\"\nsize = \"8MiB\"\nbest_effort = true\n";

/// Goal: a backing file has either one writer or several readers.
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
