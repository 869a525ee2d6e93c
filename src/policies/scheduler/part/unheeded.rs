//! What pools may say and not every policy heeds: pools inside of them are refused, other keys are
//! warned of.

use super::pools::{JobOrder, Pool, Pools};
use mumakil_core::mapred::Complaint;

/// Whether pools say something.
type Says = fn(&Pools) -> bool;

/// Keys that some policies take no notice of.
const KEYS: [(&str, Says); 5] = [
    ("max_maps", |pools| any(pools, |pool| pool.max_maps.is_some())),
    ("max_reduces", |pools| any(pools, |pool| pool.max_reduces.is_some())),
    ("order", |pools| {
        pools.order != JobOrder::default() || any(pools, |pool| pool.order.is_some())
    }),
    ("fair_share_after", |pools| pools.fair_share_after.is_some()),
    ("min_share_after", |pools| {
        pools.min_share_after.is_some() || any(pools, |pool| pool.min_share_after.is_some())
    }),
];

fn any(pools: &Pools, says: fn(&Pool) -> bool) -> bool {
    pools.pools.values().any(says)
}

/// Returns what is wrong with pools for a policy that knows none inside of others and takes no notice
/// of these keys.
pub fn unheeded(pools: &Pools, policy: &str, keys: &[&str]) -> Vec<Complaint> {
    let nested = pools.pools.iter().filter(|(_, pool)| !pool.pools.is_empty());
    let refused = nested.map(|(name, _)| Complaint {
        path: ["allocations", "pools", name, "pools"].map(str::to_owned).into(),
        message: format!("`{name}` has pools inside of it, and `{policy}` knows no such pools"),
        hint: "declare them beside it, or choose `fair`".to_owned(),
        is_warning: false,
    });
    let said = KEYS.into_iter().filter(|(key, is_said)| keys.contains(key) && is_said(pools));
    let ignored = said.map(|(key, _)| Complaint {
        path: vec!["allocations".to_owned()],
        message: format!("`{policy}` takes no notice of `{key}`"),
        hint: "leave it out, or choose `fair`, which does".to_owned(),
        is_warning: true,
    });
    refused.chain(ignored).collect()
}
