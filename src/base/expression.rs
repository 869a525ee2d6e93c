//! The syntax of expressions: of what a study expects, and of a rank for jobs.
//!
//! ```text
//! mean(sojourn, scheduler=hfsp) <= 15min        token -> parse -> SyntaxNode
//! age / remaining_maps
//! ```
//! A tree knows operators, calls, filters and units, but no names: each user of the language says
//! which names there are, and answers a wrong one with an [`ExprComplaint`] at its place.

mod complaint;
mod operation;
mod parse;
mod syntax;
mod token;
mod unit;

pub use complaint::ExprComplaint;
pub use operation::{ComparisonSign, Operand, Operation, Operator, shared_unit};
pub use parse::parse;
pub use syntax::{Choice, ExprSetting, Literal, Spanned, Syntax, SyntaxNode};
pub use unit::{Unit, with_unit};
