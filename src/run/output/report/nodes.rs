//! The work of the nodes, by group and by rack, if nodes were recorded and there are several.

use indexmap::IndexMap;

use super::{ReportBlocks, ReportSource, count};
use mumakil_base::units::tell;
use mumakil_draw::chart::AxisUnit;
use mumakil_draw::page::{PageBlock, PageCell, PageColumn, PageTable};
use mumakil_results::tables::{NodeRow, Results, SlotMillis, TableRow};

/// The most racks that a table shows. Chosen: about a screen.
const MOST: usize = 40;

pub(super) fn blocks(ReportSource { run, .. }: &ReportSource<'_>) -> ReportBlocks {
    let (mut groups, mut racks) = (IndexMap::new(), IndexMap::new());
    (run.results as &dyn Results).rows_if_any(|row: NodeRow| {
        for (sums, name) in [(&mut groups, &row.group), (&mut racks, &row.rack)] {
            add(sums.entry(name.to_string()).or_insert_with(|| (0, NodeRow::default())), &row);
        }
        Ok(())
    })?;
    // Groups are the first nodes, but their racks the last: numbers go up here.
    racks.sort_by_cached_key(|name, _| {
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (word, number) = name.split_at(name.len() - digits);
        (word.to_owned(), number.parse::<u64>().ok(), name.clone())
    });
    let several = [("Group", groups), ("Rack", racks)].into_iter().filter(|(_, of)| 1 < of.len());
    Ok(several.map(|(word, sums)| PageBlock::Table(table(word, &sums))).collect())
}

/// Adds a node to the sum of its group or rack.
fn add((nodes, sum): &mut (u64, NodeRow), row: &NodeRow) {
    *nodes += 1;
    for (sum, own) in [
        (&mut sum.map_slot_ms, row.map_slot_ms),
        (&mut sum.map_busy_ms, row.map_busy_ms),
        (&mut sum.reduce_slot_ms, row.reduce_slot_ms),
        (&mut sum.reduce_busy_ms, row.reduce_busy_ms),
    ] {
        sum.0 += own.0;
    }
    sum.map_slots += row.map_slots;
    sum.reduce_slots += row.reduce_slots;
    sum.attempts += row.attempts;
    sum.failed += row.failed;
    sum.killed += row.killed;
    sum.input_off_rack_bytes += row.input_off_rack_bytes;
    sum.shuffle_off_rack_bytes += row.shuffle_off_rack_bytes;
    sum.copies_off_rack_bytes += row.copies_off_rack_bytes;
}

fn table(word: &str, sums: &IndexMap<String, (u64, NodeRow)>) -> PageTable {
    let number = |number: u64| PageCell::number(number as f64, count(number as f64));
    let share = |part: SlotMillis, whole: SlotMillis| {
        let share = (0 < whole.0).then(|| part.0 as f64 / whole.0 as f64);
        PageCell::maybe(share, tell::percent)
    };
    let rows = sums.iter().take(MOST).map(|(name, (nodes, sum))| {
        let far = sum.input_off_rack_bytes + sum.shuffle_off_rack_bytes + sum.copies_off_rack_bytes;
        vec![
            PageCell::text(if name.is_empty() { "others" } else { name }),
            number(*nodes),
            number(sum.map_slots.into()),
            share(sum.map_busy_ms, sum.map_slot_ms),
            number(sum.reduce_slots.into()),
            share(sum.reduce_busy_ms, sum.reduce_slot_ms),
            number(sum.attempts.into()),
            number((sum.failed + sum.killed).into()),
            PageCell::number(far as f64, AxisUnit::Bytes.text(far as f64)),
        ]
    });
    let numbers = [
        "Nodes",
        "Map slots",
        "in use",
        "Reduce slots",
        "in use",
        "Attempts",
        "Lost",
        "From other racks",
    ];
    let of = word.to_lowercase();
    let more = match sums.len() {
        ..=MOST => String::new(),
        all => format!("; the first {MOST} of {all}"),
    };
    PageTable::new(
        format!("What the nodes did, by {of}{more}; {} has each node", NodeRow::FILE),
        [PageColumn::text(word)].into_iter().chain(numbers.map(PageColumn::number)),
        rows,
    )
}
