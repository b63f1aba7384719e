// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: a change of the exports harms no existing export and is reported correctly. Method: a
//! requester on its own thread, and a core in virtual time.

use std::sync::Arc;

use tidegate_device::Waker;
use tidegate_model::{Bytes, Duration, ExportSpec, NewExport, ServeFile, Time};

use super::asking::{call_at, messages, run_until};
use crate::service::call::{Awaited, CallError, CallKind};
use crate::service::connections::room_bytes;
use crate::service::core::Core;
use crate::service::harness::offered::{LAYOUT, Rules, core, share_with};
use crate::service::harness::store::Store;
use crate::service::harness::{drive_file, table};
use crate::service::inbox::Message;
use crate::service::offer::Arrangement;
use crate::service::{ChangeError, Prover, Refusal, ServiceParams, Shared, last_policy, switch};

/// `camera` has a very long period, so it takes a long time until its token is available again.
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

impl Prover for Rules {
    fn place(&self, others: &[ExportSpec], new: &NewExport) -> Result<ExportSpec, Refusal> {
        LAYOUT.place_new(others, new).map_err(|error| Refusal::new(error.message, ""))
    }

    fn prove(&self, exports: &[ExportSpec], _: Option<usize>) -> Result<Arrangement, Refusal> {
        Ok(self.arrange(exports).expect("it is proved"))
    }
}

/// A service that runs on the test's thread.
struct Fixture {
    shared: Arc<Shared>,
    core: Core<Store>,
    /// Whether the service is stopped while a change waits.
    is_ending: bool,
}

