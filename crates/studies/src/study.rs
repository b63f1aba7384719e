// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Finds studies: those that the program contains, and those in folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use tidegate_model::did_you_mean;

use crate::file::StudyFile;

/// The name of the study file in its folder.
const FILE: &str = "study.toml";

/// The folders of `studies/` with the names and texts of their files.
const BUILT_IN: &[(&str, &[(&str, &str)])] = include!(concat!(env!("OUT_DIR"), "/studies.rs"));

/// A study: its file, and the other files in its folder.
#[derive(Debug, Clone)]
pub struct Study {
    /// The name of the study's folder.
    pub name: String,
    pub(crate) file: StudyFile,
    pub(crate) texts: BTreeMap<String, String>,
}

/// The reason why a study cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyFault {
    /// Neither a study of the program nor a folder has this name.
    #[error("there is no study `{name}`")]
    Unknown {
        /// The name that the user gave.
        name: String,
        /// A known study with a similar name, if there is one.
        meant: Option<String>,
    },
    /// Two of the named studies have the same name, under which results are written.
    #[error("the study `{0}` is named twice")]
    Twice(String),
    /// A folder's files cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file that cannot be read.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The study file is faulty.
    #[error("{study}/{FILE}: {message}")]
    Faulty {
        /// The study's name.
        study: String,
        /// The description of the fault.
        message: String,
    },
}

impl StudyFault {
    /// Returns advice for the user.
    pub fn help(&self) -> String {
        match self {
            Self::Unknown { meant, .. } => {
                let meant = meant.as_ref().map(|it| format!("did you mean `{it}`? "));
                meant.unwrap_or_default()
                    + "`tidegate reproduce --list` shows all studies; a folder with a study.toml is one, too"
            }
            Self::Twice(..) => "name each study once".to_owned(),
            Self::Unreadable { .. } => "name a folder of text files that can be read".to_owned(),
            Self::Faulty { .. } => "docs/reference/studies.md describes the file".to_owned(),
        }
    }
}

/// Returns every study that the program contains, ordered by name.
///
/// # Errors
/// [`StudyFault::Faulty`]; a test ensures that this does not happen.
pub fn all() -> Result<Vec<Study>, StudyFault> {
    let of_texts = |texts: &[(&str, &str)]| {
        texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    };
    BUILT_IN.iter().map(|(name, texts)| Study::new(name, of_texts(texts))).collect()
}

impl Study {
    /// Returns the study called `name`: one that the program contains, or one in a folder.
    ///
    /// # Errors
    /// [`StudyFault`].
    pub fn named(name: &str) -> Result<Self, StudyFault> {
        let folder = Path::new(name);
        if folder.join(FILE).is_file() {
            return Self::from_folder(folder);
        }
        let found = all()?.into_iter().find(|study| study.name == name);
        found.ok_or_else(|| StudyFault::Unknown {
            name: name.to_owned(),
            meant: did_you_mean::closest(name, BUILT_IN.iter().map(|it| it.0)).map(str::to_owned),
        })
    }

    /// Returns the studies with these names, in the same order.
    ///
    /// # Errors
    /// [`StudyFault`].
    pub fn all_named(names: &[String]) -> Result<Vec<Self>, StudyFault> {
        let mut studies: Vec<Self> = Vec::new();
        for name in names {
            let study = Self::named(name)?;
            if studies.iter().any(|other| other.name == study.name) {
                return Err(StudyFault::Twice(study.name));
            }
            studies.push(study);
        }
        Ok(studies)
    }

    /// Reads a study from a folder.
    ///
    /// # Errors
    /// [`StudyFault`].
    pub fn from_folder(folder: &Path) -> Result<Self, StudyFault> {
        let unreadable =
            |path: &Path, source| StudyFault::Unreadable { path: path.to_owned(), source };
        let mut texts = BTreeMap::new();
        for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
            let path = entry.map_err(|error| unreadable(folder, error))?.path();
            if path.is_file() {
                let text =
                    std::fs::read_to_string(&path).map_err(|error| unreadable(&path, error))?;
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                texts.insert(name, text);
            }
        }
        let name = folder.canonicalize().map_err(|error| unreadable(folder, error))?;
        Self::new(&name.file_name().unwrap_or_default().to_string_lossy(), texts)
    }

    fn new(name: &str, texts: BTreeMap<String, String>) -> Result<Self, StudyFault> {
        let faulty = |message: String| StudyFault::Faulty { study: name.to_owned(), message };
        let text = texts.get(FILE).ok_or_else(|| faulty("the file is missing".to_owned()))?;
        let file: StudyFile = toml::from_str(text).map_err(|error| faulty(error.to_string()))?;
        file.check().map_err(faulty)?;
        Ok(Self { name: name.to_owned(), file, texts })
    }

    /// Returns the study's title, on one line.
    pub fn title(&self) -> &str {
        &self.file.title
    }

    /// Returns the figures, tables and sections that the study reproduces.
    pub fn items(&self) -> &[String] {
        &self.file.items
    }
}
