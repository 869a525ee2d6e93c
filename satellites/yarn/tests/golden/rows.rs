//! The tables that only golden runs have: heartbeats, reservations and shares.

use serde::Serialize;

use crate::event::{ContainerFact, YarnEvent, YarnFact};

/// The rows of all three.
#[derive(Debug, Default)]
pub(super) struct GoldenRows {
    pub(super) heartbeats: Vec<HeartbeatRow>,
    pub(super) reservations: Vec<ReservationRow>,
    pub(super) shares: Vec<ShareRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct HeartbeatRow {
    node: String,
    ms: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct ReservationRow {
    ms: u64,
    event: &'static str,
    node: String,
    application: u32,
    container: u32,
    memory: i32,
    vcores: i32,
    priority: i32,
}

#[derive(Debug, Serialize)]
pub(super) struct ShareRow {
    ms: u64,
    schedulable: String,
    demand_mb: i32,
    demand_vcores: i32,
    fair_mb: i32,
    fair_vcores: i32,
    usage_mb: i32,
    usage_vcores: i32,
}

impl GoldenRows {
    pub(super) fn take(&mut self, nodes: &[String], events: &[YarnEvent]) {
        for YarnEvent { at, fact } in events {
            let ms = at.as_millis();
            match fact {
                YarnFact::Beat(node) => {
                    self.heartbeats.push(HeartbeatRow { node: nodes[node.index()].clone(), ms });
                }
                YarnFact::Container(id, fact) => {
                    let (event, (node, size, priority)) = match fact {
                        ContainerFact::Reserved(n, s, p) => ("reserved", (n, s, p)),
                        ContainerFact::Unreserved(n, s, p) => ("unreserved", (n, s, p)),
                        _ => continue,
                    };
                    self.reservations.push(ReservationRow {
                        ms,
                        event,
                        node: nodes[node.index()].clone(),
                        application: id.app.0,
                        container: id.number,
                        memory: size.memory,
                        vcores: size.cores,
                        priority: *priority,
                    });
                }
                YarnFact::Share(share) => self.shares.push(ShareRow {
                    ms,
                    schedulable: share.name.clone(),
                    demand_mb: share.demand.memory,
                    demand_vcores: share.demand.cores,
                    fair_mb: share.share.memory,
                    fair_vcores: share.share.cores,
                    usage_mb: share.usage.memory,
                    usage_vcores: share.usage.cores,
                }),
                YarnFact::Application(..)
                | YarnFact::Node(..)
                | YarnFact::Fault(_)
                | YarnFact::Waits(..) => {}
            }
        }
    }
}
