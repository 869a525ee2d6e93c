//! The transcripts in `tests/cmd`: commands and their output.
//!
//! `make transcripts` writes the current output into them.

#[test]
fn commands_print_what_their_transcripts_say() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
