// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The reasons why a disk cannot be tuned for a proof.

use tidegate_model::Bytes;

use crate::demand::Demand;
use crate::disk::Disk;
use crate::setting::{NR_REQUESTS_MAX, SCHEDULER};

/// The reason why a disk cannot be tuned: a sentence with the remedy, without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The device is built on other devices.
    #[error("`{name}` is built on {}, and only a disk has a scheduler: tune {} instead", list(.disks), list(.disks))]
    BuiltOn {
        /// The device's name.
        name: String,
        /// The devices below it.
        disks: Vec<String>,
    },
    /// The device is a loop device over a file.
    #[error("`{name}` is a file that is attached as a device: tune the disk that the file is on")]
    Loop {
        /// The device's name.
        name: String,
    },
    /// The device is one of several paths to a disk, or joins them.
    #[error(
        "the disk behind `{name}` has several paths ({}), and the requests do not pass the scheduler of a path: {}",
        list(.paths),
        instead_of_paths(.map.as_deref())
    )]
    Multipath {
        /// The name of the disk with several paths.
        name: String,
        /// The names of the paths.
        paths: Vec<String>,
        /// The name below `/dev/mapper` of the device that joins the paths, if there is one.
        map: Option<String>,
    },
    /// A device that is built on the disk sends the requests from its own threads.
    #[error(
        "`{holder}` is built on this disk and sends requests from its own threads ({kind}), so the I/O class \
         of the program is lost on the way: keep the files with contracts on a plain partition or \
         on a linear LVM volume"
    )]
    ClassLost {
        /// The device that is built on the disk.
        holder: String,
        /// `CRYPT`, or the level of a RAID array.
        kind: String,
    },
    /// The driver has no queue depth that can be set.
    #[error(
        "its driver has no queue depth that can be set (`device/queue_depth` is missing, as for NVMe), so \
         nothing limits the requests on the device: serve it with `tidegate serve` instead"
    )]
    NoDepth,
    /// The depth exceeds the host adapter's tags.
    #[error(
        "the host adapter takes only {tags} requests, and the proof is for {depth}: state queue_depth = {tags}"
    )]
    TooDeep {
        /// The number of requests that the adapter takes.
        tags: u64,
        /// The depth that the proof assumes.
        depth: u32,
    },
    /// The host adapter's tags are not enough for all of its disks.
    #[error(
        "the kernel takes requests from the scheduler before it knows of a place for them: all disks of the host \
         adapter together have a larger `device/queue_depth` than it has tags, or this one has more \
         than its equal share of them; lower the depth of the others{}",
        or_of_this_one(*depth)
    )]
    SharedTags {
        /// The depth that the proof assumes.
        depth: u32,
    },
    /// A hypervisor provides the disk.
    #[error(
        "a hypervisor provides the disk ({name}), and other machines can use the hardware below: tune it on the host"
    )]
    Hypervisor {
        /// The disk's model or driver.
        name: String,
    },
    /// The disk is behind a USB bridge.
    #[error(
        "the disk is behind a USB bridge, which can reorder requests and reset the disk: connect it by SATA or SAS"
    )]
    Usb,
    /// The disk is zoned.
    #[error(
        "the disk is zoned ({kind}), and the kernel's scheduler holds writes back for its zones: no bound covers that"
    )]
    Zoned {
        /// The kernel's name of the zone model.
        kind: String,
    },
    /// The driver has several hardware queues.
    #[error(
        "the driver has {queues} hardware queues, and each can hold requests past the scheduler: the proof is for one"
    )]
    HardwareQueues {
        /// The number of hardware queues.
        queues: usize,
    },
    /// The kernel does not offer the scheduler.
    #[error(
        "the kernel offers no `mq-deadline` for it (only {offered}): load it with `modprobe mq-deadline`"
    )]
    NoScheduler {
        /// The schedulers that the kernel offers.
        offered: String,
    },
    /// The kernel's scheduler does not support I/O classes.
    #[error("the kernel's `mq-deadline` has no `prio_aging_expire`: it is older than Linux 5.18")]
    OldKernel,
    /// The disk's write cache is on, and a task writes.
    #[error(
        "the disk's write cache is on and a task writes: a flush is sent past the scheduler, and a write is done \
         before it is on the medium; switch the cache off and measure the disk again"
    )]
    WriteCache,
    /// The kernel shares the disk by weight (`io.cost`).
    #[error(
        "`io.cost` is on for this disk ({file}), and makes requests wait outside the scheduler, where classes do \
         not count: switch it off with `echo {device} enable=0 > {file}`"
    )]
    IoCost {
        /// The kernel's configuration file.
        file: String,
        /// The disk's device numbers.
        device: String,
    },
    /// More requests can wait than the scheduler holds.
    #[error(
        "the workload can have {} requests waiting, plugs included, and the scheduler holds at most {NR_REQUESTS_MAX}",
        number(*places)
    )]
    Places {
        /// The number of requests that can wait.
        places: u64,
    },
    /// The driver splits the largest request.
    #[error(
        "the driver splits requests above {most}, and the largest has {size}: use smaller requests"
    )]
    Split {
        /// The largest request that the driver does not split.
        most: Bytes,
        /// The size of the largest request.
        size: Bytes,
    },
    /// The disk is not of the model that was measured.
    #[error(
        "the drive file was measured on `{measured}`, and this disk is `{found}`: measure this disk"
    )]
    OtherModel {
        /// The model in the drive file.
        measured: String,
        /// The model of this disk.
        found: String,
    },
}

