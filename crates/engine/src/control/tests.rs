// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: the control socket replies correctly and does not disturb clients. Method: requests over
//! the control socket of a service on a simulated drive.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tidegate_model::BatchTable;

use super::Control;
use crate::peers::LogSink;
use crate::peers::tests::{connect, line};
use crate::serve::Prepared;
use crate::service::Service;
use crate::service::harness::drive_file;

/// A serve file for a drive whose batches take exactly the times of its table.
const SERVE: &str = r#"
simulate = "disk.drive.toml"
size_max = "16KiB"

[[export]]
name = "camera"
size = "1MiB"
contract = { period = "20ms", requests = 2, size_max = "16KiB", op = "write" }

[[export]]
name = "rest"
size = "1MiB"
best_effort = true
"#;

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
    pub(crate) service: Service,
    stops: Arc<AtomicU32>,
    control: Control,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self::named("camera")
    }

    /// Makes a fixture in which the export with a contract has another name.
    pub(crate) fn named(name: &str) -> Self {
        Self::of(&SERVE.replace("\"camera\"", &format!("'{name}'")))
    }

    /// Makes a fixture from another serve file.
    fn of(serve: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let times = [1_000, 1_500, 2_000].map(tidegate_model::Duration::from_us);
        let times = BatchTable::new(&times).unwrap();
        let flush = tidegate_model::Duration::from_us(100);
        let prepared = prepared(folder.path(), serve, &drive_file(&times, flush));
        assert!(prepared.is_proven());
        let service = prepared.open(false).unwrap();
        let (stops, say): (_, LogSink) = (Arc::new(AtomicU32::new(0)), Arc::new(|_: &str| ()));
        let counted = stops.clone();
        let stop = move || {
            counted.fetch_add(1, Ordering::Relaxed);
        };
        let control = Control::open(&folder.path().join("ctl"), service.view(), stop, say).unwrap();
        Self { folder, service, stops, control }
    }

    fn connect(&self) -> UnixStream {
        connect(&self.folder.path().join("ctl"))
    }

    fn send(&self, request: &str) -> Value {
        let mut stream = self.connect();
        writeln!(stream, "{request}").unwrap();
        answer(&stream)
    }

    /// Sends a request without an export.
    fn ask(&self, verb: &str) -> Value {
        self.send(&json!({ "do": verb }).to_string())
    }

    /// Sends a request that concerns the export called `export`.
    fn ask_of(&self, verb: &str, export: &str) -> Value {
        self.send(&json!({ "do": verb, "export": export }).to_string())
    }

    /// Sends a request for a new export `second` with `requests` requests per period.
    fn ask_second(&self, verb: &str, requests: u32) -> Value {
        self.send(&second(verb, requests))
    }

    /// Checks that exports of these names can be removed immediately.
    fn remove(&self, names: &[&str]) {
        for name in names {
            let said = self.ask_of("remove", name);
            assert_eq!((&said["ok"], &said["is_free"]), (&true.into(), &true.into()), "{said}");
        }
    }

    /// Returns the statistics once they match; statistics can be up to 200 ms old.
    fn statistics(&self, is_expected: impl Fn(&Value) -> bool) -> Value {
        let begun = Instant::now();
        loop {
            let seen = self.ask("statistics");
            if is_expected(&seen) {
                return seen;
            }
            assert!(begun.elapsed() < Duration::from_mins(1), "{seen}");
        }
    }
}

/// Writes a serve file and the drive file that it names, and prepares its service.
pub(crate) fn prepared(folder: &Path, serve: &str, drive: &str) -> Prepared {
    let file = folder.join("serve.toml");
    std::fs::write(&file, serve).unwrap();
    std::fs::write(folder.join("disk.drive.toml"), drive).unwrap();
    Prepared::read(&file).unwrap()
}

