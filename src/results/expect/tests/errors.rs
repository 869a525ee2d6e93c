//! Every kind of error, with its column and its hint.

use super::*;

/// Returns the column, message and hint of the error in an expression.
fn wrong(text: &str) -> String {
    let axes: [(&str, &[&str]); 4] = [
        ("scheduler", &["fair", "hfsp"]),
        ("cluster.nodes", &["10", "20", "100"]),
        ("a.delay", &["0s", "5s"]),
        ("b.delay", &["on", "off"]),
    ];
    let space = space(&axes, Some(0));
    let checked = Expr::parse(text).and_then(|expr| expr.expectation(&space));
    let complaint = checked.map(|_| ()).expect_err(text);
    format!("{}: {complaint}", complaint.column(text))
}

#[test]
fn a_text_that_is_no_expression_is_refused_where_it_goes_wrong() {
    for (text, complaint) in [
        ("", "1: the expression ends too early: expected a number, a quantity or a call"),
        ("1 +", "4: the expression ends too early: expected a number, a quantity or a call"),
        ("1 2", "3: unexpected `2`: the expression could end here"),
        ("(1", "3: the expression ends too early: expected `)`"),
        ("mean(sojourn", "13: the expression ends too early: expected `,` or `)`"),
        (
            "wait = 3",
            "6: unexpected `=`: the expression could end here; to compare, write `==`; a filter stands in brackets",
        ),
        ("1 ≤ 2", "3: unknown sign `≤`; write `<=`"),
        ("1 < 2 & 2 < 3", "7: unknown sign `&`; write `and`"),
        ("µ ? 1", "3: unknown sign `?`"),
        (
            "3parsecs",
            "2: unknown unit `parsecs`; there are `us`, `ms`, `s`, `min`, `h`, `d`, `B`, `KiB`, `MiB`, `GiB`, `points`",
        ),
        ("3mib", "2: unknown unit `mib`; did you mean `MiB`?"),
        ("1.2.3", "1: `1.2.3` is not a number"),
        (
            "1 within x of 2",
            "10: unexpected `x`: expected a band such as `15 %`, `10 points` or `5s`",
        ),
        ("1 within 5 % 2", "14: unexpected `2`: expected `of`"),
        ("wait[3]", "6: unexpected `3`: expected a filter such as `class=small`"),
        (
            "mean(class=small, wait)",
            "19: unexpected `wait`: what has no name comes before what has one",
        ),
        ("wait[name='a]", "11: the quote does not end"),
        ("not", "4: the expression ends too early: expected a number, a quantity or a call"),
        ("1 < and 2", "5: unexpected `and`: expected a number, a quantity or a call"),
    ] {
        assert_eq!(wrong(text), complaint, "{text}");
    }
    let deep = "(".repeat(60) + "1";
    assert_eq!(wrong(&deep), "52: unexpected `(`: the expression is nested too deeply");
    assert!(wrong(&"1 + ".repeat(1_000)).starts_with("2001: an expression has at most"));
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    for (text, complaint) in [
        ("mean(sojorn) < 3s", "6: unknown name `sojorn`; did you mean `sojourn`?"),
        ("locality.nod > 3 %", "1: unknown name `locality.nod`; did you mean `locality.node`?"),
        (
            "throughput > 3",
            "1: unknown name `throughput`; `mumakil list quantities` lists what there is",
        ),
        ("nodez > 3", "1: unknown name `nodez`; did you mean `nodes`?"),
        ("maen(sojourn) < 3s", "1: unknown function `maen`; did you mean `mean`?"),
        ("mean(sojourn, clas=a)", "15: unknown filter `clas`; did you mean `class`?"),
        (
            "mean(sojourn[shceduler=hfsp])",
            "14: unknown filter `shceduler`; did you mean `scheduler`?",
        ),
        (
            "mean(sojourn, scheduler=hsfp)",
            "25: `hsfp` is no value of `scheduler`; did you mean `hfsp`?",
        ),
        (
            "makespan[nodes=30] < 3s",
            "16: `30` is no value of `cluster.nodes`; there are `10`, `20`, `100`",
        ),
        ("count(attempt.time[kind=mpa])", "25: `mpa` is no kind; did you mean `map`?"),
        ("rising(makespan, by=nodse)", "21: `nodse` is no axis; did you mean `nodes`?"),
        (
            "makespan[delay=5s] < 3s",
            "10: several axes are called `delay`; write all of it: `a.delay`",
        ),
    ] {
        assert_eq!(wrong(text), complaint, "{text}");
    }
}

