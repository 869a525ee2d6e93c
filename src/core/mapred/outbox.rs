//! The output of MapReduce's cores.

use crate::mapred::message::{Mail, MapReduce};
use crate::mapred::stall::Stall;
use crate::protocol;
pub use crate::protocol::{Core, IdleState};

/// The letters and events of a core of MapReduce.
pub type Outbox = protocol::CoreOutbox<MapReduce>;
/// A message of MapReduce under way.
pub type Letter = protocol::CoreLetter<Mail>;
/// Why a run of MapReduce ends.
pub type StopReason = protocol::RunStop<Stall>;
