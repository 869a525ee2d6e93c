//! Hadoop's `capacity-scheduler.xml` of 0.20 to 1.x, read as [`Queues`].
//!
//! The file is a list of properties. Most of them set one option of one queue:
//! `mapred.capacity-scheduler.queue.NAME.capacity`. A queue exists if a property names it. As in
//! 0.21, the name of a queue inside another contains both names, `OUTER:INNER`; the outer queue has
//! properties of its own. `mapred.capacity-scheduler.default-…` sets an option for all queues that
//! do not set it themselves. Some options have another name in such a property ([`OF_DEFAULTS`]),
//! and shares have no default. The reader refuses elements that Hadoop would ignore ([`xml`]), and
//! two properties that set the same option. Only descriptions have no effect, and `final`, which
//! protects a property from other files.

use indexmap::IndexMap;
use roxmltree::Node;
use rustc_hash::{FxHashMap, FxHashSet};

use self::Say::{Other, Percent, Whole};
use super::queues::{DEFAULT, JobLimit, Queue, Queues};
use crate::scheduler::shared::names::DEEPEST;
use crate::scheduler::shared::xml::{XmlFindings, clip, text_of};
use mumakil_base::nearest::nearest;
use mumakil_base::units::{Count, Factor, Fraction, SimSpan};
use mumakil_core::mapred::AutoSpan;

/// The elements of a property. The last two say nothing about queues.
const IN_PROPERTY: [&str; 4] = ["name", "value", "description", "final"];

/// The beginning of every property's name.
const PREFIX: &str = "mapred.capacity-scheduler.";

/// A property of a queue, or of all queues.
struct QueueKeyword<T> {
    /// The last part of the property's name.
    word: &'static str,
    /// The key of the option.
    key: &'static str,
    say: Say<T>,
}

