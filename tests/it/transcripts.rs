//! The transcripts in `tests/cmd`: commands and their output.
//!
//! `make transcripts` writes the current output into them.

#[test]
fn commands_print_what_their_transcripts_say() {
    let state = tempfile::TempDir::new().unwrap();
    let state = state.path().to_str().unwrap();
    trycmd::TestCases::new().env("XDG_STATE_HOME", state).case("tests/cmd/*.md");
}
