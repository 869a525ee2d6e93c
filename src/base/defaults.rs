//! Options whose defaults stand beside them.

/// Declares a struct whose fields have defaults. Each default is written only here, beside its field;
/// a field without one has the default of its type.
///
/// ```
/// mumakil_base::with_defaults! {
///     /// How a cake is baked.
///     #[derive(Debug, PartialEq)]
///     pub struct Baking {
///         /// For how many minutes.
///         pub minutes: u32 = 40,
///         /// The toppings.
///         pub toppings: Vec<String>,
///     }
/// }
/// assert_eq!(Baking::default(), Baking { minutes: 40, toppings: Vec::new() });
/// ```
#[macro_export]
macro_rules! with_defaults {
    (
        $(#[$about:meta])*
        $vis:vis struct $Struct:ident {
            $($(#[$about_field:meta])* $field_vis:vis $field:ident: $Type:ty $(= $default:expr)?,)*
        }
    ) => {
        $(#[$about])*
        $vis struct $Struct {
            $($(#[$about_field])* $field_vis $field: $Type,)*
        }

        impl Default for $Struct {
            fn default() -> Self {
                Self { $($field: $crate::with_defaults!(@value $($default)?),)* }
            }
        }
    };
    (@value $default:expr) => { $default };
    (@value) => { Default::default() };
}