/// The form of a property's value, and how the value is stored in an option.
enum Say<T> {
    Percent(fn(&mut T, Fraction)),
    Whole(fn(&mut T, JobLimit)),
    /// The expected form of the text, for complaints, and a function that reads it. The function
    /// returns `None` if the text has another form.
    Other(&'static str, fn(&mut T, &str) -> Option<()>),
}

const fn word<T>(word: &'static str, key: &'static str, say: Say<T>) -> QueueKeyword<T> {
    QueueKeyword { word, key, say }
}

const OF_QUEUE: [QueueKeyword<Queue>; 11] = [
    word("capacity", "capacity", Percent(|queue, share| queue.capacity = Some(share))),
    // The name of `capacity` in 0.20.0.
    word("guaranteed-capacity", "capacity", Percent(|queue, share| queue.capacity = Some(share))),
    word(
        "maximum-capacity",
        "maximum_capacity",
        // In Hadoop, zero and negative numbers mean that there is no maximum.
        Other("a number up to 100", |queue, text| match text.parse::<f64>() {
            Ok(number) if number <= 0.0 => Some(()),
            _ => percent(text).map(|share| queue.maximum_capacity = Some(share)),
        }),
    ),
    word(
        "minimum-user-limit-percent",
        "minimum_user_limit",
        Percent(|queue, share| queue.minimum_user_limit = Some(share)),
    ),
    word(
        "user-limit-factor",
        "user_limit_factor",
        Other("a number above zero", |queue, text| {
            let factor = text.parse().ok().and_then(Factor::new)?;
            queue.user_limit_factor = Some(factor);
            Some(())
        }),
    ),
    word(
        "supports-priority",
        "supports_priority",
        Other("`true` or `false`", |queue, text| {
            text.parse().ok().map(|supports| queue.supports_priority = Some(supports))
        }),
    ),
    word(
        "maximum-initialized-jobs-per-user",
        "max_initialised_per_user",
        Whole(|queue, most| queue.max_initialised_per_user = Some(most)),
    ),
    word(
        "maximum-initialized-active-tasks",
        "max_active_tasks",
        Whole(|queue, most| queue.max_active_tasks = Some(most)),
    ),
    word(
        "maximum-initialized-active-tasks-per-user",
        "max_active_tasks_per_user",
        Whole(|queue, most| queue.max_active_tasks_per_user = Some(most)),
    ),
    word(
        "reclaim-time-limit",
        "reclaim_after",
        Other("a whole number of seconds above zero", |queue, text| {
            let secs = whole(text)?.get();
            queue.reclaim_after = Some(SimSpan::from_secs(secs.into()));
            Some(())
        }),
    ),
    word(
        "init-accept-jobs-factor",
        "accept_factor",
        Whole(|queue, factor| queue.accept_factor = Some(factor)),
    ),
];

/// Properties that Hadoop reads only for single queues: they have no default.
const OF_ONE: [&str; 3] = ["capacity", "guaranteed-capacity", "maximum-capacity"];

/// Properties with one name for a queue and another name for the default: both names.
const OF_DEFAULTS: [(&str, &str); 2] = [
    ("maximum-initialized-active-tasks", "maximum-active-tasks-per-queue"),
    ("maximum-initialized-active-tasks-per-user", "maximum-active-tasks-per-user"),
];

const OF_ALL: [QueueKeyword<Queues>; 6] = [
    word("maximum-system-jobs", "max_system_jobs", Whole(|all, most| all.max_system_jobs = most)),
    word(
        "init-poll-interval",
        "init_poll",
        Other("a whole number of milliseconds above zero", |all, text| {
            all.init_poll = AutoSpan::Fixed(SimSpan::from_millis(whole(text)?.get().into()));
            Some(())
        }),
    ),
    // The interval for reclaiming in 0.20.0. Here one interval is used for reclaiming and for
    // admission.
    word(
        "reclaimCapacity.interval",
        "init_poll",
        Other("a whole number of seconds above zero", |all, text| {
            all.init_poll = AutoSpan::Fixed(SimSpan::from_secs(whole(text)?.get().into()));
            Some(())
        }),
    ),
    word(
        "maximum-tasks-per-heartbeat",
        "maps_per_heartbeat",
        Other("a whole number from 1 to 32767", |all, text| {
            text.parse().ok().and_then(Count::new).map(|most| all.maps_per_heartbeat = most)
        }),
    ),
    // Only the default is modelled: after a map without input nearby, a heartbeat launches no more
    // maps.
    word(
        "maximum-tasks-after-offswitch",
        "maximum_tasks_after_offswitch",
        Other("0, Hadoop's default: others are not modelled", |_, text| {
            (text == "0").then_some(())
        }),
    ),
    word(
        "init-worker-threads",
        "init_threads",
        Other("a whole number from 1 to 1024", |all, text| {
            text.parse().ok().and_then(Count::new).map(|most| all.init_threads = most)
        }),
    ),
];

/// Returns the properties that set defaults of all queues.
fn of_defaults() -> Vec<QueueKeyword<Queue>> {
    let all = OF_QUEUE.into_iter().filter(|known| !OF_ONE.contains(&known.word));
    all.map(|known| {
        let other = OF_DEFAULTS.iter().find(|(word, _)| *word == known.word);
        QueueKeyword { word: other.map_or(known.word, |(_, word)| word), ..known }
    })
    .collect()
}

/// Reads the root element of a `capacity-scheduler.xml`.
pub(super) fn read(root: Node<'_, '_>, findings: &mut XmlFindings) -> Queues {
    let properties = properties(root, findings);
    QueueFileReader::default().read(&properties, findings)
}

/// A property: its name without [`PREFIX`], and its value.
struct Property<'d> {
    node: Node<'d, 'd>,
    name: String,
    value: String,
}

