//! Comparisons of two futures, with and without an action: each runs to its end, and a page shows
//! both.
//!
//! The session keeps the progress and the pages; the command runs the futures.

use std::collections::VecDeque;

use hyper::body::Bytes;
use serde::Serialize;

use crate::units::SimTime;

/// The number of comparisons that are kept, the newest ones. A page has some hundred kilobytes.
const KEPT: usize = 8;

/// The comparisons of a session.
#[derive(Default)]
pub(super) struct WhatIfs {
    all: VecDeque<WhatIf>,
    number: u64,
}

/// A comparison of two futures.
struct WhatIf {
    number: u64,
    at: SimTime,
    /// The action in words.
    words: String,
    come: FutureState,
}

/// The state of a comparison.
enum FutureState {
    /// Both futures are being run; the number is the share that is done, from 0 to 1.
    Playing(f64),
    /// Both are done, and this is the page.
    Page(Bytes),
    /// The comparison failed, for this reason.
    Failed(String),
}

/// A comparison in the list on the page.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct WhatIfRow<'o> {
    number: u64,
    at_us: u64,
    words: &'o str,
    /// The share that is done, from 0 to 1.
    done: f64,
    failed: Option<&'o str>,
    /// Whether there is a page.
    has_page: bool,
}

impl WhatIfs {
    /// Begins a comparison; returns its number, or `None` while another is in progress.
    pub(super) fn begin(&mut self, at: SimTime, words: String) -> Option<u64> {
        // The two runs of a comparison slow the session down; four would be worse.
        if self.all.iter().any(|one| matches!(one.come, FutureState::Playing(_))) {
            return None;
        }
        // No comparison is in progress now, so the oldest can be dropped.
        if self.all.len() == KEPT {
            self.all.pop_front();
        }
        self.number += 1;
        let number = self.number;
        self.all.push_back(WhatIf { number, at, words, come: FutureState::Playing(0.0) });
        Some(number)
    }

    /// Notes the share of a comparison that is done.
    pub(super) fn go_on(&mut self, number: u64, done: f64) {
        self.set(number, FutureState::Playing(done));
    }

    /// Notes the page of a comparison, or the reason of its failure.
    pub(super) fn end(&mut self, number: u64, page: Result<String, String>) {
        self.set(
            number,
            page.map_or_else(FutureState::Failed, |page| FutureState::Page(page.into())),
        );
    }

    fn set(&mut self, number: u64, come: FutureState) {
        // Ignore late progress of a comparison that was dropped.
        if let Some(one) = self.all.iter_mut().find(|one| one.number == number) {
            one.come = come;
        }
    }

    /// Returns the page of a comparison; `None` if there is none.
    pub(super) fn page(&self, number: u64) -> Option<Bytes> {
        self.all.iter().find_map(|one| match &one.come {
            FutureState::Page(page) if one.number == number => Some(page.clone()),
            _ => None,
        })
    }

    /// Returns all comparisons, the newest first.
    pub(super) fn rows(&self) -> Vec<WhatIfRow<'_>> {
        self.all.iter().rev().map(WhatIf::row).collect()
    }
}

impl WhatIf {
    fn row(&self) -> WhatIfRow<'_> {
        let (done, failed) = match &self.come {
            FutureState::Playing(done) => (*done, None),
            FutureState::Page(_) => (1.0, None),
            FutureState::Failed(why) => (1.0, Some(why.as_str())),
        };
        let has_page = matches!(self.come, FutureState::Page(_));
        let Self { number, at, words, .. } = self;
        WhatIfRow { number: *number, at_us: at.as_micros(), words, done, failed, has_page }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::SimSpan;

    #[test]
    fn one_is_played_at_a_time_and_the_newest_are_kept() {
        let mut all = WhatIfs::default();
        let at = SimTime::ZERO + SimSpan::from_secs(2);
        let first = all.begin(at, "hfsp takes over".to_owned()).unwrap();
        assert_eq!(all.begin(at, "another".to_owned()), None);
        all.go_on(first, 0.25);
        let words = "hfsp takes over";
        let row = WhatIfRow {
            number: 1,
            at_us: 2_000_000,
            words,
            done: 0.25,
            failed: None,
            has_page: false,
        };
        assert_eq!(all.rows(), [row]);
        assert_eq!(all.page(first), None);
        all.end(first, Ok("page".to_owned()));
        assert_eq!(all.page(first), Some("page".into()));
        for number in 2..=9 {
            assert_eq!(all.begin(at, String::new()), Some(number));
            all.end(number, Err("it stalled".to_owned()));
        }
        assert_eq!((all.rows().len(), all.rows()[0].number), (KEPT, 9));
        assert_eq!(all.rows()[0].failed, Some("it stalled"));
        assert_eq!(all.page(first), None, "forgotten");
    }
}
