//! Hadoop's own files of pools and queues, as the YAML that they mean under `allocations`.
//!
//! `fair-scheduler.xml` of 0.20 to 1.x nests elements: `<pool name="a"><minMaps>3</minMaps></pool>`.
//! `capacity-scheduler.xml` is a list of properties. Most of them set one option of one queue:
//! `mapred.capacity-scheduler.queue.NAME.capacity`. A queue exists if a property names it. As in
//! 0.21, the name of a queue inside another contains both names, `OUTER:INNER`; the outer queue has
//! properties of its own. `mapred.capacity-scheduler.default-…` sets an option for all queues that
//! do not set it themselves.
//!
//! Hadoop ignores unknown elements, and uses the last of several equal elements. This reader is
//! strict, so that a typing error does not silently drop the limits of a pool. It refuses document
//! types, and with them recursive entities. Only descriptions have no effect, and `final`, which
//! protects a property from other files. The policies check the values against each other.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path;

use indexmap::IndexMap;
use roxmltree::{Document, Error, Node};
use serde_yaml::{Mapping, Value};

use mumakil_base::files;
use mumakil_base::nearest::nearest;
use mumakil_base::units::tell::quoted;
use mumakil_base::units::{Factor, Fraction, SimSpan};
use mumakil_core::mapred::{OptionFile, position};
use mumakil_yaml::{Path, PathStep, YamlProblem};

/// The size of the largest file that is read, in bytes: about seven hundred pools with all options.
const MOST_BYTES: usize = 256 << 10;

/// The number of faults after which reading stops. Chosen: a user does not mend more faults at a
/// time.
const MOST_FAULTS: usize = 100;

/// The largest depth of pools and queues in each other, as the policies allow it: no file can
/// exhaust the stack.
const DEEPEST: usize = 64;

/// An option: its name in the file, its key in YAML, and the form of its value.
type Word = (&'static str, &'static str, Form);

/// The form of a value: the expected text in words, and a function that returns the value in YAML,
/// or `None` if the text has another form.
type Form = (&'static str, fn(&str) -> Option<Value>);

const NUMBER: Form = ("a whole number from 0 to 2147483647", |text| whole(text, 0, i32::MAX));
const LIMIT: Form = ("a whole number above zero", |text| whole(text, 1, i32::MAX));
const MAPS: Form = ("a whole number from 1 to 32767", |text| whole(text, 1, 32_767));
const THREADS: Form = ("a whole number from 1 to 1024", |text| whole(text, 1, 1_024));
const FACTOR: Form =
    ("a number above zero", |text| Some(Factor::new(text.parse().ok()?)?.get().into()));
const PERCENT: Form = ("a number from 0 to 100", percent);
// In Hadoop, zero and negative numbers mean that there is no maximum.
const MAXIMUM: Form = ("a number up to 100", |text| match text.parse::<f64>() {
    Ok(number) if number <= 0.0 => Some(Value::Null),
    _ => percent(text),
});
const TRUTH: Form = ("`true` or `false`", |text| Some(text.parse::<bool>().ok()?.into()));
// Capitals are allowed, as in Hadoop.
const ORDER: Form = ("`fair` or `fifo`", |text| {
    let order = text.to_ascii_lowercase();
    ["fair", "fifo"].contains(&&*order).then(|| order.into())
});
const SECONDS: Form = ("a whole number of seconds, a hundred years at most", |text| {
    let secs = text.parse().ok()?;
    (SimSpan::from_secs(secs) <= SimSpan::LONGEST).then(|| format!("{secs}s").into())
});
const SOME_SECONDS: Form = ("a whole number of seconds above zero", |text| span(text, "s"));
const SOME_MILLIS: Form = ("a whole number of milliseconds above zero", |text| span(text, "ms"));
// Only the default is modelled: after a map without input nearby, a heartbeat launches no more maps.
const NOTHING: Form =
    ("0, Hadoop's default: others are not modelled", |text| (text == "0").then_some(Value::Null));

fn whole(text: &str, least: i32, most: i32) -> Option<Value> {
    let number = text.parse::<i32>().ok()?;
    (least..=most).contains(&number).then(|| number.into())
}

fn span(text: &str, unit: &str) -> Option<Value> {
    let number = text.parse::<i32>().ok()?;
    (0 < number).then(|| format!("{number}{unit}").into())
}

fn percent(text: &str) -> Option<Value> {
    Some(Fraction::new(text.parse::<f64>().ok()? / 100.0)?.get().into())
}

/// The elements that may lie in an element of `fair-scheduler.xml`, as `PoolManager` of Hadoop 0.20
/// to 1.x reads them.
struct Level {
    /// The elements that have a name and elements of their own, each with the key in YAML.
    named: &'static [(&'static str, &'static str, &'static Self)],
    words: &'static [Word],
}