/// Returns the well-formed properties, without repetitions.
fn properties<'d>(root: Node<'d, 'd>, findings: &mut XmlFindings) -> Vec<Property<'d>> {
    let hint = "write `<property><name>…</name><value>…</value></property>`";
    let (mut properties, mut names) = (Vec::new(), FxHashSet::default());
    for node in root.children() {
        if findings.are_too_many() {
            break;
        }
        let text = |what: &str| {
            node.children().find(|inner| inner.tag_name().name() == what).map(text_of)?.ok()
        };
        let element = node.tag_name().name();
        if node.is_text() && !node.text().unwrap_or_default().trim().is_empty() {
            findings.fault(node, "there is text in `configuration`".to_owned(), hint);
        } else if node.is_element() && element != "property" {
            let message = format!("unknown element `{}` in `configuration`", clip(element));
            findings.fault(node, message, hint);
        } else if node.is_element() {
            check_elements(node, findings);
            let Some((name, value)) = text("name").zip(text("value")) else {
                let message = "a property has a name and a value, which are texts".to_owned();
                findings.fault(node, message, hint);
                continue;
            };
            match name.strip_prefix(PREFIX) {
                None => {
                    let message = format!("unknown property `{}`", clip(&name));
                    findings.fault(node, message, &format!("names begin with `{PREFIX}`"));
                }
                // A repeated property is a fault; Hadoop would use the last one.
                Some(_) if !names.insert(name.clone()) => {
                    let message = format!("`{}` is said twice", clip(&name));
                    findings.fault(node, message, "leave one of them out");
                }
                Some(rest) => properties.push(Property { node, name: rest.to_owned(), value }),
            }
        }
    }
    properties
}

/// Notes faults for the attributes of a property, and for texts and elements in it that Hadoop would
/// ignore.
fn check_elements(property: Node<'_, '_>, findings: &mut XmlFindings) {
    let hint = "write `<property><name>…</name><value>…</value></property>`";
    findings.refuse_attributes(property);
    let mut seen = FxHashSet::default();
    for inner in property.children() {
        let name = inner.tag_name().name();
        if inner.is_text() && !inner.text().unwrap_or_default().trim().is_empty() {
            findings.fault(inner, "there is text in `property`".to_owned(), hint);
        } else if inner.is_element() && !IN_PROPERTY.contains(&name) {
            let message = format!("unknown element `{}` in `property`", clip(name));
            findings.fault(inner, message, hint);
        } else if inner.is_element() {
            findings.refuse_attributes(inner);
            if !seen.insert(name) {
                findings.fault(inner, format!("`{name}` is said twice"), "leave one of them out");
            }
        }
    }
}

/// Turns properties into options.
#[derive(Default)]
struct QueueFileReader<'d> {
    all: Queues,
    /// The options for queues that do not set them.
    defaults: Queue,
    /// The queues in the order of the file, each with its first property. The key is the names from
    /// the outermost queue inwards.
    queues: IndexMap<Vec<String>, (Option<Node<'d, 'd>>, Queue)>,
    /// The name of the property that sets each option, by the path of the option.
    set_by: FxHashMap<Vec<String>, String>,
}

