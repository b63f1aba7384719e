// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a change of the exports is safe for all tenants and reported correctly. Method: a
//! requester on its own thread, and a core in virtual time.

use std::sync::Arc;

use tidegate_analysis::{Answer, assess};
use tidegate_device::{IoBuffer, Waker};
use tidegate_model::serve_file::Layout;
use tidegate_model::{Bytes, DriveFile, Duration, ExportSpec, Lba, NewExport, ServeFile, Time};

use crate::serve::arrangement;
use crate::service::call::{Awaited, Call, CallKind, CallPart, mailbox};
use crate::service::core::Core;
use crate::service::harness::offered::share_with;
use crate::service::harness::store::Store;
use crate::service::harness::{drive_file, params, table};
use crate::service::inbox::Message;
use crate::service::offer::{Arrangement, ExportId, Member};
use crate::service::statistics::Watch;
use crate::service::{ChangeError, Prover, Refusal, ServiceParams, Shared, last_policy, switch};

/// `camera` has a very long period, so its token takes a long time to return.
const SERVE: &str = r#"
backing = "disk"
drive = "disk.drive.toml"
size_max = "16KiB"
[[export]]
name = "busy"
size = "1MiB"
contract = { period = "100ms", size_max = "16KiB" }
[[export]]
name = "camera"
size = "1MiB"
contract = { period = "600s", deadline = "100ms", size_max = "16KiB" }
[[export]]
name = "rest"
size = "1MiB"
best_effort = true
"#;

const CAMERA: &str = "name = \"camera\"\nsize = \"1MiB\"\n\
    contract = { period = \"600s\", deadline = \"100ms\", size_max = \"16KiB\" }\n";

const MORE: &str = "name = \"more\"\nsize = \"1MiB\"\nbest_effort = true\n";

const BATCH_MS: [u64; 4] = [4, 6, 8, 10];

const LAYOUT: Layout = Layout { size: Bytes::from_kib(4 << 10), alignment: Bytes::new(512) };

/// The rules of [`SERVE`].
#[derive(Debug)]
struct Rules {
    file: ServeFile,
    drive: DriveFile,
}

impl Prover for Rules {
    fn place(&self, others: &[ExportSpec], new: &NewExport) -> Result<ExportSpec, Refusal> {
        LAYOUT.place_new(others, new).map_err(|error| Refusal::new(error.message, ""))
    }

    fn prove(&self, exports: &[ExportSpec], _: Option<usize>) -> Result<Arrangement, Refusal> {
        let workload = self.file.with_exports(exports).bind(&self.drive).unwrap().workload;
        let assessment = assess(&workload, workload.policy);
        assert_eq!(assessment.answer, Answer::Proven);
        assert!(assessment.tasks.iter().all(|task| task.response_max.is_some()));
        Ok(arrangement(&workload, &assessment, exports))
    }
}

/// A service whose thread is the test's.
struct Bench {
    shared: Arc<Shared>,
    core: Core<Store>,
    /// Whether the service is asked to stop while a change waits.
    is_ending: bool,
}

impl Bench {
    fn new() -> Self {
        let table = table(&BATCH_MS);
        let file = ServeFile::parse(SERVE).unwrap();
        let drive = DriveFile::parse(&drive_file(&table, Duration::from_ms(1))).unwrap();
        let exports = file.exports(LAYOUT).unwrap();
        let rules = Rules { file, drive };
        let arrangement = rules.prove(&exports, None).unwrap();
        let members = Member::of_exports(&exports, &arrangement.bounds);
        let params = ServiceParams {
            arrangement: arrangement.clone(),
            prover: Some(Arc::new(rules)),
            ..params(exports, arrangement.policy, &table)
        };
        let policy = params.policy(&arrangement).unwrap();
        let watch = Watch::new(Some(arrangement.plan.table.clone()));
        let window = arrangement.window as usize;
        let core = Core::new(Store::pseudo(&table, 4 * 256, 1), policy, &members, window, watch);
        Self { shared: share_with(params, Waker::new().unwrap()), core, is_ending: false }
    }

    /// Requests a change on another thread and returns its result. Time advances only while the
    /// change waits for its instant.
    fn asked<T: Send>(&mut self, ask: impl FnOnce(&Shared) -> T + Send) -> T {
        let shared = self.shared.clone();
        std::thread::scope(|scope| {
            let asking = scope.spawn(move || ask(&shared));
            while !asking.is_finished() {
                self.hear();
                std::thread::yield_now();
            }
            asking.join().unwrap()
        })
    }

