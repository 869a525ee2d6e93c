//! Old names of commands, such as `schedulers` for `list schedulers`, which still work.
//!
//! They are replaced before the parser sees them: a hidden command would still appear in
//! completions.

use std::ffi::OsString;

/// Replaces the old name of a command, even if it stands after `help`.
pub(super) fn in_new_words(arguments: &mut Vec<OsString>) {
    let is_option = |argument: &OsString| argument.to_string_lossy().starts_with('-');
    let Some(at) = (1..arguments.len()).find(|at| !is_option(&arguments[*at])) else { return };
    // `help schedulers` becomes `help list`: the second word is dropped.
    if arguments[at] == "help" {
        if let Some(topic) = arguments.get_mut(at + 1)
            && let Some([command, _]) = new(topic, false)
        {
            *topic = command.into();
        }
    } else if let Some(new) = new(&arguments[at], !arguments[at + 1..].iter().all(is_option)) {
        // `schema --protocol` is called `show schema protocol` now.
        let protocol = arguments.iter_mut().filter(|argument| *argument == "--protocol");
        protocol.for_each(|argument| *argument = "protocol".into());
        arguments.splice(at..=at, new.map(OsString::from));
    }
}

/// Returns the new words for an old name; `None` for any other name. `has_more` is whether words
/// follow the name.
fn new(old: &OsString, has_more: bool) -> Option<[&'static str; 2]> {
    Some(match (old.to_str()?, has_more) {
        ("schedulers", _) => ["list", "schedulers"],
        ("quantities", _) => ["list", "quantities"],
        ("scenarios", false) => ["list", "scenarios"],
        ("scenarios", true) => ["show", "scenario"],
        ("reference", false) => ["show", "reference"],
        ("reference", true) => ["show", "key"],
        ("schema", _) => ["show", "schema"],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn help_completions_and_man_are_made_without_old_names() {
        let command = super::super::Arguments::command();
        for old in ["schedulers", "quantities", "scenarios", "reference", "schema"] {
            assert!(new(&old.into(), false).is_some() && command.find_subcommand(old).is_none());
        }
    }

    #[test]
    fn old_names_are_said_in_new_words() {
        for (old, new) in [
            ("schedulers", "list schedulers"),
            ("quantities --help", "list quantities --help"),
            ("scenarios", "list scenarios"),
            ("--no-external scenarios quickstart", "--no-external show scenario quickstart"),
            ("reference --no-external cluster.hdfs", "show key --no-external cluster.hdfs"),
            ("reference", "show reference"),
            ("schema", "show schema"),
            ("schema study", "show schema study"),
            ("schema --protocol", "show schema protocol"),
            ("help scenarios", "help list"),
            ("run scenarios", "run scenarios"),
            ("--help", "--help"),
        ] {
            let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
            let mut arguments = words(&format!("mumakil {old}"));
            in_new_words(&mut arguments);
            assert_eq!(arguments, words(&format!("mumakil {new}")));
        }
    }
}
