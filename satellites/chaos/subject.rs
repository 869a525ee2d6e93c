//! The program whose mistakes are hunted: Mumakil, or an external policy.

use serde_json::Value as Json;
use serde_yaml::{Mapping, Value};

use super::draw::CaseDrawer;
use super::judge::{self, CaseJudge};
use mumakil_base::units::SimSpan;
use mumakil_scenario::Registry;

/// The program whose mistakes are hunted.
#[derive(Clone, Debug)]
pub enum Subject {
    /// Mumakil, with the policies in its process.
    Mumakil {
        /// The policy of all cases; if `None`, each case draws a policy.
        policy: Option<String>,
    },
    /// A policy that is an external program.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
        /// The options of the policy.
        options: Value,
        /// The real time that the program may take for an answer.
        timeout: SimSpan,
    },
}

impl Subject {
    /// Draws a case; [`with_program`](Self::with_program) puts an external policy into it later.
    pub(super) fn draw(&self, seed: u64, schema: &Json, registry: &Registry) -> Value {
        match self {
            Self::Mumakil { policy } => {
                CaseDrawer::new(seed, schema, policy.as_deref()).scenario(registry)
            }
            Self::Program { .. } => {
                // Any policy will do here, as `with_program` replaces it; `fifo` has no options.
                let mut tree = CaseDrawer::new(seed, schema, Some("fifo")).scenario(registry);
                tree["name"] = "try".into();
                // Use less than the usual 30 days, since each question to an external program takes
                // real time.
                tree["until"] = "2d".into();
                tree
            }
        }
    }

    /// Returns the case with the program as its policy, also wherever `later` changes the policy.
    pub(super) fn with_program(&self, tree: &Value) -> Value {
        let Self::Program { command, options, timeout } = self else { return tree.clone() };
        let mut external = Mapping::new();
        external.insert("command".into(), command.clone().into());
        external.insert("timeout".into(), serde_yaml::to_value(timeout).expect("a span is text"));
        if !options.is_null() {
            external.insert("options".into(), options.clone());
        }
        under(tree, &Mapping::from_iter([("external".into(), external.into())]).into())
    }

    /// Returns whether a case is run twice: every case of an external program, and one in sixteen
    /// cases of Mumakil. A hunt over Mumakil has thousands of cases, so a few repeated ones are
    /// enough.
    pub(super) const fn repeats(&self, seed: u64) -> bool {
        matches!(self, Self::Program { .. }) || seed.is_multiple_of(16)
    }

    /// Returns the judges, which look at a case in turn until one finds a mistake.
    pub(super) fn judges(&self) -> &'static [CaseJudge] {
        match self {
            Self::Mumakil { .. } => &judge::OF_MUMAKIL,
            Self::Program { .. } => &judge::OF_A_PROGRAM,
        }
    }
}

/// Returns a case with another policy.
pub(super) fn under(tree: &Value, policy: &Value) -> Value {
    let mut tree = tree.clone();
    tree["scheduler"] = policy.clone();
    let later = tree.get_mut("later").and_then(Value::as_sequence_mut);
    for scheduler in later.into_iter().flatten().filter_map(|entry| entry.get_mut("scheduler")) {
        *scheduler = policy.clone();
    }
    tree
}
