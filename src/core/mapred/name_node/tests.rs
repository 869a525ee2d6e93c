//! The copies of blocks when nodes go off and come back, computed by hand.

use super::*;
use crate::cluster::{Node, PerSlot, Placement, Topology};
use crate::mapred::message::Mail;
use crate::mapred::spec::Split;
use mumakil_base::units::SimTime;

const PATIENCE: SimSpan = SimSpan::from_secs(630);

fn at(secs: u64) -> SimTime {
    SimTime::ZERO + SimSpan::from_secs(secs)
}

fn mb(megabytes: u64) -> Bytes {
    Bytes::new(megabytes * 1_000_000)
}

/// Six nodes in two racks; each node copies 10 MB a second. A job's maps read 100 MB each from
/// these nodes, so a copy takes ten seconds.
struct Bench {
    node: NameNode,
    job: Arc<JobSpec>,
    facts: Vec<Incident>,
    plans: Vec<(SimTime, ToNameNode)>,
}

fn bench(splits: &[&[u32]]) -> Bench {
    let node = |rack| Node::plain(rack, PerSlot { map: 1, reduce: 1 });
    let topology = Arc::new(Topology::from_nodes([0, 0, 0, 1, 1, 1].map(node).to_vec()));
    let hdfs = Hdfs::new(1, topology, 2, Placement::Hadoop);
    let split = |holders: &&[u32]| {
        let holders = holders.iter().copied().map(TrackerId).collect();
        Split { bytes: mb(100), holders }
    };
    let splits: Vec<Split> = splits.iter().map(split).collect();
    let bare = JobSpec::bare(0, splits.len() as u32, 0);
    let job = Arc::new(JobSpec { input: Some(Input::Splits(splits.into())), ..bare });
    let upkeep = ReplicationUpkeep { dead_after: PATIENCE, pace: Rate::from_mb_per_s(10) };
    let node = NameNode::new(1, hdfs, 6, upkeep, vec![job.clone()]);
    Bench { node, job, facts: Vec::new(), plans: Vec::new() }
}

impl Bench {
    /// Sends the NameNode a message, after the ends of all copies that are due by then.
    fn hear(&mut self, now: SimTime, msg: ToNameNode) -> &mut Self {
        self.run_until(now).take(now, msg)
    }

    fn run_until(&mut self, now: SimTime) -> &mut Self {
        loop {
            let is_due = |(at, msg): &&(SimTime, ToNameNode)| {
                *at <= now && matches!(msg, ToNameNode::Copied(_))
            };
            let next = self.plans.iter().filter(is_due).min_by_key(|(at, _)| *at);
            let Some((at, ToNameNode::Copied(wave))) = next.copied() else { return self };
            self.plans.retain(|(_, msg)| !matches!(msg, ToNameNode::Copied(it) if *it == wave));
            self.take(at, ToNameNode::Copied(wave));
        }
    }

    fn take(&mut self, now: SimTime, msg: ToNameNode) -> &mut Self {
        let mut out = Outbox::at(now);
        self.node.handle(&msg, &mut out);
        self.facts.extend(out.events.into_iter().filter_map(|event| match event.fact {
            Fact::World(WorldFact::Incident { incident, .. }) => Some(incident),
            Fact::World(WorldFact::Copy { .. }) => None,
            other => unreachable!("a NameNode says {other:?}"),
        }));
        for letter in out.letters {
            if let Mail::NameNode(msg) = letter.mail {
                self.plans.push((now + letter.after, msg));
            }
        }
        let under_way: usize = self.node.under_way.values().map(Vec::len).sum();
        assert_eq!(self.node.busy, under_way);
        self
    }

    /// Turns a node off at the beginning, and waits until the NameNode counts it as dead.
    fn loses(&mut self, node: u32) -> &mut Self {
        let node = TrackerId(node);
        self.hear(at(0), ToNameNode::Off(node));
        self.hear(at(630), ToNameNode::Missed(node, 1))
    }

    fn absent(&mut self, nodes: &[u32]) {
        for node in nodes {
            self.node.nodes[*node as usize].presence = NodePresence::Absent;
        }
    }

    fn holders(&mut self, now: SimTime, map: u32) -> Vec<u32> {
        self.run_until(now);
        let mut holders = Vec::new();
        self.node.replicas.locate(&self.job, map, &mut holders);
        holders.iter().map(|node| node.0).collect()
    }

    /// Returns how many nodes hold the block of each of the first maps.
    fn counts<const N: usize>(&mut self, now: SimTime) -> [usize; N] {
        std::array::from_fn(|map| self.holders(now, map as u32).len())
    }
}

fn begins(blocks: u32, megabytes: u64) -> Incident {
    Incident::CopyingBegins { blocks, bytes: mb(megabytes) }
}

