//! A protocol, as far as drives know it: its cores, their links, and how a run ends.
//!
//! [`MapReduce`](mumakil_core::mapred::MapReduce) is the protocol of this crate, in `mapreduce.rs`.
//! A crate above may bring another one: it says what its cores are, and gets all drives.

use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::protocol::{CoreLetter, Message, Protocol};

use super::drive::{Drive, SeatedCore};

/// A protocol whose cores can be driven.
pub trait DrivenProtocol: Protocol {
    /// The cores of a run.
    type Cores;
    /// The network between them.
    type Network;
    /// The network as one sender uses it.
    type Link: SenderLink<Self>;
    /// The messages of the *head*, the core that all others talk to, such as the JobTracker.
    type Head: Message<Protocol = Self>;
    /// The handles through which messages reach the cores.
    type Seats<D: Drive<Self>>;

    /// Gives each core its seat.
    fn seat<D: Drive<Self>>(
        cores: Self::Cores,
        network: Self::Network,
        drive: &D,
    ) -> Self::Seats<D>;

    /// Returns the seat of the head.
    fn head<D: Drive<Self>>(seats: &Self::Seats<D>) -> &D::Seat<Self::Head>;

    /// Passes a message, which was due at `at`, to its receiver.
    fn deliver<D: Drive<Self>>(seats: &Self::Seats<D>, drive: &D, at: SimTime, mail: &Self::Mail);

    /// Returns the message with which the head gives out what it has held back, at the end of a
    /// run; `None` if it holds nothing back.
    fn over() -> Option<Self::Head> {
        None
    }

    /// Returns the message that tells the head that only rounds are due; `None` if it never says
    /// that it is idle.
    fn rest() -> Option<Self::Mail> {
        None
    }

    /// Returns by how much an event changes the number of running machines.
    fn machines(_event: &Self::Event) -> i32 {
        0
    }
}

/// The network as one sender uses it.
pub trait SenderLink<P: Protocol>: Send + 'static {
    /// Returns how long a letter that is written now takes to arrive: first its second copy, then
    /// the letter itself; `None` for a copy or letter that does not arrive.
    fn delays(&mut self, now: SimTime, letter: &CoreLetter<P::Mail>) -> [Option<SimSpan>; 2];

    /// Returns whether the sender is the head, which has a thread of its own on scaled clocks.
    fn is_of_head(&self) -> bool;
}

/// A core in its seat.
pub(super) type SeatedHead<P> = SeatedCore<P, <P as DrivenProtocol>::Head>;
