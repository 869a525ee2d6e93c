//! The groups of commands in the help. clap itself has only one list.

use std::fmt::Write as _;

/// The groups, each with its commands in the order in which they are shown.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Run and look", &["run", "live", "check", "explain", "py"]),
    ("Compare and study", &["compare", "branch", "study", "papers"]),
    ("Bring your own", &["trace", "predict", "policy", "chaos"]),
    ("Look up", &["list", "show", "course", "help", "man", "completions"]),
];

/// Returns the template of the help: clap's own, but with groups.
pub(super) fn template(command: &clap::Command) -> String {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let names = || GROUPS.iter().flat_map(|(_, names)| *names);
    let width = names().map(|name| name.len()).max().unwrap_or_default();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for name in names {
            // Take the description from the command itself. A test finds commands that are in no
            // group.
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:width$}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text + &format!("{header}Options:{header:#}\n{{options}}{{after-help}}")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_command_is_in_one_group_and_in_its_place() {
        let command = super::super::Arguments::command();
        let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
        let shown: Vec<&str> = shown.map(clap::Command::get_name).collect();
        assert_eq!(
            GROUPS.iter().flat_map(|(_, names)| *names).collect::<Vec<_>>(),
            shown.iter().collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_command_takes_one_line_of_eighty_columns() {
        let command = super::super::Arguments::command();
        let text = anstream::adapter::strip_str(&template(&command)).to_string();
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
