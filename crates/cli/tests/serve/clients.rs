// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: common clients work. Method: run each NBD client as its users do.

use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::Folder;
use crate::server::{Server, done, has, tool};

const SCRATCH: &str = "simulate = \"sata-ssd\"\n\
    [[export]]\nname = \"scratch\"\nsize = \"16MiB\"\nbest_effort = true\n";

/// Returns data in which every word differs from its neighbours.
fn data(bytes: u32) -> Vec<u8> {
    (0..bytes / 4).flat_map(|word| (word.wrapping_mul(2_654_435_761)).to_le_bytes()).collect()
}

#[test]
fn qemu_img_converts_and_compares() {
    let folder = Folder::new();
    let Some(server) = Server::start(&folder, SCRATCH, &["qemu-img"]) else { return };
    let image = folder.file("in.img", "");
    std::fs::write(&image, data(16 << 20)).unwrap();
    let (image, uri) = (image.display().to_string(), server.uri("scratch"));
    let back = folder.path().join("out.qcow2").display().to_string();
    done("qemu-img", &["convert", "-n", "-f", "raw", "-O", "raw", &image, &uri]);
    done("qemu-img", &["compare", "-f", "raw", "-F", "raw", &image, &uri]);
    done("qemu-img", &["convert", "-f", "raw", "-O", "qcow2", &uri, &back]);
    done("qemu-img", &["compare", "-f", "raw", "-F", "qcow2", &image, &back]);
    // Canary: the comparison finds a changed byte.
    done("qemu-io", &["-f", "raw", "-c", "write -P 1 8192 512", &uri]);
    assert_eq!(tool("qemu-img", &["compare", "-f", "raw", "-F", "raw", &image, &uri]).0, Some(1));
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn qemu_io_finds_what_it_wrote() {
    let folder = Folder::new();
    let Some(server) = Server::start(&folder, SCRATCH, &["qemu-io"]) else { return };
    let uri = server.uri("scratch");
    let commands = ["write -P 0x5a 4k 100k", "write -f -P 0x5b 1M 512", "flush", "write -z 8k 4k"];
    let checks = ["read -P 0x5a 4k 4k", "read -P 0 8k 4k", "read -P 0x5a 12k 92k"];
    for command in commands.iter().chain(&checks).chain(&["read -P 0x5b 1M 512"]) {
        let said = done("qemu-io", &["-f", "raw", "-c", command, &uri]);
        assert!(!said.contains("verification failed"), "{command}: {said}");
    }
    let (_, said, _) = tool("qemu-io", &["-f", "raw", "-c", "read -P 1 4k 4k", &uri]);
    assert!(said.contains("verification failed"), "the canary: {said}");
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn fio_verifies_what_it_wrote() {
    let folder = Folder::new();
    let Some(server) = Server::start(&folder, SCRATCH, &["fio"]) else { return };
    if !done("fio", &["--enghelp"]).contains("nbd") {
        println!("skipped: this fio cannot talk NBD");
        return;
    }
    let uri = format!("--uri={}", server.uri("scratch"));
    let job = ["--name=job", "--ioengine=nbd", &uri, "--rw=randwrite", "--bs=4k,4k", "--size=4M"];
    let more = ["--iodepth=16", "--verify=crc32c", "--fsync=64", "--verify_fatal=1"];
    // These options keep fio from writing files into the folder where the test was started.
    let quiet = ["--verify_state_save=0", "--output-format=terse"];
    done("fio", &[&job[..], &more, &quiet].concat());
    let (code, said) = server.stop();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("scratch: ") && !said.contains("failed"), "{said}");
}

/// Returns a port that is currently free.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Serves the folder's serve file; returns once clients can connect at the port.
fn begin_at(folder: &Folder, port: u16) -> Server {
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let mut command = folder.command(&["serve", "s.toml"]);
    let mut server = Server::begin(folder, command.stdout(Stdio::null()).stderr(log));
    server.wait_for("port", || TcpStream::connect(("127.0.0.1", port)).is_ok());
    server
}

#[test]
fn over_tcp_a_key_is_asked_for() {
    let folder = Folder::new();
    let port = free_port();
    let text = format!("listen = \"127.0.0.1:{port}\"\n{SCRATCH}[tls]\npsk = \"keys\"\n");
    if !has(&["psktool", "nbdinfo"]) {
        return;
    }
    let keys = folder.path().join("keys").display().to_string();
    done("psktool", &["-u", "alice", "-p", &keys]);
    assert!(Server::is_possible(&folder, &text, &[]));
    let server = begin_at(&folder, port);
    let with_key = format!("nbds://alice@127.0.0.1:{port}/scratch?tls-psk-file={keys}");
    let (code, said, stderr) = tool("nbdinfo", &[&with_key]);
    if stderr.contains("TLS") && stderr.contains("not supported") {
        println!("skipped: {stderr}");
        return;
    }
    assert!(code == Some(0) && said.contains("with TLS"), "{said}{stderr}");
    let other = folder.path().join("others").display().to_string();
    done("psktool", &["-u", "alice", "-p", &other]);
    let wrong_key = format!("nbds://alice@127.0.0.1:{port}/scratch?tls-psk-file={other}");
    for refused in [wrong_key, format!("nbd://127.0.0.1:{port}/scratch")] {
        let (code, said, _) = tool("nbdinfo", &[&refused]);
        assert_ne!(code, Some(0), "{refused}: {said}");
    }
    // A refused client affects no other.
    assert_eq!(tool("nbdinfo", &[&with_key]).0, Some(0));
    assert_eq!(server.stop().0, Some(0));
}

/// Writes a key to `NAME-key.pem` and a certificate for `template` to `NAME-cert.pem`, signed by
/// the authority in the folder; creates the key if it is missing.
fn certify(folder: &Path, name: &str, template: &str) {
    let path = |name: &str, what: &str| folder.join(format!("{name}-{what}")).display().to_string();
    let (key, certificate) = (path(name, "key.pem"), path(name, "cert.pem"));
    let (described, authority) = (path(name, "template"), path("ca", "cert.pem"));
    std::fs::write(&described, template).unwrap();
    done("certtool", &["--generate-privkey", "--key-type=ecdsa", "--outfile", &key]);
    let made = ["--load-privkey", &key, "--template", &described, "--outfile", &certificate];
    if !Path::new(&authority).exists() {
        done("certtool", &[&["--generate-self-signed"], &made[..]].concat());
        return;
    }
    let signer = ["--load-ca-certificate", &authority, "--load-ca-privkey", &path("ca", "key.pem")];
    done("certtool", &[&["--generate-certificate"], &signer[..], &made].concat());
}

/// Creates an authority with certificates for a server at 127.0.0.1 and a client.
fn authority(folder: &Folder, name: &str) -> PathBuf {
    let folder = folder.path().join(name);
    std::fs::create_dir(&folder).unwrap();
    certify(&folder, "ca", "cn = ca\nca\ncert_signing_key\nexpiration_days = 2\n");
    let server = "cn = server\nip_address = 127.0.0.1\ntls_www_server\nexpiration_days = 2\n";
    certify(&folder, "server", &format!("{server}signing_key\n"));
    certify(&folder, "client", "cn = client\ntls_www_client\nsigning_key\nexpiration_days = 2\n");
    folder
}

#[test]
fn over_tcp_a_certificate_of_the_authority_is_asked_for() {
    let folder = Folder::new();
    let port = free_port();
    let text = format!("listen = \"127.0.0.1:{port}\"\n{SCRATCH}[tls]\ncertificates = \"ours\"\n");
    if !has(&["certtool", "nbdinfo", "nbdcopy"]) {
        return;
    }
    let (ours, theirs) = (authority(&folder, "ours"), authority(&folder, "theirs"));
    assert!(Server::is_possible(&folder, &text, &[]));
    let clients = ["certified", "bare", "foreign"].map(|name| folder.path().join(name));
    for (client, authority) in clients.iter().zip([Some(&ours), None, Some(&theirs)]) {
        std::fs::create_dir(client).unwrap();
        // All clients trust the server, so a refusal comes from the server.
        std::fs::copy(ours.join("ca-cert.pem"), client.join("ca-cert.pem")).unwrap();
        for (authority, file) in authority.iter().flat_map(|authority| {
            ["client-cert.pem", "client-key.pem"].map(|file| (authority, file))
        }) {
            std::fs::copy(authority.join(file), client.join(file)).unwrap();
        }
    }
    let server = begin_at(&folder, port);
    let uri = |client: &Path| {
        format!("nbds://127.0.0.1:{port}/scratch?tls-certificates={}", client.display())
    };
    let [certified, bare, foreign] = clients.map(|client| uri(&client));
    let (code, said, stderr) = tool("nbdinfo", &[&certified]);
    if stderr.contains("TLS") && stderr.contains("not supported") {
        println!("skipped: {stderr}");
        return;
    }
    assert!(code == Some(0) && said.contains("with TLS"), "{said}{stderr}");
    for refused in [bare, foreign, format!("nbd://127.0.0.1:{port}/scratch")] {
        let (code, said, _) = tool("nbdinfo", &[&refused]);
        assert_ne!(code, Some(0), "{refused}: {said}");
    }
    assert_eq!(tool("nbdinfo", &[&certified]).0, Some(0));
    // The printed memory limit includes the threads that encrypt.
    let copied = tool("nbdcopy", &["--connections=16", "--requests=64", &certified, "null:"]);
    assert_eq!(copied.0, Some(0), "{}", copied.2);
    let (peak, limit) = server.memory_kib_and_limit();
    println!("{peak} of {limit} KiB");
    assert!(peak < limit, "{peak} KiB, but at most {limit} KiB was printed");
    assert_eq!(server.stop().0, Some(0));
}

/// Goal: the service manager can pass the socket, which the manager creates, listens on and
/// removes.
#[test]
fn a_socket_may_come_from_the_service_manager() {
    let folder = Folder::new();
    if !Server::is_possible(&folder, SCRATCH, &["nbdinfo"]) {
        return;
    }
    let path = folder.path().join("s.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let program = env!("CARGO_BIN_EXE_tidegate");
    // As with systemd, the socket is descriptor 3, and the environment names the process that gets
    // it.
    let begin = format!(
        "exec 3<&0 0</dev/null; export LISTEN_PID=$$ LISTEN_FDS=1; exec '{program}' serve s.toml"
    );
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", &begin]).current_dir(folder.path());
    command.stdin(OwnedFd::from(listener.try_clone().unwrap())).stdout(Stdio::null()).stderr(log);
    let server = Server::spawn(&folder, &mut command);
    assert!(done("nbdinfo", &[&server.uri("scratch")]).contains("16777216"));
    assert_eq!(server.stop().0, Some(0));
    assert!(path.exists(), "it was not the server's to remove");
}