static ALLOCATIONS: Level = Level {
    named: &[("pool", "pools", &POOL), ("user", "users", &USER)],
    words: &[
        ("userMaxJobsDefault", "user_max_jobs", NUMBER),
        ("poolMaxJobsDefault", "pool_max_jobs", NUMBER),
        ("fairSharePreemptionTimeout", "fair_share_after", SECONDS),
        ("defaultMinSharePreemptionTimeout", "min_share_after", SECONDS),
        ("defaultPoolSchedulingMode", "order", ORDER),
    ],
};

static POOL: Level = Level {
    named: &[("pool", "pools", &POOL)],
    words: &[
        ("minMaps", "min_maps", NUMBER),
        ("minReduces", "min_reduces", NUMBER),
        ("maxMaps", "max_maps", NUMBER),
        ("maxReduces", "max_reduces", NUMBER),
        ("maxRunningJobs", "max_jobs", NUMBER),
        ("weight", "weight", FACTOR),
        ("schedulingMode", "order", ORDER),
        ("minSharePreemptionTimeout", "min_share_after", SECONDS),
    ],
};

static USER: Level = Level { named: &[], words: &[("maxRunningJobs", "max_jobs", NUMBER)] };

/// The beginning of the name of every property of `capacity-scheduler.xml`.
const PREFIX: &str = "mapred.capacity-scheduler.";

/// The properties of one queue alone. The last is the name of `capacity` in 0.20.0.
const OF_ONE: [Word; 3] = [
    ("capacity", "capacity", PERCENT),
    ("maximum-capacity", "maximum_capacity", MAXIMUM),
    ("guaranteed-capacity", "capacity", PERCENT),
];

/// The properties of a queue that also have a default for all queues.
const OF_QUEUE: [Word; 6] = [
    ("minimum-user-limit-percent", "minimum_user_limit", PERCENT),
    ("user-limit-factor", "user_limit_factor", FACTOR),
    ("supports-priority", "supports_priority", TRUTH),
    ("maximum-initialized-jobs-per-user", "max_initialised_per_user", LIMIT),
    ("reclaim-time-limit", "reclaim_after", SOME_SECONDS),
    ("init-accept-jobs-factor", "accept_factor", LIMIT),
];

/// Two more such properties; their defaults have names of their own.
const TASKS_OF_QUEUE: [Word; 2] = [
    ("maximum-initialized-active-tasks", "max_active_tasks", LIMIT),
    ("maximum-initialized-active-tasks-per-user", "max_active_tasks_per_user", LIMIT),
];
const TASKS_OF_DEFAULT: [Word; 2] = [
    ("maximum-active-tasks-per-queue", "max_active_tasks", LIMIT),
    ("maximum-active-tasks-per-user", "max_active_tasks_per_user", LIMIT),
];

const OF_ALL: [Word; 6] = [
    ("maximum-system-jobs", "max_system_jobs", LIMIT),
    ("init-poll-interval", "init_poll", SOME_MILLIS),
    // The interval for reclaiming in 0.20.0. Here one interval is used for reclaiming and for
    // admission.
    ("reclaimCapacity.interval", "init_poll", SOME_SECONDS),
    ("maximum-tasks-per-heartbeat", "maps_per_heartbeat", MAPS),
    ("maximum-tasks-after-offswitch", "maximum_tasks_after_offswitch", NOTHING),
    ("init-worker-threads", "init_threads", THREADS),
];

/// Reads a file.
///
/// # Errors
/// Returns all faults in the order of the file, at most the first hundred; only one fault if the
/// text is not XML.
pub fn read(path: &path::Path) -> Result<OptionFile, Vec<YamlProblem>> {
    let text = beginning(path).map_err(|why| {
        let message = format!("cannot read {}: {why}", path.display());
        let problem = YamlProblem::value(Path::default(), message);
        vec![problem.hint("a relative path begins in the scenario's folder, or where you are")]
    })?;
    parse(path, text)
}