pub(crate) fn answer(stream: &UnixStream) -> Value {
    let line = line(stream);
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn status_says_what_was_agreed_and_proved() {
    let fixture = Fixture::new();
    let status = fixture.ask("status");
    assert_eq!((&status["ok"], &status["policy"]), (&Value::Bool(true), &"dqf".into()));
    assert!(status["uptime_ns"].as_u64().unwrap() > 0);
    assert!(status["real_time"]["is_granted"].is_boolean());
    let camera = &status["exports"][0];
    assert_eq!(camera["contract"]["period_ns"], 20_000_000);
    assert_eq!(camera["contract"]["size_bytes_max"], 16 << 10);
    assert_eq!(camera["contract"]["beyond"], "wait");
    let bound_ns = fixture.service.bounds()[0].unwrap().ns();
    assert_eq!(camera["bound_ns"], bound_ns);
    let rest = &status["exports"][1];
    assert!(rest["contract"].is_null() && rest["bound_ns"].is_null());
    assert_eq!(rest["is_degraded"], false);
}

#[test]
fn statistics_count_what_was_served() {
    let fixture = Fixture::new();
    let camera = fixture.service.export("camera").unwrap();
    for block in 0..4 {
        camera.write(block * 4096, &[7; 4096], block == 3).unwrap();
    }
    fixture.service.export("rest").unwrap().read(0, &mut [0; 8192]).unwrap();
    let seen = fixture.statistics(|seen| seen["exports"][1]["requests"] == 1);
    let (camera, rest) = (&seen["exports"][0], &seen["exports"][1]);
    assert_eq!((&camera["requests"], &camera["flushes"]), (&4.into(), &1.into()));
    assert_eq!(
        (&camera["transferred_bytes"], &rest["transferred_bytes"]),
        (&16384.into(), &8192.into())
    );
    assert_eq!((&camera["outstanding"], &camera["tokens_max"]), (&0.into(), &2.into()));
    assert!(camera["response_ns_p50"].as_u64() >= Some(1), "{camera}");
    assert!(seen["drive"]["batches"].as_u64() >= Some(3), "{seen}");
}

#[test]
fn notices_are_of_exports_with_a_contract() {
    let fixture = Fixture::new();
    for verb in ["missed", "ended"] {
        // No regulator of this service is steered by notices, and the reply says so.
        assert_eq!(fixture.ask_of(verb, "camera"), json!({ "ok": true, "is_heard": false }));
        for other in ["rest", "nobody"] {
            let said = fixture.ask_of(verb, other);
            assert_eq!(said["ok"], false, "{said}");
            assert!(said["help"].is_string());
        }
    }
    fixture.service.export("camera").unwrap().write(0, &[1; 512], false).unwrap();
}

/// A serve file with a soft contract and a stream without figures.
const SOFT: &str = r#"
simulate = "disk.drive.toml"
size_max = "16KiB"
policy = { name = "mdn-extended" }

[[export]]
name = "player"
size = "1MiB"
contract = { period = "1ms", size_max = "16KiB", op = "read" }
soft = true

[[export]]
name = "stream"
size = "1MiB"
soft = true

[[export]]
name = "rest"
size = "1MiB"
best_effort = true
"#;

/// Notices are accepted for soft exports, with figures or without, and for no other export.
#[test]
fn notices_of_soft_exports_are_heard() {
    let fixture = Fixture::of(SOFT);
    let status = fixture.ask("status");
    let soft = [0, 1, 2].map(|index| status["exports"][index]["is_soft"].as_bool());
    assert_eq!(soft, [Some(true), Some(true), Some(false)], "{status}");
    assert_eq!((&status["exports"][0]["bound_ns"], &status["grade"]), (&Value::Null, &Value::Null));
    for verb in ["missed", "ended"] {
        for name in ["player", "stream"] {
            assert_eq!(fixture.ask_of(verb, name), json!({ "ok": true, "is_heard": true }));
        }
        assert_eq!(fixture.ask_of(verb, "rest")["ok"], false);
    }
}

/// A service with only soft exports has no bounds. No regulator of `dqf` uses notices, and `mdn`
/// uses only those about misses.
#[test]
fn soft_exports_alone_have_no_bounds() {
    let fixture = Fixture::of(&SOFT.replace("mdn-extended", "dqf").replace("\"1ms\"", "\"90ms\""));
    let status = fixture.ask("status");
    assert_eq!((&status["exports"][0]["bound_ns"], &status["grade"]), (&Value::Null, &Value::Null));
    assert_eq!(fixture.ask_of("missed", "stream"), json!({ "ok": true, "is_heard": false }));
    let fixture = Fixture::of(&SOFT.replace("mdn-extended", "mdn"));
    for (verb, is_heard) in [("missed", true), ("ended", false)] {
        assert_eq!(fixture.ask_of(verb, "stream"), json!({ "ok": true, "is_heard": is_heard }));
    }
}

/// A stream without figures can ask for any amount before best effort, so no contract can be proved
/// together with it. Another soft export is still admitted.
#[test]
fn no_contract_is_proved_beside_a_stream_without_figures() {
    let fixture = Fixture::of(SOFT);
    let refused = fixture.ask_second("check", 1);
    let said = refused["error"].as_str().unwrap();
    assert!(said.contains("`stream` is soft without a contract"), "{refused}");
    assert!(said.contains("`second` cannot be proved"), "{refused}");
    let mut second: Value = serde_json::from_str(&second("admit", 1)).unwrap();
    second["export"]["soft"] = true.into();
    let admitted = fixture.send(&second.to_string());
    assert_eq!(admitted["ok"], true, "{admitted}");
    assert_eq!(fixture.ask("status")["exports"][3]["is_soft"], true);
}

#[test]
fn stop_is_the_callers_and_is_answered() {
    let fixture = Fixture::new();
    assert_eq!(fixture.ask("stop"), json!({ "ok": true }));
    assert_eq!(fixture.stops.load(Ordering::Relaxed), 1);
    // The service runs until the caller ends it.
    fixture.service.export("rest").unwrap().read(0, &mut [0; 512]).unwrap();
}

#[test]
fn a_malformed_line_is_answered_and_the_next_one_too() {
    let fixture = Fixture::new();
    let mut stream = fixture.connect();
    for line in [&b"{\n"[..], b"\xff\xfe\0\n", b"\n", b"[[[[[[[[\n"] {
        stream.write_all(line).unwrap();
        assert_eq!(answer(&stream)["ok"], false);
    }
    stream.write_all(b"{\"do\":\"status\"}\n").unwrap();
    assert_eq!(answer(&stream)["ok"], true);
    stream.write_all(&vec![b' '; 200 << 10]).unwrap_or_default();
    assert!(answer(&stream)["error"].as_str().unwrap().contains("64 KiB"));
}

#[test]
fn a_service_that_ended_is_said_to_have() {
    let fixture = Fixture::new();
    let Fixture { service, control, folder, .. } = fixture;
    service.stop().unwrap();
    let mut stream = connect(&folder.path().join("ctl"));
    stream.write_all(b"{\"do\":\"status\"}\n").unwrap();
    let said = answer(&stream);
    assert!(said["error"].as_str().unwrap().contains("does not answer"), "{said}");
    drop(control);
}

/// Goal: a late host also degrades an export, although the drive kept its table. Method: insert a
/// response time above the bound into the statistics.
#[test]
fn an_exceeded_bound_degrades_its_export_without_an_overrun() {
    let fixture = Fixture::new();
    let mut look = fixture.service.view().look().unwrap();
    assert!(look.seen.overruns == 0 && !look.is_degraded());
    let mut seen = (*look.seen).clone();
    seen.exports[0].is_degraded = true;
    seen.exports[1].responses.record(tidegate_model::Duration::from_ms(100_000));
    look.seen = Arc::new(seen);
    assert!(look.is_export_degraded(0) && !look.is_export_degraded(1));
}

/// Goal: peers that send requests without pause do not delay clients. Method: a client measures 50
/// calls while ten such peers send requests; the drive takes 1 ms. On a busy host the slowest call
/// can take ten times that, but not the seconds that ten peers' replies take.
#[test]
fn peers_that_ask_without_end_do_not_delay_clients() {
    let fixture = Fixture::new();
    let is_over = Arc::new(Mutex::new(false));
    let asking: Vec<_> = (0..10)
        .map(|_| {
            let (mut stream, is_over) = (fixture.connect(), is_over.clone());
            std::thread::spawn(move || {
                let mut answers = 0;
                while !*is_over.lock().unwrap() {
                    stream.write_all(b"{\"do\":\"statistics\"}\n").unwrap();
                    assert_eq!(answer(&stream)["ok"], true);
                    answers += 1;
                }
                answers
            })
        })
        .collect();
    let rest = fixture.service.export("rest").unwrap();
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let begun = Instant::now();
            rest.read(0, &mut [0; 4096]).unwrap();
            begun.elapsed()
        })
        .collect();
    *is_over.lock().unwrap() = true;
    let answers: u32 = asking.into_iter().map(|thread| thread.join().unwrap()).sum();
    times.sort();
    assert!(answers > 20, "{answers}");
    assert!(times[100] < Duration::from_millis(20), "{:?}", times[100]);
}

