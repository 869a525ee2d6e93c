//! Enums of which each value has a word, in tables, files and sentences.

/// Declares such an enum. The word of a value stands beside it, and nowhere else.
///
/// ```
/// mumakil_results::worded! {
///     /// How a coin fell.
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub enum Fall {
///         /// The side with a face.
///         Heads = "heads",
///         /// The other side.
///         Tails = "tails",
///     }
/// }
/// assert_eq!(Fall::ALL.map(Fall::word), ["heads", "tails"]);
/// ```
#[macro_export]
macro_rules! worded {
    (
        $(#[$about:meta])*
        pub enum $Enum:ident {
            $($(#[$about_value:meta])* $Value:ident = $word:literal,)*
        }
    ) => {
        $(#[$about])*
        pub enum $Enum {
            $($(#[$about_value])* $Value,)*
        }

        impl $Enum {
            /// All of them, in their order.
            // An array of the words serves only to count the values, which macros cannot.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$Value),*];

            /// Returns its word, or words.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$Value => $word,)*
                }
            }
        }
    };
}
