// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the screens of `tidegate serve`, `ctl` and `top` stay as they are. Method: snapshots.
//! Nothing is served: `ctl` queries a listener of this test, which takes its replies from
//! `files/services`.

use std::cell::Cell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::{command, compare_in, folders, run, screens};

screens! {
    serve_proves_first: [
        "tidegate serve workloads/media.serve.toml --print",
        "tidegate serve workloads/media.serve.toml --unit",
        "sed 's/250ms/10ms/' workloads/media.serve.toml > fast.toml",
        "tidegate serve fast.toml",
        "tidegate serve fast.toml --force --print",
        "sed 's/^contract/soft = true\\n&/' workloads/media.serve.toml > soft.toml",
        "tidegate serve soft.toml --print",
        "sed 's/^socket.*/listen = \"127.0.0.1:10809\"/' workloads/media.serve.toml > tcp.toml",
        "printf '[tls]\\ncertificates = \"ours\"\\n' >> tcp.toml",
        "tidegate serve tcp.toml --print",
    ];
    serve_faults: [
        "sed '0,/size = \"4GiB\"/s//size = 7/' workloads/media.serve.toml > s.toml",
        "tidegate serve s.toml",
        // The largest size that fits is 27497236KiB.
        "sed 's/12GiB/27497237KiB/' workloads/media.serve.toml > s.toml",
        "tidegate serve s.toml",
        "sed 's/media.sock/a/; /^socket/a control = \"./a\"' workloads/media.serve.toml > s.toml",
        "tidegate serve s.toml",
        "tidegate serve flushes.serve.toml",
        "tidegate serve gone.serve.toml --print",
        "tidegate serve gone.serve.toml",
        "sed 's/fujitsu-max3036rc/fujitsu/' workloads/media.serve.toml > s.toml",
        "tidegate serve s.toml",
        "tidegate serve missing.toml",
        "tidegate serve inline.toml",
    ];
    ctl_faults: [
        "tidegate ctl s.ctl status",
        "tidegate ctl s.ctl missed",
        "tidegate ctl s.ctl stop camera",
        "tidegate ctl s.ctl dance",
        "tidegate ctl s.ctl admit nowhere",
        "tidegate ctl workloads/media.serve.toml status",
        "tidegate ctl inline.toml status",
        "tidegate ctl nosuch.toml status",
        "echo 'control = \"s.ctl\"' > empty.toml && tidegate ctl empty.toml status",
        "tidegate top s.ctl",
        "tidegate top workloads/media.serve.toml",
    ];
}

#[test]
fn ctl_tables() {
    let folders = folders();
    for folder in &folders {
        listen(folder.path(), "good");
        listen(folder.path(), "bad");
    }
    let lines = [
        "tidegate ctl good.ctl status",
        "tidegate ctl good.ctl statistics",
        "tidegate ctl good.ctl status --json",
        "tidegate ctl good.ctl missed camera",
        "tidegate ctl good.ctl ended camera",
        "tidegate ctl good.ctl check second.export.toml",
        "tidegate ctl good.ctl admit second.export.toml",
        "tidegate ctl good.ctl admit - < second.export.toml",
        "tidegate ctl good.ctl remove second",
        "tidegate ctl good.ctl stop",
        "tidegate ctl bad.ctl status",
        "tidegate ctl bad.ctl statistics",
        "tidegate ctl bad.ctl statistics --result bad.json --quiet",
        "tidegate report bad.json --markdown | grep -v SHA-256",
        "tidegate ctl bad.ctl missed camera",
        "tidegate ctl bad.ctl check second.export.toml",
        "tidegate ctl bad.ctl admit second.export.toml",
        "tidegate ctl bad.ctl remove second",
        "tidegate ctl bad.ctl ended nobody",
        "tidegate ctl bad.ctl stop",
        "tidegate top good.ctl",
    ];
    compare_in("ctl_tables", &lines, &folders);
}

/// A server of `files/nbd.serve.toml` in the first folder, with a link to its socket in the others;
/// it ends with the test.
pub(crate) struct Serving(Child);