#[test]
fn a_single_scenario_has_no_axes_to_choose_by() {
    let wrong = |text: &str| {
        let expr = Expr::parse(text).unwrap();
        expr.expectation(&Space::default()).expect_err(text).to_string()
    };
    assert_eq!(
        wrong("mean(sojourn[scheduler=hfsp]) / mean(sojourn[scheduler=fair]) < 1"),
        "unknown filter `scheduler`; a single scenario has no axes to choose by; those of a study \
         stand in its `sweep`"
    );
    assert_eq!(wrong("mean(wait[clas=a]) < 1s"), "unknown filter `clas`; did you mean `class`?");
}

#[test]
fn units_and_kinds_must_agree() {
    for (text, complaint) in [
        (
            "mean(sojourn, scheduler=fair) < 15",
            "33: `<` between a time (`mean(sojourn, scheduler=fair)`) and a plain number (`15`); write `15s` or `15min`",
        ),
        (
            "1GiB < 2",
            "8: `<` between a size in bytes (`1GiB`) and a plain number (`2`); write `2MiB` or `2GiB`",
        ),
        ("1s + 1B < 2s", "6: `+` between a time (`1s`) and a size in bytes (`1B`)"),
        ("1s within 5 points of 2s", "11: `5 points` is a share, but what it bounds is a time"),
        ("(1 < 2) + 1 < 3", "1: `1 < 2` is a condition, not a number"),
        (
            "not 3s",
            "5: `3s` is a time, not a condition; compare it with something, such as `… <= 15min`",
        ),
        ("2 ^ 3s > 1", "5: `3s` is a time: no exponent"),
        ("3s ^ 0.5 > 1", "6: a time has only whole powers that are written out"),
        ("exp(3s) > 1", "5: `3s` is a time; `exp` takes plain numbers"),
        ("sqrt(3s) > 1", "6: there is no root of a time"),
        ("exp() > 1", "1: `exp` needs `x`; exp(x)"),
        ("exp(1, 2) > 1", "1: `exp` takes each of its numbers once; exp(x)"),
        ("mean() > 1", "1: `mean` needs an argument"),
        ("mean(wait, run) > 1s", "12: `mean` takes one argument; this is a second"),
        ("scheduler > 1", "1: the values of `scheduler` are no numbers"),
        ("nodes[class=a] > 1", "7: `nodes` cannot be chosen by `class`"),
    ] {
        assert_eq!(wrong(text), complaint, "{text}");
    }
}

#[test]
fn a_share_is_not_held_against_what_no_share_reaches() {
    let axes: &[(&str, &[&str])] = &[("cluster.nodes", &["10", "20"])];
    let checked = |text: &str| Expr::parse(text).unwrap().expectation(&space(axes, None));
    for (text, complaint) in [
        (
            "utilisation.map < 90",
            "19: `<` between a share (`utilisation.map`) and a plain number (`90`), of which no share is; write `90 %`",
        ),
        (
            "80 % <= share(wait < 3s) <= 95.5",
            "29: `<=` between a share (`share(wait < 3s)`) and a plain number (`95.5`), of which no share is; write `95.5 %`",
        ),
        (
            "min(locality.node, by=nodes) > 97",
            "32: `>` between a share (`min(locality.node, by=nodes)`) and a plain number (`97`), of which no share is; write `97 %`",
        ),
        (
            "locality.node[nodes=10] - locality.node[nodes=20] > -5",
            "53: `>` between a share (`locality.node[nodes=10] - locality.node[nodes=20]`) and a plain number (`-5`), of which no share is; write `-5 %`",
        ),
        (
            "goodput within 5 points of 90",
            "28: `within` between a share (`goodput`) and a plain number (`90`), of which no share is; write `90 %`",
        ),
        (
            "goodput within 5 of 90 %",
            "16: `5` is wider than any difference of shares; write `5 points`",
        ),
    ] {
        let error = checked(text).map(|_| ()).expect_err(text);
        assert_eq!(format!("{}: {error}", error.column(text)), complaint, "{text}");
    }
    for text in [
        "utilisation.map < 0.9",
        "utilisation.map <= 1",
        "locality.node / locality.rack > 2",
        "locality.node[nodes=10] + locality.node[nodes=20] < 1.5",
        "sum(locality.node, by=nodes) < 1.9",
        "linear(makespan, by=nodes) < 3",
        "mean(slowdown) < 90",
        "2 * goodput < 3",
    ] {
        assert!(checked(text).is_ok(), "{text}");
    }
}

