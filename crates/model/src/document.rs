// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of a workload file, parsed and not yet understood: one part speaks of the disk, the
//! other of the processor, and each is read by the crate that knows it.

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

use crate::file_error::FileError;

/// Tables of one TOML document, with their places in the text.
#[derive(Debug, Clone)]
pub struct Document<'t> {
    tables: Spanned<DeTable<'t>>,
}

impl<'t> Document<'t> {
    /// Parses a text.
    ///
    /// # Errors
    /// The first fault of syntax, with its place.
    pub fn parse(text: &'t str) -> Result<Self, FileError> {
        let tables = DeTable::parse(text).map_err(|error| FileError::from_toml(&error))?;
        Ok(Self { tables })
    }

    /// Takes out what speaks of a processor: `cpu`, and every name that begins with `cpu_`.
    #[must_use = "what is taken out is no longer in the document"]
    pub fn take_processor(&mut self) -> Self {
        let span = self.tables.span();
        let tables = std::mem::take(self.tables.get_mut());
        let (processor, disk) = tables.into_iter().partition(|(key, _)| {
            let key: &str = key.get_ref();
            key == "cpu" || key.starts_with("cpu_")
        });
        self.tables = Spanned::new(span.clone(), disk);
        Self { tables: Spanned::new(span, processor) }
    }

    /// Whether nothing is left in it.
    pub fn is_empty(&self) -> bool {
        self.tables.get_ref().is_empty()
    }

    /// Reads what is in it.
    ///
    /// # Errors
    /// The first thing that is not as `T` wants it, with its place.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, FileError> {
        T::deserialize(Deserializer::from(self.tables))
            .map_err(|error| FileError::from_toml(&error))
    }
}
