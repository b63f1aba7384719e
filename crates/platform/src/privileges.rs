// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Advice for a user whose request the kernel has refused; root gets different advice.

/// Returns `as_user`; for root, returns the possible reasons why root lacks a permission.
pub fn advice(as_user: &'static str) -> &'static str {
    advice_to(rustix::process::geteuid().is_root(), as_user)
}

const fn advice_to(is_root: bool, as_user: &'static str) -> &'static str {
    if is_root {
        "this is root already, so a container, a security module or a limit withholds it"
    } else {
        as_user
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_not_told_to_become_root() {
        assert_eq!(advice_to(false, "run as root"), "run as root");
        assert!(!advice_to(true, "run as root").contains("run as root"));
    }
}