/// Parts of driver and model names that identify a disk provided by a hypervisor.
const VIRTUAL_MARKS: [&str; 6] = ["virtio", "xen", "QEMU", "VBOX", "VMware", "Virtual"];

impl Disk {
    /// Returns every reason why this disk cannot be tuned for this demand.
    pub fn refusals(&self, demand: &Demand, measured: Option<&str>) -> Vec<Refusal> {
        let mut refusals = self.standing_refusals(demand.depth);
        if self.is_no_disk() {
            return refusals;
        }
        let mut add = |refusal: Option<Refusal>| refusals.extend(refusal);
        let is_cached = self.text("queue/write_cache").as_deref() != Some("write through");
        add((is_cached && demand.has_write_contract).then_some(Refusal::WriteCache));
        let places = demand.places;
        add((places > NR_REQUESTS_MAX).then_some(Refusal::Places { places }));
        add(self.split(demand));
        let other = measured.zip(self.model()).filter(|(measured, found)| measured != found);
        add(other
            .map(|(measured, found)| Refusal::OtherModel { measured: measured.to_owned(), found }));
        refusals
    }

    /// Returns every reason why this disk cannot be tuned for any demand, with `depth` requests on
    /// the device. Such reasons can also arise after it was tuned.
    pub fn standing_refusals(&self, depth: u32) -> Vec<Refusal> {
        if let Some(refusal) = self.multipath() {
            return vec![refusal];
        }
        let disks = self.slaves();
        if !disks.is_empty() {
            return vec![Refusal::BuiltOn { name: self.name().to_owned(), disks }];
        }
        if self.is_no_disk() {
            return vec![Refusal::Loop { name: self.name().to_owned() }];
        }
        let zoned = self.text("queue/zoned").filter(|kind| kind != "none");
        let queues = self.hardware_queues().filter(|&queues| queues != 1);
        let refusals = [
            self.hypervisor(),
            self.depth(depth),
            self.is_behind("usb").then_some(Refusal::Usb),
            zoned.map(|kind| Refusal::Zoned { kind }),
            queues.map(|queues| Refusal::HardwareQueues { queues }),
            self.scheduler(),
            self.io_cost(),
        ];
        let holders = self.holders();
        let lost = holders.iter().filter_map(Self::class_lost);
        refusals.into_iter().flatten().chain(lost).collect()
    }

    /// Returns whether the device is built on other devices or on a file.
    fn is_no_disk(&self) -> bool {
        !self.slaves().is_empty() || self.path("loop").exists()
    }

