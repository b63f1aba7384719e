// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the serve file: refused values, the layout, and the resulting workload.

use tidegate_model::serve_file::{BackingReference, Layout, Listen};
use tidegate_model::{
    Bytes, DriveFile, Duration, ExportPlace, FileError, Host, HostTime, NewExport, Op, PolicyName,
    RegulatorName, ServeFile,
};

const HEAD: &str = "backing = \"disk.img\"\ndrive = \"disk.drive.toml\"\n";

const CAMERA: &str = "[[export]]\nname = \"camera\"\nsize = \"1GiB\"\n\
    contract = { period = \"300ms\", requests = 2, size_max = \"128KiB\", op = \"write\" }\n";

const BACKUP: &str = "[[export]]\nname = \"backup\"\nsize = \"2GiB\"\nbest_effort = true\n";

fn parse(text: &str) -> ServeFile {
    ServeFile::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Returns the message on a faulty file, and the text that it points at.
fn fault(text: &str) -> (String, String) {
    let FileError { message, span, help } = ServeFile::parse(text).expect_err(text);
    (format!("{message}; {}", help.unwrap_or_default()), text[span].to_owned())
}

fn layout(gib: u64) -> Layout {
    Layout { size: Bytes::from_kib(gib << 20), alignment: Bytes::new(4096) }
}

fn drive(flush: &str) -> DriveFile {
    DriveFile::parse(&format!(
        "name = \"d\"\nkind = \"pseudo\"\ndepth = 4\n{flush}\n\
         [[batch]]\nop = \"write\"\nsize = \"128KiB\"\nns_max = [5_000_000, 8_000_000, 9_000_000]\n\
         [[batch]]\nop = \"read\"\nsize = \"128KiB\"\nns_max = [4_000_000, 7_000_000, 8_000_000]\n"
    ))
    .unwrap()
}

#[test]
fn contracts_become_tasks_and_everything_else_best_effort() {
    let file = parse(&format!("{HEAD}{CAMERA}{BACKUP}"));
    assert!(matches!(&file.backing, BackingReference::Path(path) if path.get_ref() == "disk.img"));
    assert_eq!(file.listen, Listen::Unix(None));
    let bound = file.bind(&drive("flush_ns_max = 1_000_000")).unwrap();
    let workload = &bound.workload;
    assert_eq!(workload.policy, PolicyName::Dqf);
    assert_eq!(workload.regulators, [RegulatorName::TokensPerTask]);
    let [camera] = &workload.tasks[..] else { panic!("{:?}", workload.tasks) };
    assert_eq!((camera.requests, camera.op, camera.size), (2, Op::Write, Bytes::from_kib(128)));
    assert_eq!(camera.deadline, Duration::from_ms(300));
    let loads: Vec<_> =
        workload.best_effort.iter().map(|load| (load.name.as_str(), load.op, load.size)).collect();
    let size = Bytes::from_kib(128);
    // The contract covers writes only, so reads are best effort.
    let names = ["camera (reads)", "backup (reads)", "backup (writes)"];
    let ops = [Op::Read, Op::Read, Op::Write];
    assert!(loads.into_iter().eq(names.into_iter().zip(ops).map(|(name, op)| (name, op, size))));
}

#[test]
fn every_batch_is_charged_a_flush_where_somebody_may_write() {
    let file = parse(&format!("{HEAD}{CAMERA}"));
    let bound = file.bind(&drive("flush_ns_max = 40_000_000")).unwrap();
    assert_eq!(bound.flush_max, Some(Duration::from_ms(40)));
    // Either of the two requests can be a read.
    assert_eq!(bound.workload.table.time_max(2), Duration::from_ms(5 + 4 + 40));
    // The premise advises `hdparm -W 0` only if emptying the cache takes longer than any batch.
    let advises = |flush: &str| {
        let bound = file.bind(&drive(flush)).unwrap();
        bound.workload.premises.iter().any(|premise| premise.text.contains("hdparm -W 0"))
    };
    assert!(advises("flush_ns_max = 40_000_000") && !advises("flush_ns_max = 4_000_000"));
    let error = file.bind(&drive("")).unwrap_err();
    assert!(error.message.contains("how long a flush takes"), "{error}");
    let reader = CAMERA.replace("write", "read").replace("size = \"1GiB\"", "share = \"whole\"");
    let file = parse(&format!("{HEAD}{reader}read_only = true\n"));
    let bound = file.bind(&drive("")).unwrap();
    assert_eq!((bound.flush_max, bound.workload.table.time_max(2)), (None, Duration::from_ms(7)));
}

#[test]
fn a_contract_that_may_do_both_is_charged_both() {
    let both = CAMERA.replace(", op = \"write\"", "");
    let bound = parse(&format!("{HEAD}{both}")).bind(&drive("flush_ns_max = 0")).unwrap();
    assert_eq!(bound.workload.tasks.len(), 1);
    // Two requests, read and written in the worst mixture: 5 + 4 exceeds 8 and 7.
    assert_eq!(bound.workload.table.time_max(2), Duration::from_ms(9));
}

#[test]
fn exports_follow_each_other_and_do_not_overlap() {
    let file = parse(&format!("{HEAD}{CAMERA}{BACKUP}"));
    let exports = file.exports(layout(3)).unwrap();
    let places: Vec<_> =
        exports.iter().map(|one| (one.offset.get() >> 30, one.size.get() >> 30)).collect();
    assert_eq!(places, [(0, 1), (1, 2)]);
    let error = file.exports(layout(2)).unwrap_err();
    assert!(error.message.contains("the store, which ends at 2"), "{error}");
    let over = BACKUP.replace("size", "offset = \"512MiB\"\nsize");
    let error = parse(&format!("{HEAD}{CAMERA}{over}")).exports(layout(8)).unwrap_err();
    assert_eq!(error.message, "`backup` would overlap `camera`");
    let small = CAMERA.replace("1GiB", "64KiB");
    let error = parse(&format!("{HEAD}{small}")).exports(layout(8)).unwrap_err();
    assert_eq!(error.message, "requests of up to 128KiB do not fit in an export of 64KiB");
    let odd = BACKUP.replace("2GiB", "512B");
    let error = parse(&format!("{HEAD}{CAMERA}{odd}")).exports(layout(8)).unwrap_err();
    assert!(error.message.contains("not a multiple of 4"), "{error}");
}

/// Goal: the store gets no request that it cannot carry out, neither from the file, where the fault
/// has its position, nor from an export that is added later.
#[test]
fn requests_are_whole_blocks_and_not_too_many() {
    let layout = layout(4);
    let faulty = |text: &str| {
        let file = parse(text);
        let sized = file.size_max_in(layout, None).map(drop);
        let FileError { message, span, help } =
            sized.and_then(|()| file.exports(layout).map(drop)).expect_err(text);
        (format!("{message}; {}", help.unwrap_or_default()), text[span].to_owned())
    };
    let sized = |size: &str| CAMERA.replace("128KiB", size);
    let of_all = |size: &str| format!("size_max = \"{size}\"\n{HEAD}{BACKUP}");
    for (size, said) in [
        ("512B", "not a multiple of 4KiB; write size_max = \"4KiB\""),
        ("9KiB", "not a multiple of 4KiB; write size_max = \"12KiB\""),
        ("512MiB", "the largest request of a store; write size_max = \"256MiB\""),
    ] {
        let own = format!("size_max = \"64KiB\"\n{HEAD}{}", sized(size));
        for text in [own, of_all(size)] {
            let (found, place) = faulty(&text);
            assert!(found.contains(said), "{text}\n{found}");
            assert_eq!(place, format!("\"{size}\""), "{text}");
        }
        let new = ServeFile::parse_export(&sized(size)).unwrap();
        let error = layout.place_new(&[], &new).unwrap_err();
        assert!(format!("{error}; {}", error.help.clone().unwrap()).contains(said), "{error}");
    }
    let largest = parse(&of_all("256MiB"));
    assert_eq!(largest.size_max_in(layout, None).unwrap(), Layout::REQUEST_MAX);
    // The size comes from the drive if the file has neither a size nor a contract.
    let text = format!("{HEAD}{BACKUP}");
    let odd = Layout { alignment: Bytes::from_kib(256), ..layout };
    let drive = drive("");
    let error = parse(&text).size_max_in(odd, Some(&drive)).unwrap_err();
    assert_eq!(&text[error.span], "\"disk.drive.toml\"");
    // Without a size in the file, the size comes from the largest contract.
    let (found, place) = faulty(&format!("{HEAD}{}", sized("512B")));
    assert!(found.contains("not a multiple") && place == "\"512B\"", "{found}: {place}");
}

#[test]
fn whoever_reads_the_whole_store_may_overlap() {
    let whole =
        "[[export]]\nname = \"all\"\nshare = \"whole\"\nread_only = true\nbest_effort = true\n";
    for text in [format!("{HEAD}{whole}{CAMERA}"), format!("{HEAD}{CAMERA}{whole}")] {
        let exports = parse(&text).exports(layout(3)).unwrap();
        assert!(exports.iter().any(|one| one.name == "all" && one.size.get() >> 30 == 3));
    }
}

#[test]
fn a_soft_export_needs_no_proof_and_a_stream_without_figures_stands_beside_no_promise() {
    const STREAM: &str = "[[export]]\nname = \"stream\"\nsize = \"1GiB\"\nsoft = true\n";
    let soft = CAMERA.replacen("contract", "soft = true\ncontract", 1);
    for (text, has_contracts, has_promises) in [
        (CAMERA.to_owned(), true, true),
        (soft.clone(), true, false),
        (STREAM.to_owned(), false, false),
        (format!("{soft}{STREAM}"), true, false),
        (format!("{CAMERA}{soft}").replacen("camera", "other", 1), true, true),
    ] {
        let file = parse(&format!("{HEAD}{text}"));
        assert_eq!((file.has_contracts(), file.has_promises()), (has_contracts, has_promises));
    }
    for (text, message, place) in [
        (format!("{HEAD}{CAMERA}{STREAM}"), "its load is unknown", "\"stream\""),
        (format!("{HEAD}{STREAM}best_effort = true\n"), "both soft real time and", "true"),
        (format!("{HEAD}{STREAM}weight = 2\n"), "apply to best effort", "2"),
        (format!("backing = \"disk.img\"\n{STREAM}"), "of a soft export needs", "true"),
    ] {
        let (said, at) = fault(&text);
        assert!(said.contains(message) && at == place, "{said}: {at}");
    }
}

#[test]
fn a_store_without_contracts_needs_no_drive() {
    let file = parse(&format!("backing = \"disk.img\"\n{BACKUP}"));
    assert!(!file.has_contracts());
    let (said, at) = fault(&format!("backing = \"disk.img\"\n{CAMERA}"));
    assert!(said.contains("names no drive") && at.contains("300ms"), "{said} {at}");
    parse(&format!("simulate = \"maxtor-atlas-10k-v\"\n{CAMERA}"));
}

#[test]
fn a_simulated_drive_is_its_own_drive() {
    let text = |drive: &str| format!("simulate = \"ibm-36z15\"\ndrive = \"{drive}\"\n{BACKUP}");
    let (said, at) = fault(&text("sata-ssd"));
    assert!(said.contains("simulates `ibm-36z15`") && said.contains("`sata-ssd`"), "{said}");
    assert_eq!(at, "\"sata-ssd\"");
    // Canary: naming the simulated drive itself is accepted.
    let file = parse(&text("ibm-36z15"));
    assert_eq!(file.drive_reference().unwrap().get_ref(), "ibm-36z15");
}

#[test]
fn control_and_metrics_are_off_unless_they_are_written() {
    let file = parse(&format!("{HEAD}{BACKUP}"));
    assert_eq!((file.control, file.metrics), (None, None));
    let ways = "control = \"serve.ctl\"\nmetrics = \"[::1]:9464\"\n";
    let file = parse(&format!("{HEAD}{ways}{BACKUP}"));
    assert_eq!(file.control.unwrap().get_ref(), "serve.ctl");
    assert_eq!(file.metrics, Some("[::1]:9464".parse().unwrap()));
}

#[test]
fn a_service_blocks_at_once_unless_it_is_to_look() {
    assert_eq!(parse(&format!("{HEAD}{BACKUP}")).busy_poll, Duration::ZERO);
    let file = parse(&format!("{HEAD}busy_poll = \"50us\"\n{BACKUP}"));
    assert_eq!(file.busy_poll, Duration::from_us(50));
}

#[test]
fn faults_are_named_where_they_stand() {
    let with = |more: &str| format!("{HEAD}{more}{CAMERA}");
    let export = |from: &str, to: &str| format!("{HEAD}{}", CAMERA.replace(from, to));
    for (text, said, at) in [
        (HEAD.to_owned(), "no export", ""),
        (CAMERA.to_owned(), "names no data", ""),
        (with("store = \"memory\"\n"), "needs a simulated drive", "\"memory\""),
        (with("simulate = \"ibm-36z15\"\n"), "both a backing", "\"disk.img\""),
        (with("listen = \"0.0.0.0:1\"\n"), "every client", "\"0.0.0.0:1\""),
        (with("listen = \"0.0.0.0\"\n"), "has no port", "\"0.0.0.0\""),
        (with("listen = \"127.0.0.1:99999\"\n"), "`99999` is not a port", "\"127.0.0.1:99999\""),
        (with("listen = \"127.0.0.1:0\"\n"), "`0` is not a port", "\"127.0.0.1:0\""),
        (with("listen = \"127.0.0.1:\"\n"), "`` is not a port", "\"127.0.0.1:\""),
        (with("listen = \":10809\"\n"), "has no address", "\":10809\""),
        (with("listen = \"::1:10809\"\n"), "[::1]:10809", "\"::1:10809\""),
        (with("listen = \"127.example.org:1\"\n"), "every client", "\"127.example.org:1\""),
        (with("socket = \"\"\n"), "has no name", "\"\""),
        (with("socket = \"a\"\nlisten = \"127.0.0.1:1\"\n"), "both a socket", "\"127.0.0.1:1\""),
        (with("[tls]\npsk = \"k\"\n"), "file permissions guard", ""),
        (with("metrics = \"0.0.0.0:9464\"\n"), "this machine only", "\"0.0.0.0:9464\""),
        (with("metrics = \"[::]:9464\"\n"), "127.0.0.1:9464", "\"[::]:9464\""),
        (with("metrics = \"9464\"\n"), "not an address with a port", "\"9464\""),
        (with("metrics = \"127.0.0.1:0\"\n"), "write a port", "\"127.0.0.1:0\""),
        (with("socket = \"a\"\ncontrol = \"a\"\n"), "separate socket", "\"a\""),
        (with("control = \"\"\n"), "separate socket", "\"\""),
        (with("busy_poll = \"2ms\"\n"), "occupy a whole processor", "\"2ms\""),
        (
            format!("simulate = \"ibm-36z15\"\nbusy_poll = \"50us\"\n{BACKUP}"),
            "no completions to poll for",
            "\"50us\"",
        ),
        (with("hull = 3\n"), "unknown field", "hull"),
        (export("camera", ""), "the name is empty", "\"\""),
        (export("requests = 2", "requests = 0"), "0 requests", "0"),
        (export("300ms", "0ms"), "the period is zero", "\"0ms\""),
        (export("128KiB", "1000B"), "whole sectors", "\"1000B\""),
        (export("size = \"1GiB\"\n", ""), "has no size", "\"camera\""),
        (
            export("size = \"1GiB\"", "share = \"whole\""),
            "overwrites all other exports",
            "\"camera\"",
        ),
        (export("[[export]]", "[[export]]\nread_only = true"), "read-only", "\"write\""),
        (export("[[export]]", "[[export]]\nbest_effort = true"), "delete one of", "\"camera\""),
        (export("[[export]]", "[[export]]\nweight = 2"), "this export has none", "2"),
        (format!("{HEAD}{BACKUP}weight = 0\n"), "never be served", "0"),
        (format!("{HEAD}{BACKUP}beyond = \"wait\"\n"), "beyond needs a contract", "\"wait\""),
        (format!("{HEAD}{BACKUP}{BACKUP}"), "a second export", "\"backup\""),
    ] {
        let (found, place) = fault(&text);
        assert!(found.contains(said), "{text}\n{found}");
        assert!(place.contains(at), "{text}\n{found}: {place}");
    }
}

#[test]
fn one_export_is_read_alone_by_the_same_rules() {
    let camera = ServeFile::parse_export(CAMERA).unwrap();
    assert_eq!((camera.name.as_str(), camera.contract.as_ref().unwrap().requests), ("camera", 2));
    let keys = CAMERA.trim_start_matches("[[export]]\n");
    assert_eq!(ServeFile::parse_export(keys).unwrap(), camera);
    assert!(camera.check().is_ok());
    for (text, said) in [
        (format!("{CAMERA}{BACKUP}"), "more than one"),
        ("name = \"a\"\nsize = \"1GiB\"\n".to_owned(), "neither a contract nor best_effort"),
        ("[[export]]\nname = \"a\"\n".to_owned(), "has no size"),
        (format!("{HEAD}{CAMERA}"), "unknown field"),
        (keys.replace("requests = 2", "requests = 0"), "0 requests"),
    ] {
        let error = ServeFile::parse_export(&text).expect_err(&text);
        assert!(error.message.contains(said), "{text}: {error:?}");
    }
    // The same rules hold for an export made by a program.
    let mut wrong = camera.clone();
    wrong.contract.as_mut().unwrap().period = Duration::ZERO;
    assert!(wrong.check().unwrap_err().message.contains("zero"));
    let whole = NewExport { place: ExportPlace::Whole, ..camera };
    assert!(whole.check().unwrap_err().message.contains("overwrites all other exports"));
}

#[test]
fn a_new_export_gets_the_first_gap_that_holds_it() {
    let file = parse(&format!("{HEAD}{CAMERA}{BACKUP}"));
    let layout = layout(4);
    let mut placed = file.exports(layout).unwrap();
    let gib = |count: u64| Bytes::from_kib(count << 20);
    let new = |place| NewExport { place, ..ServeFile::parse_export(BACKUP).unwrap() };
    let free = |size| new(ExportPlace::Free { size });
    assert_eq!(layout.place_new(&placed, &free(gib(1))).unwrap().offset, gib(3));
    assert!(layout.place_new(&placed, &free(gib(2))).unwrap_err().message.contains("ends at"));
    placed.remove(0);
    assert_eq!(layout.place_new(&placed, &free(gib(1))).unwrap().offset, gib(0));
    let over = new(ExportPlace::At { offset: gib(0), size: gib(2) });
    let error = layout.place_new(&placed, &over).unwrap_err();
    assert!(error.message.contains("overlap `backup`"), "{error}");
    let whole = NewExport { is_read_only: true, ..new(ExportPlace::Whole) };
    assert_eq!(layout.place_new(&placed, &whole).unwrap().size, gib(4));
}

/// The proof of a changed set of exports equals the proof of a file with the same exports.
#[test]
fn other_exports_are_bound_as_if_they_stood_in_the_file() {
    let drive = drive("flush_ns_max = 1_000_000");
    let (both, one) =
        (parse(&format!("{HEAD}{CAMERA}{BACKUP}")), parse(&format!("{HEAD}{CAMERA}")));
    let exports = both.exports(layout(4)).unwrap();
    let same = |a: &ServeFile, b: &ServeFile| {
        assert_eq!(a.bind(&drive).unwrap().workload, b.bind(&drive).unwrap().workload);
    };
    same(&one.with_exports(&exports), &both);
    same(&both.with_exports(&exports[..1]), &one);
    let nobody = both.with_exports(&exports[1..]).bind(&drive).unwrap();
    assert_eq!((nobody.workload.policy, nobody.flush_max), (PolicyName::Noop, None));
}

/// A serve file has the same [host] as a workload file, and keeps it when exports change.
#[test]
fn the_hosts_time_is_that_of_the_workload_to_prove() {
    let host = "[host]\nrelease = \"3ms\"\nsubmit = \"1ms\"\ncomplete = \"2ms\"\nreply = \"4ms\"\n";
    let file = parse(&format!("{HEAD}{host}{CAMERA}"));
    let ms = Duration::from_ms;
    let stated = HostTime { release: ms(3), submit: ms(1), complete: ms(2), reply: ms(4) };
    let exports = file.exports(layout(8)).unwrap();
    let whole = file.with_exports(&exports);
    // A flush passes the host even if the drive has nothing to do for it.
    for (file, flush) in [(&file, "1_000_000"), (&whole, "1_000_000"), (&file, "0")] {
        let bound = file.bind(&drive(&format!("flush_ns_max = {flush}"))).unwrap();
        assert_eq!(bound.workload.host, Host::Stated(stated));
        // A batch and its flush pass the host one after the other.
        let seen = bound.workload.planned().table.time_max(1);
        assert_eq!(seen, bound.workload.table.time_max(1) + ms(2 * 3));
    }
    let (message, place) = fault(&format!("{HEAD}[host]\nrelaese = \"1ms\"\n{CAMERA}"));
    assert!(message.contains("did you mean `release`"), "{message}");
    assert_eq!(place, "relaese");
}