const SECOND: &str = r#"{"do":"VERB","export":{"name":"second","size":"256KiB",
    "contract":{"period":"20ms","requests":REQUESTS,"size_max":"16KiB"}}}"#;

fn second(verb: &str, requests: u32) -> String {
    let line = SECOND.replace("VERB", verb).replace("REQUESTS", &requests.to_string());
    line.replace('\n', "")
}

#[test]
fn an_export_comes_and_goes_while_the_service_runs() {
    let fixture = Fixture::new();
    let before = fixture.service.bounds()[0].unwrap();
    let would = fixture.ask_second("check", 1);
    assert_eq!(would["ok"], true, "{would}");
    assert!(would["note"].as_str().unwrap().contains("nothing has changed"), "{would}");
    assert!(fixture.service.export("second").is_none());
    let said = fixture.ask_second("admit", 1);
    assert_eq!((&said["ok"], &said["bounds"]), (&Value::Bool(true), &would["bounds"]), "{said}");
    assert_eq!((&said["grade"], &said["premises"]), (&"weak".into(), &would["premises"]), "{said}");
    // The new export is placed after the file's two exports, and both contracts have the new set's
    // bounds.
    assert_eq!(said["offset_bytes"], 2 << 20);
    let bounds = fixture.service.bounds();
    assert!(bounds[0].unwrap() > before && bounds[2].is_some(), "{bounds:?}");
    assert_eq!(said["bounds"][0]["bound_ns"], bounds[0].unwrap().ns());
    assert!(said["note"].as_str().unwrap().contains("serve file"), "{said}");
    let export = fixture.service.export("second").unwrap();
    export.write(0, &[9; 4096], true).unwrap();
    // The other exports are not affected, and the statistics include the new one.
    fixture.service.export("camera").unwrap().write(0, &[1; 4096], false).unwrap();
    let seen = fixture.statistics(|seen| seen["exports"][2]["requests"] == 1);
    assert_eq!(seen["exports"][2]["tokens_max"], 1);
    assert_eq!(fixture.ask_of("missed", "second")["ok"], true);

    let gone = fixture.ask_of("remove", "second");
    assert_eq!(
        (&gone["ok"], &gone["is_free"], &gone["requests"]),
        (&true.into(), &true.into(), &1.into())
    );
    assert_eq!(fixture.service.bounds()[0], Some(before));
    assert!(fixture.service.export("second").is_none());
    assert_eq!(export.read(0, &mut [0; 4096]), Err(crate::service::CallError::Removed));
    // The removed export's range is free, its data is still there, and the old handle gets no data.
    let again = fixture.ask_second("admit", 1);
    assert_eq!((&again["ok"], &again["offset_bytes"]), (&true.into(), &(2 << 20).into()));
    let mut found = [0; 4096];
    fixture.service.export("second").unwrap().read(0, &mut found).unwrap();
    assert_eq!(found, [9; 4096]);
    assert_eq!(export.read(0, &mut found), Err(crate::service::CallError::Removed));
}

