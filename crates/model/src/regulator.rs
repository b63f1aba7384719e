// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The names of regulators, which are fixed because files and scripts use them, and the facts that
//! distinguish them.

names! {
    /// The regulators, which wrap a policy and decide when requests reach it.
    pub enum RegulatorName {
        /// Limits the requests on the drive.
        DepthLimit => "depth-limit",
        /// Limits best effort to a fixed rate.
        TokenBucket => "token-bucket",
        /// Limits best effort to a rate that missed-deadline notices control.
        Mdn => "mdn",
        /// As `mdn`, but the rate grows only when a stream ends.
        MdnExtended => "mdn-extended",
        /// Limits each task by its own tokens: a task delays only itself.
        TokensPerTask => "tokens-per-task",
    }
}

impl RegulatorName {
    /// Returns whether tasks' reports about their own service change the regulator's behaviour.
    pub const fn is_steered(self) -> bool {
        match self {
            Self::Mdn | Self::MdnExtended => true,
            Self::DepthLimit | Self::TokenBucket | Self::TokensPerTask => false,
        }
    }

    /// Returns whether the end of a stream changes the regulator's behaviour.
    pub const fn hears_stream_ends(self) -> bool {
        match self {
            Self::MdnExtended => true,
            Self::Mdn | Self::DepthLimit | Self::TokenBucket | Self::TokensPerTask => false,
        }
    }

    /// Returns whether the regulator does nothing without its own parameters.
    pub const fn needs_parameters(self) -> bool {
        match self {
            Self::DepthLimit => true,
            Self::TokenBucket | Self::Mdn | Self::MdnExtended | Self::TokensPerTask => false,
        }
    }
}