impl Fixture {
    fn new() -> Self {
        let drive = drive_file(&table(&[4, 6, 8, 10]), Duration::from_ms(1));
        let rules = Rules::new(SERVE, &drive);
        let params = rules.params();
        let core = core(&params, 1);
        let params = ServiceParams { prover: Some(Arc::new(rules)), ..params };
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

    /// Handles messages as the service's thread does.
    fn hear(&mut self) {
        for message in messages(&self.shared) {
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
        run_until(&mut self.core, until);
    }

    /// Reads an export's first block.
    fn read(&mut self, export: u64) -> Awaited {
        let released = self.core.backend().now;
        let (call, awaited) = call_at(export, CallKind::Read, export << 20, released);
        self.core.run_iteration(std::iter::once(call));
        awaited
    }
}

fn new(text: &str) -> NewExport {
    ServeFile::parse_export(text).unwrap()
}

/// Goal: an export that is admitted under the same plan before a removed one is gone does not
/// inherit the removed export's account in the policy. Method: `busy` keeps a request in flight for
/// so long that no instant is quiet; `camera`, which used its token, is removed and admitted again.
#[test]
fn who_comes_back_does_not_get_the_account_of_who_leaves() {
    let mut fixture = Fixture::new();
    let answered = fixture.read(1);
    fixture.run_until(Time::ZERO + Duration::from_ms(50));
    assert!(matches!(answered.poll(), Some((Ok(_), _))));
    fixture.core.backend_mut().faults.stalled_until = Time::ZERO + Duration::from_ms(100_000);
    let _busy = fixture.read(0);
    let removed = fixture.asked(|shared| shared.remove("camera")).unwrap();
    assert!(!removed.is_free, "no instant was quiet");
    let again = fixture.asked(|shared| shared.admit(&new(CAMERA)));
    assert!(matches!(again, Err(ChangeError::NeverQuiet { .. })), "{again:?}");
    assert_eq!(fixture.shared.offer.get().exports().len(), 2);
}

/// A change requested while the service ends is refused for that reason, not because no quiet
/// instant came.
#[test]
fn the_end_is_no_want_of_quiet_instants() {
    let mut fixture = Fixture::new();
    fixture.core.backend_mut().faults.stalled_until = Time::ZERO + Duration::from_ms(100_000);
    let _busy = fixture.read(0);
    fixture.is_ending = true;
    // The first change is already waiting when the end comes; the second is requested afterwards.
    let admitted = fixture.asked(|shared| shared.admit(&new(&CAMERA.replace("camera", "other"))));
    assert!(matches!(admitted, Err(ChangeError::Ending)), "{admitted:?}");
    let removed = fixture.asked(|shared| shared.remove("camera"));
    assert!(matches!(removed, Err(ChangeError::Ending)), "{removed:?}");
}

/// A change that does not affect the tasks takes effect immediately, however busy the drive is.
#[test]
fn best_effort_comes_and_goes_beside_a_busy_drive() {
    let mut fixture = Fixture::new();
    fixture.core.backend_mut().faults.stalled_until = Time::ZERO + Duration::from_ms(100_000);
    let _busy = fixture.read(0);
    fixture.asked(|shared| shared.admit(&new(MORE))).unwrap();
    assert!(fixture.asked(|shared| shared.remove("more")).unwrap().is_free);
}

/// Goal: an export is replaced in one step, even while its requests are outstanding. Method: its
/// requests wait at the policy and on the drive, and the new export has the same place.
#[test]
fn a_replaced_export_is_always_offered_and_its_old_requests_fail() {
    let mut fixture = Fixture::new();
    let outstanding: Vec<Awaited> = (0..200).map(|_| fixture.read(2)).collect();
    let weighted = new(&MORE.replace("more", "rest").replace("true", "true\nweight = 3"));
    let replaced = fixture.asked(|shared| shared.replace(&weighted)).unwrap();
    assert_eq!((replaced.export.offset.get(), replaced.export.share.weight), (2 << 20, 3));
    assert_eq!(replaced.offer.exports().len(), 3);
    let results: Vec<_> = outstanding.iter().filter_map(Awaited::poll).map(|it| it.0).collect();
    assert_eq!(results.len(), 200, "each has a reply");
    assert!(results.iter().any(Result::is_ok));
    assert!(results.contains(&Err(CallError::Removed)));
    assert!(matches!(fixture.read(2).poll(), Some((Err(CallError::Removed), _))));
    let of_new = fixture.read(3);
    fixture.run_until(fixture.core.backend().now + Duration::from_ms(50));
    assert!(matches!(of_new.poll(), Some((Ok(_), _))));
    let nobody = fixture.asked(|shared| shared.replace(&new(MORE)));
    assert!(matches!(nobody, Err(ChangeError::Unknown { .. })), "{nobody:?}");
}

/// Goal: exports that are admitted later stay within the promised memory. Method: a limit with room
/// for the first exports, but not for another one.
#[test]
fn an_export_that_exceeds_the_promised_memory_is_refused() {
    let Fixture { shared, .. } = Fixture::new();
    let mut shared = Arc::into_inner(shared).unwrap();
    let exports = shared.params.exports.iter();
    let takes = exports.map(|spec| room_bytes(spec, 16 << 10)).sum::<u64>();
    shared.params.requests_max = Some(Bytes::new(takes));
    let refused = shared.check(&new(MORE)).unwrap_err();
    assert!(refused.to_string().contains("the requests of all exports"), "{refused}");
    shared.params.requests_max = Some(Bytes::new(takes + (16 << 20)));
    shared.check(&new(MORE)).unwrap();
}

/// Goal: only one change waits at a time. Method: the waiting change is requested on another
/// thread, and its message is not handled.
#[test]
fn another_change_meanwhile_is_refused_at_once_and_questions_are_answered() {
    let Fixture { shared, .. } = Fixture::new();
    let another = new(&MORE.replace("more", "another"));
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| shared.admit(&new(MORE)));
        let mut heard = messages(&shared);
        while heard.is_empty() {
            std::thread::yield_now();
            heard = messages(&shared);
        }
        assert!(matches!(shared.admit(&another), Err(ChangeError::InProgress)));
        assert!(matches!(shared.remove("camera"), Err(ChangeError::InProgress)));
        assert_eq!(shared.check(&another).unwrap().offer.exports().len(), 4);
        assert_eq!(shared.offer.get().exports().len(), 3);
        let Some(Message::Change(change)) = heard.pop() else { panic!("{heard:?}") };
        change.answer.send(Ok(Time::ZERO)).unwrap();
        assert_eq!(asking.join().unwrap().unwrap().offer.exports().len(), 4);
    });
    // Now the next change can begin.
    assert!(matches!(shared.admit(&new(MORE)), Err(ChangeError::NameTaken { .. })));
}
