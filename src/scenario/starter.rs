//! The scenarios and studies that are built into the binary, to be run by name, read, copied and
//! changed.

use super::draft::Draft;

/// A scenario or a study that is built into the binary.
#[derive(Clone, Copy, Debug)]
pub struct Starter {
    /// The name of the starter.
    pub name: &'static str,
    /// The text of the starter, in YAML.
    pub text: &'static str,
}

/// Returns the text of a file of the repository's `scenarios/`, which is built into the binary.
#[macro_export]
#[doc(hidden)]
macro_rules! bundled_text {
    ($folder:literal $name:literal) => {
        const { $crate::bundled_files::text(concat!($folder, $name, ".yaml")) }
    };
}

/// Returns files of a folder of `scenarios/` as a list of [`Starter`]s.
#[macro_export]
#[doc(hidden)]
macro_rules! bundled {
    ($folder:literal: $($name:literal)*) => {
        &[$($crate::Starter { name: $name, text: $crate::bundled_text!($folder $name) }),*]
    };
}

/// The starters, in the order in which a user should read them.
pub const STARTERS: &[Starter] = bundled!("":
    "quickstart" "commit-pending" "faults" "fb2009-like"
    "oversubscribed" "page-cache"
    "scaling-study" "scaling-study-batch" "heartbeat-latency" "shoot-out" "capacity-planning"
    "heavy-tails" "wrong-sizes" "deadlines" "resources" "preemption" "offers" "reduces-by-place" "quincy"
    "wait-or-kill" "unlike-racks" "skewed-reduces"
    "frameworks" "paid-slots" "plans" "deadline-slots" "skewed-maps" "victims"
    "yarn" "yarn-scaling"
);

/// The exercises of the course, in the order of its lessons. They are no starters: an exercise is a
/// scenario whose expectations do not hold yet.
pub const EXERCISES: &[Starter] = bundled!("course/":
    "exercise-1" "exercise-2" "exercise-3" "exercise-4" "exercise-5"
);

impl Starter {
    /// Returns the starter or the exercise with this name, if there is one.
    pub fn find(name: &str) -> Option<&'static Self> {
        Self::named().find(|starter| starter.name == name)
    }

    /// Returns all starters, and then all exercises.
    pub fn named() -> impl Iterator<Item = &'static Self> {
        STARTERS.iter().chain(EXERCISES)
    }

    /// Returns the question that the starter answers: the first line of its text.
    pub fn question(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches(['#', ' '])
    }

    /// Returns whether the starter is a study: a scenario with a `sweep`.
    pub fn is_study(&self) -> bool {
        Draft::of(self.name, self.text).is_ok_and(|draft| draft.is_study())
    }
}