    /// Returns the refusal if the disk has several paths. The device mapper's device sends each
    /// request directly to a path's queue. All paths have the same permanent name, so a rule or a
    /// record would apply to all of them.
    ///
    /// # Source
    /// `blk_insert_cloned_request` in `block/blk-mq.c` of Linux 6.1 and 6.12.
    fn multipath(&self) -> Option<Refusal> {
        let is_map = |disk: &Self| disk.text("dm/uuid").is_some_and(|it| it.starts_with("mpath-"));
        let map = [self.clone()].into_iter().chain(self.holders()).find(is_map);
        let paths = match &map {
            Some(map) => map.slaves(),
            None => self.paths(),
        };
        let name = self.name().to_owned();
        let map_name = map.as_ref().and_then(|map| map.text("dm/name"));
        (map.is_some() || paths.len() > 1).then_some(Refusal::Multipath {
            name,
            paths,
            map: map_name,
        })
    }

    fn hypervisor(&self) -> Option<Refusal> {
        let names = [self.driver(), self.model()].into_iter().flatten();
        let is_virtual = |name: &String| VIRTUAL_MARKS.iter().any(|mark| name.contains(mark));
        names.into_iter().find(is_virtual).map(|name| Refusal::Hypervisor { name })
    }

    fn depth(&self, depth: u32) -> Option<Refusal> {
        if self.number("device/queue_depth").is_none() {
            return Some(Refusal::NoDepth);
        }
        match self.adapter_tags() {
            Some(tags) if u64::from(depth) > tags => Some(Refusal::TooDeep { tags, depth }),
            _ => (!self.has_spare_tags(depth)).then_some(Refusal::SharedTags { depth }),
        }
    }

    fn scheduler(&self) -> Option<Refusal> {
        let offered = self.text("queue/scheduler").unwrap_or_else(|| "none".to_owned());
        let words = offered.split_whitespace().map(|word| word.trim_matches(['[', ']']));
        if words.into_iter().all(|word| word != SCHEDULER) {
            return Some(Refusal::NoScheduler { offered });
        }
        let is_active = self.value("queue/scheduler").as_deref() == Some(SCHEDULER);
        let has_aging = self.path("queue/iosched/prio_aging_expire").exists();
        (is_active && !has_aging).then_some(Refusal::OldKernel)
    }

    /// Returns the refusal if the kernel shares the disk by weight (`CONFIG_BLK_CGROUP_IOCOST`).
    fn io_cost(&self) -> Option<Refusal> {
        const FILE: &str = "sys/fs/cgroup/io.cost.qos";
        let device = self.text("dev")?;
        let text = std::fs::read_to_string(self.root().at(FILE)).ok()?;
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(&*device));
        let is_on = lines.any(|rest| rest.starts_with(' ') && rest.contains("enable=1"));
        is_on.then(|| Refusal::IoCost { file: format!("/{FILE}"), device })
    }

    fn split(&self, demand: &Demand) -> Option<Refusal> {
        let most = Bytes::from_kib(self.number("queue/max_hw_sectors_kb")?);
        let size = demand.size_max;
        (size > most).then_some(Refusal::Split { most, size })
    }

    /// Returns the refusal if this device, which is built on the disk, drops the class of requests.
    fn class_lost(&self) -> Option<Refusal> {
        let uuid = self.text("dm/uuid").unwrap_or_default();
        let crypt = uuid.starts_with("CRYPT-").then(|| "CRYPT".to_owned());
        let kind = crypt.or_else(|| self.text("md/level"))?;
        Some(Refusal::ClassLost { holder: self.name().to_owned(), kind })
    }
}

/// Returns the remedy for a disk with several paths; `map` is the device that joins them.
fn instead_of_paths(map: Option<&str>) -> String {
    match map {
        Some(map) => format!("serve `/dev/mapper/{map}` with `tidegate serve` instead"),
        None => "join them with multipath, and serve the result with `tidegate serve`".to_owned(),
    }
}

/// Returns a further remedy if a proof for this depth needs more tags than the adapter has.
fn or_of_this_one(depth: u32) -> String {
    if depth > 1 { format!(", or state a queue_depth below {depth}") } else { String::new() }
}

/// Formats the number of requests that can wait; a load without a limit counts as `any number of`.
fn number(places: u64) -> String {
    if places == u64::MAX { "any number of".to_owned() } else { places.to_string() }
}

/// Formats a list, such as `sda, sdb`.
fn list(names: &[String]) -> String {
    names.join(", ")
}
