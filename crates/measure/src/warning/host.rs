// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Warnings about the kernel and the device that are known before the first request is sent.

use tidegate_device::{DeviceFacts, WriteCache};
use tidegate_model::Bytes;

use super::Warning;

/// Returns the warnings that follow from the facts about the device alone.
pub(crate) fn about_host(
    facts: &DeviceFacts,
    writes: bool,
    size: Bytes,
    depth: u32,
) -> Vec<Warning> {
    let split = facts.splits(size).map(|splitting| Warning::Split { size, splitting });
    let has_cache = facts.write_cache == Some(WriteCache::WriteBack) && writes;
    let cache = has_cache.then_some(Warning::WriteCache);
    [virtual_disk(facts), split, scheduler(facts), hidden_depth(facts, depth), cache]
        .into_iter()
        .flatten()
        .chain(facts.natures.iter().cloned().map(Warning::Layered))
        .collect()
}

fn virtual_disk(facts: &DeviceFacts) -> Option<Warning> {
    let device = facts.device.clone().filter(|_| facts.is_virtual())?;
    Some(Warning::VirtualDisk { device })
}

fn scheduler(facts: &DeviceFacts) -> Option<Warning> {
    let name = facts.scheduler.clone().filter(|name| name != "none")?;
    Some(Warning::Scheduler { name, device: facts.device.clone()? })
}

fn hidden_depth(facts: &DeviceFacts, depth: u32) -> Option<Warning> {
    let accepted = accepted(facts)?;
    (accepted < depth).then_some(Warning::DepthHidden { depth, accepted })
}

/// Returns the largest number of requests that can reach the device at the same time; `None` if the
/// kernel does not report it.
pub(crate) fn accepted(facts: &DeviceFacts) -> Option<u32> {
    [facts.queue_depth, facts.requests_max].into_iter().flatten().filter(|&count| count > 0).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_device_gives_no_warning() {
        let facts = DeviceFacts {
            device: Some("sda".to_owned()),
            scheduler: Some("none".to_owned()),
            request_size_max: Some(Bytes::from_kib(1280)),
            requests_max: Some(64),
            queue_depth: Some(32),
            write_cache: Some(WriteCache::WriteBack),
            ..DeviceFacts::default()
        };
        assert_eq!(about_host(&facts, false, Bytes::from_kib(128), 32), []);
    }

    #[test]
    fn whatever_the_kernel_does_to_requests_is_said() {
        let facts = DeviceFacts {
            device: Some("sda".to_owned()),
            driver: Some("virtio_scsi".to_owned()),
            scheduler: Some("bfq".to_owned()),
            request_size_max: Some(Bytes::from_kib(64)),
            queue_depth: Some(1),
            write_cache: Some(WriteCache::WriteBack),
            ..DeviceFacts::default()
        };
        let warnings = about_host(&facts, true, Bytes::from_kib(128), 32);
        let texts: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        let expected = [
            "hypervisor provides sda",
            "into 2 of at most 64KiB",
            "/sys/block/sda/queue/scheduler",
            "--depth 1",
            "volatile write cache",
        ];
        assert_eq!(texts.len(), expected.len(), "{texts:?}");
        for (text, expected) in texts.iter().zip(expected) {
            assert!(text.contains(expected), "{text}");
        }
    }
}