#[test]
fn many_numbers_must_become_one() {
    for (text, complaint) in [
        (
            "sojourn[scheduler=fair] < 3s",
            "1: `sojourn[scheduler=fair] < 3s` is a number for each job; say for how many it must hold: all(…), any(…) or share(…)",
        ),
        (
            "wait[scheduler=fair]",
            "1: `wait[scheduler=fair]` is a number for each job; say which number is meant: mean(…), p95(…), max(…)",
        ),
        (
            "mean(wait + slots, scheduler=fair) < 1s",
            "13: `slots` is numbers over time, which cannot be paired with a number for each job",
        ),
        (
            "mean(sojourn / chain.sojourn, scheduler=fair) < 1",
            "16: `chain.sojourn` is a number for each chain of jobs, which cannot be paired with a number for each job",
        ),
        (
            "p99(heartbeat_rtt * 2, scheduler=fair) < 1s",
            "5: `heartbeat_rtt` is a histogram; take a number of it first: mean(…), p99(…), max(…)",
        ),
        (
            "mean(makespan, scheduler=fair) < 1s",
            "6: `makespan` is one number already; leave the call out, or say `by=…` for several",
        ),
        (
            "p99(-heartbeat_rtt) < 1s",
            "6: `heartbeat_rtt` must be of one value of `scheduler`; add `scheduler=…` with one of fair, hfsp",
        ),
        (
            "p99(-heartbeat_rtt[scheduler=fair]) < 1s",
            "6: `heartbeat_rtt[scheduler=fair]` is a histogram; take a number of it first: mean(…), p99(…), max(…)",
        ),
        ("sum(slots, scheduler=fair) < 1", "1: there is no `sum` of numbers over time"),
        ("jain(heartbeat_rtt, scheduler=fair) < 1", "1: there is no `jain` of a histogram"),
        ("mean(wait < 3s, scheduler=fair)", "1: `mean` takes numbers, not conditions"),
        ("all(wait, scheduler=fair)", "1: `all` takes conditions, not numbers"),
        (
            "until(wait > 3s, scheduler=fair) < 1s",
            "7: `until` waits for what changes over time, such as slots[pool=a] >= 10",
        ),
        ("until(slots > 3, from=3, scheduler=fair) < 1s", "23: `from` takes a time such as 57s"),
        (
            "rising(wait, by=nodes, scheduler=fair)",
            "8: `wait` is a number for each job; `by` goes by single numbers such as mean(…)",
        ),
        (
            "rising(makespan > 3s, by=nodes, scheduler=fair)",
            "8: `rising` takes numbers; `makespan > 3s` is a condition",
        ),
    ] {
        assert_eq!(wrong(text), complaint, "{text}");
    }
}

#[test]
fn filters_must_fit_what_they_choose_from() {
    for (text, complaint) in [
        ("makespan[class=a, scheduler=fair] < 1s", "10: `makespan` cannot be chosen by `class`"),
        ("wait[kind=map]", "6: `wait` cannot be chosen by `kind`"),
        ("mean(wait, kind=map, scheduler=fair) < 1s", "12: nothing here can be chosen by `kind`"),
        ("mean(wait[class=a, class=b])", "20: `class` is set twice"),
        ("mean(wait[maps=small])", "16: `maps` takes a number, or a range such as 1..25"),
        ("mean(wait[class=1..2])", "17: `class` takes a word or a list such as [a, b]"),
        ("mean(wait[time=1..2])", "16: `time` takes a range of times such as 100s..200s"),
        (
            "mean(slots[time=[0s..10s, 20s..30s]])",
            "17: `time` takes one range of times; such as `time=100s..200s`",
        ),
        ("mean(wait[maps=5..2])", "16: `maps` takes a number, or a range such as 1..25"),
        ("p99(wait, seeds=3)", "17: `seeds` can only be pooled; write `seeds=pooled`"),
        (
            "rising(makespan)",
            "1: `rising` needs `by`, the values that it goes along; add `by=nodes`, or another axis of the study, or `by=class[small, large]`",
        ),
        (
            "rising(mean(wait), by=class)",
            "23: `class` is no axis; write what to go through, in order: `by=class[…, …]`",
        ),
        ("slope(makespan, by=scheduler)", "1: `slope` goes by numbers of one unit"),
        ("rising(1, by=nodes)", "14: nothing here can be chosen by `cluster.nodes`"),
        (
            "rising(makespan, by=5)",
            "21: `by` takes an axis of the study; or write what to go through, such as `by=maps[1..25, 26..100]`",
        ),
    ] {
        assert_eq!(wrong(text), complaint, "{text}");
    }
}

