//! A policy for Mumakil: change what is below. The adapter and its JSON may stay as they are.

#![allow(dead_code)] // of the adapter, what this policy does not need

mod adapter;
mod json;

use std::collections::BTreeMap;

use adapter::{Job, MAP, Offer, Policy, REDUCE, Reach, serve};
use json::Json;

/// First come, first served; of a job's maps those first whose input is on the node, then in its rack.
struct Greedy;

impl Policy for Greedy {
    fn new(_hello: &Json) -> Self {
        Self
    }

    fn offer(&mut self, jobs: &mut BTreeMap<u64, Job>, offer: &mut Offer) {
        let mut line: Vec<&mut Job> = jobs.values_mut().collect();
        line.sort_by_key(|job| (job.priority, job.arrived_us, job.job));
        for (place, job) in line.into_iter().enumerate() {
            for (reach, word) in [(Reach::Node, "node"), (Reach::Rack, "rack"), (Reach::Any, "any")] {
                while offer.can(MAP, job, reach) {
                    let why = format!("{word} map, {place} jobs before it");
                    offer.launch(MAP, job, reach, &why);
                }
            }
            while offer.can(REDUCE, job, Reach::Any) {
                offer.launch(REDUCE, job, Reach::Any, &format!("{place} jobs before it"));
            }
        }
    }
}

fn main() {
    serve::<Greedy>();
}
