//! The rules that every drive keeps: how a run starts, goes on and ends.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::testing::{
    MS, beat, call, called, core, ms, play, recall, remark, see, seen, tell, told,
};
use super::testing::{job_tracker, links, witness};
use super::*;
use mumakil_base::random::Dist;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{
    Core, Fact, FlowRate, IdleState, Mail, Outbox, StopReason, ToFabric, ToJobTracker, ToTracker,
    TrackerFact, TrackerId,
};
use parking_lot::Mutex;

type Run = fn(RunPlan) -> (RunStats, Ending);

const SCALED: &str = "scaled";
const DRIVES: [(&str, Run); 3] = [
    ("virtual", |play| run_virtual(play, Transport::Actors)),
    ("bare", |play| run_virtual(play, Transport::Bare)),
    (SCALED, |play| run_scaled(play, 1_000.0)),
];

#[test]
fn a_run_in_which_nothing_is_to_come_has_stalled() {
    for (drive, run) in DRIVES {
        let (stats, ending) = run(play(1));
        assert_eq!(
            (stats.messages, ending),
            (0, Ending::Stopped(StopReason::Stalled(Box::default()))),
            "{drive}"
        );
    }
}

#[test]
fn a_run_goes_on_while_anybody_has_something_to_do() {
    for (drive, run) in DRIVES {
        let (events, facts) = witness();
        let mut play = RunPlan { events, ..play(1) };
        // Each call leads to a message to the tracker, which waits and calls with the next number.
        play.cast.job_tracker = job_tracker(|msg, out| {
            see(out, called(&msg));
            if called(&msg) < 5 {
                out.send_after(MS, tell(0, called(&msg) + 1));
            }
        });
        play.cast.trackers = vec![core(|msg, out| match msg {
            ToTracker::PhaseEnds(_) => out.plan(MS, beat(0, told(&msg))),
            beat => out.send(call(told(&beat))),
        })];
        play.opening = vec![(ms(1), call(0))];
        let (stats, ending) = run(play);
        assert_eq!(ending, Ending::Stopped(StopReason::Stalled(Box::default())), "{drive}");
        assert_eq!(seen(&facts), [0, 1, 2, 3, 4, 5], "{drive}");
        assert_eq!(stats.messages, 6 + 5, "{drive}: all but timers");
        assert!(ms(11) <= stats.end, "{drive}: {}", stats.end);
        assert!(stats.end == ms(11) || drive == SCALED, "{}", stats.end);
    }
}

/// Returns a run whose JobTracker has a timer every millisecond, and each time reports that it is
/// idle from now on. It stops the run when it learns that only rounds (messages that move nothing)
/// are due.
fn calm(trackers: u32) -> RunPlan {
    let mut play = play(1);
    play.cast.job_tracker = job_tracker(move |msg, out| {
        if let ToJobTracker::Rest = msg {
            out.stop = Some(StopReason::Stalled(Box::default()));
            return;
        }
        out.calm = Some(IdleState { trackers, since: out.now });
        out.plan(MS, ToJobTracker::Expire);
    });
    play.opening = vec![(SimTime::ZERO, ToJobTracker::Expire.into())];
    play.until = ms(200_000);
    play
}

#[test]
fn a_run_in_which_only_rounds_go_on_has_stalled() {
    for (drive, run) in DRIVES {
        let (stats, ending) = run(calm(0));
        assert_eq!(ending, Ending::Stopped(StopReason::Stalled(Box::default())), "{drive}");
        assert!(stats.end == ms(1) || drive == SCALED, "{}", stats.end);
    }
}

#[test]
fn a_run_has_not_stalled_while_something_is_due_that_moves() {
    for (drive, run) in DRIVES {
        let mut play = calm(0);
        play.opening.push((ms(60), tell(0, 1)));
        let (stats, ending) = run(play);
        assert_eq!(ending, Ending::Stopped(StopReason::Stalled(Box::default())), "{drive}");
        assert!(ms(60) <= stats.end, "{drive}: {}", stats.end);
    }
}

#[test]
fn a_run_has_not_stalled_while_a_machine_runs_that_the_jobtracker_does_not_know() {
    for (drive, run) in DRIVES {
        let mut play = calm(0);
        play.cast.trackers = vec![core(|_, out| {
            let slots = Default::default();
            out.emit(Fact::Tracker(TrackerId(0), TrackerFact::Up(slots)));
        })];
        play.opening.push((SimTime::ZERO, tell(0, 1)));
        let (_, ending) = run(play);
        assert_eq!(ending, Ending::Stopped(StopReason::TimeUp), "{drive}");
    }
}

