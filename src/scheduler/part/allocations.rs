//! The option of pools: as a mapping, or as the path of a Hadoop allocation file.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::json;

use super::allocation_file::{Fault, MOST_BYTES, parse};
use super::pool_tree::{PoolId, PoolTree};
use super::pools::{Pools, check};
use crate::cluster::SlotKind;
use crate::mapred::{Complaint, JobSpec, Site};

/// Pools, or where they are written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Allocations {
    /// A Hadoop allocation file.
    File(PathBuf),
    /// The pools.
    Pools(Pools),
}

/// What a job's pool is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PoolBy {
    /// The pool that it names; its user's, if it names none.
    #[default]
    Pool,
    /// Its user's.
    User,
}

impl PoolBy {
    /// Returns the name of a job's pool.
    pub fn of(self, job: &JobSpec) -> &str {
        self.choose(&job.pool, &job.user)
    }

    /// Returns the one of two names that counts.
    fn choose<'n>(self, pool: &'n str, user: &'n str) -> &'n str {
        match self {
            Self::Pool => pool,
            Self::User => user,
        }
    }
}

impl Default for Allocations {
    fn default() -> Self {
        Self::Pools(Pools::default())
    }
}

impl Allocations {
    /// Returns the pools; none of a file that was not read.
    pub fn pools(&self) -> Pools {
        match self {
            Self::File(_) => Pools::default(),
            Self::Pools(pools) => pools.clone(),
        }
    }

    /// Reads the file, if it is one, and returns what is wrong with the pools: the option
    /// `allocations` of some policy.
    pub fn settle(&mut self, site: &Site<'_>, pool_by: PoolBy) -> Vec<Complaint> {
        let mut complaints = self.read_and_check(site, pool_by);
        for complaint in &mut complaints {
            complaint.path.insert(0, "allocations".to_owned());
        }
        complaints
    }

    fn read_and_check(&mut self, site: &Site<'_>, pool_by: PoolBy) -> Vec<Complaint> {
        let mut complaints = match self {
            Self::Pools(pools) => check(pools),
            Self::File(file) => match read(&site.folder.join(file)) {
                Err(complaints) => return complaints,
                Ok((pools, warnings)) => {
                    *self = Self::Pools(pools);
                    warnings
                }
            },
        };
        if let Self::Pools(pools) = self
            && complaints.iter().all(|complaint| complaint.is_warning)
        {
            complaints.extend(too_much(pools, site));
            let names = site.jobs.iter().map(|(user, pool)| pool_by.choose(pool, user));
            complaints.extend(no_leaves(pools, names));
        }
        complaints
    }
}

/// Reads an allocation file; returns the pools with what seems wrong.
fn read(path: &Path) -> Result<(Pools, Vec<Complaint>), Vec<Complaint>> {
    let text = beginning(path).map_err(|why| {
        let hint = "a relative path begins in the scenario's folder".to_owned();
        let message = format!("cannot read {}: {why}", path.display());
        vec![Complaint { path: Vec::new(), message, hint, is_warning: false }]
    })?;
    let placed = |faults: Vec<Fault>, is_warning| {
        let placed = |fault: Fault| {
            let Fault { line, column, message, hint } = fault;
            let message = format!("{}:{line}:{column}: {message}", path.display());
            Complaint { path: Vec::new(), message, hint, is_warning }
        };
        faults.into_iter().map(placed).collect()
    };
    let allocation = parse(&text).map_err(|faults| placed(faults, false))?;
    Ok((allocation.pools, placed(allocation.warnings, true)))
}

/// Returns the text of a file, or of one that is too large a beginning that is too large, too.
fn beginning(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if MOST_BYTES < bytes.len() {
        // It is refused whatever it says, if only half of a letter at the end.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Warns if the pools are promised more than the cluster has.
fn too_much(pools: &Pools, site: &Site<'_>) -> Vec<Complaint> {
    let tree = PoolTree::new(pools);
    let outermost = &tree.pool(PoolId::ROOT).children;
    let complaint = |kind: SlotKind| {
        let promised: u64 = outermost.iter().map(|id| u64::from(tree.pool(*id).min[kind])).sum();
        let (slots, word) = (site.slots[kind], kind.word());
        (slots < promised).then(|| Complaint {
            path: vec!["pools".to_owned()],
            message: format!(
                "the pools are promised {promised} {word} slots, but the cluster has {slots}"
            ),
            hint: "the paper's scheduler scales them down, Hadoop's keeps them; lower min_maps or \
                   min_reduces"
                .to_owned(),
            is_warning: true,
        })
    };
    SlotKind::BOTH.into_iter().filter_map(complaint).collect()
}

/// Returns a complaint for each pool that jobs name and cannot stand in.
fn no_leaves<'n>(pools: &Pools, names: impl IntoIterator<Item = &'n str>) -> Vec<Complaint> {
    let tree = PoolTree::new(pools);
    let names: BTreeSet<&str> = names.into_iter().collect();
    let is_inner = |name: &&str| tree.find(name).is_some_and(|id| !tree.is_leaf(id));
    let complaint = |name: &str| Complaint {
        path: vec!["pools".to_owned()],
        message: format!("a job names the pool `{name}`, which has pools inside of it"),
        hint: "jobs stand in pools without others inside: name one of these".to_owned(),
        is_warning: false,
    };
    names.into_iter().filter(is_inner).map(complaint).collect()
}

impl<'de> Deserialize<'de> for Allocations {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct AllocationsVisitor;

        impl<'de> de::Visitor<'de> for AllocationsVisitor {
            type Value = Allocations;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the path of an allocation file, or a mapping with `pools`")
            }
            fn visit_str<E: de::Error>(self, path: &str) -> Result<Allocations, E> {
                Ok(Allocations::File(path.into()))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Allocations, A::Error> {
                Pools::deserialize(MapAccessDeserializer::new(map)).map(Allocations::Pools)
            }
        }
        from.deserialize_any(AllocationsVisitor)
    }
}

impl JsonSchema for Allocations {
    fn schema_name() -> Cow<'static, str> {
        "Allocations".into()
    }
    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        // The fields of the pools, or a text in their place.
        let mut schema = Pools::json_schema(schemas);
        schema.insert("type".to_owned(), json!(["string", "object"]));
        schema.insert(
            "title".to_owned(),
            "the path of a Hadoop allocation file, or a mapping".into(),
        );
        schema
    }
}