fn ends(blocks: u32, megabytes: u64) -> Incident {
    Incident::CopyingEnds { blocks, bytes: mb(megabytes) }
}

#[test]
fn blocks_of_a_dead_node_are_copied_into_the_other_rack() {
    let mut bench = bench(&[&[0, 3], &[0, 4], &[1, 5], &[0]]);
    bench.hear(at(0), ToNameNode::Off(TrackerId(0)));
    assert!(matches!(bench.plans[..], [(_, ToNameNode::Missed(TrackerId(0), 1))]));
    assert_eq!(bench.plans[0].0, at(630));
    assert_eq!(bench.holders(at(629), 0), [0, 3], "the NameNode has not noticed yet");
    bench.hear(at(630), ToNameNode::Missed(TrackerId(0), 1));
    // The last block is lost: no other node has it.
    assert_eq!(bench.facts, [Incident::DeadToHdfs, begins(2, 200)]);
    // Two of five nodes copy a block each, with one message for both.
    assert_eq!(bench.plans.len(), 2);
    assert_eq!(bench.counts(at(639)), [1, 1]);
    for map in [0, 1] {
        let holders = bench.holders(at(640), map);
        assert!(holders[0] == 3 + map && [1, 2].contains(&holders[1]), "{holders:?}");
    }
    assert_eq!((bench.holders(at(640), 2), bench.holders(at(640), 3)), (vec![1, 5], vec![]));
    assert_eq!(bench.facts[2..], [ends(2, 200)]);
}

#[test]
fn there_are_as_many_copies_under_way_as_nodes_are_on() {
    let mut bench = bench(&[&[0, 3][..]; 7]);
    bench.hear(at(0), ToNameNode::Off(TrackerId(1)));
    bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
    let made = |bench: &mut Bench, secs| bench.counts::<7>(at(secs)).iter().sum::<usize>() - 7;
    assert_eq!([19, 20, 29, 30].map(|secs| made(&mut bench, secs)), [0, 5, 5, 7]);
    assert_eq!(bench.facts, [begins(7, 700), ends(7, 700)]);
}

#[test]
fn a_lone_block_is_copied_by_one_node() {
    let mut bench = bench(&[&[0, 3]]);
    bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
    assert_eq!(bench.facts, [begins(1, 100)]);
    assert_eq!((bench.holders(at(19), 0), bench.holders(at(20), 0).len()), (vec![3], 2));
}

#[test]
fn a_node_that_comes_back_in_time_is_not_missed() {
    let mut bench = bench(&[&[0, 3]]);
    bench.hear(at(0), ToNameNode::Off(TrackerId(0)));
    bench.hear(at(60), ToNameNode::On(TrackerId(0)));
    bench.hear(at(100), ToNameNode::Off(TrackerId(0)));
    bench.hear(at(630), ToNameNode::Missed(TrackerId(0), 1));
    assert_eq!((bench.facts.len(), bench.holders(at(630), 0)), (0, vec![0, 3]));
}

#[test]
fn a_node_that_is_not_there_yet_is_not_missed() {
    let mut bench = bench(&[&[0, 3]]);
    bench.absent(&[0]);
    bench.hear(at(0), ToNameNode::Off(TrackerId(0)));
    assert_eq!((bench.plans.len(), bench.node.replicas.off.size()), (0, 0));
    bench.hear(at(10), ToNameNode::On(TrackerId(0)));
    bench.hear(at(20), ToNameNode::Off(TrackerId(0)));
    assert_eq!((bench.plans.len(), bench.node.replicas.off.size()), (1, 1));
}

#[test]
fn a_node_that_is_off_when_it_should_join_is_missed_from_then_on() {
    let mut bench = bench(&[&[0, 3]]);
    bench.absent(&[0]);
    bench.hear(at(10), ToNameNode::JoinsOff(TrackerId(0)));
    assert!(bench.node.replicas.off.contains(&TrackerId(0)));
    assert!(matches!(bench.plans[..], [(_, ToNameNode::Missed(TrackerId(0), 1))]));
}

#[test]
fn a_disk_that_is_lost_before_its_machine_joins_is_told_of_when_it_does() {
    let mut bench = bench(&[&[0, 3]]);
    bench.absent(&[0]);
    bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
    assert_eq!((bench.holders(at(20), 0), bench.facts.len()), (vec![0, 3], 0));
    assert!(bench.node.replicas.off.contains(&TrackerId(0)), "the node cannot be read");
    bench.hear(at(30), ToNameNode::On(TrackerId(0)));
    assert_eq!(bench.facts, [begins(1, 100)]);
    assert_eq!(bench.holders(at(30), 0), [3]);
}