/// Returns the text of a file. For a file that is too large, returns its beginning, which exceeds
/// the limit by one byte.
fn beginning(path: &path::Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    files::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if MOST_BYTES < bytes.len() {
        // The text will be refused for its length, so a cut character at its end does not matter.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Returns what the text of a file says, as [`read`]; `path` stands for the file in messages.
///
/// # Errors
/// As [`read`].
pub fn parse(path: &path::Path, text: String) -> Result<OptionFile, Vec<YamlProblem>> {
    let fault = |place: &dyn std::fmt::Display, message: &str, hint: &str| {
        let message = format!("{}:{place}: {message}", path.display());
        Err(vec![YamlProblem::value(Path::default(), message).hint(hint)])
    };
    if MOST_BYTES < text.len() {
        let message = format!("the allocation file is larger than {} KiB", MOST_BYTES >> 10);
        return fault(&"1:1", &message, "give the path of an allocation file");
    }
    // Namespaces have no meaning here, and the parser takes cubic time for nested ones.
    if text.contains("xmlns") {
        return fault(&"1:1", "there is a namespace", "leave `xmlns` out");
    }
    let document = match Document::parse(&text) {
        Ok(document) => document,
        // The parser refuses every document type, so no entity can expand.
        Err(error @ Error::DtdDetected) => {
            let message = "there is a document type";
            return fault(&error.pos(), message, "leave `<!DOCTYPE …>` out");
        }
        Err(error) => {
            let (place, words) = (error.pos(), error.to_string());
            let message = words.strip_suffix(&format!(" at {place}")).unwrap_or(&words);
            let root =
                if text.contains("<configuration") { "configuration" } else { "allocations" };
            return fault(&place, message, &format!("write XML: `<{root}> … </{root}>`"));
        }
    };
    let root = document.root_element();
    let mut conversion = Conversion {
        options: Mapping::new().into(),
        starts: [(Path::default(), root.range().start)].into(),
        faults: Vec::new(),
    };
    match root.tag_name().name() {
        "allocations" => conversion.level(root, &ALLOCATIONS, Path::default()),
        "configuration" => conversion.queues(root),
        other => {
            let message = format!("the outermost element is `{}`", clip(other));
            let hint = "Hadoop's files begin with `<allocations>` or `<configuration>`";
            conversion.fault(root, message, hint);
        }
    }
    let Conversion { options, starts, mut faults } = conversion;
    if faults.is_empty() {
        return Ok(OptionFile { path: path.to_owned(), text, options, starts });
    }
    faults.sort_by_key(|(start, _)| *start);
    let problems = faults.into_iter().take(MOST_FAULTS).map(|(start, problem)| {
        let message = format!("{}: {}", position(path, &text, start), problem.message);
        YamlProblem { message, ..problem }
    });
    Err(problems.collect())
}

/// The options of a file as they are read, and its faults, each with the byte at which it begins.
struct Conversion {
    options: Value,
    starts: BTreeMap<Path, usize>,
    faults: Vec<(usize, YamlProblem)>,
}

impl Conversion {
    fn fault(&mut self, node: Node<'_, '_>, message: String, hint: &str) {
        let problem = YamlProblem::value(Path::default(), message).hint(hint);
        self.faults.push((node.range().start, problem));
    }

    /// Notes a fault for each attribute of an element in which attributes have no meaning.
    fn refuse_attributes(&mut self, element: Node<'_, '_>) {
        for attribute in element.attributes() {
            let (name, attribute) = (element.tag_name().name(), attribute.name());
            let message = format!("`{}` has no attribute `{}`", clip(name), clip(attribute));
            self.fault(element, message, "leave it out");
        }
    }

    /// Returns the known elements inside another element, with their names. Notes a fault for each
    /// other element, for a text, and for an element that is there twice, unless it is one of
    /// `repeated`.
    fn elements<'x>(
        &mut self,
        node: Node<'x, 'x>,
        known: &[&str],
        repeated: &[&str],
        example: &str,
    ) -> Vec<(&'x str, Node<'x, 'x>)> {
        let around = node.tag_name().name();
        let mut found: Vec<(&str, Node<'_, '_>)> = Vec::new();
        for inner in node.children() {
            let name = inner.tag_name().name();
            if MOST_FAULTS <= self.faults.len() {
                break;
            } else if inner.is_text() && !inner.text().unwrap_or_default().trim().is_empty() {
                let hint = format!("write elements such as `{example}`");
                self.fault(inner, format!("there is text in `{around}`"), &hint);
            } else if inner.is_element() && !known.contains(&name) {
                let message = format!("unknown element `{}` in `{around}`", clip(name));
                self.fault(inner, message, &instead(name, known));
            } else if inner.is_element() {
                if !repeated.contains(&name) && found.iter().any(|(other, _)| *other == name) {
                    self.fault(inner, format!("`{name}` is said twice"), "leave one of them out");
                    continue;
                }
                found.push((name, inner));
            }
        }
        found
    }

    /// Returns the options of a pool, user or queue, which are made if they are not there.
    fn group(&mut self, node: Node<'_, '_>, at: &Path) -> &mut Mapping {
        let mut options = &mut self.options;
        for (len, step) in (1..).zip(&at.0) {
            let (PathStep::Key(key), Value::Mapping(outer)) = (step, options) else {
                unreachable!("each step leads from one mapping to another");
            };
            let path = Path(at.0[..len].to_vec());
            self.starts.entry(path).or_insert(node.range().start);
            options = outer.entry(key.as_str().into()).or_insert(Mapping::new().into());
        }
        options.as_mapping_mut().expect("only mappings are on the way")
    }

    /// Sets an option of the group at `at` from the text of `node`, which is called `name`; a text
    /// with elements in it is an error.
    fn set(
        &mut self,
        (node, name, text): (Node<'_, '_>, &str, &Result<String, String>),
        (_, key, (expected, read)): &Word,
        at: &Path,
    ) {
        if self.starts.insert(at.key(key), node.range().start).is_some() {
            let message = format!("`{}` sets `{key}` a second time", clip(name));
            return self.fault(node, message, "leave one of them out");
        }
        match text.as_deref().ok().and_then(read) {
            Some(Value::Null) => {}
            Some(value) => _ = self.group(node, at).insert((*key).into(), value),
            None => {
                let what = if node.has_tag_name("property") { "property" } else { "element" };
                let (Ok(text) | Err(text)) = text;
                let message = format!("`{}` is `{}`, not {expected}", clip(name), clip(text));
                self.fault(node, message, &format!("leave the {what} out for its default"));
            }
        }
    }

    /// Reads an element of `fair-scheduler.xml`, whose options have this path in YAML.
    fn level(&mut self, node: Node<'_, '_>, level: &Level, at: Path) {
        // Each level has two keys on the path.
        if 2 * DEEPEST < at.0.len() {
            let message = format!("pools lie in each other more than {DEEPEST} deep");
            return self.fault(node, message, "make the tree flatter");
        }
        let named: Vec<&str> = level.named.iter().map(|(name, ..)| *name).collect();
        let words: Vec<&str> = level.words.iter().map(|(name, ..)| *name).collect();
        let known = [&named[..], &words].concat();
        for (name, element) in self.elements(node, &known, &named, "<minMaps>10</minMaps>") {
            if let Some((_, key, level)) = level.named.iter().find(|(word, ..)| *word == name) {
                let own = self.name(element);
                let at = at.key(key).key(own);
                if self.starts.contains_key(&at) {
                    let message = format!("there is a {name} `{}` already", clip(own));
                    self.fault(element, message, "make one of the two");
                }
                self.group(element, &at);
                self.level(element, level, at);
            } else if let Some(word) = level.words.iter().find(|(word, ..)| *word == name) {
                self.refuse_attributes(element);
                self.set((element, name, &text_of(element)), word, &at);
            }
        }
    }

    /// Returns the name of a pool or user. Notes faults for its absence, and for other attributes.
    fn name<'x>(&mut self, element: Node<'x, 'x>) -> &'x str {
        let what = element.tag_name().name();
        for attribute in element.attributes().filter(|attribute| attribute.name() != "name") {
            let message = format!("a {what} has no attribute `{}`", clip(attribute.name()));
            self.fault(element, message, "write it as an element inside");
        }
        let name = element.attribute("name").unwrap_or_default();
        if name.trim().is_empty() {
            let hint = format!("write `<{what} name=\"…\">`");
            self.fault(element, format!("a {what} has no name"), &hint);
        }
        name
    }

    /// Reads a `capacity-scheduler.xml`.
    fn queues(&mut self, root: Node<'_, '_>) {
        let of_queue = [&OF_ONE[..], &OF_QUEUE, &TASKS_OF_QUEUE].concat();
        let of_default = [&OF_QUEUE[..], &TASKS_OF_DEFAULT].concat();
        // The queues with their first properties.
        let mut queues: IndexMap<Vec<String>, Node<'_, '_>> = IndexMap::new();
        for (node, name, text) in self.properties(root) {
            // A queue's name may contain dots, so the word begins after the last one.
            let queue = name.strip_prefix("queue.").and_then(|rest| rest.rsplit_once('.'));
            let (words, word, at) = match (queue, name.strip_prefix("default-")) {
                (Some((names, word)), _) => {
                    let names: Vec<String> = names.split(':').map(str::to_owned).collect();
                    let keys = names.iter().take(DEEPEST + 1);
                    let at = keys.fold(Path::default(), |at, name| at.key("queues").key(name));
                    self.group(node, &at);
                    queues.entry(names).or_insert(node);
                    (&of_queue[..], word, at)
                }
                // The defaults have a name that no option has, until they are laid under the queues.
                (_, Some(word)) => (&of_default[..], word, Path::default().key("")),
                _ => (&OF_ALL[..], name.as_str(), Path::default()),
            };
            let whole_name = format!("{PREFIX}{name}");
            if let Some(found) = words.iter().find(|(known, ..)| *known == word) {
                self.set((node, &whole_name, &Ok(text)), found, &at);
                continue;
            }
            let hint = match nearest(word, words.iter().map(|(known, ..)| *known)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("such as `{PREFIX}queue.NAME.capacity`"),
            };
            self.fault(node, format!("unknown property `{}`", clip(&whole_name)), &hint);
        }
        for (names, node) in &queues {
            if let Some((message, hint)) = misplaced(names, &queues) {
                self.fault(*node, message, &hint);
            }
        }
        self.lay_defaults(root);
    }

    /// Gives the outermost queues the defaults that they do not set; inner queues inherit them. If
    /// there are no queues, the only one has these defaults.
    fn lay_defaults(&mut self, root: Node<'_, '_>) {
        let all = self.group(root, &Path::default());
        let Some(Value::Mapping(defaults)) = all.shift_remove("") else { return };
        if !all.contains_key("queues") {
            self.group(root, &Path::of("queues.default"));
        }
        for queue in self.group(root, &Path::of("queues")).values_mut() {
            let own = queue.as_mapping_mut().into_iter();
            own.for_each(|own| {
                defaults.iter().for_each(|(key, value)| {
                    own.entry(key.clone()).or_insert(value.clone());
                })
            });
        }
    }

    /// Returns the properties, each with its name without [`PREFIX`], and its value.
    fn properties<'x>(&mut self, root: Node<'x, 'x>) -> Vec<(Node<'x, 'x>, String, String)> {
        let example = "<property><name>…</name><value>…</value></property>";
        let mut properties = Vec::new();
        for (_, node) in self.elements(root, &["property"], &["property"], example) {
            self.refuse_attributes(node);
            let known = ["name", "value", "description", "final"];
            let inside: IndexMap<&str, Node<'_, '_>> =
                self.elements(node, &known, &[], example).into_iter().collect();
            inside.values().for_each(|inner| self.refuse_attributes(*inner));
            let text = |name| inside.get(name).and_then(|inner| text_of(*inner).ok());
            let (Some(name), Some(value)) = (text("name"), text("value")) else {
                let message = "a property has a name and a value, which are texts".to_owned();
                self.fault(node, message, &format!("write `{example}`"));
                continue;
            };
            if let Some(rest) = name.strip_prefix(PREFIX) {
                properties.push((node, rest.to_owned(), value));
            } else {
                let message = format!("unknown property `{}`", clip(&name));
                self.fault(node, message, &format!("names begin with `{PREFIX}`"));
            }
        }
        properties
    }
}

