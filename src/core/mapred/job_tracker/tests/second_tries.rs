//! Second attempts of slow tasks.

use super::*;

/// Four maps run: the two on the first tracker are almost done, the two on the second tracker are
/// slow. The third tracker gets second attempts of the slow maps.
fn race(reduces: u32) -> (Bench, [AttemptId; 2], [AttemptId; 2]) {
    let by = Rule::Hadoop020(Hadoop020Options::default());
    let mut bench = bench(Hadoop { speculation: Speculation::By(by), ..hadoop() });
    bench.everybody_joins().at(10).submit(job(0, 4, reduces));
    let fast = maps(&launches(&bench.at(11).beat_and_receive(0, &[])));
    let slow = maps(&launches(&bench.at(12).beat_and_receive(1, &[])));
    bench.progress = 0.9;
    bench.at(71).beat_and_receive(0, &fast.map(|map| (map, AttemptState::Running)));
    bench.progress = 0.1;
    bench.at(72).beat_and_receive(1, &slow.map(|map| (map, AttemptState::Running)));
    let again = maps(&launches(&bench.at(73).beat_and_receive(2, &[])));
    (bench, slow, again)
}

fn maps(launched: &[AttemptId]) -> [AttemptId; 2] {
    let maps = launched.iter().copied().filter(|attempt| attempt.slot() == SlotKind::Map);
    maps.collect::<Vec<_>>().try_into().expect("two maps are launched")
}

#[test]
fn slow_maps_get_a_second_attempt_on_another_node() {
    let (mut bench, slow, again) = race(0);
    let mut expected = slow.map(|map| map.task.attempt(1));
    expected.sort();
    let mut launched = again;
    launched.sort();
    assert_eq!(launched, expected);
    let tried = bench.facts.iter().filter(|fact| {
        matches!(
            fact,
            Fact::Ledger(
                _,
                _,
                LedgerFact::Assigned { speculative: true, waited: SimSpan::ZERO, .. }
            )
        )
    });
    assert_eq!(tried.count(), 2);
    assert_eq!(launches(&bench.at(74).beat_and_receive(3, &[])), [], "two are enough");
}

#[test]
fn before_a_minute_has_passed_nothing_is_slow() {
    let by = Rule::Hadoop020(Hadoop020Options::default());
    let mut bench = bench(Hadoop { speculation: Speculation::By(by), ..hadoop() });
    bench.everybody_joins().at(10).submit(job(0, 4, 0));
    let fast = maps(&launches(&bench.at(11).beat_and_receive(0, &[])));
    let slow = maps(&launches(&bench.at(12).beat_and_receive(1, &[])));
    bench.progress = 0.9;
    bench.at(67).beat_and_receive(0, &fast.map(|map| (map, AttemptState::Running)));
    bench.progress = 0.1;
    bench.at(68).beat_and_receive(1, &slow.map(|map| (map, AttemptState::Running)));
    // The minute counts from the job's initialisation at 10 s, not from the launch at 12 s.
    assert_eq!(launches(&bench.at(69).beat_and_receive(2, &[])), []);
    assert_eq!(launches(&bench.at(70).beat_and_receive(3, &[])).len(), 2);
}

#[test]
fn the_first_to_succeed_wins_and_the_other_is_killed() {
    let (mut bench, slow, again) = race(1);
    let [one, other] = again;
    let running = (other, AttemptState::Running);
    bench.at(80).beat_and_receive(2, &[(one, AttemptState::Succeeded), running]);
    let beaten = one.task.attempt(0);
    let by_whom = bench.facts.iter().find_map(|fact| match *fact {
        Fact::Ledger(attempt, _, LedgerFact::Ordered { reason: Reason::LostRace(by), .. }) => {
            Some((attempt, by))
        }
        _ => None,
    });
    assert_eq!(by_whom, Some((beaten, one)));
    let reports = slow.map(|map| (map, AttemptState::Running));
    assert_eq!(kills(&bench.at(81).beat_and_receive(1, &reports)), [beaten]);
    // The attempt that lost the race reports its success too late.
    let reports = slow.map(|map| {
        (map, if map == beaten { AttemptState::Succeeded } else { AttemptState::Running })
    });
    bench.at(82).beat_and_receive(1, &reports);
    let state = bench.facts.iter().rev().find_map(|fact| match *fact {
        Fact::Ledger(attempt, _, LedgerFact::Learned { state, .. }) if attempt == beaten => {
            Some(state)
        }
        _ => None,
    });
    assert_eq!(state, Some(AttemptState::Killed));
}

#[test]
fn the_first_to_wait_for_its_commit_wins() {
    let (mut bench, slow, again) = race(0);
    let [one, other] = slow;
    let reports = [(one, AttemptState::CommitPending), (other, AttemptState::Running)];
    assert_eq!(commits(&bench.at(80).beat_and_receive(1, &reports)), [one]);
    let rival = one.task.attempt(1);
    let reports = again.map(|map| {
        (map, if map == rival { AttemptState::CommitPending } else { AttemptState::Running })
    });
    let directives = bench.at(81).beat_and_receive(2, &reports);
    assert_eq!((commits(&directives), kills(&directives)), (Vec::new(), vec![rival]));
}

#[test]
fn the_first_attempt_loses_when_the_other_may_commit() {
    let (mut bench, slow, again) = race(0);
    let reports = again.map(|map| {
        (map, if map == again[0] { AttemptState::CommitPending } else { AttemptState::Running })
    });
    assert_eq!(commits(&bench.at(80).beat_and_receive(2, &reports)), [again[0]]);
    let late = again[0].task.attempt(0);
    let reports = slow.map(|map| {
        (map, if map == late { AttemptState::CommitPending } else { AttemptState::Running })
    });
    let directives = bench.at(81).beat_and_receive(1, &reports);
    assert_eq!((commits(&directives), kills(&directives)), (Vec::new(), vec![late]));
}

#[test]
fn a_task_waits_again_only_when_both_attempts_are_gone() {
    let (mut bench, slow, again) = race(0);
    // The second attempts are no longer behind, or they would be tried again themselves.
    bench.progress = 0.9;
    bench.at(79).beat_and_receive(2, &again.map(|map| (map, AttemptState::Running)));
    bench.at(80).beat_and_receive(1, &slow.map(|map| (map, AttemptState::Killed)));
    assert_eq!(launches(&bench.at(81).beat_and_receive(3, &[])), []);
    let killed = again.map(|map| (map, AttemptState::Killed));
    let launched = maps(&launches(&bench.at(82).beat_and_receive(2, &killed)));
    assert!(launched.iter().all(|map| map.number == 2), "{launched:?}");
}
