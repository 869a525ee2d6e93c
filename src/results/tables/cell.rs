//! The cells of a table: a type for each kind of column, with one rule for writing and reading.

use serde::{Serialize, Serializer};
use smol_str::SmolStr;

use mumakil_core::mapred::{Locality, SlotKind};

/// A text; short texts need no allocation.
pub type CellText = SmolStr;

/// The type of a column.
pub trait TableCell: Sized {
    /// The kind of its values.
    const KIND: CellKind;
    /// Whether a cell may be empty.
    const MAY_BE_EMPTY: bool = false;

    /// Reads a cell.
    ///
    /// # Errors
    /// Returns what was expected instead, such as `a number`.
    fn read(text: &str) -> Result<Self, &'static str>;

    /// Returns its value.
    fn value(&self) -> CellValue<'_>;
}

/// The kind of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A whole number.
    Whole,
    /// Slots times milliseconds, a whole number.
    SlotTime,
    /// A number.
    Decimal,
    /// `true` or `false`.
    Flag,
    /// Any text.
    Text,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// The value of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellValue<'a> {
    /// An empty cell.
    Empty,
    /// A whole number.
    Whole(u64),
    /// A number.
    Decimal(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A text.
    Text(&'a str),
}

impl CellValue<'_> {
    /// Returns the number of the cell; `None` if the cell is empty or is no number.
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(number as f64),
            Self::Decimal(number) => Some(number),
            Self::Empty | Self::Flag(_) | Self::Text(_) => None,
        }
    }
}

impl Serialize for CellValue<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => to.serialize_none(),
            Self::Whole(number) => to.serialize_u64(*number),
            Self::Decimal(number) => to.serialize_f64(*number),
            Self::Flag(flag) => to.serialize_bool(*flag),
            Self::Text(text) => to.serialize_str(text),
        }
    }
}

impl TableCell for u32 {
    const KIND: CellKind = CellKind::Whole;

    fn read(text: &str) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "a whole number")
    }

    fn value(&self) -> CellValue<'_> {
        CellValue::Whole((*self).into())
    }
}

/// The largest number that a cell may have, apart from slot time: an exbibyte in bytes, and more
/// milliseconds than a run can tell. So a few of them can be added up.
const MOST: u64 = 1 << 60;

impl TableCell for u64 {
    const KIND: CellKind = CellKind::Whole;

    fn read(text: &str) -> Result<Self, &'static str> {
        match text.parse() {
            Ok(number) if number <= MOST => Ok(number),
            Ok(_) => Err("a whole number up to 2^60"),
            Err(_) => Err("a whole number"),
        }
    }

    fn value(&self) -> CellValue<'_> {
        // A table that a run writes can always be read.
        CellValue::Whole((*self).min(MOST))
    }
}

/// Slots times milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotMillis(pub u64);

impl TableCell for SlotMillis {
    const KIND: CellKind = CellKind::SlotTime;

    fn read(text: &str) -> Result<Self, &'static str> {
        text.parse().map(Self).map_err(|_| "a whole number")
    }

    fn value(&self) -> CellValue<'_> {
        self.0.value()
    }
}

impl TableCell for f64 {
    const KIND: CellKind = CellKind::Decimal;

    fn read(text: &str) -> Result<Self, &'static str> {
        // Rust also parses `inf` and `NaN`, which no run writes and no statistic can use.
        text.parse().ok().filter(|number: &Self| number.is_finite()).ok_or("a number")
    }

    fn value(&self) -> CellValue<'_> {
        CellValue::Decimal(*self)
    }
}

impl TableCell for bool {
    const KIND: CellKind = CellKind::Flag;

    fn read(text: &str) -> Result<Self, &'static str> {
        text.parse().map_err(|_| "`true` or `false`")
    }

    fn value(&self) -> CellValue<'_> {
        CellValue::Flag(*self)
    }
}

impl TableCell for CellText {
    const KIND: CellKind = CellKind::Text;
    const MAY_BE_EMPTY: bool = true;

    fn read(text: &str) -> Result<Self, &'static str> {
        Ok(text.into())
    }

    fn value(&self) -> CellValue<'_> {
        CellValue::Text(self)
    }
}

impl<T: TableCell> TableCell for Option<T> {
    const KIND: CellKind = T::KIND;
    const MAY_BE_EMPTY: bool = true;

    fn read(text: &str) -> Result<Self, &'static str> {
        // An empty cell is `None`; a text that may be empty is a `CellText` instead.
        if text.is_empty() { Ok(None) } else { T::read(text).map(Some) }
    }

    fn value(&self) -> CellValue<'_> {
        self.as_ref().map_or(CellValue::Empty, T::value)
    }
}

/// Lets an enum be the type of a column. The cells hold the words of the enum's values.
macro_rules! words {
    ($Enum:ty: $($CellValue:ident)*) => {
        impl $crate::tables::TableCell for $Enum {
            const KIND: $crate::tables::CellKind =
                $crate::tables::CellKind::Words(&[$(<$Enum>::$CellValue.word()),*]);

            fn read(text: &str) -> Result<Self, &'static str> {
                let all = [$(<$Enum>::$CellValue),*];
                all.into_iter().find(|one| one.word() == text).ok_or("one of its words")
            }

            fn value(&self) -> $crate::tables::CellValue<'_> {
                $crate::tables::CellValue::Text(self.word())
            }
        }
    };
}
pub(super) use words;

words!(SlotKind: Map Reduce);
words!(Locality: Node Rack OffRack);
