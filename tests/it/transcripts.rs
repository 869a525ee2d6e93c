//! The transcripts in `tests/cmd`: what is typed and what is printed.
//!
//! `make transcripts` writes what is printed now.

#[test]
fn commands_print_what_their_transcripts_say() {
    trycmd::TestCases::new().case("tests/cmd/*.md");
}
