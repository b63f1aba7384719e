// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The text of a workload file, parsed but not interpreted. One part describes the disk and the
//! other the processor; a separate crate interprets each part.

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

use crate::file_error::FileError;

/// The tables of one TOML document, with their positions in the text.
#[derive(Debug, Clone)]
pub struct Document<'t> {
    tables: Spanned<DeTable<'t>>,
}

impl<'t> Document<'t> {
    /// The tables of the processor part. The reader of the disk part refuses every other name that
    /// it does not know.
    const PROCESSOR: [&'static str; 5] =
        ["cpu", "cpu_task", "cpu_server", "cpu_work", "cpu_interference"];

    /// Parses a text.
    ///
    /// # Errors
    /// The first syntax error, with its position.
    pub fn parse(text: &'t str) -> Result<Self, FileError> {
        let tables = DeTable::parse(text).map_err(|error| FileError::from_toml(&error))?;
        Ok(Self { tables })
    }

    /// Takes out the processor's part: `cpu`, `cpu_task`, `cpu_server`, `cpu_work` and
    /// `cpu_interference`.
    #[must_use = "the part taken out is no longer in the document"]
    pub fn take_processor(&mut self) -> Self {
        let span = self.tables.span();
        let tables = std::mem::take(self.tables.get_mut());
        let is_processor = |key: &str| Self::PROCESSOR.contains(&key);
        let (processor, disk) =
            tables.into_iter().partition(|(key, _)| is_processor(key.get_ref().as_ref()));
        self.tables = Spanned::new(span.clone(), disk);
        Self { tables: Spanned::new(span, processor) }
    }

    /// Returns whether the document has no table left.
    pub fn is_empty(&self) -> bool {
        self.tables.get_ref().is_empty()
    }

    /// Reads the tables as a `T`.
    ///
    /// # Errors
    /// The first entry that `T` does not accept, with its position.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, FileError> {
        T::deserialize(Deserializer::from(self.tables))
            .map_err(|error| FileError::from_toml(&error))
    }
}
