//! The packets of a trace: tracks, slices and counter values, as Perfetto's `TracePacket` has them.
//!
//! All packets are of one sequence, whose first packet interns the words that many repeat. Instants
//! are nanoseconds of virtual time, on what Perfetto takes for the clock of the trace, so that its
//! UI shows them as they are. Packets need not be in the order of time: a reader sorts them, and
//! keeps the order of the file where instants are equal.

use std::io::{self, BufWriter, Write};

use super::proto::Message;
use crate::disk::File;
use crate::units::SimTime;

/// What names a track; 0 is Perfetto's own.
pub(super) type Track = u64;

/// The words that events share. Their numbers are their places, from 1, in each of Perfetto's
/// tables of words: categories, names of events, names of arguments, and values.
const WORDS: &[&str] = &[
    "map",
    "reduce",
    "setup",
    "cleanup",
    "task-cleanup",
    "phase",
    "shuffle",
    "sort",
    "suspended",
    "commit-pending",
    "job",
    "task",
    "attempt",
    "locality",
    "speculative",
    "outcome",
    "reason",
    "node",
    "rack",
    "off-rack",
    "succeeded",
    "failed",
    "killed",
    "unfinished",
];

/// The fields of Perfetto's messages.
mod field {
    /// Of a `Trace`.
    pub(super) const PACKET: u32 = 1;

    // Of a `TracePacket`.
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const EVENT: u32 = 11;
    pub(super) const INTERNED: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const TRACK: u32 = 60;

    // Of a `TrackDescriptor`.
    pub(super) const UUID: u32 = 1;
    pub(super) const TRACK_NAME: u32 = 2;
    pub(super) const PARENT: u32 = 5;
    pub(super) const COUNTER: u32 = 8;
    pub(super) const CHILD_ORDERING: u32 = 11;
    pub(super) const RANK: u32 = 12;
    pub(super) const DESCRIPTION: u32 = 14;
    /// Of a `CounterDescriptor`.
    pub(super) const UNIT_NAME: u32 = 6;

    // Of a `TrackEvent`.
    pub(super) const CATEGORY_WORD: u32 = 3;
    pub(super) const ARGUMENT: u32 = 4;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME_WORD: u32 = 10;
    pub(super) const TRACK_UUID: u32 = 11;
    pub(super) const NAME: u32 = 23;
    pub(super) const COUNTER_VALUE: u32 = 30;
    pub(super) const FLOW: u32 = 47;
    pub(super) const FLOW_END: u32 = 48;

    // Of a `DebugAnnotation`, which is an argument.
    pub(super) const ARGUMENT_WORD: u32 = 1;
    pub(super) const BOOL: u32 = 2;
    pub(super) const UINT: u32 = 3;
    pub(super) const STRING: u32 = 6;
    pub(super) const STRING_WORD: u32 = 17;

    /// Of an `InternedData`: categories, names of events, names of arguments, values.
    pub(super) const TABLES: [u32; 4] = [1, 2, 3, 29];
    // Of what these hold.
    pub(super) const WORD_NUMBER: u32 = 1;
    pub(super) const WORD: u32 = 2;
}

