//! The transcripts in `tests/cmd`: commands and their output.
//!
//! `make transcripts` writes the current output into them.

#[test]
fn commands_print_what_their_transcripts_say() {
    let state = tempfile::TempDir::new().unwrap();
    let state = state.path().to_str().unwrap();
    let cases = trycmd::TestCases::new();
    cases.env("XDG_STATE_HOME", state).case("tests/cmd/*.md");
    // They list the commands and policies of all satellites, of which `tests/satellites/run` deletes one.
    if std::env::var_os("MUMAKIL_WITHOUT").is_some() {
        for name in ["check", "commands", "help", "lists"] {
            cases.skip(format!("tests/cmd/{name}.md"));
        }
    }
}
