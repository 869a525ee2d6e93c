//! The findings of a contest: sections for the terminal, and with charts a page.

use crate::scores::{PolicyScore, ScenarioScore, geometric};
use crate::suite::SuiteScenario;
use crate::{ScoredContest, Verdict};
use mumakil_base::units::tell::significant;
use mumakil_draw::chart::{
    AxisUnit, Caption, ChartAxis, DoubtedValues, Drawing, Heat, Ratio, RatioSeries, Ratios,
    ScatterPlot, ScatterPoint, ScatterSeries, SeriesLook,
};
use mumakil_draw::page::{Headline, HtmlPage, PageBlock, PageCell, PageColumn, PageTable, Section};

/// The most policies that share a chart with a mark for each.
// Chosen: more marks side by side cannot be told apart.
const MOST_MARKS: usize = 6;

impl ScoredContest<'_> {
    /// Returns the scores, the best first; policies that are out of the contest come last.
    pub fn ranked(&self) -> Vec<&PolicyScore> {
        let mut ranked: Vec<&PolicyScore> = self.scores.iter().collect();
        let total = |score: &PolicyScore| score.total.unwrap_or(f64::INFINITY);
        // The sort is stable: equal policies stay in the order in which they were named.
        ranked.sort_by(|a, b| a.verdict().cmp(&b.verdict()).then(total(a).total_cmp(&total(b))));
        ranked
    }

    /// Returns the ratios of mean and tail to the best baselines, over all scenarios.
    pub fn mean_and_tail(&self, score: &PolicyScore) -> [Option<f64>; 2] {
        let weights = self.contest.suite.weights();
        [
            geometric(&weights, &score.scenarios, |one| one.mean_and_tail[0]),
            geometric(&weights, &score.scenarios, |one| one.mean_and_tail[1]),
        ]
    }

    /// Returns the policies and the suite in words.
    pub fn title(&self) -> String {
        let what = match &self.scores[..] {
            [only] => only.title(),
            all => format!("{} policies", all.len()),
        };
        format!("{what} on the suite {}", self.contest.suite.name)
    }

    /// Returns the result in a sentence; none without a score.
    pub fn gist(&self) -> Option<String> {
        let ranked = self.ranked();
        if let [only] = &ranked[..] {
            let total = shown(only.total?);
            let ratios = only.scenarios.iter().filter_map(|one| Some((one, one.ratio?)));
            let (worst, ratio) = ratios.max_by(|a, b| a.1.total_cmp(&b.1))?;
            let (name, best, ratio) = (&worst.name, &worst.best, shown(ratio));
            return Some(format!(
                "{}: {total} of the best baselines' numbers in the mean, so less than 1 is better; the \
                 worst is {name}, {ratio} of {best}.",
                only.title()
            ));
        }
        let best =
            ranked.iter().filter_map(|of| Some(format!("{} ({})", of.title(), shown(of.total?))));
        let best: Vec<String> = best.take(3).collect();
        (!best.is_empty()).then(|| format!("Best first: {}.", best.join(", ")))
    }

    /// Returns the sections without charts; `feedback` has the sentences about the only policy.
    pub fn sections(&self, feedback: &[String]) -> Vec<Section> {
        let ranked = self.ranked();
        let mut short = match &ranked[..] {
            [only] => vec![
                PageBlock::Headlines(headlines(only)),
                PageBlock::Warnings(only.disqualified.clone()),
                PageBlock::Table(self.scenarios(only)),
            ],
            all => {
                let reasons = all.iter().flat_map(|score| {
                    score.reasons().map(|why| format!("{}: {why}", score.policy))
                });
                vec![PageBlock::Warnings(reasons.collect()), PageBlock::Table(self.ranking())]
            }
        };
        short.retain(|block| !matches!(block, PageBlock::Warnings(all) if all.is_empty()));
        let mut sections = vec![Section::new("In short", short)];
        if !feedback.is_empty() {
            let blocks = vec![PageBlock::Sentences(feedback.to_vec())];
            sections.push(Section::new("Where it loses", blocks));
        }
        sections
    }

    /// Returns the page.
    pub fn page(&self, feedback: &[String], command: &str) -> HtmlPage {
        let ranked = self.ranked();
        let marked: Vec<&PolicyScore> = ranked.iter().copied().take(MOST_MARKS).collect();
        let mut charts = vec![ratios(&marked)];
        if 1 < ranked.len() {
            charts.extend([self.mean_against_tail(&ranked), self.heat(&ranked)]);
        }
        let mut sections = self.sections(feedback);
        sections[0].blocks.push(PageBlock::Text(
            "A ratio below 1 is better than the best baseline of the scenario. The total is the \
             geometric mean of the ratios, weighted as the suite says."
                .to_owned(),
        ));
        sections.insert(1, Section::new("By scenario", vec![PageBlock::Charts(charts)]));
        let blocks = vec![PageBlock::Code(command.to_owned())];
        sections.push(Section::new("How to repeat it", blocks));
        HtmlPage {
            title: self.title(),
            subtitle: self.contest.suite.description.clone(),
            gist: self.gist().into_iter().collect(),
            sections,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Returns the policies with their ratios, the best first.
    pub fn ranking(&self) -> PageTable {
        let ranked = self.ranked();
        let held_back = ranked.iter().any(|score| score.held_back.is_some());
        let scenarios = self.contest.suite.scenarios.iter().map(|one| &*one.label);
        let totals = ["total"].into_iter().chain(held_back.then_some("held back"));
        let numbers = totals.chain(["mean", "tail"]).chain(scenarios);
        let columns = numbers.map(PageColumn::number);
        let row = |score: &&PolicyScore| {
            let ratio = |ratio| PageCell::maybe(ratio, shown);
            let total = match score.verdict() {
                Verdict::Scored => ratio(score.total),
                other => PageCell::text(other.word()),
            };
            let mut row = vec![PageCell::text(score.title()), total];
            row.extend(held_back.then(|| ratio(score.held_back)));
            row.extend(self.mean_and_tail(score).map(ratio));
            row.extend(score.scenarios.iter().map(|one| ratio(one.ratio)));
            row
        };
        PageTable::new(
            "Ratios to the best baseline of each scenario",
            [PageColumn::text("policy")].into_iter().chain(columns),
            ranked.iter().map(row),
        )
    }

    fn mean_against_tail(&self, ranked: &[&PolicyScore]) -> Drawing {
        let point = |score: &&PolicyScore| {
            let [x, y] = self.mean_and_tail(score);
            Some(ScatterPoint { name: score.policy.clone(), x: x?, y: y? })
        };
        let series = |(place, score): (usize, &&PolicyScore)| ScatterSeries {
            name: score.policy.clone(),
            look: SeriesLook(place),
            points: point(score).into_iter().collect(),
        };
        let (named, others) = ranked.split_at(ranked.len().min(MOST_MARKS));
        let mut all: Vec<ScatterSeries> = named.iter().enumerate().map(series).collect();
        if !others.is_empty() {
            let points = others.iter().filter_map(point).collect();
            let look = SeriesLook(named.len());
            all.push(ScatterSeries { name: "the others".to_owned(), look, points });
        }
        let axis = |title: &str| ChartAxis::log(title, AxisUnit::Ratio);
        ScatterPlot {
            caption: caption(
                "tail",
                "Mean against tail",
                "further left and lower is better",
                "points above the line: their slowest jobs pay for the mean",
            ),
            x: axis("Mean sojourn over that of the best baseline"),
            y: axis("95th percentile over that of the best baseline"),
            series: all,
            diagonal: Some("mean and tail gain alike".to_owned()),
            notes: Vec::new(),
        }
        .draw()
    }

    fn heat(&self, ranked: &[&PolicyScore]) -> Drawing {
        let ratios = ranked
            .iter()
            .map(|score| score.scenarios.iter().map(|one| one.ratio.unwrap_or(f64::NAN)).collect());
        Heat {
            caption: caption(
                "where",
                "Ratio to the best baseline",
                "lower is better",
                "the scenario in which a policy is unlike its others",
            ),
            x: "Scenario".to_owned(),
            y: "Policy".to_owned(),
            columns: self.contest.suite.scenarios.iter().map(|one| one.label.clone()).collect(),
            rows: ranked.iter().map(|score| score.policy.clone()).collect(),
            value: ChartAxis::log("Ratio", AxisUnit::Ratio),
            values: ratios.collect(),
        }
        .draw()
    }

    fn scenarios(&self, score: &PolicyScore) -> PageTable {
        let suite = &self.contest.suite;
        let row = |(one, scenario): (&ScenarioScore, &SuiteScenario)| {
            let band = one.low.zip(one.high);
            let mut row = vec![
                PageCell::text(one.name.clone()),
                PageCell::text(scenario.goal.words()),
                PageCell::text(one.best.clone()),
                PageCell::maybe(one.ratio, shown),
                PageCell::text(band.map_or_else(String::new, |(low, high)| {
                    format!("{} to {}", shown(low), shown(high))
                })),
                PageCell::text(scenario.bound.0.clone()),
                PageCell::maybe(one.bound, shown),
            ];
            if score.held_back.is_some() {
                row.push(PageCell::maybe(one.held_back, shown));
            }
            row
        };
        let mut columns = vec![
            PageColumn::text("scenario"),
            PageColumn::text("number"),
            PageColumn::text("best baseline"),
            PageColumn::number("ratio to it"),
            PageColumn::text("95 % interval"),
            PageColumn::text("bound"),
            PageColumn::number("ratio to it"),
        ];
        if score.held_back.is_some() {
            columns.push(PageColumn::number("held back"));
        }
        PageTable::new(
            "The scenarios",
            columns,
            score.scenarios.iter().zip(&suite.scenarios).map(row),
        )
    }
}

/// Prints a ratio with three digits, or with more if it would look like 1 and is not 1.
pub(crate) fn shown(ratio: f64) -> String {
    let mut texts = (3..=9).map(|digits| significant(ratio, digits));
    // At most a billionth is an error of rounding.
    let clear = texts.find(|text| text != "1" || (ratio - 1.0).abs() < 1e-9);
    clear.unwrap_or_else(|| "1".to_owned())
}

fn headlines(score: &PolicyScore) -> Vec<Headline> {
    let headline = |label: &str, value: Option<f64>, note: String| Headline {
        label: label.to_owned(),
        value: value.map_or_else(|| "–".to_owned(), shown),
        note,
    };
    let note = match score.total {
        Some(_) => "below 1 is better",
        None if !score.disqualified.is_empty() => "out of the contest",
        None => "a scenario has no ratio",
    };
    let mut all = vec![headline("total", score.total, note.to_owned())];
    if let Some(held_back) = score.held_back {
        let note = score.over_fitting().unwrap_or_default();
        all.push(headline("held back", Some(held_back), note));
    }
    all
}

fn ratios(scores: &[&PolicyScore]) -> Drawing {
    let ratio = |one: &ScenarioScore| {
        let band = one.low.zip(one.high);
        Some(Ratio {
            value: one.ratio?,
            band,
            decided: band.is_some_and(|(low, high)| 1.0 < low || high < 1.0),
            label: format!("{}: {} of {}", one.name, shown(one.ratio?), one.best),
        })
    };
    let series = |(place, score): (usize, &&PolicyScore)| RatioSeries {
        name: score.policy.clone(),
        look: SeriesLook(place),
        ratios: score.scenarios.iter().map(ratio).collect(),
    };
    Ratios {
        caption: caption(
            "ratios",
            "Ratio to the best baseline",
            "lower is better",
            "bands that lie below 1: there the policy beats every baseline",
        ),
        y: "Ratio".to_owned(),
        x: "Scenario".to_owned(),
        groups: scores[0].scenarios.iter().map(|one| one.name.clone()).collect(),
        series: scores.iter().enumerate().map(series).collect(),
        looks: Vec::new(),
        shared: None,
        band: "95 % confidence, paired by seed".to_owned(),
    }
    .draw()
}

fn caption(id: &str, title: &str, beneath: &str, look_for: &'static str) -> Caption {
    Caption {
        id: format!("score-{id}"),
        title: title.to_owned(),
        beneath: beneath.to_owned(),
        description: format!("{title}; {beneath}"),
        look_for,
        doubted: DoubtedValues::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_ratio_of_one_looks_like_one() {
        for (ratio, told) in [
            (1.832, "1.83"),
            (1.0, "1"),
            (1.000_000_000_1, "1"),
            (0.9996, "0.9996"),
            (1.0004, "1.0004"),
        ] {
            assert_eq!(shown(ratio), told);
        }
    }
}
