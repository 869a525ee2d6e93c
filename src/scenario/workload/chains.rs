//! Chains: jobs that are linked by `after`, such as the four jobs of a join.
//!
//! A batch and all batches that it follows belong to one chain, even if other batches follow them,
//! too. A job without links is a chain by itself. So each query is one chain, whether it has one
//! job or several.

use super::arrivals::Workload;
use super::disjoint_sets::DisjointSets;
use mumakil_core::mapred::JobId;

impl Workload {
    /// Returns the chains, ordered by their first jobs; the jobs of each chain are ordered by
    /// number.
    pub fn chains(&self) -> Vec<Vec<JobId>> {
        let mut sets = DisjointSets::new(self.follows.len());
        let mut is_tied = vec![false; self.follows.len()];
        for (batch, before) in self.follows.iter().enumerate() {
            for other in before.iter().map(|other| other.index()) {
                sets.join(batch, other);
                (is_tied[batch], is_tied[other]) = (true, true);
            }
        }
        let mut chains: Vec<Vec<JobId>> = Vec::new();
        let mut places: Vec<Option<usize>> = vec![None; self.follows.len()];
        for arrival in &self.arrivals {
            let batch = arrival.batch.index();
            let first = sets.first(batch);
            let job = arrival.spec.id;
            // Jobs of a `count` without links share a batch, but each of them is a chain.
            match places[first].filter(|_| is_tied[batch]) {
                Some(place) => chains[place].push(job),
                None => {
                    places[first] = Some(chains.len());
                    chains.push(vec![job]);
                }
            }
        }
        chains
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::jobs::JobEntry;
    use mumakil_base::units::Bytes;

    /// Returns the names of the jobs in each chain.
    fn chains(yaml: &str) -> Vec<Vec<String>> {
        let entries: Vec<JobEntry> = serde_yaml::from_str(yaml).unwrap();
        let workload = Workload::from_jobs(&entries, 1, Bytes::from_mib(64), &|_, _| "".into());
        let name = |job: &JobId| workload.arrivals[job.index()].spec.name.to_string();
        workload.chains().iter().map(|chain| chain.iter().map(name).collect()).collect()
    }

    #[test]
    fn jobs_that_follow_others_are_of_their_chain() {
        let jobs = "[{name: load, maps: 1}, {name: other, maps: 1, submit: 1s},
            {name: left, maps: 1, after: [load], submit: 1h}, {name: right, maps: 1, after: [load]},
            {name: join, maps: 1, after: [left, right]}]";
        // Ordered by earliest submission: `right` before `left`.
        let whole = ["load", "right", "left", "join"];
        assert_eq!(chains(jobs), [&whole[..], &["other"]]);
    }

    #[test]
    fn jobs_that_one_waits_for_are_of_one_chain_though_they_do_not_know_each_other() {
        let jobs = "[{name: a, maps: 1}, {name: b, maps: 1, submit: 1s}, {name: c, maps: 1},
            {name: last, maps: 1, after: [b, a]}]";
        assert_eq!(chains(jobs), [&["a", "b", "last"][..], &["c"]]);
    }

    #[test]
    fn the_jobs_of_an_entry_are_of_one_chain_only_if_another_waits_for_them() {
        let apart = "{name: x, maps: 1, submit: 9s, count: 2}";
        let jobs = format!(
            "[{{name: a, maps: 1, count: 2}}, {{name: b, maps: 1, after: [a], count: 2}}, {apart}]"
        );
        assert_eq!(chains(&jobs), [&["a-1", "a-2", "b-1", "b-2"][..], &["x-1"], &["x-2"]]);
    }
}
