//! The nodes that have a block, and the copies that maps may read.

use super::*;
use mumakil_core::mapred::{AttemptFact, CopyMade};

/// A cluster of three nodes. The first two nodes have the first map's block; the second node also
/// has the other map's block.
fn with_blocks(befall: impl FnOnce(Stream) -> Stream) -> String {
    let split = |holders: &[u32]| Split {
        bytes: Bytes::from_mib(1),
        holders: holders.iter().copied().map(TrackerId).collect(),
    };
    let input = Some(Input::Splits([split(&[0, 1]), split(&[1])].into()));
    let stream = Stream::default().up(0, 2, 1).up(1, 2, 1).up(2, 2, 1);
    let stream = befall(stream.submit(JobSpec { input, ..JobSpec::bare(0, 2, 1) }));
    let topology = Topology::from_nodes(vec![Node::plain(0, PerSlot { map: 2, reduce: 1 }); 3]);
    let files = Hdfs::new(1, topology.into(), 1, Placement::Random);
    let mut verifier = Verifier::new(VerifierRules { cut_off: true, ..VerifierRules::default() })
        .with_files(files);
    stream.events.iter().for_each(|event| verifier.check(event));
    verifier.violations().iter().map(Violation::to_string).collect()
}

fn incident(tracker: u32, incident: Incident) -> Fact {
    Fact::befell(TrackerId(tracker), incident)
}

/// Adds that the first map runs on the third node, from its assignment to its end, and reads from
/// node `from`.
fn reads(stream: Stream, from: Option<u32>) -> Stream {
    let stream = opens(stream.assign(map(0, 0), 2, (1, 1)), from);
    stream.start(map(0, 0), 2).end(map(0, 0), 2, Outcome::Succeeded)
}

fn opens(stream: Stream, from: Option<u32>) -> Stream {
    let from = from.map(TrackerId);
    stream.fact(Fact::Attempt(map(0, 0), TrackerId(2), AttemptFact::Opened { from }))
}

fn copied(tracker: u32, is_there: bool) -> Fact {
    Fact::World(WorldFact::Copy {
        block: Block::OfTrace(JobId(0), 0),
        tracker: TrackerId(tracker),
        made: is_there.then_some(CopyMade { bytes: Bytes::ZERO, distance: None }),
    })
}

const LOST: Incident = Incident::DiskLost;
const OFF: Incident = Incident::MachineOff;
const ON: Incident = Incident::MachineOn;

#[test]
fn a_map_that_reads_from_a_node_without_its_block_is_found() {
    let breach = |node: &str| {
        format!(
            "at 2 s: job 0 map 0 attempt 0 reads from {node}, which did not have its block or was off"
        )
    };
    let after = |first: &[Fact], from: u32| {
        with_blocks(|stream| {
            let stream = first.iter().cloned().fold(stream.at(1_000), Stream::fact);
            reads(stream.at(2_000), Some(from))
        })
    };
    for befallen in [LOST, OFF] {
        let facts = [incident(0, befallen)];
        assert_eq!(after(&facts, 0), breach("node-1"));
        assert_eq!(after(&facts, 1), "", "node-2 has the block");
        assert_eq!(after(&facts, 2), breach("node-3"), "never had the block");
    }
    assert_eq!(after(&[incident(0, OFF), incident(0, ON)], 0), "");
    assert_eq!(after(&[incident(0, LOST), copied(2, true)], 2), "");
    let removed = [incident(0, LOST), copied(2, true), copied(2, false)];
    assert_eq!(after(&removed, 2), breach("node-3"));
    let lost_again = [incident(0, LOST), copied(2, true), incident(2, LOST)];
    assert_eq!(after(&lost_again, 2), breach("node-3"));
    // The initial blocks of the node are lost, but not the blocks that were copied to the node
    // since.
    let copied_back = |stream: Stream| {
        let stream = stream.fact(incident(0, LOST)).at(1_000).fact(copied(0, true));
        reads(stream.at(2_000), Some(0))
    };
    assert_eq!(with_blocks(copied_back), "");
}

#[test]
fn a_map_that_finds_nobody_though_a_node_is_on_that_has_its_block_is_found() {
    let breach = "at 2 s: job 0 map 0 attempt 0 found no node with its block, although a node that \
        was on had it";
    let fails = |stream: Stream| {
        let stream = opens(stream.at(2_000).assign(map(0, 0), 2, (1, 1)), None);
        stream.start(map(0, 0), 2).end(map(0, 0), 2, Outcome::Failed)
    };
    let after = |first: &[Fact]| {
        with_blocks(|stream| fails(first.iter().cloned().fold(stream.at(1_000), Stream::fact)))
    };
    assert_eq!(after(&[incident(0, LOST)]), breach);
    assert_eq!(after(&[incident(0, LOST), incident(1, OFF)]), "");
    assert_eq!(after(&[incident(0, LOST), incident(1, OFF), copied(2, true)]), breach);
    // An event of the same instant may come before or after the read.
    let at_once = |facts: [Fact; 2]| {
        with_blocks(|stream| {
            let stream = stream.fact(incident(0, LOST)).fact(incident(1, LOST)).at(2_000);
            fails(facts.iter().cloned().fold(stream, Stream::fact))
        })
    };
    assert_eq!(at_once([copied(2, true), incident(1, ON)]), "");
}

