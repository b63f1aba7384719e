// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Enums whose variants have names in files.

/// Defines an enum of names: its variants, the list `ALL`, and their texts.
#[macro_export]
macro_rules! names {
    (
        $(#[$about:meta])*
        pub enum $Name:ident { $($(#[$rule:meta])* $Variant:ident => $text:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $Name { $($(#[$rule])* $Variant,)+ }

        impl $Name {
            /// All names, in the order in which help and messages list them.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$Variant),+];

            /// Returns the name in files and on the command line.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$Variant => $text,)+ }
            }

            /// Returns the variant with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|known| known.name() == name)
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
