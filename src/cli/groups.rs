//! The groups of commands in the help. clap itself has only one list.

use std::fmt::Write as _;

use super::{Command, CommandGroup};

impl CommandGroup {
    const ALL: [(Self, &str); 4] = [
        (Self::RunAndLook, "Run and look"),
        (Self::CompareAndStudy, "Compare and study"),
        (Self::BringYourOwn, "Bring your own"),
        (Self::LookUp, "Look up"),
    ];
}

/// Returns the template of the help: clap's own, but with groups.
pub(super) fn template(definition: &clap::Command, commands: &[Command]) -> String {
    let styles = definition.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let names = definition.get_subcommands().map(|command| command.get_name().len());
    let width = names.max().unwrap_or_default();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n\n".to_owned();
    for (group, title) in CommandGroup::ALL {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for name in commands.iter().filter(|command| command.group == group).map(|it| it.name) {
            // A command within another is shown by that one's help.
            let Some(shown) = definition.find_subcommand(name) else { continue };
            let about = shown.get_about().map(|it| it.ansi().to_string()).unwrap_or_default();
            let _ = writeln!(text, "  {literal}{name:width$}{literal:#}  {about}");
        }
        text.push('\n');
    }
    text + &format!("{header}Options:{header:#}\n{{options}}{{after-help}}")
}
