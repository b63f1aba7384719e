// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Files in memory, and an invented disk for these tests.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use tidegate_disksim::{Files, Import, ImportError, import};
use tidegate_model::mechanics::Mechanics;

/// Files in memory, by path.
#[derive(Debug, Clone, Default)]
pub(crate) struct MemoryFiles(BTreeMap<PathBuf, String>);

impl Files for MemoryFiles {
    fn text(&self, path: &Path) -> io::Result<String> {
        self.0.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn folder(&self, path: &Path) -> io::Result<Option<Vec<PathBuf>>> {
        let path = if path == Path::new(".") { Path::new("") } else { path };
        let inside = self.0.keys().filter(|file| file.parent() == Some(path));
        let inside: Vec<PathBuf> = inside.cloned().collect();
        Ok((!inside.is_empty()).then_some(inside))
    }
}

impl MemoryFiles {
    pub(crate) fn with(mut self, path: &str, text: &str) -> Self {
        self.0.insert(path.into(), text.to_owned());
        self
    }

    pub(crate) fn without(mut self, path: &str) -> Self {
        self.0.remove(Path::new(path)).expect("it was there");
        self
    }

    /// Replaces one piece of a text.
    pub(crate) fn changed(mut self, path: &str, from: &str, to: &str) -> Self {
        let text = self.0.get_mut(Path::new(path)).expect("it is there");
        assert!(text.contains(from), "{from} in {path}");
        *text = text.replace(from, to);
        self
    }

    pub(crate) fn import(&self, paths: &[&str]) -> Result<Import, ImportError> {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        import(&paths, self)
    }

    pub(crate) fn imported(&self, paths: &[&str]) -> Import {
        self.import(paths).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the mechanics of the invented disk as these files describe it.
    pub(crate) fn mechanics(&self) -> Mechanics {
        *self.imported(&["d.diskspecs"]).drive.mechanics.expect("imports are mechanical")
    }

    /// Returns the error and the help of an import that fails.
    pub(crate) fn refusal(&self, paths: &[&str]) -> (String, String) {
        let error = self.import(paths).expect_err("it cannot be imported");
        (error.to_string(), error.help())
    }
}

/// Returns the invented disk, with a file for each part.
pub(crate) fn disk() -> MemoryFiles {
    MemoryFiles::default()
        .with("d.diskspecs", SPECS)
        .with("d.model", MODEL)
        .with("d.layout", LAYOUT)
        .with("d.seek", SEEK)
}

pub(crate) const SPECS: &str = "\
disksim_disk Made_Up-1 {
   Model = source d.model,
   Per-request overhead time = 0.1,
   Time scale for overheads = 2.0,
   Bulk sector transfer time = 0.005,
   Hold bus entire read xfer = 0,
   Allow almost read hits = 1,
   Allow sneaky full read hits = 0,
   Allow sneaky partial read hits = 1,
   Allow sneaky intermediate read hits = 0,
   Allow read hits on write data = 1,
   Allow write prebuffering = 1,
   Preseeking level = 0,
   Print stats = 1,
   Max queue length = 8,
   Scheduler = disksim_ioqueue {
      Scheduling policy = 14,
      Cylinder mapping strategy = 1,
      Scheduling timeout scheme = 1,
      Timeout time/weight = 3,
      Scheduling priority scheme = 1,
      Priority scheduling = 4
   }, # end of Scheduler
   Number of buffer segments = 16,
   Maximum number of write segments = 4,
   Segment size (in blks) = 128,
   Enable caching in buffer = 1,
   Buffer continuous read = 2,
   Minimum read-ahead (blks) = 7,
   Maximum read-ahead (blks) = 100,
   Read-ahead on idle hit = 1,
   Fast write level = 1,
   Immediate buffer read = 1,
   Immediate buffer write = 0,
   Combine seq writes = 1,
   Read hit over. after read = 0.01,
   Read hit over. after write = 0.02,
   Read miss over. after read = 0.03,
   Read miss over. after write = 0.04,
   Write hit over. after read = 0.05,
   Write hit over. after write = 0.06,
   Write miss over. after read = 0.07,
   Write miss over. after write = 0.08,
   Read completion overhead = 0.09,
   Write completion overhead = 0.001,
   Data preparation overhead = 0.002,
   First reselect overhead = 0.003,
   High (read) water mark = 0.25,
   Read-ahead over requested = -1,
   Read any free blocks = 1,
   Use separate write segment = 1,
   Minimum seek delay = 1.5
} # end
";

pub(crate) const MODEL: &str = "\
dm_disk Made_Up-1.model {
   Number of data surfaces = 2,
   Number of cylinders = 100,
   Block count = 19000,
   Layout Model = source d.layout,
   Mechanical Model = dm_mech_g1 {
      Access time type = trackSwitchPlusRotation,
      Seek type = extracted,
      Full seek curve = d.seek,
      Add. write settling delay = -0.25,
      Head switch time = 0.9,
      Rotation speed (in rpms) = 7200,
      Percent error in rpms = 0.5
   }
}
";

pub(crate) const LAYOUT: &str = "\
dm_layout_g1 {
   LBN-to-PBN mapping scheme = 1,
   Sparing scheme used = 2,
   Rangesize for sparing = 1,
   Zones = [
      dm_layout_g1_zone {
         First cylinder number = 0, Last cylinder number = 49, Blocks per track = 100,
         Offset of first block = 0.5, Empty space at zone front = 20,
         Skew for track switch = 10.0, Skew for cylinder switch = 20,
         Number of spares = 3, slips = [ 7, 9, 7 ], defects = [ 3 199 5 5 ]
      },
      dm_layout_g1_zone {
         First cylinder number = 50, Last cylinder number = 99, Blocks per track = 100,
         Skew units = revolutions, Offset of first block = 0.25,
         Empty space at zone front = 0,
         Skew for track switch = -0.1, Skew for cylinder switch = 0.2,
         Number of spares = 0, slips = [], defects = []
      }
   ]
}
";

pub(crate) const SEEK: &str = "Seek distances measured: 3\n1,\t0.5\n10,\t1.5\n99,\t8.0\n";

/// A system with the disk on its own bus below a controller.
pub(crate) const SYSTEM: &str = "\
disksim_bus NEAR { type = 1, Arbitration time = 0.5, Read block transfer time = 0.0512,
   Write block transfer time = 0.001 }
disksim_bus FAR { type = 1, Read block transfer time = 9, Write block transfer time = 9 }
disksim_ctlr CTLR { type = 1, Bulk sector transfer time = 0.02 }
source d.diskspecs
instantiate [ bus0 ] as FAR
instantiate [ bus1 ] as NEAR
instantiate [ c0 ] as CTLR
instantiate [ disk0 .. disk3 ] as Made_Up-1
topology disksim_iodriver driver0 [
   disksim_bus bus0 [ disksim_ctlr c0 [ disksim_bus bus1 [ disksim_disk disk2 [] ] ] ]
]
";