/// Returns why a queue cannot have these names, with a hint; `None` if it can.
fn misplaced<T>(names: &[String], queues: &IndexMap<Vec<String>, T>) -> Option<(String, String)> {
    let (own, around) = names.split_last()?;
    let whole = clip(&names.join(":"));
    if DEEPEST < names.len() {
        let message = format!("queues lie in each other more than {DEEPEST} deep");
        Some((message, "make the tree flatter".to_owned()))
    } else if around.contains(own) {
        let message = format!("the queue `{whole}` would be inside of itself");
        Some((message, "a name means one queue: choose another name".to_owned()))
    } else if !around.is_empty() && !queues.contains_key(around) {
        let outer = clip(&around.join(":"));
        let message = format!("the queue `{whole}` is inside of `{outer}`, which is not there");
        Some((message, format!("declare it: `{PREFIX}queue.{outer}.capacity`")))
    } else {
        None
    }
}

/// Returns a hint: the known element that was probably meant.
fn instead(name: &str, known: &[&str]) -> String {
    // Many users come from YARN's fair scheduler, whose files look alike.
    if name == "queue" && known.contains(&"pool") {
        return "`queue` is YARN's word: a pool is a `pool`, and its slots are counted".to_owned();
    }
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("there are {}", quoted(known.iter().copied()).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns the text of an element.
///
/// # Errors
/// If the element contains other elements; the error is its text.
fn text_of(element: Node<'_, '_>) -> Result<String, String> {
    let texts = element.children().filter(|inner| inner.is_text()).filter_map(|inner| inner.text());
    let text = texts.collect::<String>().trim().to_owned();
    if element.children().any(|inner| inner.is_element()) { Err(text) } else { Ok(text) }
}

/// Shortens a quotation for a message.
fn clip(text: &str) -> String {
    // Chosen: a quotation should fit on one line.
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
