// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A recorder in one process, without a server: each export with a contract writes one frame per
//! period; every other export reads as fast as it can.
//!
//! ```text
//! cargo run --release -p tidegate-engine --example recorder -- workloads/recorders.serve.toml [SECONDS]
//! ```
//! Exits with 1 if a frame was not on the medium by its deadline.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tidegate_engine::serve::Prepared;
use tidegate_engine::service::{CallError, Export, ExportContract, NoticeKind};

/// The results of one camera.
struct Recorded {
    frames: u64,
    missed: u64,
    longest: Duration,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().unwrap_or_else(|| "workloads/recorders.serve.toml".to_owned());
    let seconds = arguments.next().map_or(Ok(10), |text| text.parse())?;

    // Fails if a contract cannot be proved.
    let service = Prepared::read(Path::new(&file))?.open(false)?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut is_kept = true;
    std::thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        let mut cameras = Vec::new();
        for (spec, bound) in service.exports().iter().zip(service.bounds()) {
            let export = service.export(&spec.name).ok_or("it was offered")?;
            match spec.contract.clone() {
                Some(contract) => {
                    let camera = scope.spawn(move || record(&export, &contract, end));
                    cameras.push((spec.name.clone(), bound, camera));
                }
                None => {
                    scope.spawn(move || read_all(&export, end));
                }
            }
        }
        for (name, bound, camera) in cameras {
            let Recorded { frames, missed, longest } =
                camera.join().map_err(|_| "a camera panicked")??;
            let proved = bound.map_or_else(String::new, |bound| format!(", proved {bound}"));
            println!("{name}: {frames} frames, {missed} missed, longest {longest:.3?}{proved}");
            is_kept &= missed == 0;
        }
        Ok(())
    })?;
    service.stop()?;
    Ok(ExitCode::from(u8::from(!is_kept)))
}

/// Writes one frame per period, and starts again at the export's beginning when it is full.
fn record(export: &Export, contract: &ExportContract, end: Instant) -> Result<Recorded, CallError> {
    let size = contract.size_max.get();
    let frame = vec![7; usize::try_from(size).expect("a frame fits into memory")];
    // At least one slot: an export is at least as large as its contract's requests.
    let slots = export.spec().size.get() / size;
    let period = Duration::from_nanos(contract.period.ns());
    let mut recorded = Recorded { frames: 0, missed: 0, longest: Duration::ZERO };
    let mut next = Instant::now();
    while next < end {
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        let offset = recorded.frames % slots * size;
        // Submits the frame; a camera would take the next picture meanwhile.
        let pending = export.submit_write(offset, &frame, true)?;
        let answered = pending.wait()?;
        if answered.response > contract.deadline {
            recorded.missed += 1;
            export.notice(NoticeKind::DeadlineMissed);
        }
        recorded.frames += 1;
        recorded.longest = recorded.longest.max(Duration::from_nanos(answered.response.ns()));
        next += period;
    }
    Ok(recorded)
}

/// Keeps sixteen reads outstanding, like a backup.
fn read_all(export: &Export, end: Instant) -> Result<(), CallError> {
    let size = export.size_max().get();
    let length = usize::try_from(size).expect("a request fits into memory");
    let mut data = vec![0; length];
    let mut offsets = (0..export.spec().size.get() / size).map(|slot| slot * size).cycle();
    let mut pending = std::collections::VecDeque::new();
    while Instant::now() < end {
        while pending.len() < 16 {
            let offset = offsets.next().expect("an endless walk");
            pending.push_back(export.submit_read(offset, length)?);
        }
        if let Some(oldest) = pending.pop_front() {
            oldest.wait(&mut data)?;
        }
    }
    Ok(())
}
