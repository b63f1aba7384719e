// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The files of an import: the given files, and the files that they name.
//!
//! A name is searched for among the given files, then beside the file that contains it. If it is
//! not found, the only file of the right kind among the given files is used instead, or else the
//! only one beside the naming file. Every file is read once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use super::content::FileKind;
use super::error::ImportError;
use super::files::{Files, is_no_text};
use super::parse::parse;
use super::report::Report;
use super::tree::{Block, Tree};
use super::words::Span;

/// The largest number of files: no disk has more.
const FILES_MAX: usize = 512;

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) kind: FileKind,
    /// The file's content; empty for a seek curve.
    pub(crate) tree: Tree,
}

/// The file that a name led to, and how it was found if not directly by its name.
pub(crate) struct Found {
    pub(crate) document: Rc<Document>,
    pub(crate) how: Option<String>,
}

/// The files of an import.
pub(crate) struct Library<'a> {
    files: &'a dyn Files,
    read: RefCell<BTreeMap<PathBuf, Rc<Document>>>,
    given: Vec<Rc<Document>>,
}

impl Document {
    /// Returns the file's name without its folder.
    pub(crate) fn name(&self) -> String {
        file_name(&self.path)
    }

    /// Returns the file's blocks of this kind.
    pub(crate) fn blocks_of(&self, kind: FileKind) -> impl Iterator<Item = &Rc<Block>> {
        let is_it = move |block: &&Rc<Block>| FileKind::of_block(block.kind.of(&self.text)) == kind;
        self.tree.blocks().filter(is_it)
    }

    /// Returns whether the file contains anything of this kind.
    fn has(&self, kind: FileKind) -> bool {
        self.kind == kind || self.blocks_of(kind).next().is_some()
    }

    /// Returns an error about a place in this file.
    pub(crate) fn fault(
        &self,
        place: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> ImportError {
        let error = tidegate_model::FileError::new(place.range(), message, help);
        ImportError::faulty(&self.path, &self.text, error)
    }
}

impl<'a> Library<'a> {
    /// Reads the given files, and the files in the given folders.
    pub(crate) fn new(
        paths: &[PathBuf],
        files: &'a dyn Files,
        report: &mut Report,
    ) -> Result<Self, ImportError> {
        let mut library = Self { files, read: RefCell::default(), given: Vec::new() };
        for path in paths {
            match files.folder(path).map_err(|error| unreadable(path, error))? {
                None => library.give(path, report)?,
                Some(inside) => library.give_folder(&inside, report)?,
            }
        }
        Ok(library)
    }

    fn give_folder(&mut self, inside: &[PathBuf], report: &mut Report) -> Result<(), ImportError> {
        for path in inside {
            // A file in a folder was not requested by name, so an unreadable one is ignored.
            let head = self.files.head(path);
            if head.is_ok_and(|head| FileKind::of_text(&head) != FileKind::Other) {
                self.give(path, report)?;
            }
        }
        Ok(())
    }

