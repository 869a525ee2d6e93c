//! The asks of one application, by priority and place.
//!
//! A table of asks is read as Hadoop keeps it: an allocation lowers the rows of its own level and
//! of the wider ones, never those of the narrower levels. So rows of hosts and racks drift away
//! from what is really wanted, and some stay behind for ever.

use std::collections::BTreeMap;

use crate::message::{AskPriority, ContainerAsk, PlaceId};
use crate::size::YarnSize;

/// How close a container is to the place it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Closeness {
    /// On the host.
    Node,
    /// In the rack.
    Rack,
    /// Anywhere.
    Any,
}

/// The containers that are asked for at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AskRow {
    pub(crate) size: YarnSize,
    pub(crate) count: i32,
}

/// The names of a node's host and rack, as asks give them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodePlaces {
    pub(crate) host: PlaceId,
    pub(crate) rack: PlaceId,
}

/// The rows of one priority.
pub(crate) type AskRows = BTreeMap<PlaceId, AskRow>;

/// The asks of an application.
#[derive(Clone, Debug, Default)]
pub(crate) struct AskTable {
    /// The rows by priority. A priority stays once it was asked for.
    rows: BTreeMap<AskPriority, AskRows>,
}

impl AskTable {
    /// Replaces rows by new ones.
    pub(crate) fn update(&mut self, asks: &[ContainerAsk]) {
        for ask in asks {
            let row = AskRow { size: ask.size, count: ask.count };
            self.rows.entry(ask.priority).or_default().insert(ask.place, row);
        }
    }

    /// Gives an ask back: each row that it was taken from grows by one.
    pub(crate) fn restore(&mut self, priority: AskPriority, rows: &[(PlaceId, YarnSize)]) {
        for (place, size) in rows {
            let rows = self.rows.entry(priority).or_default();
            let row = rows.entry(*place).or_insert(AskRow { size: *size, count: 0 });
            *row = AskRow { size: *size, count: row.count + 1 };
        }
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Returns the priorities that were ever asked for, most important first.
    pub(crate) fn priorities(&self) -> impl Iterator<Item = AskPriority> + '_ {
        self.rows.keys().copied()
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &AskRow> {
        self.rows.values().flat_map(BTreeMap::values)
    }

    /// Returns how many rows a priority has.
    pub(crate) fn row_count(&self, priority: AskPriority) -> usize {
        self.rows.get(&priority).map_or(0, BTreeMap::len)
    }

    pub(crate) fn row(&self, priority: AskPriority, place: PlaceId) -> Option<AskRow> {
        self.rows.get(&priority)?.get(&place).copied()
    }

    /// Returns the row of all places; no containers if there is none.
    pub(crate) fn any(&self, priority: AskPriority) -> AskRow {
        let none = AskRow { size: YarnSize::NONE, count: 0 };
        self.row(priority, PlaceId::ANY).unwrap_or(none)
    }

    /// Returns the memory and cores of all that is wanted anywhere.
    pub(crate) fn wanted(&self) -> YarnSize {
        let all = self.rows.values().filter_map(|rows| rows.get(&PlaceId::ANY));
        all.fold(YarnSize::NONE, |sum, row| sum + row.size.repeated(row.count))
    }

    /// Returns whether any container is wanted.
    pub(crate) fn is_asking(&self) -> bool {
        self.rows.keys().any(|priority| 0 < self.any(*priority).count)
    }

    /// Lowers the rows for one container that a node gets, and returns them; `None` if a row that
    /// it must lower is not there, which is where Hadoop's FIFO scheduler fails.
    pub(crate) fn take(
        &mut self,
        priority: AskPriority,
        closeness: Closeness,
        NodePlaces { host, rack }: NodePlaces,
    ) -> Option<Vec<(PlaceId, YarnSize)>> {
        let places: &[PlaceId] = match closeness {
            Closeness::Node => &[host, rack, PlaceId::ANY],
            Closeness::Rack => &[rack, PlaceId::ANY],
            Closeness::Any => &[PlaceId::ANY],
        };
        let rows = self.rows.get_mut(&priority)?;
        let mut taken = Vec::with_capacity(places.len());
        for place in places {
            let row = rows.get_mut(place)?;
            row.count -= 1;
            taken.push((*place, row.size));
            if row.count == 0 && *place != PlaceId::ANY {
                rows.remove(place);
            }
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: PlaceId = PlaceId(1);
    const RACK: PlaceId = PlaceId(2);
    const HERE: NodePlaces = NodePlaces { host: HOST, rack: RACK };
    const SIZE: YarnSize = YarnSize::new(1_024, 1);

    fn table(rows: [(PlaceId, i32); 3]) -> AskTable {
        let mut table = AskTable::default();
        let asks =
            rows.map(|(place, count)| ContainerAsk { priority: 20, place, size: SIZE, count });
        table.update(&asks);
        table
    }

    fn counts(table: &AskTable) -> [i32; 3] {
        [HOST, RACK, PlaceId::ANY].map(|place| table.row(20, place).map_or(0, |row| row.count))
    }

    #[test]
    fn an_allocation_leaves_the_rows_of_narrower_levels() {
        let mut asks = table([(HOST, 2), (RACK, 3), (PlaceId::ANY, 4)]);
        asks.take(20, Closeness::Node, HERE).unwrap();
        assert_eq!(counts(&asks), [1, 2, 3]);
        asks.take(20, Closeness::Rack, HERE).unwrap();
        assert_eq!(counts(&asks), [1, 1, 2]);
        asks.take(20, Closeness::Any, HERE).unwrap();
        assert_eq!(counts(&asks), [1, 1, 1]);
    }

    #[test]
    fn an_empty_row_goes_but_that_of_all_places_stays() {
        let mut asks = table([(HOST, 1), (RACK, 1), (PlaceId::ANY, 1)]);
        asks.take(20, Closeness::Node, HERE).unwrap();
        assert_eq!(asks.row_count(20), 1);
        assert!(!asks.is_asking());
    }

    #[test]
    fn a_host_that_is_wanted_more_often_than_its_rack_runs_out_of_rack() {
        let mut asks = table([(HOST, 2), (RACK, 1), (PlaceId::ANY, 2)]);
        assert!(asks.take(20, Closeness::Node, HERE).is_some());
        assert!(asks.take(20, Closeness::Node, HERE).is_none());
    }

    #[test]
    fn an_ask_that_is_given_back_returns_to_its_rows() {
        let mut asks = table([(HOST, 1), (RACK, 1), (PlaceId::ANY, 1)]);
        let rows = asks.take(20, Closeness::Node, HERE).unwrap();
        asks.restore(20, &rows);
        assert_eq!(counts(&asks), [1, 1, 1]);
    }
}
