//! Enums whose values each have a word for tables, files and sentences.

/// Declares an enum whose values each have a word. The word is written only here, beside its value.
///
/// ```
/// mumakil_base::worded! {
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
        $vis:vis enum $Enum:ident {
            $($(#[$about_value:meta])* $Value:ident = $word:literal,)*
        }
    ) => {
        $(#[$about])*
        $vis enum $Enum {
            $($(#[$about_value])* $Value,)*
        }

        impl $Enum {
            /// All values, in the order of their declaration.
            // Macros cannot count, so the length of the array of words gives the number of values.
            $vis const ALL: [Self; [$($word),*].len()] = [$(Self::$Value),*];

            /// Returns the word (or words) of the value.
            $vis const fn word(self) -> &'static str {
                match self {
                    $(Self::$Value => $word,)*
                }
            }
        }
    };
}