#[test]
fn what_cannot_be_proved_is_not_admitted_and_what_would_fit_is_said() {
    let fixture = Fixture::new();
    let before = fixture.service.bounds();
    let said = fixture.ask_second("admit", 500);
    assert_eq!(said["ok"], false, "{said}");
    assert!(said["error"].as_str().unwrap().contains("second"), "{said}");
    let fits: Vec<&str> =
        said["would_fit"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(fits.iter().any(|fit| fit.contains("requests per period")), "{fits:?}");
    assert_eq!((fixture.service.bounds(), fixture.service.exports().len()), (before, 2));
    // The suggested number is admitted; one request more is not.
    let most = fits[0].split(' ').find_map(|word| word.parse::<u32>().ok()).unwrap();
    assert_eq!(fixture.ask_second("check", most + 1)["ok"], false);
    assert_eq!(fixture.ask_second("admit", most)["ok"], true, "{most}");
}

#[test]
fn what_has_no_place_or_no_name_is_refused() {
    let fixture = Fixture::new();
    let admit = |keys: &str| {
        let export = format!("{{{keys},\"best_effort\":true}}");
        let said = fixture.send(&format!("{{\"do\":\"admit\",\"export\":{export}}}"));
        (said["ok"] == true, said["error"].as_str().unwrap_or_default().to_owned())
    };
    for (keys, why) in [
        (r#""name":"camera","size":"1MiB""#, "`camera` already"),
        (r#""name":"a","size":"1MiB","offset":"1MiB""#, "overlap `rest`"),
        (r#""name":"a","size":"100GiB""#, "exceed the store"),
        (r#""name":"a","share":"whole""#, "overwrites all other exports"),
        (r#""name":"a","size":"1001B""#, "not a multiple"),
        (r#""name":"","size":"1MiB""#, "the name is"),
    ] {
        let (is_ok, error) = admit(keys);
        assert!(!is_ok && error.contains(why), "{keys}: {error}");
    }
    assert_eq!(admit(r#""name":"b","size":"1MiB","weight":4"#), (true, String::new()));
    // The removed export's range is the next free one.
    fixture.remove(&["rest"]);
    assert_eq!(admit(r#""name":"c","size":"512KiB""#), (true, String::new()));
    let placed = fixture.service.exports();
    assert_eq!(placed.iter().find(|it| it.name == "c").unwrap().offset.get(), 1 << 20);
    for name in ["rest", "nobody"] {
        let said = fixture.ask_of("remove", name);
        assert_eq!(said["ok"], false, "{said}");
    }
    // All exports are removed, then one is admitted again.
    fixture.remove(&["b", "camera", "c"]);
    assert!(fixture.service.exports().is_empty());
    assert_eq!(fixture.ask_second("admit", 2)["ok"], true);
    fixture.service.export("second").unwrap().write(0, &[3; 8192], true).unwrap();
}

/// A refusal of the service must be distinguishable from a faulty request.
#[test]
fn a_refusal_is_no_fault_of_the_request() {
    use super::answers::Fault;
    use super::wire::Failed;
    use crate::service::{ChangeError, Refusal};
    let waited = tidegate_model::Duration::from_ms(4_000);
    let name = || "camera".to_owned();
    for (error, is_refused) in [
        (ChangeError::NeverQuiet { waited }, true),
        (ChangeError::InProgress, true),
        (ChangeError::Ending, true),
        (ChangeError::Refused(Refusal::new("no", "ask for less")), true),
        (ChangeError::NameTaken { name: name() }, false),
        (ChangeError::Unknown { name: name() }, false),
        (ChangeError::Fixed, false),
    ] {
        let said = Failed::from(Fault::of_change(error));
        assert_eq!(said.is_refused, is_refused, "{said:?}");
        assert!(!said.ok && !said.help.is_empty(), "{said:?}");
    }
}

/// Goal: a check delays only the peer that requests it, and one check runs at a time. Canary: the
/// same request succeeds after the other check has finished.
#[test]
fn a_check_is_waited_for_by_its_peer_alone_and_one_runs_at_once() {
    use super::ControlProtocol;
    use crate::peers::{Protocol as _, Reply};
    let fixture = Fixture::new();
    let mut protocol = ControlProtocol::new(fixture.service.view(), None);
    let checking = protocol.checking.clone();
    let mut said = || {
        let Reply::Later(job) = protocol.answer(second("check", 1).as_bytes()) else {
            panic!("the check blocks the protocol");
        };
        serde_json::from_slice::<Value>(&job().bytes).unwrap()
    };
    assert_eq!(said()["ok"], true);
    let other = checking.lock().unwrap();
    let refused = said();
    assert!(refused["ok"] == false && refused["is_refused"] == true, "{refused}");
    drop(other);
    assert_eq!(said()["ok"], true);
}

#[test]
fn clients_go_on_while_exports_come_and_go() {
    let fixture = Fixture::new();
    let is_over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for name in ["camera", "rest"] {
            let (export, is_over) = (fixture.service.export(name).unwrap(), &is_over);
            scope.spawn(move || {
                let stamp = name.as_bytes()[0];
                let mut found = [0; 4096];
                for block in (0..64).cycle() {
                    export.write(block * 4096, &[stamp; 4096], block % 7 == 0).unwrap();
                    export.read(block * 4096, &mut found).unwrap();
                    assert_eq!(found, [stamp; 4096]);
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        for _ in 0..20 {
            let said = fixture.ask_second("admit", 1);
            assert_eq!(said["ok"], true, "{said}");
            let export = fixture.service.export("second").unwrap();
            scope.spawn(move || while export.write(0, &[2; 4096], false).is_ok() {});
            let said = fixture.ask_of("remove", "second");
            assert_eq!(said["ok"], true, "{said}");
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// Goal: a trim is executed only while no export has a contract. Method: remove and admit a
/// contract.
#[test]
fn trims_cost_no_contract_anything() {
    let fixture = Fixture::new();
    let rest = fixture.service.export("rest").unwrap();
    let trimmed = |block: u64| {
        let mut found = [7; 4096];
        rest.write(block * 4096, &found, true).unwrap();
        rest.trim(block * 4096, 4096).unwrap();
        rest.read(block * 4096, &mut found).unwrap();
        found == [0; 4096]
    };
    assert!(!rest.can_trim() && !trimmed(0));
    fixture.remove(&["camera"]);
    assert!(rest.can_trim() && trimmed(1));
    assert!(matches!(rest.trim(1 << 20, 512), Err(crate::service::CallError::BeyondEnd { .. })));
    assert_eq!(fixture.ask_second("admit", 1)["ok"], true);
    assert!(!rest.can_trim() && !trimmed(2));
}