#[test]
fn a_run_ends_when_its_real_time_is_up() {
    for (drive, run) in DRIVES {
        let mut play = play(1);
        play.cast.job_tracker = job_tracker(|_, out| out.plan(MS, ToJobTracker::Expire));
        play.opening = vec![(SimTime::ZERO, ToJobTracker::Expire.into())];
        play.time_limit = Some(Duration::from_millis(20));
        let (_, ending) = run(play);
        assert_eq!(ending, Ending::Stopped(StopReason::TimeLimit), "{drive}");
    }
}

#[test]
fn a_limit_of_real_time_holds_for_a_few_slow_messages() {
    for (drive, run) in DRIVES {
        let mut play = play(1);
        // Each message takes longer than the limit, as the beginning of a job with many tasks may.
        let (_nobody, nothing) = crossbeam_channel::unbounded::<()>();
        play.cast.job_tracker = job_tracker(move |_, out| {
            let _ = nothing.recv_timeout(Duration::from_millis(20));
            out.plan(MS, ToJobTracker::Expire);
        });
        play.opening = vec![(SimTime::ZERO, ToJobTracker::Expire.into())];
        (play.until, play.time_limit) = (ms(500), Some(Duration::from_millis(10)));
        let (stats, ending) = run(play);
        let ends = [StopReason::TimeLimit, StopReason::TimeUp].map(Ending::Stopped);
        assert!(ends.contains(&ending), "{drive}: {ending:?}");
        // On a scaled clock half a second of the run is soon over by itself.
        assert!(stats.end < ms(100) || drive == SCALED, "{drive}: {}", stats.end);
    }
}

#[test]
fn a_panic_in_the_last_message_of_all_ends_the_run() {
    for (drive, run) in DRIVES {
        let mut play = play(1);
        play.cast.job_tracker = core(|msg, out| match msg {
            ToJobTracker::Over => panic!("at the end"),
            _ => out.stop = Some(StopReason::Done),
        });
        play.opening = vec![(ms(1), call(0))];
        let (_, ending) = run(play);
        assert_eq!(ending, Ending::Panicked("at the end".to_owned()), "{drive}");
    }
}

#[test]
fn a_run_beyond_the_last_instant_ends_with_an_error() {
    for (drive, run) in DRIVES.into_iter().filter(|(drive, _)| *drive != SCALED) {
        let mut play = play(1);
        play.cast.job_tracker = job_tracker(|_, out| out.plan(SimSpan::LONGEST, recall(1)));
        play.opening = vec![(SimTime::ZERO, recall(0))];
        let (stats, ending) = run(play);
        assert_eq!((stats.end, ending), (SimTime::LAST, Ending::BeyondTime), "{drive}");
    }
}

#[test]
fn messages_due_together_are_delivered_in_the_order_of_sending() {
    // Far more than the sixteen after which a mailbox of actix counts as full.
    const ALL: u32 = 5_000;
    for (drive, run) in DRIVES {
        let (events, facts) = witness();
        let mut play = RunPlan { events, ..play(1) };
        play.cast.job_tracker = job_tracker(|msg, out| see(out, called(&msg)));
        play.cast.injector = core(|_, out| {
            for number in ALL / 2..ALL {
                out.send(call(number));
            }
        });
        // Half of the calls were sent before the injector gets the message to send the rest.
        play.opening = (0..ALL / 2).map(|number| (ms(1), call(number))).collect();
        play.opening.push((ms(1), remark(0)));
        let (stats, _) = run(play);
        assert_eq!(seen(&facts), (0..ALL).collect::<Vec<_>>(), "{drive}");
        assert_eq!(stats.messages, u64::from(ALL) + 1, "{drive}");
    }
}