/// `TYPE_SLICE_BEGIN`.
const BEGIN: u64 = 1;
/// `TYPE_SLICE_END`.
const END: u64 = 2;
/// `TYPE_INSTANT`.
const INSTANT: u64 = 3;
/// `TYPE_COUNTER`.
const COUNT: u64 = 4;
/// The number of the one sequence.
const SEQUENCE: u64 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`: here the words are.
const FIRST: u64 = 1;
/// `SEQ_NEEDS_INCREMENTAL_STATE`: words are used.
const FOLLOWS: u64 = 2;
/// Children are in the order of their ranks.
const BY_RANK: u64 = 3;

/// A file that packets are written to.
#[derive(Debug)]
pub(super) struct Packets {
    to: BufWriter<File>,
    packet: Message,
    tracks: Track,
}

/// What is to be said of a track.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TrackFacts<'a> {
    pub(super) name: &'a str,
    /// None is at the top.
    pub(super) parent: Option<Track>,
    /// The place among the parent's tracks.
    pub(super) rank: u64,
    /// What it counts in, if it is a counter.
    pub(super) unit: Option<&'a str>,
    pub(super) description: Option<&'a str>,
}

/// The beginning of a slice, as far as it is written.
pub(super) struct Slice<'a>(&'a mut Message);

impl Packets {
    /// Begins a trace with the words.
    pub(super) fn begin(file: File) -> io::Result<Self> {
        let to = BufWriter::with_capacity(1 << 16, file);
        let mut packets = Self { to, packet: Message::default(), tracks: 0 };
        packets.packet(|packet| {
            packet.uint(field::SEQUENCE_FLAGS, FIRST).message(field::INTERNED, intern);
        })?;
        Ok(packets)
    }

    /// Adds a track.
    pub(super) fn track(&mut self, facts: TrackFacts<'_>) -> io::Result<Track> {
        self.tracks += 1;
        let uuid = self.tracks;
        self.packet(|packet| {
            packet.message(field::TRACK, |track| {
                track.uint(field::UUID, uuid).text(field::TRACK_NAME, facts.name);
                if let Some(parent) = facts.parent {
                    track.uint(field::PARENT, parent);
                }
                if let Some(unit) = facts.unit {
                    track.message(field::COUNTER, |counter| {
                        counter.text(field::UNIT_NAME, unit);
                    });
                }
                track.uint(field::CHILD_ORDERING, BY_RANK).uint(field::RANK, facts.rank);
                if let Some(description) = facts.description {
                    track.text(field::DESCRIPTION, description);
                }
            });
        })?;
        Ok(uuid)
    }

    /// Begins a slice on a track, within those that have begun there; `write` says what it is.
    pub(super) fn slice(
        &mut self,
        track: Track,
        at: SimTime,
        category: &str,
        write: impl FnOnce(&mut Slice<'_>),
    ) -> io::Result<()> {
        self.event(track, at, BEGIN, |event| {
            event.uint(field::CATEGORY_WORD, number(category));
            write(&mut Slice(event));
        })
    }

    /// Ends the slice on a track that began last.
    pub(super) fn end(&mut self, track: Track, at: SimTime) -> io::Result<()> {
        self.event(track, at, END, |_| {})
    }

    /// Marks an instant on a track.
    pub(super) fn instant(&mut self, track: Track, at: SimTime, name: &str) -> io::Result<()> {
        self.event(track, at, INSTANT, |event| {
            Slice(event).name(name);
        })
    }

    /// Sets a counter.
    pub(super) fn count(&mut self, track: Track, at: SimTime, value: u64) -> io::Result<()> {
        self.event(track, at, COUNT, |event| {
            event.uint(field::COUNTER_VALUE, value);
        })
    }

    /// Writes out what is still buffered.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    fn event(
        &mut self,
        track: Track,
        at: SimTime,
        kind: u64,
        write: impl FnOnce(&mut Message),
    ) -> io::Result<()> {
        self.packet(|packet| {
            packet
                .uint(field::TIMESTAMP, at.as_micros() * 1_000)
                .uint(field::SEQUENCE_FLAGS, FOLLOWS)
                .message(field::EVENT, |event| {
                    event.uint(field::TYPE, kind).uint(field::TRACK_UUID, track);
                    write(event);
                });
        })
    }

    fn packet(&mut self, write: impl FnOnce(&mut Message)) -> io::Result<()> {
        self.packet.clear();
        self.packet.message(field::PACKET, |packet| {
            packet.uint(field::SEQUENCE, SEQUENCE);
            write(packet);
        });
        self.to.write_all(self.packet.bytes())
    }
}

impl Slice<'_> {
    /// Names the slice by one of the words.
    pub(super) fn word(&mut self, name: &str) -> &mut Self {
        self.0.uint(field::NAME_WORD, number(name));
        self
    }

    /// Names the slice.
    pub(super) fn name(&mut self, name: &str) -> &mut Self {
        self.0.text(field::NAME, name);
        self
    }

    /// Adds an argument that is a number.
    pub(super) fn number(&mut self, name: &str, value: u32) -> &mut Self {
        self.argument(name, |argument| argument.uint(field::UINT, value.into()))
    }

    /// Adds an argument that is true.
    pub(super) fn truth(&mut self, name: &str) -> &mut Self {
        self.argument(name, |argument| argument.uint(field::BOOL, 1))
    }

    /// Adds an argument that is one of the words.
    pub(super) fn value(&mut self, name: &str, word: &str) -> &mut Self {
        self.argument(name, |argument| argument.uint(field::STRING_WORD, number(word)))
    }

    /// Adds an argument that is a text.
    pub(super) fn text(&mut self, name: &str, text: &str) -> &mut Self {
        self.argument(name, |argument| argument.text(field::STRING, text))
    }

    /// Begins a flow here.
    pub(super) fn flow(&mut self, flow: u64) -> &mut Self {
        self.0.fixed(field::FLOW, flow);
        self
    }

    /// Ends a flow here, if it has begun.
    pub(super) fn flow_end(&mut self, flow: u64) -> &mut Self {
        self.0.fixed(field::FLOW_END, flow);
        self
    }

    fn argument(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Message) -> &mut Message,
    ) -> &mut Self {
        self.0.message(field::ARGUMENT, |argument| {
            argument.uint(field::ARGUMENT_WORD, number(name));
            write(argument);
        });
        self
    }
}

/// Writes the words into each of the tables. They share their numbers, which is simpler than four
/// lists and costs less than 2 KB.
fn intern(data: &mut Message) {
    for table in field::TABLES {
        for (number, word) in (1..).zip(WORDS) {
            data.message(table, |entry| {
                entry.uint(field::WORD_NUMBER, number).text(field::WORD, word);
            });
        }
    }
}

/// Returns the number of a word.
fn number(word: &str) -> u64 {
    let place = WORDS.iter().position(|other| *other == word);
    place.expect("every word that is written stands in the list") as u64 + 1
}
