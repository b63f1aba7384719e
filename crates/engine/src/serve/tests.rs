// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the control plane shows a service's state, and shows it as degraded if the drive exceeds
//! its table. Method: one drive that exceeds its table and one that does not.

use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration as Wall, Instant};

use tidegate_drive::PseudoDisk;
use tidegate_model::Duration;

use super::*;
use crate::control::tests::{answer, prepared};
use crate::metrics::tests::get;
use crate::peers::LogSink;
use crate::peers::tests::{Said, connect, log};
use crate::service::harness::{drive_file, table};

const SERVE: &str = r#"
simulate = "disk.drive.toml"
size_max = "16KiB"
control = "serve.ctl"
metrics = "127.0.0.1:PORT"

[[export]]
name = "camera"
size = "1MiB"
contract = { period = "20s", deadline = "DEADLINE", requests = 4, size_max = "16KiB" }

[[export]]
name = "rest"
size = "1MiB"
best_effort = true
"#;

/// The log at the start: the exports can read and write, and the drive file has no mixed batches.
const GRADE: [&str; 2] = [
    "the contracts are proven, weak: mixed batches charged by sums",
    "doubt: the workload reads and writes, and the bound does not rest on measured mixed batches: a \
     mixed batch is charged as its reads and its writes one after the other; no measurement \
     supports this",
];

struct Fixture {
    folder: tempfile::TempDir,
    service: Service,
    control_plane: ControlPlane,
    said: Said,
    is_stopped: Arc<AtomicBool>,
}

impl Fixture {
    /// Makes a service on a drive whose batches take `batch_ms`, with `table_ms` in its table.
    fn new(table_ms: u64, batch_ms: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let drive = drive_file(&table(&[table_ms; 2]), Duration::ZERO);
        // The deadline leaves so little slack that the proof tolerates no overrun longer than one
        // table time.
        let deadline = format!("{}ms", 8 * table_ms);
        let serve = SERVE.replace("PORT", &port.to_string()).replace("DEADLINE", &deadline);
        let prepared = prepared(folder.path(), &serve, &drive);
        let size = Bytes::from_kib(2048);
        let params =
            prepared.params(Layout { size, alignment: SIMULATED_ALIGNMENT }, None).unwrap();
        let disk = PseudoDisk::new(2, table(&[batch_ms; 2]), 1);
        let make = move |clock, waker| {
            let store = memory_file(size).expect("memory");
            Ok(SimulatedStore::new(Box::new(disk), store, clock, waker))
        };
        let service = Service::start(params, make).unwrap();
        let (say, said) = log();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopped = is_stopped.clone();
        let stop = move || stopped.store(true, Ordering::Relaxed);
        let control_plane = prepared.stand_by(&service, stop, say).unwrap();
        Self { folder, service, control_plane, said, is_stopped }
    }

    fn write(&self, count: u64) {
        let camera = self.service.export("camera").unwrap();
        for block in 0..count {
            camera.write(block * 4096, &[1; 4096], false).unwrap();
        }
    }

    fn ask(&self, verb: &str) -> serde_json::Value {
        let mut stream = connect(&self.folder.path().join("serve.ctl"));
        writeln!(stream, "{{\"do\":\"{verb}\"}}").unwrap();
        answer(&stream)
    }

    fn page(&self) -> String {
        let address = self.control_plane.metrics_address().unwrap();
        get(address, "GET /metrics HTTP/1.1\r\n\r\n").1
    }
}

#[test]
fn a_drive_that_breaks_its_table_degrades_the_guarantee_until_nothing_late_is_pending() {
    let fixture = Fixture::new(20, 45);
    fixture.write(4);
    let status = fixture.ask("status");
    // Each write was late, and nothing else was pending, so the guarantee was restored after each.
    assert_eq!((&status["is_degraded"], &status["degradations"]), (&false.into(), &4.into()));
    assert_eq!(status["exports"][0]["is_degraded"], false, "{status}");
    let seen = fixture.ask("statistics");
    assert_eq!(seen["drive"]["overruns"], 4, "{seen}");
    assert!(seen["drive"]["overrun_ns_max"].as_u64() >= Some(25_000_000), "{seen}");
    let page = fixture.page();
    for line in [
        "tidegate_degraded 0\n",
        "tidegate_degradations_total 4\n",
        "tidegate_export_degraded{export=\"camera\"} 0\n",
        "tidegate_drive_overruns_total 4\n",
    ] {
        assert!(page.contains(line), "{line}{page}");
    }
    let Fixture { service, said, .. } = fixture;
    service.stop().unwrap();
    let begun = Instant::now();
    // The first overrun is logged immediately; the last one is logged together with those in
    // between.
    let is_all_said = || {
        let said = said.lock().unwrap();
        said.last().is_some_and(|line| {
            line.contains("(4 overruns in total)") || line.contains("table says (overrun 4")
        })
    };
    while !is_all_said() {
        assert!(begun.elapsed() < Wall::from_mins(1), "{:?}", said.lock().unwrap());
        std::thread::yield_now();
    }
    assert_eq!(said.lock().unwrap()[..2], GRADE);
    let first = &said.lock().unwrap()[2];
    assert!(first.contains("longer than the drive's table says (overrun 1)"), "{first}");
}

#[test]
fn a_drive_that_keeps_its_table_degrades_nothing() {
    let fixture = Fixture::new(1_000, 1);
    fixture.write(4);
    let status = fixture.ask("status");
    assert_eq!(status["is_degraded"], false, "{status}");
    assert!(fixture.page().contains("tidegate_export_degraded{export=\"camera\"} 0\n"));
    assert_eq!(*fixture.said.lock().unwrap(), GRADE);
    let doubts = status["premises"].as_array().unwrap().iter();
    let doubts: Vec<_> =
        doubts.filter(|it| it["weight"] == "weak").filter_map(|it| it["code"].as_str()).collect();
    assert_eq!((&status["grade"], doubts), (&"weak".into(), vec!["mixed_unmeasured"]), "{status}");
    for metric in
        ["grade=\"weak\"", "tidegate_premises{code=\"mixed_unmeasured\",weight=\"weak\"} 1\n"]
    {
        assert!(fixture.page().contains(metric), "{metric}");
    }
    assert_eq!(fixture.ask("stop")["ok"], true);
    assert!(fixture.is_stopped.load(Ordering::Relaxed));
    let Fixture { folder, control_plane, .. } = fixture;
    drop(control_plane);
    assert!(!folder.path().join("serve.ctl").exists());
}

#[test]
fn what_cannot_be_opened_is_named() {
    let fixture = Fixture::new(1_000, 1);
    let file = fixture.folder.path().join("serve.toml");
    let prepared = Prepared::read(&file).unwrap();
    let say: LogSink = Arc::new(|_: &str| ());
    let error = prepared.stand_by(&fixture.service, || (), say).unwrap_err().to_string();
    assert!(error.contains("serve.ctl: another service listens there"), "{error}");
}
