// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Resolves a file name to the intended block, through files that source others.

use std::path::PathBuf;
use std::rc::Rc;

use super::content::FileKind;
use super::error::ImportError;
use super::library::{Document, Library};
use super::report::Report;
use super::section::Section;
use super::tree::Value;

/// The longest supported chain of files that source one another.
const CHAIN_MAX: usize = 16;

/// Returns the block that is a parameter's value: the value is the block itself, or names a file
/// that contains the block.
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
                let message = format!("{} does not contain {kind}", found.document.path.display());
                holder.document.fault(value.span(), message, "name a file that contains one")
            })
        }
        _ => Err(holder.refuse(value, name, "a block, or `source` and a file name")),
    }
}

/// Collects all blocks of one kind from files and from the files that they source.
pub(crate) struct Chain<'a> {
    library: &'a Library<'a>,
    kind: FileKind,
    /// The path from the given file to the current one.
    open: Vec<PathBuf>,
    /// The blocks found, each once.
    pub(crate) sections: Vec<Section>,
    /// For files that were not given directly: how they were found.
    pub(crate) ways: Vec<(PathBuf, String)>,
    /// Files that were not found.
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

    /// Collects from a file and from all files that it sources.
    pub(crate) fn follow(&mut self, document: &Rc<Document>) -> Result<(), ImportError> {
        self.open.push(document.path.clone());
        for block in document.blocks_of(self.kind) {
            let section = Section { document: Rc::clone(document), block: Rc::clone(block) };
            // A copy of a file elsewhere describes the same disk.
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
                format!("`{name}` leads back to this file or to a chain that is too long"),
                "a file must not source itself: remove the line",
            ));
        }
        if let Some(how) = found.how {
            self.ways.push((found.document.path.clone(), how));
        }
        self.follow(&found.document)
    }
}