#[test]
fn when_a_dead_node_comes_back_the_copies_made_for_it_are_removed() {
    let mut bench = bench(&[&[0, 3], &[0]]);
    bench.loses(0);
    assert_eq!(bench.holders(at(700), 0).len(), 2);
    bench.hear(at(700), ToNameNode::On(TrackerId(0)));
    assert_eq!((bench.holders(at(700), 0), bench.holders(at(700), 1)), (vec![0, 3], vec![0]));
    assert_eq!(bench.facts.last(), Some(&Incident::BackInHdfs));
}

#[test]
fn copies_under_way_for_a_node_that_comes_back_are_not_needed() {
    let mut bench = bench(&[&[0, 3]]);
    bench.loses(0);
    bench.hear(at(635), ToNameNode::On(TrackerId(0)));
    assert_eq!((bench.holders(at(700), 0), bench.node.busy), (vec![0, 3], 0));
    let facts = [Incident::DeadToHdfs, begins(1, 100), Incident::BackInHdfs, ends(0, 0)];
    assert_eq!(bench.facts, facts);
}

#[test]
fn a_block_with_fewer_copies_overtakes_those_that_wait() {
    let mut bench = bench(&[&[0, 1, 3], &[0, 1, 3], &[2, 4]]);
    // One node copies at a time: the other nodes have not joined yet, but can be read.
    bench.absent(&[1, 2, 4, 5]);
    bench.node.nodes[0].presence = NodePresence::Off;
    bench.hear(at(10), ToNameNode::On(TrackerId(5)));
    bench.node.nodes[3].presence = NodePresence::Absent;
    bench.hear(at(10), ToNameNode::Missed(TrackerId(0), 0));
    bench.hear(at(11), ToNameNode::Missed(TrackerId(2), 0));
    assert_eq!(bench.counts(at(20)), [3, 2, 1]);
    assert_eq!(bench.counts(at(30)), [3, 2, 2], "it came last and had the next turn");
    assert_eq!(bench.counts(at(40)), [3, 3, 2]);
}

#[test]
fn a_lost_disk_is_told_at_once_and_nothing_comes_back() {
    let mut bench = bench(&[&[0, 3], &[0]]);
    bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
    assert_eq!(bench.facts, [begins(1, 100)]);
    bench.hear(at(20), ToNameNode::Off(TrackerId(0)));
    bench.hear(at(30), ToNameNode::On(TrackerId(0)));
    assert_eq!(bench.counts(at(30)), [2, 0]);
}

#[test]
fn copies_that_were_lost_again_are_made_again() {
    let mut bench = bench(&[&[0, 3]]);
    bench.loses(0);
    let second = bench.holders(at(700), 0)[1];
    bench.hear(at(700), ToNameNode::DiskLost(TrackerId(second)));
    let holders = bench.holders(at(800), 0);
    assert!(holders.len() == 2 && !holders.contains(&0), "{holders:?}");
    let block = Block::of(&bench.job, 0).unwrap();
    let copies = bench.node.replicas.later.get(&block).unwrap();
    assert_eq!(copies.iter().map(|copy| copy.number).collect::<Vec<_>>(), [1]);
}

#[test]
fn blocks_that_all_have_lost_at_once_cannot_be_copied() {
    let mut bench = bench(&[&[0, 3], &[1, 4], &[2, 5], &[5]]);
    for node in 0..6 {
        bench.hear(at(10), ToNameNode::DiskLost(TrackerId(node)));
    }
    assert_eq!(bench.counts(at(10_000)), [0; 4]);
    let made: Vec<u32> = bench.facts.iter().filter_map(made_of).collect();
    assert!(made.iter().all(|blocks| *blocks == 0), "{made:?}");
    let begun = bench.facts.len() - made.len();
    assert_eq!(made.len(), begun, "each copying that began has ended");
}

fn made_of(incident: &Incident) -> Option<u32> {
    match incident {
        Incident::CopyingEnds { blocks, .. } => Some(*blocks),
        _ => None,
    }
}

#[test]
fn disks_that_are_lost_at_one_instant_take_no_longer_than_their_blocks() {
    // Six nodes make the six missing copies at once, though some targets are lost meanwhile.
    let mut bench = bench(&[&[0, 3], &[0, 4], &[1, 4], &[1, 5], &[2, 5], &[2, 3]]);
    for node in 0..3 {
        bench.hear(at(10), ToNameNode::DiskLost(TrackerId(node)));
    }
    assert_eq!(bench.counts(at(19)), [1; 6]);
    assert_eq!(bench.counts(at(20)), [2; 6]);
}