impl Serving {
    pub(crate) fn start(folders: &[TempDir; 3]) -> Self {
        let [folder, others @ ..] = folders.each_ref().map(TempDir::path);
        let line = "exec tidegate serve nbd.serve.toml > nbd.log 2>&1";
        let serving = Self(command(line, folder, "80").stdin(Stdio::null()).spawn().unwrap());
        let (socket, at) = (folder.join("nbd.serve.sock"), Instant::now());
        while UnixStream::connect(&socket).is_err() {
            let said = || std::fs::read_to_string(folder.join("nbd.log")).unwrap_or_default();
            assert!(at.elapsed() < Duration::from_mins(3), "{}", said());
            thread::sleep(Duration::from_millis(10));
        }
        for other in others {
            symlink(&socket, other.join("nbd.serve.sock")).unwrap();
        }
        serving
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn nbd_client() {
    let folders = folders();
    let _serving = Serving::start(&folders);
    let lines = [
        "tidegate nbd list 'nbd+unix:///?socket=nbd.serve.sock'",
        "tidegate nbd list 'nbd+unix:///?socket=nbd.serve.sock' --json",
        "tidegate nbd info 'nbd+unix:///camera?socket=nbd.serve.sock'",
        "tidegate nbd info 'nbd+unix:///rest?socket=nbd.serve.sock' --json",
        "yes | head -c 4096 > data",
        "tidegate nbd write 'nbd+unix:///rest?socket=nbd.serve.sock' -i data",
        "tidegate nbd write 'nbd+unix:///camera?socket=nbd.serve.sock' -i data --allow-writes",
        "tidegate nbd write 'nbd+unix:///rest?socket=nbd.serve.sock' -i data --offset 2MiB \
         --allow-writes",
        "tidegate nbd read 'nbd+unix:///rest?socket=nbd.serve.sock' --offset 2MiB --size 16KiB \
         -o part",
        "tidegate nbd read 'nbd+unix:///rest?socket=nbd.serve.sock' --offset 2MiB --size 4KiB | \
         cmp - data && cmp -n 4096 part data",
        "tidegate nbd read 'nbd+unix:///rest?socket=nbd.serve.sock' --json",
        "tidegate nbd read 'nbd+unix:///rest?socket=nbd.serve.sock' --offset 1B --size 4KiB",
        "tidegate nbd read 'nbd+unix:///rest?socket=nbd.serve.sock' --offset 8MiB --size 4KiB",
        "tidegate nbd read 'nbd+unix:///rest?socket=nbd.serve.sock' -o no/where",
        // Times differ from run to run, and on a busy host the rate is in kB/s.
        "tidegate nbd measure 'nbd+unix:///rest?socket=nbd.serve.sock' --duration 100ms --depth 4 | \
         tr -s ' \\n' ' ' | sed -E 's/[0-9][0-9.,]*/N/g; s/NkB/NMB/'",
        "tidegate nbd measure 'nbd+unix:///rest?socket=nbd.serve.sock' --duration 100ms --op write \
         --place sequential --size 128KiB --allow-writes --json | grep -o '^  \"[a-z0-9_]*\"'",
        "tidegate nbd measure 'nbd+unix:///rest?socket=nbd.serve.sock' --op write",
        "tidegate nbd measure 'nbd+unix:///rest?socket=nbd.serve.sock' --size 64MiB",
        "tidegate nbd info 'nbd+unix:///nobody?socket=nbd.serve.sock'",
        "tidegate nbd info 'nbd+unix:///rest?socket=nosuch.sock'",
        "tidegate nbd info 'nbd+unix:///rest'",
        "tidegate nbd info nbds://localhost/rest",
        "tidegate nbd info http://localhost/rest",
    ];
    compare_in("nbd_client", &lines, &folders);
}

/// Goal: `serve --print` fails where `serve` would. Method: each case removes something that the
/// server needs; printing and serving must end with the same error, and printing changes no file.
#[test]
fn printing_fails_where_serving_would() {
    let folder = crate::folder();
    let folder = folder.path();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap();
    let _socket = UnixListener::bind(folder.join("used.sock")).unwrap();
    let store = std::fs::File::create(folder.join("used.store")).unwrap();
    store.lock().unwrap();
    let cases = [
        ("socket = \"used.sock\"".to_owned(), "used.sock"),
        ("socket = \"nowhere/a.sock\"".to_owned(), "nowhere"),
        (format!("listen = \"{address}\""), "in use"),
        ("control = \"used.sock\"".to_owned(), "used.sock"),
        ("control = \"nowhere/a.ctl\"".to_owned(), "nowhere"),
        (format!("metrics = \"{address}\""), "in use"),
        ("store = \"used.store\"".to_owned(), "used.store"),
        ("store = \"nowhere/store\"".to_owned(), "nowhere"),
    ];
    for (key, named) in cases {
        let text = format!(
            "simulate = \"sata-ssd\"\n{key}\n[[export]]\nname = \"a\"\nsize = \"1GiB\"\n\
             best_effort = true\n"
        );
        std::fs::write(folder.join("s.toml"), text).unwrap();
        let files = || std::fs::read_dir(folder).unwrap().count();
        let before = files();
        let [printed, served] = ["--print", ""].map(|option| {
            let output = run(&format!("timeout 20 tidegate serve s.toml {option}"), folder, "80");
            let said = String::from_utf8(output.stderr).unwrap();
            let error = said.find("error:").map_or("", |at| &said[at..]).to_owned();
            assert!(option.is_empty() || files() == before, "{key}");
            (output.status.code(), error)
        });
        assert_eq!(printed, served, "{key}");
        assert!(
            matches!(printed.0, Some(2 | 3)) && printed.1.contains(named),
            "{key}: {printed:?}"
        );
    }
    let text = "simulate = \"sata-ssd\"\nstore = \"new\"\ncontrol = \"new.ctl\"\n\
                socket = \"new.sock\"\n[[export]]\nname = \"a\"\nsize = \"1GiB\"\nbest_effort = true\n";
    std::fs::write(folder.join("s.toml"), text).unwrap();
    assert_eq!(run("tidegate serve s.toml --print", folder, "80").status.code(), Some(0));
    let made = ["new", "new.ctl", "new.sock"].map(|name| folder.join(name).exists());
    assert_eq!(made, [false; 3]);
}

/// Listens like a service with a reply for each verb, until the test ends.
pub(crate) fn listen(folder: &Path, service: &str) {
    let listener = UnixListener::bind(folder.join(format!("{service}.ctl"))).unwrap();
    let text = std::fs::read_to_string(folder.join(format!("services/{service}.json"))).unwrap();
    let mut answers: Value = serde_json::from_str(&text).unwrap();
    let mut both = answers["statistics"].clone();
    both["status"] = answers["status"].clone();
    both["distributions"] = Value::Array(Vec::new());
    answers["distributions"] = both;
    thread::spawn(move || {
        for stream in listener.incoming() {
            // The client may close its end before it reads a reply.
            let _ = answer(&stream.unwrap(), &answers);
        }
    });
}

fn answer(stream: &UnixStream, answers: &Value) -> std::io::Result<()> {
    for line in BufReader::new(stream).lines() {
        let question: Value = serde_json::from_str(&line?)?;
        let verb = question["do"].as_str().unwrap();
        let mut stream = stream;
        writeln!(stream, "{}", answers[verb])?;
    }
    Ok(())
}

/// The time limit for the live view to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts a command on a terminal of this width, which `script` provides.
fn start_on_terminal(command_line: &str, columns: &str, folder: &Path) -> Child {
    let line = format!(
        "exec script -qec 'stty cols {columns} rows 24; echo $$ > pid; exec {command_line}' log > shown"
    );
    // Without input, `script` would end immediately.
    command(&line, folder, columns).stdin(Stdio::piped()).spawn().unwrap()
}

/// Returns the text that was drawn, with a space for each control sequence.
fn drawn(folder: &Path) -> String {
    let shown = std::fs::read(folder.join("shown")).unwrap_or_default();
    let shown = String::from_utf8_lossy(&shown).into_owned();
    let mut parts = shown.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.split_once(|c: char| c.is_ascii_alphabetic()).map_or("", |(_, rest)| rest);
        text + " " + rest
    })
}

