//! Words of a command that Mumakil shows, so that a user can paste the command into a shell.

use std::path::Path;

/// Returns a word quoted for a POSIX shell.
pub fn quoted(word: &str) -> String {
    if !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,+@%".contains(c)) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns the path of a file or folder quoted for a POSIX shell. The command must not read it as an
/// option, so `-a` becomes `./-a`.
pub fn quoted_path(path: &Path) -> String {
    let path = path.to_string_lossy();
    quoted(&if path.starts_with('-') { format!("./{path}") } else { path.into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_typed_as_a_shell_reads_them() {
        for (word, typed) in [
            ("--set", "--set"),
            ("sweep.seeds=20", "sweep.seeds=20"),
            ("", "''"),
            ("a b", "'a b'"),
            ("jobs[0]", "'jobs[0]'"),
            ("it's", r"'it'\''s'"),
            ("~/x", "'~/x'"),
        ] {
            assert_eq!(quoted(word), typed);
        }
    }

    #[test]
    fn a_path_is_no_option() {
        for (path, typed) in [("out/a", "out/a"), ("-a", "./-a"), ("-a b", "'./-a b'")] {
            assert_eq!(quoted_path(Path::new(path)), typed);
        }
    }
}