#[test]
fn a_copy_under_way_does_not_arrive_once_nobody_can_be_read_that_has_the_block() {
    let mut bench = bench(&[&[0, 3]]);
    bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
    bench.hear(at(19), ToNameNode::Off(TrackerId(3)));
    assert_eq!((bench.node.busy, bench.facts.last()), (0, Some(&ends(0, 0))));
    assert_eq!(bench.holders(at(30), 0), [3], "it is still listed");
    // The block is copied when the node is back; when the node loses its disks after that, the copy
    // stays.
    bench.hear(at(60), ToNameNode::On(TrackerId(3)));
    assert_eq!(bench.holders(at(70), 0).len(), 2);
    bench.hear(at(70), ToNameNode::DiskLost(TrackerId(3)));
    assert_eq!(bench.holders(at(70), 0).len(), 1);
    assert_eq!(bench.holders(at(80), 0).len(), 2);
}

#[test]
fn a_copy_whose_other_source_stays_arrives() {
    let mut bench = bench(&[&[0, 3, 4]]);
    bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
    bench.hear(at(11), ToNameNode::Off(TrackerId(3)));
    assert_eq!(bench.holders(at(20), 0).len(), 3);
}

#[test]
fn a_copy_whose_target_goes_off_is_made_elsewhere() {
    let mut bench = bench(&[&[0, 3]]);
    bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
    let to = bench.node.under_way[&0][0].to;
    bench.hear(at(15), ToNameNode::Off(to));
    assert_eq!(bench.facts, [begins(1, 100), ends(0, 0), begins(1, 100)]);
    assert_eq!(bench.holders(at(24), 0), [3]);
    let holders = bench.holders(at(25), 0);
    assert!(holders.len() == 2 && holders[1] != to.0, "{holders:?}");
    assert_eq!(bench.facts[3..], [ends(1, 100)]);
}

#[test]
fn for_whom_there_is_no_node_is_copied_when_one_comes_or_joins() {
    for absent in [false, true] {
        let mut bench = bench(&[&[0, 3]]);
        for node in [1, 2, 4, 5].map(TrackerId) {
            if absent {
                bench.absent(&[node.0]);
            } else {
                bench.hear(at(1), ToNameNode::Off(node));
            }
        }
        bench.loses(0);
        assert_eq!((bench.facts.len(), bench.counts(at(700))), (1, [1]));
        bench.hear(at(800), ToNameNode::On(TrackerId(4)));
        assert_eq!(bench.facts[1..], [begins(1, 100)]);
        assert_eq!(bench.holders(at(810), 0), [3, 4]);
    }
}

#[test]
fn a_node_that_is_not_there_yet_gets_no_copies() {
    let mut bench = bench(&[&[0, 3]]);
    bench.absent(&[1, 2, 4]);
    bench.hear(at(9), ToNameNode::DiskLost(TrackerId(3)));
    let holders = bench.holders(at(19), 0);
    assert!(holders == [0, 3] || holders == [0, 5], "{holders:?}");
}

#[test]
fn a_disk_that_is_lost_while_its_machine_is_off_is_told_of_when_it_is_back() {
    let mut bench = bench(&[&[0, 3]]);
    bench.hear(at(10), ToNameNode::Off(TrackerId(0)));
    bench.hear(at(20), ToNameNode::DiskLost(TrackerId(0)));
    assert_eq!((bench.holders(at(20), 0), bench.facts.len()), (vec![0, 3], 0));
    bench.hear(at(30), ToNameNode::On(TrackerId(0)));
    assert_eq!(bench.facts, [begins(1, 100)]);
    assert_eq!(bench.holders(at(30), 0), [3]);
    bench.hear(at(40), ToNameNode::Off(TrackerId(0)));
    bench.hear(at(50), ToNameNode::On(TrackerId(0)));
    let begun = bench.facts.iter().filter(|fact| **fact == begins(1, 100)).count();
    assert!(bench.counts(at(60)) == [2] && begun == 1, "the incident is emitted once");
}

#[test]
fn sums_that_no_number_holds_are_the_largest_number() {
    let mut bench = bench(&[&[0, 3], &[0, 4]]);
    let large = |split: &Split| Split { bytes: Bytes::new(u64::MAX / 3 * 2), ..split.clone() };
    let Some(Input::Splits(splits)) = &bench.job.input else { unreachable!() };
    let input = Some(Input::Splits(splits.iter().map(large).collect()));
    bench.node.jobs = vec![Arc::new(JobSpec { input, ..JobSpec::clone(&bench.job) })];
    bench.hear(at(10), ToNameNode::DiskLost(TrackerId(0)));
    let all = Bytes::new(u64::MAX);
    assert_eq!(bench.facts, [Incident::CopyingBegins { blocks: 2, bytes: all }]);
    bench.run_until(at(10) + SimSpan::LONGEST);
    assert_eq!(bench.facts[1..], [Incident::CopyingEnds { blocks: 2, bytes: all }]);
}
