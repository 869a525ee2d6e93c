//! Options that differ from their defaults and change nothing as the others are.

use mumakil_core::mapred::Complaint;

/// An option, whether it is said and changes nothing, why that is so, and what would let it matter.
pub type Idle = (&'static str, bool, &'static str, &'static str);

/// Warns of the options of a policy that change nothing.
pub fn idle(policy: &str, options: impl IntoIterator<Item = Idle>) -> Vec<Complaint> {
    let idle = options.into_iter().filter(|(_, is_idle, ..)| *is_idle);
    let warning = |(option, _, why, cure): Idle| Complaint {
        path: vec![option.to_owned()],
        message: format!("`{option}` of `{policy}` has no effect, since {why}"),
        hint: format!("{cure}, or leave it out"),
        is_warning: true,
    };
    idle.map(warning).collect()
}