    /// Handles messages like the service's thread.
    fn hear(&mut self) {
        let (mut messages, mut latest) = (Vec::new(), Time::ZERO);
        self.shared.inbox.take(&mut messages, &mut latest);
        for message in messages {
            match message {
                Message::Ask { exports, answer } => {
                    let _ = answer.send(self.core.statistics_of(&exports));
                }
                Message::Close { export } => self.core.close(export),
                Message::Change(change) => {
                    let until = change.until;
                    self.core.switch(switch(&self.shared.params, *change));
                    if self.is_ending {
                        self.core.run_iteration(std::iter::empty());
                        self.core.wind_down(last_policy(&self.shared.params));
                    } else {
                        self.run_until(until);
                    }
                }
                _ => unreachable!("the tests do not send it"),
            }
        }
    }

    fn run_until(&mut self, until: Time) {
        self.core.run_iteration(std::iter::empty());
        while self.core.backend().now < until {
            self.core.wait_until(Some(until));
            self.core.run_iteration(std::iter::empty());
        }
    }

    /// Reads an export's first block.
    fn read(&mut self, export: u64) -> Awaited {
        let (size, released) = (Bytes::from_kib(16), self.core.backend().now);
        let (answer, awaited) = mailbox();
        let (start, data) = (Lba::new(export << 11), Some(IoBuffer::new(size)));
        let parts = vec![CallPart { start, size, data }];
        let (export, kind) = (ExportId(export), CallKind::Read);
        self.core.run_iteration(std::iter::once(Call { export, kind, released, parts, answer }));
        awaited
    }
}

fn new(text: &str) -> NewExport {
    ServeFile::parse_export(text).unwrap()
}

/// Goal: if an export is replaced, under the same plan, before it is gone, the new one does not get
/// its account in the policy. Method: `busy` keeps a request in flight for so long that no instant
/// is quiet; `camera`, which used its token, is removed and admitted again.
#[test]
fn who_comes_back_does_not_get_the_account_of_who_leaves() {
    let mut bench = Bench::new();
    let answered = bench.read(1);
    bench.run_until(Time::ZERO + Duration::from_ms(50));
    assert!(matches!(answered.poll(), Some((Ok(_), _))));
    bench.core.backend_mut().faults.stalled_until = Time::ZERO + Duration::from_ms(100_000);
    let _busy = bench.read(0);
    let removed = bench.asked(|shared| shared.remove("camera")).unwrap();
    assert!(!removed.is_free, "no instant was quiet");
    let again = bench.asked(|shared| shared.admit(&new(CAMERA)));
    assert!(matches!(again, Err(ChangeError::NeverQuiet { .. })), "{again:?}");
    assert_eq!(bench.shared.offer.get().exports().len(), 2);
}

/// A change requested while the service ends is refused for that reason, not for a lack of quiet
/// instants.
#[test]
fn the_end_is_no_want_of_quiet_instants() {
    let mut bench = Bench::new();
    bench.core.backend_mut().faults.stalled_until = Time::ZERO + Duration::from_ms(100_000);
    let _busy = bench.read(0);
    bench.is_ending = true;
    // The first change is waiting when the end comes; the second is requested afterwards.
    let admitted = bench.asked(|shared| shared.admit(&new(&CAMERA.replace("camera", "other"))));
    assert!(matches!(admitted, Err(ChangeError::Ending)), "{admitted:?}");
    let removed = bench.asked(|shared| shared.remove("camera"));
    assert!(matches!(removed, Err(ChangeError::Ending)), "{removed:?}");
}

/// A change that does not affect the tasks waits for nothing, however busy the drive is.
#[test]
fn best_effort_comes_and_goes_beside_a_busy_drive() {
    let mut bench = Bench::new();
    bench.core.backend_mut().faults.stalled_until = Time::ZERO + Duration::from_ms(100_000);
    let _busy = bench.read(0);
    bench.asked(|shared| shared.admit(&new(MORE))).unwrap();
    assert!(bench.asked(|shared| shared.remove("more")).unwrap().is_free);
}

/// Goal: only one change waits at a time. Method: the waiting change is requested on another
/// thread, and its message is not handled.
#[test]
fn another_change_meanwhile_is_refused_at_once_and_questions_are_answered() {
    let Bench { shared, .. } = Bench::new();
    let another = new(&MORE.replace("more", "another"));
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| shared.admit(&new(MORE)));
        let (mut messages, mut latest) = (Vec::new(), Time::ZERO);
        while messages.is_empty() {
            shared.inbox.take(&mut messages, &mut latest);
            std::thread::yield_now();
        }
        assert!(matches!(shared.admit(&another), Err(ChangeError::UnderWay)));
        assert!(matches!(shared.remove("camera"), Err(ChangeError::UnderWay)));
        assert_eq!(shared.check(&another).unwrap().offer.exports().len(), 4);
        assert_eq!(shared.offer.get().exports().len(), 3);
        let Some(Message::Change(change)) = messages.pop() else { panic!("{messages:?}") };
        change.answer.send(Ok(Time::ZERO)).unwrap();
        assert_eq!(asking.join().unwrap().unwrap().offer.exports().len(), 4);
    });
    // Now the next change may begin.
    assert!(matches!(shared.admit(&new(MORE)), Err(ChangeError::NameTaken { .. })));
}