    fn give(&mut self, path: &Path, report: &mut Report) -> Result<(), ImportError> {
        if self.given.len() >= FILES_MAX {
            return Err(ImportError::TooManyFiles { max: FILES_MAX });
        }
        match self.load(path) {
            Ok(document) if document.kind == FileKind::Other => {
                report.note(format!("{} is not a parameter file and was not used", path.display()));
            }
            // The same file twice, or a copy of it, counts once.
            Ok(document) if self.given.iter().any(|other| other.text == document.text) => (),
            Ok(document) => self.given.push(document),
            Err(ImportError::Unreadable { source, .. }) if is_no_text(&source) => {
                report.note(format!("{} was not used: {source}", path.display()));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Returns the given parameter files without copies; other files are left out.
    pub(crate) fn given(&self) -> &[Rc<Document>] {
        &self.given
    }

    /// Returns the file to which `reference` in `from` refers; it contains something of `kind`.
    pub(crate) fn resolve(
        &self,
        reference: &str,
        from: &Document,
        kind: FileKind,
    ) -> Result<Found, ImportError> {
        if let Some(document) = self.given_by_name(reference, from) {
            return Ok(Found { document, how: None });
        }
        if let Some(document) = self.beside(reference, from)? {
            return Ok(Found { document, how: Some(format!("beside {}", from.name())) });
        }
        let given = self.given.iter().filter(|document| document.has(kind));
        let given: Vec<PathBuf> = given.map(|document| document.path.clone()).collect();
        let (candidates, place) = if given.is_empty() {
            (self.kind_beside(from, kind), "beside it")
        } else {
            (given, "among the given files")
        };
        match &candidates[..] {
            [only] => {
                let how = format!("in place of `{reference}`: the only file of its kind {place}");
                Ok(Found { document: self.load(only)?, how: Some(how) })
            }
            _ => Err(ImportError::NotFound {
                reference: reference.to_owned(),
                kind,
                named_by: from.path.clone(),
                candidates,
            }),
        }
    }

    /// Returns the given file with this name; among several, the one beside `from`, or else the
    /// first.
    fn given_by_name(&self, reference: &str, from: &Document) -> Option<Rc<Document>> {
        let wanted = file_name(Path::new(reference));
        let named = || self.given.iter().filter(|document| document.name() == wanted);
        let beside = named().find(|document| document.path.parent() == from.path.parent());
        beside.or_else(|| named().next()).cloned()
    }

    /// Returns the file with this name in the folder of `from`.
    pub(crate) fn beside(
        &self,
        reference: &str,
        from: &Document,
    ) -> Result<Option<Rc<Document>>, ImportError> {
        match self.load(&folder_of(&from.path).join(reference)) {
            Ok(document) => Ok(Some(document)),
            Err(ImportError::Unreadable { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the files of this kind in the folder of `from`, recognised by their beginnings.
    fn kind_beside(&self, from: &Document, kind: FileKind) -> Vec<PathBuf> {
        let is_it = |path: &PathBuf| {
            path != &from.path
                && self.files.head(path).is_ok_and(|head| FileKind::of_text(&head) == kind)
        };
        self.siblings(from).into_iter().filter(is_it).collect()
    }

    /// Returns the files in the folder of `from`, including itself; no files if the folder is
    /// unreadable.
    pub(crate) fn siblings(&self, from: &Document) -> Vec<PathBuf> {
        let inside = self.files.folder(folder_of(&from.path)).ok().flatten();
        inside.unwrap_or_default().into_iter().map(|path| plain(&path)).collect()
    }

    /// Reads a file, or returns it if it was read before.
    pub(crate) fn load(&self, path: &Path) -> Result<Rc<Document>, ImportError> {
        let path = plain(path);
        if let Some(document) = self.read.borrow().get(&path) {
            return Ok(Rc::clone(document));
        }
        if self.read.borrow().len() >= 2 * FILES_MAX {
            return Err(ImportError::TooManyFiles { max: 2 * FILES_MAX });
        }
        let text = self.files.text(&path).map_err(|error| unreadable(&path, error))?;
        let document = Rc::new(document(path.clone(), text)?);
        self.read.borrow_mut().insert(path, Rc::clone(&document));
        Ok(document)
    }
}

fn document(path: PathBuf, text: String) -> Result<Document, ImportError> {
    let kind = FileKind::of_text(&text);
    let tree = match kind {
        FileKind::SeekCurve | FileKind::Other => Tree::default(),
        _ => parse(&text).map_err(|error| ImportError::faulty(&path, &text, error))?,
    };
    Ok(Document { path, text, kind, tree })
}

fn unreadable(path: &Path, source: io::Error) -> ImportError {
    ImportError::Unreadable { path: path.to_owned(), source }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Returns the path without `.`, so that each file has one name.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != Component::CurDir).collect()
}
