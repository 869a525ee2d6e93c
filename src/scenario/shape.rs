//! The shape of scenarios as users write them: how layers are merged, and which keys are known.

use std::sync::{Arc, LazyLock};

use indexmap::IndexMap;
use schemars::Schema;
use schemars::generate::SchemaSettings;

use super::preset::{CLUSTERS, HADOOP, WORKLOADS};
use super::registry::Registry;
use super::spec::Scenario;
use mumakil_yaml::testing::Writer;
use mumakil_yaml::{LateShape, TreeShape, kept};

/// Returns the shape of scenarios as users write them: how layers are merged, and which keys are
/// known.
///
/// Layers are merged before a registry is chosen. So the options of Mumakil's own policies and
/// kinds of workload are known here, but the options that other binaries add are not. A layer can
/// still choose a policy of another binary by its name; the options of that policy are merged key
/// by key.
pub fn shape() -> &'static TreeShape {
    static SHAPE: LazyLock<LateShape> = LazyLock::new(|| kept_shape("scenario"));
    &SHAPE
}

/// Returns a stored shape: of the scenario, or of the options of one of Mumakil's policies or kinds
/// of workload.
pub(super) fn kept_shape(name: &str) -> LateShape {
    kept(KEPT, name.to_owned())
}

/// The stored shapes of Mumakil's own types. Making them from the schema at each start takes longer
/// than the run of a small cluster.
const KEPT: &str = include_str!("shapes.txt");

/// Returns the shapes to be stored, as text.
#[doc(hidden)]
pub fn shapes(ours: &Registry) -> String {
    let mut writer = Writer::default();
    let mut keep = |kind: &str, name: &str, schema: Schema| {
        let shape = TreeShape::of(schema.as_value());
        writer.keep(&format!("{kind}.{name}"), &shape);
        let late: LateShape = Arc::new(LazyLock::new(Box::new(|| shape)));
        (name.to_owned(), late)
    };
    // These generators define each type once, as that of the scenario's shape does.
    let schemas = || SchemaSettings::draft2020_12().into_generator();
    let sources: IndexMap<String, _> =
        ours.sources(schemas).map(|(key, schema, _)| keep("workload", key, schema)).collect();
    let entries = ours.names().filter_map(|name| Some((name, ours.get(name)?.schema(schemas()))));
    let policies: Vec<_> = entries.map(|(name, schema)| keep("scheduler", name, schema)).collect();
    let mut shape = TreeShape::of_type::<Scenario>();
    let brought = WORKLOADS.keys().filter(|(_, key)| sources.contains_key(key)).collect();
    shape.change(WORKLOADS.key, |of| of.choose_beside(sources, brought));
    for presets in [HADOOP, CLUSTERS, WORKLOADS] {
        shape.change(presets.key, |of| of.name_by(presets.field));
    }
    shape.change("scheduler", |of| *of = TreeShape::open_choice(policies));
    writer.keep("scenario", &shape);
    writer.text()
}