#[test]
fn the_fabric_is_told_of_flows_and_tells_rates() {
    for (drive, run) in DRIVES {
        let (events, facts) = witness();
        let mut play = RunPlan { events, ..play(1) };
        play.cast.trackers = vec![core(|msg, out| match msg {
            ToTracker::Rates(rates) => see(out, rates[0].number),
            _ => out.affect(ToFabric::Settle),
        })];
        play.cast.fabric = Some(core(|_, out| {
            let rates = Arc::new(vec![FlowRate { number: 7, rate: 1.0 }]);
            out.affect(Mail::Tracker(TrackerId(0), ToTracker::Rates(rates)));
        }));
        play.opening = vec![(ms(1), beat(0, 0))];
        run(play);
        assert_eq!(seen(&facts), [7], "{drive}");
    }
}

#[test]
fn links_take_their_time_and_plans_none() {
    for (drive, run) in DRIVES {
        let (events, facts) = witness();
        let links = Links { latency: Dist::Constant(MS * 2), ..links(1) };
        let mut play = RunPlan { events, links, ..play(1) };
        play.cast.job_tracker = job_tracker(|msg, out| see(out, called(&msg)));
        play.cast.trackers = vec![core(|_, out| {
            out.send(call(2));
            out.affect(recall(0));
            out.plan(MS, recall(1));
        })];
        play.opening = vec![(ms(1), tell(0, 0))];
        let (stats, _) = run(play);
        assert_eq!(seen(&facts), [0, 1, 2], "{drive}");
        assert!(stats.end == ms(3) || drive == SCALED, "{}", stats.end);
    }
}

#[test]
fn a_core_ends_the_run() {
    for (drive, run) in DRIVES {
        let (events, facts) = witness();
        let mut play = RunPlan { events, ..play(1) };
        play.cast.job_tracker = job_tracker(|msg, out| {
            see(out, called(&msg));
            out.send_after(MS, call(called(&msg) + 1));
            out.stop = (called(&msg) == 3).then_some(StopReason::Done);
        });
        play.opening = vec![(ms(1), call(0))];
        let (_, ending) = run(play);
        assert_eq!(ending, Ending::Stopped(StopReason::Done), "{drive}");
        assert_eq!(seen(&facts), [0, 1, 2, 3], "{drive}: the last event is passed on");
    }
}

#[test]
fn clockwork_ends_the_run_as_well() {
    for (drive, run) in DRIVES {
        let mut play = play(1);
        play.cast.job_tracker = job_tracker(|_, out| out.stop = Some(StopReason::Done));
        play.opening = vec![(ms(1), recall(0)), (ms(2), call(0))];
        let (_, ending) = run(play);
        assert_eq!(ending, Ending::Stopped(StopReason::Done), "{drive}");
    }
}

#[test]
fn a_run_ends_when_its_time_is_up() {
    for (drive, run) in DRIVES {
        let (events, facts) = witness();
        let mut play = RunPlan { events, until: ms(11), ..play(1) };
        play.cast.job_tracker = job_tracker(|_, out| {
            see(out, 0);
            out.plan(MS * 4, recall(0));
        });
        play.opening = vec![(ms(3), recall(0))];
        let (stats, ending) = run(play);
        assert_eq!((stats.end, ending), (ms(11), Ending::Stopped(StopReason::TimeUp)), "{drive}");
        // Events at 3, 7 and 11 ms; on a busy machine the wall clock may skip some.
        let times = seen(&facts).len();
        assert!(times == 3 || drive == SCALED && times < 3, "{drive}: {times}");
    }
}

/// The JobTracker gets `Over` once, as the last message, at the end of the run; not after a panic.
#[test]
fn the_job_tracker_is_heard_out_when_the_run_is_over() {
    let ends: [fn(&mut Outbox); 2] =
        [|out| out.stop = Some(StopReason::Done), |_| panic!("a failure")];
    for (drive, run) in DRIVES {
        for (end, told) in ends.into_iter().zip([vec![0, 100], vec![0]]) {
            let (events, facts) = witness();
            let times = Arc::new(Mutex::new(Vec::new()));
            let mut play = RunPlan { events, ..play(1) };
            let seen_at = times.clone();
            play.cast.job_tracker = core(move |msg, out| {
                let number = if let ToJobTracker::Over = msg { 100 } else { called(&msg) };
                seen_at.lock().push(out.now);
                see(out, number);
                out.send_after(MS, tell(0, 1));
            });
            play.cast.trackers = vec![core(move |_, out| end(out))];
            play.opening = vec![(ms(1), call(0))];
            let (stats, _) = run(play);
            assert_eq!(seen(&facts), told, "{drive}");
            let times = times.lock();
            assert!(told.len() == 1 || times.last() == Some(&stats.end), "{drive}: {times:?}");
        }
    }
}

