// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: `serve --log` writes a row for each request, when the service ends, and no more rows than
//! asked for. Method: a few requests of two exports, and the file.

use std::process::Stdio;

use crate::common::Folder;
use crate::nbd::Client;
use crate::server::Server;

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

#[test]
fn each_request_has_a_row_up_to_the_limit() {
    let folder = Folder::new();
    assert!(Server::is_possible(&folder, SERVE, &[]));
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let arguments = ["serve", "s.toml", "--log", "rows.csv", "--log-rows", "3"];
    let mut command = folder.command(&arguments);
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    let server = Server::spawn(&folder, &mut command);
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
