// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Enums with a list of their variants, and enums whose variants also have names in files. A list
//! written by hand could miss a new variant.

/// Defines an enum and the list `ALL` of its variants.
#[macro_export]
macro_rules! listed {
    (
        $(#[$about:meta])*
        $vis:vis enum $Name:ident { $($(#[$rule:meta])* $Variant:ident,)+ }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $Name { $($(#[$rule])* $Variant,)+ }

        impl $Name {
            /// All variants, in the order in which help and messages list them.
            $vis const ALL: [Self; [$(Self::$Variant),+].len()] = [$(Self::$Variant),+];
        }
    };
}

/// Defines an enum of names: its variants, the list `ALL`, and their texts.
#[macro_export]
macro_rules! names {
    (
        $(#[$about:meta])*
        pub enum $Name:ident { $($(#[$rule:meta])* $Variant:ident => $text:literal,)+ }
    ) => {
        $crate::listed! {
            $(#[$about])*
            pub enum $Name { $($(#[$rule])* $Variant,)+ }
        }

        impl $Name {
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