impl<'d> QueueFileReader<'d> {
    fn read(mut self, properties: &[Property<'d>], findings: &mut XmlFindings) -> Queues {
        for property in properties {
            let name = property.name.as_str();
            // A queue's name may contain dots, so the word begins after the last one.
            if let Some((queue, word)) =
                name.strip_prefix("queue.").and_then(|rest| rest.rsplit_once('.'))
            {
                let names: Vec<String> = queue.split(':').map(str::to_owned).collect();
                let at = keys(&names);
                // A queue, and the key `queues` around it, get the position of the queue's first
                // property.
                for len in [at.len() - 1, at.len()] {
                    findings.stands(property.node, at[..len].to_vec());
                }
                let (first, queue) = self.queues.entry(names).or_default();
                first.get_or_insert(property.node);
                let path = say(&OF_QUEUE, queue, word, property, at, findings);
                self.note(path, property, findings);
            } else if let Some(word) = name.strip_prefix("default-") {
                let words = of_defaults();
                // Some of these options are no keys beside `queues`, so their path begins otherwise.
                let at = vec![String::new()];
                let path = say(&words, &mut self.defaults, word, property, at, findings);
                self.note(path, property, findings);
            } else {
                let path = say(&OF_ALL, &mut self.all, name, property, Vec::new(), findings);
                self.note(path, property, findings);
            }
        }
        for (names, (node, _)) in &self.queues {
            if let Some((message, hint)) = self.misplaced(names)
                && let Some(node) = *node
            {
                findings.fault(node, message, &hint);
            }
        }
        // With faults there is no run, so do not nest the queues: a queue may lie in a queue that
        // does not exist.
        if findings.are_none() { self.nested() } else { self.all }
    }

    /// Notes that a property sets the option at a path, or a fault if another one sets it already.
    fn note(
        &mut self,
        path: Option<Vec<String>>,
        property: &Property<'_>,
        findings: &mut XmlFindings,
    ) {
        let Some(path) = path else { return };
        let name = clip(&property.name);
        if let Some(other) = self.set_by.insert(path, name.clone()) {
            let message = format!("`{name}` sets the same option as `{other}`");
            findings.fault(property.node, message, "leave one of them out");
        }
    }

    /// Returns why a queue cannot have these names, with a hint; `None` if it can.
    fn misplaced(&self, names: &[String]) -> Option<(String, String)> {
        let (own, around) = names.split_last()?;
        let whole = clip(&names.join(":"));
        if DEEPEST < names.len() {
            let message = format!("queues lie in each other more than {DEEPEST} deep");
            return Some((message, "make the tree flatter".to_owned()));
        }
        if around.contains(own) {
            let message = format!("the queue `{whole}` would be inside of itself");
            return Some((message, "a name means one queue: choose another name".to_owned()));
        }
        if !around.is_empty() && !self.queues.contains_key(around) {
            let outer = clip(&around.join(":"));
            let message = format!("the queue `{whole}` is inside of `{outer}`, which is not there");
            return Some((message, format!("declare it: `{PREFIX}queue.{outer}.capacity`")));
        }
        None
    }

    /// Puts each queue into the queue around it.
    fn nested(mut self) -> Queues {
        // Without queues there is one, which has these defaults.
        if self.queues.is_empty() && self.defaults != Queue::default() {
            self.queues.insert(vec![DEFAULT.to_owned()], (None, Queue::default()));
        }
        // Outer queues first, whatever the order of the file. The sort keeps the order within a
        // level.
        self.queues.sort_by(|a, _, b, _| a.len().cmp(&b.len()));
        for (names, (_, mut queue)) in self.queues {
            let Some((own, around)) = names.split_last() else { continue };
            // Inner queues inherit these defaults from the queue around them when the tree is
            // built.
            if around.is_empty() {
                queue.inherit(&self.defaults);
            }
            let mut inside = &mut self.all.queues;
            for name in around {
                inside = &mut inside.entry(name.clone()).or_default().queues;
            }
            inside.insert(own.clone(), queue);
        }
        self.all
    }
}

/// Stores the value of a property in an option of `of`, whose path of keys is `at`. Returns the path
/// of the option; `None` if there is no such property.
fn say<T>(
    words: &[QueueKeyword<T>],
    of: &mut T,
    word: &str,
    property: &Property<'_>,
    mut at: Vec<String>,
    findings: &mut XmlFindings,
) -> Option<Vec<String>> {
    let whole_name = clip(&format!("{PREFIX}{}", property.name));
    let Some(known) = words.iter().find(|known| known.word == word) else {
        let hint = match nearest(word, words.iter().map(|known| known.word)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("such as `{PREFIX}queue.NAME.capacity`"),
        };
        findings.fault(property.node, format!("unknown property `{whole_name}`"), &hint);
        return None;
    };
    at.push(known.key.to_owned());
    findings.stands(property.node, at.clone());
    let text = property.value.as_str();
    let (expected, said) = match known.say {
        Percent(say) => ("a number from 0 to 100", percent(text).map(|share| say(of, share))),
        Whole(say) => ("a whole number above zero", whole(text).map(|number| say(of, number))),
        Other(expected, say) => (expected, say(of, text)),
    };
    if said.is_none() {
        let message = format!("`{whole_name}` is `{}`, not {expected}", clip(text));
        findings.fault(property.node, message, "leave the property out for its default");
    }
    Some(at)
}

/// Returns the path of keys to the queue with these names.
fn keys(names: &[String]) -> Vec<String> {
    names.iter().flat_map(|name| ["queues".to_owned(), name.clone()]).collect()
}

fn percent(text: &str) -> Option<Fraction> {
    Fraction::new(text.parse::<f64>().ok()? / 100.0)
}

fn whole(text: &str) -> Option<JobLimit> {
    text.parse().ok().and_then(JobLimit::new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rules::Rules;
    use super::*;
    use crate::scheduler::shared::xml::{self, XmlFault, XmlValue};

    fn parse(text: &str) -> Result<XmlValue<Queues>, Vec<XmlFault>> {
        xml::parse(text, Rules::V21)
    }

    fn file(properties: &[(&str, &str)]) -> String {
        let line = |(name, value): &(&str, &str)| {
            format!("<property><name>{PREFIX}{name}</name><value>{value}</value></property>\n")
        };
        let lines: String = properties.iter().map(line).collect();
        format!("<configuration>\n{lines}</configuration>")
    }

    /// Returns each fault, with the number of its property, from 1.
    fn faults(properties: &[(&str, &str)]) -> Vec<String> {
        let told =
            |fault: &XmlFault| format!("{}: {}; {}", fault.line - 1, fault.message, fault.hint);
        parse(&file(properties)).err().iter().flatten().map(told).collect()
    }

    #[test]
    fn hadoops_file_says_what_the_scenario_says() {
        let text = file(&[
            ("maximum-system-jobs", "3000"),
            ("init-poll-interval", "5000"),
            ("init-worker-threads", "2"),
            ("maximum-tasks-per-heartbeat", "20"),
            ("default-minimum-user-limit-percent", "50"),
            ("queue.prod.capacity", "70"),
            ("queue.prod.supports-priority", "true"),
            ("queue.prod.maximum-capacity", "-1"),
            ("queue.prod:etl.capacity", "40.5"),
            ("queue.prod:etl.maximum-initialized-active-tasks-per-user", "100"),
            ("queue.prod:web.reclaim-time-limit", "300"),
            ("queue.rest.capacity", "30"),
            ("queue.rest.maximum-capacity", "60"),
            ("queue.rest.user-limit-factor", "1.5"),
            ("queue.rest.maximum-initialized-jobs-per-user", "4"),
            ("queue.rest.init-accept-jobs-factor", "3"),
        ]);
        let same = "
max_system_jobs: 3000
init_poll: 5s
init_threads: 2
maps_per_heartbeat: 20
queues:
  prod:
    capacity: 70 %
    minimum_user_limit: 50 %
    supports_priority: true
    queues:
      etl: {capacity: 40.5 %, max_active_tasks_per_user: 100}
      web: {reclaim_after: 300s}
  rest: {capacity: 30 %, maximum_capacity: 60 %, minimum_user_limit: 50 %, user_limit_factor: 1.5,
    max_initialised_per_user: 4, accept_factor: 3}
";
        let told = parse(&text).unwrap();
        assert_eq!(told.meaning, serde_yaml::from_str::<Queues>(same).unwrap());
        assert!(told.warnings.is_empty());
        assert_eq!(parse("<configuration/>").unwrap().meaning, Queues::default());
    }

    #[test]
    fn the_files_that_the_lines_came_with_are_read() {
        let limits = [
            ("queue.default.supports-priority", "false"),
            ("queue.default.minimum-user-limit-percent", "100"),
            ("default-supports-priority", "false"),
            ("default-minimum-user-limit-percent", "100"),
        ];
        let first = [
            ("queue.default.guaranteed-capacity", "100"),
            ("queue.default.reclaim-time-limit", "300"),
            ("default-reclaim-time-limit", "300"),
            ("reclaimCapacity.interval", "5"),
        ];
        let middle = [
            ("queue.default.capacity", "100"),
            ("queue.default.maximum-capacity", "-1"),
            ("queue.default.maximum-initialized-jobs-per-user", "2"),
            ("default-maximum-initialized-jobs-per-user", "2"),
            ("init-poll-interval", "5000"),
            ("init-worker-threads", "5"),
        ];
        let last = [
            ("queue.default.capacity", "100"),
            ("queue.default.maximum-capacity", "-1"),
            ("queue.default.user-limit-factor", "1"),
            ("queue.default.maximum-initialized-active-tasks", "200000"),
            ("queue.default.maximum-initialized-active-tasks-per-user", "100000"),
            ("queue.default.init-accept-jobs-factor", "10"),
            ("default-user-limit-factor", "1"),
            ("default-maximum-active-tasks-per-queue", "200000"),
            ("default-maximum-active-tasks-per-user", "100000"),
            ("default-init-accept-jobs-factor", "10"),
            ("init-poll-interval", "5000"),
            ("init-worker-threads", "5"),
            ("maximum-system-jobs", "3000"),
        ];
        for line in [&first[..], &middle, &last] {
            let text = file(&[&limits, line].concat());
            let queues: Queues = xml::parse(&text, Rules::V1).unwrap().meaning;
            assert_eq!(queues.queues["default"].capacity, Some(Fraction::of(1.0)));
            assert_eq!(queues.init_poll, AutoSpan::Fixed(SimSpan::from_secs(5)));
        }
        let text = file(&[
            ("queue.a.capacity", "100"),
            ("default-maximum-active-tasks-per-queue", "7"),
            ("default-maximum-active-tasks-per-user", "3"),
        ]);
        let queue = &parse(&text).unwrap().meaning.queues["a"];
        let limits = [queue.max_active_tasks, queue.max_active_tasks_per_user];
        assert_eq!(limits, [JobLimit::new(7), JobLimit::new(3)]);
        let unknown = faults(&[("default-maximum-initialized-active-tasks", "7")]);
        assert!(unknown[0].contains("unknown property"), "{unknown:?}");
    }

    #[test]
    fn values_are_what_they_should_be() {
        assert_eq!(
            faults(&[
                ("queue.a.capacity", "101"),
                ("queue.a.supports-priority", "yes"),
                ("queue.a.capasity", "5"),
                ("init-poll-interval", "0"),
                ("default-maximum-capacity", "50"),
                ("queue.ghost.init-worker-threads", "5"),
                ("maximum-tasks-after-offswitch", "3"),
            ]),
            [
                "1: `mapred.capacity-scheduler.queue.a.capacity` is `101`, not a number from 0 to \
                 100; leave the property out for its default",
                "2: `mapred.capacity-scheduler.queue.a.supports-priority` is `yes`, not `true` or \
                 `false`; leave the property out for its default",
                "3: unknown property `mapred.capacity-scheduler.queue.a.capasity`; did you mean \
                 `capacity`?",
                "4: `mapred.capacity-scheduler.init-poll-interval` is `0`, not a whole number of \
                 milliseconds above zero; leave the property out for its default",
                "5: unknown property `mapred.capacity-scheduler.default-maximum-capacity`; such as \
                 `mapred.capacity-scheduler.queue.NAME.capacity`",
                "6: unknown property `mapred.capacity-scheduler.queue.ghost.init-worker-threads`; \
                 such as `mapred.capacity-scheduler.queue.NAME.capacity`",
                "7: `mapred.capacity-scheduler.maximum-tasks-after-offswitch` is `3`, not 0, Hadoop's \
                 default: others are not modelled; leave the property out for its default",
            ]
        );
    }

    #[test]
    fn nothing_that_is_said_is_dropped() {
        assert_eq!(
            faults(&[
                ("queue.a.capacity", "50"),
                ("queue.a.guaranteed-capacity", "60"),
                ("init-poll-interval", "3000"),
                ("reclaimCapacity.interval", "5"),
            ]),
            [
                "2: `queue.a.guaranteed-capacity` sets the same option as `queue.a.capacity`; leave \
                 one of them out",
                "4: `reclaimCapacity.interval` sets the same option as `init-poll-interval`; leave \
                 one of them out",
            ]
        );
        let text = file(&[("default-user-limit-factor", "5")]);
        let queue = &parse(&text).unwrap().meaning.queues["default"];
        assert_eq!(queue.user_limit_factor, Factor::new(5.0), "of the only queue");
        let property = |inner: &str, attribute: &str| {
            let name = format!("<name>{PREFIX}maximum-system-jobs</name>");
            let text = format!(
                "<configuration><property{attribute}>{name}{inner}<value>7</value></property>\
                 </configuration>"
            );
            parse(&text).err().map(|faults| faults[0].message.clone())
        };
        assert_eq!(property("<description>jobs</description><final>true</final>", ""), None);
        let fault = |inner, attribute| property(inner, attribute).unwrap();
        assert_eq!(fault("<vale>8</vale>", ""), "unknown element `vale` in `property`");
        assert_eq!(fault("<value>8</value>", ""), "`value` is said twice");
        assert_eq!(fault("8", ""), "there is text in `property`");
        assert_eq!(fault("", " value='8'"), "`property` has no attribute `value`");
    }

    #[test]
    fn queues_stand_where_they_can() {
        assert_eq!(
            faults(&[("queue.a.capacity", "100"), ("queue.b:c.capacity", "100")]),
            ["2: the queue `b:c` is inside of `b`, which is not there; declare it: \
              `mapred.capacity-scheduler.queue.b.capacity`"]
        );
        let circle = [
            ("queue.a.capacity", "100"),
            ("queue.a:b.capacity", "100"),
            ("queue.a:b:a.capacity", "100"),
        ];
        assert_eq!(
            faults(&circle),
            [
                "3: the queue `a:b:a` would be inside of itself; a name means one queue: choose another \
              name"
            ]
        );
        assert_eq!(
            faults(&[("queue.a.capacity", "60"), ("queue.b.capacity", "60")]),
            [
                "1: the outermost queues have 120 % together, and there is no more than 100 %; lower \
              some capacity"
            ]
        );
    }

    #[test]
    fn a_file_that_is_no_list_of_properties_is_refused() {
        let first = |text: &str| parse(text).unwrap_err()[0].message.clone();
        assert_eq!(first("<queues/>"), "the outermost element is `queues`");
        let wrong = |inner: &str| first(&format!("<configuration>{inner}</configuration>"));
        assert_eq!(wrong("<queue/>"), "unknown element `queue` in `configuration`");
        assert_eq!(
            wrong("<property><name>a</name></property>"),
            "a property has a name and a value, which are texts"
        );
        let foreign = "<property><name>dfs.replication</name><value>3</value></property>";
        assert_eq!(wrong(foreign), "unknown property `dfs.replication`");
        let twice = file(&[("maximum-system-jobs", "1"), ("maximum-system-jobs", "2")]);
        assert!(first(&twice).contains("is said twice"));
    }

    proptest! {
        #[test]
        fn any_properties_are_read_or_refused(
            properties in proptest::collection::vec(
                ("(queue\\.[a-c:]{0,4}\\.|default-)?(capacity|maximum-capacity|user-limit-factor)",
                 "-?[0-9]{0,3}(\\.5)?|NaN|1e999"),
                0..12,
            ),
        ) {
            let properties: Vec<(&str, &str)> =
                properties.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            for fault in parse(&file(&properties)).err().iter().flatten() {
                prop_assert!(fault.line as usize <= properties.len() + 2);
            }
        }
    }
}