#[test]
fn a_map_that_reads_as_if_nothing_had_happened_is_found() {
    let breach = "at 2 s: job 0 map 0 attempt 0 reads as if nothing had befallen the nodes that had its \
        block at first";
    let runs = |befallen: Fact, then: u64| {
        with_blocks(|stream| {
            let stream = stream.at(1_000).fact(befallen.clone()).at(then);
            stream.assign(map(0, 0), 2, (1, 1)).at(2_000).start(map(0, 0), 2)
        })
    };
    assert_eq!(runs(incident(0, LOST), 2_000), breach);
    assert_eq!(runs(incident(0, OFF), 2_000), breach);
    assert_eq!(runs(incident(2, OFF), 2_000), "", "never had the block");
    assert_eq!(runs(incident(0, LOST), 1_000), "", "assigned at the instant of the loss");
}

#[test]
fn a_map_that_reads_what_nobody_has_is_found() {
    let breach = "at 2 s: job 0 map 0 attempt 0 has read its block, but no node had it that was on \
        when it was assigned";
    let reads = |stream: Stream| reads(stream.at(2_000), None);
    for (one, other) in [(LOST, LOST), (LOST, OFF), (OFF, OFF)] {
        let both = with_blocks(|stream| {
            reads(stream.at(1_000).fact(incident(0, one)).fact(incident(1, other)))
        });
        assert_eq!(both, breach, "{one:?} {other:?}");
    }
    let read_before = with_blocks(|stream| {
        let stream = stream.at(1_000).assign(map(0, 1), 2, (1, 1)).start(map(0, 1), 2);
        let stream = stream.fact(incident(1, LOST)).at(2_000);
        stream.end(map(0, 1), 2, Outcome::Succeeded)
    });
    assert_eq!(read_before, "", "the block was there at the assignment");
}

#[test]
fn a_copying_that_ends_and_did_not_begin_is_found() {
    let (blocks, bytes) = (1, Bytes::from_mib(1));
    let [begins, ends] =
        [Incident::CopyingBegins { blocks, bytes }, Incident::CopyingEnds { blocks, bytes }];
    let after = |all: &[(u32, Incident)]| {
        let facts = all.iter().map(|(tracker, befallen)| incident(*tracker, *befallen));
        found(facts.fold(Stream::default(), Stream::fact))
    };
    assert_eq!(after(&[(0, begins), (0, begins), (0, ends), (0, ends), (1, begins)]), "");
    let breach = "at 0 s: because of node-1 more copyings ended than had begun";
    assert_eq!(after(&[(0, begins), (0, ends), (0, ends)]), breach);
    assert_eq!(after(&[(1, begins), (0, ends)]), breach);
}

#[test]
fn more_copies_of_what_nobody_had_are_found() {
    let job = |id, more_copies, without_extra_copies: &[u32]| {
        let (file, split) = (FileId(0), Bytes::from_mib(1));
        let without_extra_copies = without_extra_copies.into();
        let input =
            Some(Input::File { file, split, last_split: split, more_copies, without_extra_copies });
        let spec = JobSpec { input, ..JobSpec::bare(id, 2, 0) };
        Fact::Job(JobId(id), JobFact::Submitted(spec.into()))
    };
    let lost = |stream: Stream| {
        (0..3).fold(stream.at(1_000), |stream, node| stream.fact(incident(node, LOST))).at(2_000)
    };
    let breach = |map| {
        format!(
            "at 2 s: job 2 finds more copies of block {map} than usual, but nobody had it to be copied"
        )
    };
    let found = |befall: fn(Stream) -> Stream, jobs: [Fact; 2]| {
        with_blocks(|stream| {
            let [before, then] = jobs.clone();
            befall(stream.fact(before)).fact(then)
        })
    };
    let as_ever = |stream: Stream| stream;
    assert_eq!(found(as_ever, [job(1, 0, &[]), job(2, 1, &[])]), "");
    assert_eq!(found(lost, [job(1, 0, &[]), job(2, 1, &[])]), breach(0) + &breach(1));
    assert_eq!(found(lost, [job(1, 0, &[]), job(2, 1, &[1])]), breach(0));
    assert_eq!(found(lost, [job(1, 0, &[]), job(2, 1, &[0, 1])]), "");
    // An earlier reader of the file has found extra copies of the second block.
    assert_eq!(found(lost, [job(1, 1, &[0]), job(2, 1, &[])]), breach(0));
}
