//! Types that a file writes in several forms: as a bare value, a list or a mapping.
//!
//! ```text
//! expect: mean(sojourn) < 15min                           text
//! expect: {that: mean(sojourn) < 15min, known_gap: …}     map
//! ```
//! A type says what it makes of each form that it has. Any other form is an error, which names what
//! is expected, at the place of the value.

/// Lets serde read a type that has several forms, and writes its entry in the JSON Schema.
///
/// The error of the file is `E` in the forms of bare values. A list and a mapping come as
/// deserializers. A generic type lists its parameters, with what reading or the schema needs of them.
#[macro_export]
#[doc(hidden)]
macro_rules! forms {
    ($Type:ty, $(of: [$($parameters:tt)*],)? expected: $expected:expr,
     $(flag: |$flag:ident| $of_flag:expr,)?
     $(text: |$text:ident| $of_text:expr,)?
     $(text or number: |$digits:ident| $of_digits:expr,)?
     $(whole: |$whole:ident| $of_whole:expr,)?
     $(number: |$number:ident| $of_number:expr,)?
     $(list: |$list:ident| $of_list:expr,)?
     $(map: |$map:ident| $of_map:expr,)?
     $(schema: $name:expr, $(of: [$($schema_parameters:tt)*],)? |$schemas:tt| $schema:expr,)?) => {
        impl<'de, $($($parameters)*)?> serde::Deserialize<'de> for $Type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct FormsVisitor<T>(std::marker::PhantomData<T>);
                impl<'de, $($($parameters)*)?> serde::de::Visitor<'de> for FormsVisitor<$Type> {
                    type Value = $Type;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expected)
                    }
                    $(fn visit_bool<E: serde::de::Error>(self, $flag: bool) -> Result<$Type, E> {
                        $of_flag
                    })?
                    $(fn visit_str<E: serde::de::Error>(self, $text: &str) -> Result<$Type, E> {
                        $of_text
                    })?
                    $(
                        fn visit_str<E: serde::de::Error>(self, $digits: &str) -> Result<$Type, E> {
                            $of_digits
                        }
                        // YAML reads `2.0` as a number; accept it without quotes.
                        fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<$Type, E> {
                            self.visit_str(&number.to_string())
                        }
                        fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$Type, E> {
                            self.visit_str(&number.to_string())
                        }
                        fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<$Type, E> {
                            self.visit_str(&number.to_string())
                        }
                    )?
                    $(fn visit_u64<E: serde::de::Error>(self, $whole: u64) -> Result<$Type, E> {
                        $of_whole
                    })?
                    $(fn visit_f64<E: serde::de::Error>(self, $number: f64) -> Result<$Type, E> {
                        $of_number
                    })?
                    $(fn visit_seq<A: serde::de::SeqAccess<'de>>(
                        self,
                        list: A,
                    ) -> Result<$Type, A::Error> {
                        let $list = serde::de::value::SeqAccessDeserializer::new(list);
                        $of_list
                    })?
                    $(fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        map: A,
                    ) -> Result<$Type, A::Error> {
                        let $map = serde::de::value::MapAccessDeserializer::new(map);
                        $of_map
                    })?
                }
                from.deserialize_any(FormsVisitor::<$Type>(std::marker::PhantomData))
            }
        }

        $(impl<$($($schema_parameters)*)?> schemars::JsonSchema for $Type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema($schemas: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $schema
            }
        })?
    };
}
