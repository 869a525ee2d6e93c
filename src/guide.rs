//! The guide: a chapter for each subject, for users of Mumakil. The last chapter, [`tour`], is for
//! its developers.
//! ```text
//! src/guide/faults.md  ->  guide::faults, a module of these docs    `[policies]` links to guide::policies
//!                      ->  CHAPTERS: `mumakil help faults`
//!                      ->  tests: its transcripts are typed again, its scenarios are checked
//! ```

pub use mumakil_cli::Chapter;

/// Makes a module and an entry of [`CHAPTERS`] from each `src/guide/NAME.md`.
///
/// In a file, `[policies]` is a link to the file `policies.md`, by a definition at the end of the
/// file. In these docs it must be a link to the module. The first of two definitions counts, so the
/// macro puts its own before the text.
macro_rules! chapters {
    ($($name:ident)*) => {
        chapters!(@linked concat!($("[", stringify!($name), "]: mod@", stringify!($name), "\n"),*); $($name)*);
    };
    (@linked $links:expr; $($name:ident)*) => {
        $(
            #[doc = $links]
            #[doc = ""]
            #[doc = include_str!(concat!("guide/", stringify!($name), ".md"))]
            pub mod $name {}
        )*

        /// All chapters that `mumakil help` shows, in the best order to read them.
        pub const CHAPTERS: &[Chapter] = &[$(Chapter::new(
            stringify!($name),
            include_str!(concat!("guide/", stringify!($name), ".md")),
        )),*];
    };
}

chapters! {
    results
    scenario
    workloads
    traces
    policies
    faults
    studies
    clusters
    metrics
    time
    external
    extending
    differences
    exits
    tour
}

/// Returns the chapter with this name.
pub fn chapter(name: &str) -> Option<&'static Chapter> {
    CHAPTERS.iter().find(|chapter| chapter.name == name)
}

/// Every key of scenarios and studies. In a terminal, `mumakil show reference` shows them, and with
/// them the policies that your own program adds.
#[doc = include_str!("guide/reference.md")]
pub mod reference {}