#[test]
fn a_core_that_panics_ends_the_run_with_its_words() {
    let panics: [(fn(), &str); 3] = [
        (|| panic!("a slot too many"), "a slot too many"),
        (|| panic!("{} slots too many", 2), "2 slots too many"),
        (|| std::panic::panic_any(7), "a panic without words"),
    ];
    for (drive, run) in DRIVES {
        for (panic, words) in panics {
            for mail in [tell(0, 1), beat(0, 1)] {
                let (events, facts) = witness();
                let mut play = RunPlan { events, ..play(1) };
                play.cast.trackers = vec![core(move |msg, out| {
                    see(out, told(&msg));
                    if told(&msg) == 1 {
                        panic();
                    }
                })];
                play.opening = vec![(ms(1), tell(0, 0)), (ms(2), mail), (ms(60_000), call(0))];
                let (_, ending) = run(play);
                assert_eq!(ending, Ending::Panicked(words.to_owned()), "{drive}");
                assert_eq!(seen(&facts), [0], "{drive}: a failed handler's events are lost");
            }
        }
    }
}

#[test]
fn a_core_that_has_ended_the_run_is_not_called_again() {
    let ends: [fn(&mut Outbox); 2] =
        [|out| out.stop = Some(StopReason::Done), |_| panic!("so ends a run")];
    for (drive, run) in DRIVES {
        for end in ends {
            let called = Arc::new(AtomicU32::new(0));
            let mut play = play(1);
            let count = called.clone();
            play.cast.job_tracker = job_tracker(move |_, out| {
                count.fetch_add(1, Ordering::Relaxed);
                end(out);
            });
            play.opening = (0..1_000).map(|number| (ms(1), call(number))).collect();
            run(play);
            assert_eq!(called.load(Ordering::Relaxed), 1, "{drive}");
        }
    }
}

#[test]
fn a_run_whose_facts_nobody_takes_ends() {
    for (drive, run) in DRIVES {
        let (events, facts) = witness();
        drop(facts);
        let mut play = RunPlan { events, ..play(1) };
        play.cast.job_tracker = job_tracker(|msg, out| {
            out.send_after(MS, call(called(&msg) + 1));
            if called(&msg) == 3 {
                see(out, 0);
            }
        });
        play.opening = vec![(ms(1), call(0))];
        let (_, ending) = run(play);
        assert_eq!(ending, Ending::SinkBroke, "{drive}");
    }
}

thread_local! {
    /// Values that a thread holds for as long as it lives.
    static HELD: RefCell<Vec<Arc<()>>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn no_core_and_no_thread_is_left_behind() {
    let endings: [fn(&mut Outbox); 3] =
        [|_| {}, |out| out.stop = Some(StopReason::Done), |_| panic!("so ends a run")];
    for (drive, run) in DRIVES {
        for end in endings {
            let (cores, threads) = (Arc::new(()), Arc::new(()));
            // On a thread of its own, which must have ended before the values are counted.
            let mut play = play(0);
            let tracker = |_| -> Box<dyn Core<Msg = ToTracker>> {
                let (own, thread) = (cores.clone(), threads.clone());
                core(move |_, out: &mut Outbox| {
                    let _alive = &own;
                    HELD.with_borrow_mut(|held| held.push(thread.clone()));
                    out.send(call(0));
                })
            };
            play.cast.trackers = (0..9).map(tracker).collect();
            play.links = links(9);
            play.cast.job_tracker = job_tracker(move |_, out| end(out));
            play.opening = (0..9).map(|id| (ms(1), tell(id, 0))).collect();
            std::thread::scope(|scope| scope.spawn(|| run(play)).join()).expect("it never panics");
            assert_eq!(Arc::strong_count(&cores), 1, "{drive}");
            assert_eq!(Arc::strong_count(&threads), 1, "{drive}");
        }
    }
}

#[test]
fn a_thread_runs_one_after_another() {
    for (drive, run) in DRIVES {
        for _ in 0..3 {
            let mut play = play(1);
            play.cast.job_tracker = job_tracker(|_, out| out.stop = Some(StopReason::Done));
            play.opening = vec![(ms(1), call(0))];
            assert_eq!(run(play).1, Ending::Stopped(StopReason::Done), "{drive}");
        }
    }
}