#[test]
fn an_outer_filter_is_not_lost_in_an_inner_one() {
    for (text, complaint) in [
        (
            "mean(wait[name=a], name=b) < 10min",
            "25: `name=b` leaves nothing of `wait[name=a]`: another `name` is set further inside; say each in its place: `wait[name=…]`",
        ),
        (
            "sum(wait / max(wait, class=large), class=small)",
            "42: `class=small` leaves nothing of `wait`: another `class` is set further inside; say each in its place: `wait[class=…]`",
        ),
        (
            "min(mean(wait, maps=..10), by=maps[1..9, 11..])",
            "42: `maps=11..` leaves nothing of `wait`: another `maps` is set further inside; say each in its place: `wait[maps=…]`",
        ),
        (
            "mean(wait[scheduler=fair], scheduler=hfsp) < 3s",
            "28: `scheduler=hfsp` has no effect: all that is inside chooses by itself; leave one of them out",
        ),
    ] {
        let space = space(&[("scheduler", &["fair", "hfsp"])], None);
        let checked = Expr::parse(text).unwrap().expectation(&space);
        let error = checked.map(|_| ()).expect_err(text);
        assert_eq!(format!("{}: {error}", error.column(text)), complaint, "{text}");
    }
}

#[test]
fn lists_of_an_axis_must_have_a_value_in_common() {
    let space = space(&[("cluster.nodes", &["10", "20", "30", "40"])], None);
    let complaint = |text: &str| {
        let checked = Expr::parse(text).unwrap().expectation(&space);
        checked.err().map(|complaint| format!("{}: {complaint}", complaint.column(text)))
    };
    let meet = |column: usize, setting: &str| {
        Some(format!(
            "{column}: with `{setting}` the lists of `nodes` have no value in common; to compare \
             two cells, write one value for each, such as `nodes=…`"
        ))
    };
    for (text, column, setting) in [
        ("mean(wait, nodes=[10, 20]) < mean(wait, nodes=[30, 40])", 47, "nodes=[30, 40]"),
        ("makespan[nodes=..20] < 1s or makespan[nodes=30..] < 2s", 45, "nodes=30.."),
        ("makespan[nodes=[]] < 1s", 16, "nodes=[]"),
    ] {
        assert_eq!(complaint(text), meet(column, setting), "{text}");
    }
    for text in [
        "mean(wait, nodes=[10, 20]) < mean(wait, nodes=[20, 30])",
        "makespan[nodes=[10, 20]] < makespan[nodes=40]",
        "mean(wait[nodes=[30, 40]] / run, nodes=30) < makespan[nodes=[30, 40]] / 1s",
        "min(makespan, by=nodes[10, 20]) < min(makespan, by=nodes[30, 40])",
    ] {
        assert_eq!(complaint(text), None, "{text}");
    }
}

#[test]
fn nested_curves_do_not_multiply_for_ever() {
    let by = ", by=maps[1.., 2..])".repeat(40);
    let nested = "min(".repeat(40) + "locality.node[scheduler=fair]" + &by;
    assert!(wrong(&nested).ends_with(": `by` goes through more than 10000 values"));
}

#[test]
fn compared_cells_must_be_of_one_value() {
    let must =
        "6: `wait` must be of one value of `scheduler`; add `scheduler=…` with one of fair, hfsp";
    assert_eq!(wrong("mean(wait) < 3s"), must);
    assert_eq!(wrong("mean(wait, scheduler=[fair, hfsp]) < 3s"), must);
    assert!(wrong("mean(wait[scheduler=fair] / run) < 3").starts_with("29: `run` must be of one"));
}

#[test]
fn a_metric_is_a_number_of_every_cell() {
    let space = space(&[("scheduler", &["fair", "hfsp"])], Some(0));
    let metric = |text: &str| {
        Expr::parse(text).unwrap().metric(&space).map(|plan| plan.unit()).map_err(|e| e.to_string())
    };
    assert_eq!(metric("mean(sojourn)"), Ok(Unit::TIME));
    assert_eq!(metric("locality.node"), Ok(Unit::SHARE));
    assert_eq!(
        metric("makespan > 3s").unwrap_err(),
        "`makespan > 3s` is a condition, but a metric is a number"
    );
    assert_eq!(
        metric("makespan[scheduler=[fair, hfsp]]").unwrap_err(),
        "`scheduler=[fair, hfsp]` is several cells, and this is one number of each run; \
         choose one value of `scheduler`, or leave the filter out"
    );
    assert_eq!(
        metric("makespan[scheduler=fare]").unwrap_err(),
        "`fare` is no value of `scheduler`; did you mean `fair`?"
    );
    assert_eq!(
        metric("mean(makespan, by=scheduler)").unwrap_err(),
        "a metric is measured in each cell, so it cannot go by an axis"
    );
}