/// Returns the view's process once it draws; `None` if it does not, because `script` is missing.
fn drawing_view(folder: &Path) -> Option<u32> {
    let at = Instant::now();
    while at.elapsed() < PATIENCE {
        let pid = std::fs::read_to_string(folder.join("pid")).unwrap_or_default();
        let shown = std::fs::read(folder.join("shown")).unwrap_or_default();
        if let (Ok(pid), true) = (pid.trim().parse(), shown.windows(2).any(|it| it == b"\x1b[")) {
            return Some(pid);
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}

/// Waits until `is_so` returns true; returns whether it did in time.
fn within_patience(is_so: impl Fn() -> bool) -> bool {
    let at = Instant::now();
    while at.elapsed() < PATIENCE {
        if is_so() {
            return true;
        }
        thread::sleep(Duration::from_millis(20));
    }
    false
}

/// Returns a process's state and the ticks of processor time that it has used; `None` once the
/// process is gone.
fn state(pid: u32) -> Option<(char, u64)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit(") ").next()?.split(' ').collect();
    let ticks = |index: usize| fields[index].parse::<u64>().unwrap();
    Some((fields[0].chars().next()?, ticks(11) + ticks(12)))
}

/// Waits for the end of a process; a zombie has ended too. Returns whether it ended, and the ticks
/// of processor time that it used during the wait, as far as observed.
fn ends(pid: u32) -> (bool, u64) {
    let first = state(pid).map_or(0, |(_, ticks)| ticks);
    let last = Cell::new(first);
    let has_ended = within_patience(|| {
        let found = state(pid);
        last.set(found.map_or(last.get(), |(_, ticks)| ticks));
        found.is_none_or(|(state, _)| state == 'Z')
    });
    (has_ended, last.get() - first)
}

/// The largest number of ticks of processor time, of 10 ms each, that a view may use to end.
const TICKS_MAX: u64 = 20;

/// Goal: the live view ends when its terminal is gone, and on SIGTERM, and does not spin until
/// then. Method: the view is started on a terminal of `script`; then `script` is killed, or the
/// view gets the signal; the view's processor time is counted.
#[test]
fn live_view_ends_with_its_terminal_and_on_sigterm() {
    for is_terminal_killed in [true, false] {
        let folder = crate::folder();
        listen(folder.path(), "good");
        let mut script = start_on_terminal("tidegate top good.ctl", "80", folder.path());
        let Some(view) = drawing_view(folder.path()) else {
            eprintln!(
                "skipped: `script`, which makes a terminal, is missing or does not work here"
            );
            let _ = script.kill();
            script.wait().unwrap();
            return;
        };
        if is_terminal_killed {
            script.kill().unwrap();
        } else {
            let killed = Command::new("kill").arg(view.to_string()).status().unwrap();
            assert!(killed.success());
        }
        let (has_ended, ticks) = ends(view);
        if !has_ended {
            let _ = Command::new("kill").args(["-9", &view.to_string()]).status();
        }
        let _ = script.kill();
        script.wait().unwrap();
        assert!(has_ended, "terminal killed: {is_terminal_killed}");
        assert!(ticks <= TICKS_MAX, "{ticks} ticks; terminal killed: {is_terminal_killed}");
    }
}

/// Goal: on a real terminal of 80 and of 40 columns the live view truncates no number. Method: each
/// duration on the screen is one that the service reported, or the sum for its drive.
#[test]
fn live_view_cuts_no_number_on_a_terminal() {
    for columns in ["80", "40"] {
        let folder = crate::folder();
        listen(folder.path(), "good");
        let mut script = start_on_terminal("tidegate top good.ctl", columns, folder.path());
        let has_drawn = drawing_view(folder.path()).is_some()
            && within_patience(|| drawn(folder.path()).contains("q quits"));
        let text = drawn(folder.path());
        script.kill().unwrap();
        script.wait().unwrap();
        if !has_drawn {
            eprintln!("skipped: `script` is missing or does not work here: {text}");
            return;
        }
        let times: Vec<&str> = text.split_whitespace().filter(|it| it.ends_with("ms")).collect();
        let whole = ["1.500ms", "2.500ms", "9.001ms", "12.346ms", "45.000ms"];
        assert!(times.len() >= 2, "{columns}: {text}");
        assert!(times.iter().all(|time| whole.contains(time)), "{columns}: {times:?}\n{text}");
    }
}

/// Goal: the progress of a simulation fits on one line of a terminal of 40 columns. Method: the bar
/// is drawn on such a terminal; a line that is too long would wrap.
#[test]
fn progress_fits_on_a_narrow_terminal() {
    let lines = [
        "timeout -s INT 2 tidegate sim recorder.toml --policy adaptive-drain --duration 9000h",
        "timeout -s INT 2 tidegate cpu sim processor.toml --duration 800000h",
    ];
    for line in lines {
        let folder = crate::folder();
        let mut script = start_on_terminal(line, "40", folder.path());
        script.wait().unwrap();
        let text = drawn(folder.path());
        // The result comes after this word.
        let during = text.split("INCOMPLETE").next().unwrap_or_default();
        let bars: Vec<&str> = during.split(['\r', '\n']).filter(|it| it.contains(" %, ")).collect();
        if text.trim().is_empty() {
            eprintln!("skipped: `script` is missing or does not work here");
            return;
        }
        assert!(!bars.is_empty(), "no progress in {text}");
        for bar in bars {
            assert!(bar.trim().chars().count() <= 40 && bar.contains(" left"), "{bar}");
        }
    }
}
