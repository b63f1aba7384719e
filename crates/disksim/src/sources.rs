// SPDX-License-Identifier: Apache-2.0 OR MIT
//! From the name of a file to the block that is meant, through files that source others.

use std::path::PathBuf;
use std::rc::Rc;

use super::content::FileKind;
use super::error::ImportError;
use super::library::{Document, Library};
use super::report::Report;
use super::section::Section;
use super::tree::Value;

/// A longer chain of files that source each other nobody has.
const CHAIN_MAX: usize = 16;

/// The block that is the value of a parameter, here or in the file that it names.
pub(crate) fn section_of(
    holder: &Section,
    name: &str,
    kind: FileKind,
    library: &Library<'_>,
    report: &mut Report,
) -> Result<Section, ImportError> {
    let value = holder.get(name)?;
    match value {
        Value::Block(block) => Ok(holder.inner(block)),
        Value::Source(file) => {
            let found = library.resolve(holder.text(*file), &holder.document, kind)?;
            report.uses(found.document.path.clone(), kind, found.how);
            let mut chain = Chain::new(library, kind);
            chain.follow(&found.document)?;
            let first = chain.sections.into_iter().next();
            first.ok_or_else(|| {
                let message = format!("{} has no {kind}", found.document.path.display());
                holder.fault(value.span(), message, "name a file that has one")
            })
        }
        _ => Err(holder.refuse(value, name, "a block, or `source` and the name of a file")),
    }
}

/// All blocks of one kind in some files and in those that they source.
pub(crate) struct Chain<'a> {
    library: &'a Library<'a>,
    kind: FileKind,
    /// From the file that was given to the one that is looked at.
    open: Vec<PathBuf>,
    /// What was found, each once.
    pub(crate) sections: Vec<Section>,
    /// How files were found that were not simply given.
    pub(crate) ways: Vec<(PathBuf, String)>,
    /// Files that are nowhere.
    pub(crate) not_found: Vec<ImportError>,
}

impl<'a> Chain<'a> {
    pub(crate) fn new(library: &'a Library<'a>, kind: FileKind) -> Self {
        Self {
            library,
            kind,
            open: Vec::new(),
            sections: Vec::new(),
            ways: Vec::new(),
            not_found: Vec::new(),
        }
    }

    /// Collects from a file and from all that it sources.
    pub(crate) fn follow(&mut self, document: &Rc<Document>) -> Result<(), ImportError> {
        self.open.push(document.path.clone());
        for block in document.blocks_of(self.kind) {
            let section = Section { document: Rc::clone(document), block: Rc::clone(block) };
            // A copy of a file elsewhere has the same disk.
            let is_known = |known: &Section| {
                known.name() == section.name() && known.document.text == document.text
            };
            if !self.sections.iter().any(is_known) {
                self.sections.push(section);
            }
        }
        for source in document.tree.sources() {
            self.follow_source(document, source)?;
        }
        self.open.pop();
        Ok(())
    }

    fn follow_source(
        &mut self,
        document: &Rc<Document>,
        source: super::words::Span,
    ) -> Result<(), ImportError> {
        let name = source.of(&document.text);
        let found = match self.library.resolve(name, document, self.kind) {
            Ok(found) => found,
            Err(error @ ImportError::NotFound { .. }) => {
                self.not_found.push(error);
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if self.open.contains(&found.document.path) || self.open.len() >= CHAIN_MAX {
            return Err(document.fault(
                source,
                format!("`{name}` leads back to this file, or on and on"),
                "a file that sources itself says nothing: remove the line",
            ));
        }
        if let Some(how) = found.how {
            self.ways.push((found.document.path.clone(), how));
        }
        self.follow(&found.document)
    }
}
