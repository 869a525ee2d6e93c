//! Hadoop's allocation file, `fair-scheduler.xml` of 0.20 to 1.x, read as [`Pools`].
//!
//! ```
//! use mumakil_policies::scheduler::shared::{pools::Pools, xml::parse};
//!
//! let file = "<allocations>
//!   <pool name='research'><minMaps>10</minMaps><weight>2.5</weight></pool>
//!   <userMaxJobsDefault>3</userMaxJobsDefault>
//! </allocations>";
//! assert_eq!(parse::<Pools>(file, ()).unwrap().meaning.pools["research"].min_maps.get(), 10);
//! ```
//! The reader refuses elements that Hadoop would ignore ([`super::xml`]). As in a scenario, pools
//! may be nested.

use indexmap::IndexMap;
use roxmltree::Node;

use super::names::{DEEPEST, LONGEST_NAME};
use super::pools::{JobOrder, Number, Pool, Pools, User};
use super::xml::{XmlFindings, clip, text_of};
use mumakil_base::nearest::nearest;
use mumakil_base::units::{Factor, SimSpan};

/// Reads the root element of an allocation file.
pub(super) fn read(root: Node<'_, '_>, findings: &mut XmlFindings) -> Pools {
    Reader { path: Vec::new(), findings }.allocations(root)
}

// The elements that PoolManager of Hadoop 0.20 to 1.x reads.
const TOP: &[&str] = &[
    "pool",
    "user",
    "userMaxJobsDefault",
    "poolMaxJobsDefault",
    "fairSharePreemptionTimeout",
    "defaultMinSharePreemptionTimeout",
    "defaultPoolSchedulingMode",
];

const IN_POOL: &[&str] = &[
    "pool",
    "minMaps",
    "minReduces",
    "maxMaps",
    "maxReduces",
    "maxRunningJobs",
    "weight",
    "schedulingMode",
    "minSharePreemptionTimeout",
];

const IN_USER: &[&str] = &["maxRunningJobs"];

/// Turns elements into options, and notes faults and the position of each option.
struct Reader<'f> {
    /// The path of keys, as in YAML, to the options that are being read.
    path: Vec<String>,
    findings: &'f mut XmlFindings,
}

impl Reader<'_> {
    fn allocations(&mut self, root: Node<'_, '_>) -> Pools {
        self.findings.refuse_attributes(root);
        let mut pools = Pools::default();
        for element in self.elements(root, TOP) {
            match element.tag_name().name() {
                "pool" => self.pool(element, &mut pools.pools, 1),
                "user" => self.user(element, &mut pools.users),
                "userMaxJobsDefault" => pools.user_max_jobs = self.number(element, "user_max_jobs"),
                "poolMaxJobsDefault" => pools.pool_max_jobs = self.number(element, "pool_max_jobs"),
                "fairSharePreemptionTimeout" => {
                    pools.fair_share_after = self.seconds(element, "fair_share_after");
                }
                "defaultMinSharePreemptionTimeout" => {
                    pools.min_share_after = self.seconds(element, "min_share_after");
                }
                // The only other name in `TOP`: `defaultPoolSchedulingMode`.
                _ => pools.order = self.order(element).unwrap_or_default(),
            }
        }
        pools
    }

    fn pool(&mut self, element: Node<'_, '_>, pools: &mut IndexMap<String, Pool>, depth: usize) {
        // Check the depth before reading on, so that no file can exhaust the stack.
        if DEEPEST < depth {
            let message = format!("pools lie in each other more than {DEEPEST} deep");
            return self.fault(element, message, "make the tree flatter");
        }
        let name = self.named(element, |name| pools.contains_key(name));
        self.enter(element, "pools", name.as_deref());
        let mut pool = Pool::default();
        for element in self.elements(element, IN_POOL) {
            match element.tag_name().name() {
                "pool" => self.pool(element, &mut pool.pools, depth + 1),
                "minMaps" => pool.min_maps = self.number_or_none(element, "min_maps"),
                "minReduces" => pool.min_reduces = self.number_or_none(element, "min_reduces"),
                "maxMaps" => pool.max_maps = self.number(element, "max_maps"),
                "maxReduces" => pool.max_reduces = self.number(element, "max_reduces"),
                "maxRunningJobs" => pool.max_jobs = self.number(element, "max_jobs"),
                "weight" => pool.weight = self.weight(element).unwrap_or(Factor::ONE),
                "schedulingMode" => pool.order = self.order(element),
                // The only other name in `IN_POOL`: `minSharePreemptionTimeout`.
                _ => pool.min_share_after = self.seconds(element, "min_share_after"),
            }
        }
        self.leave();
        // A pool without a usable name is not kept; it was read only to find its faults.
        pools.extend(name.map(|name| (name, pool)));
    }

    fn user(&mut self, element: Node<'_, '_>, users: &mut IndexMap<String, User>) {
        let name = self.named(element, |name| users.contains_key(name));
        self.enter(element, "users", name.as_deref());
        let mut user = User::default();
        for element in self.elements(element, IN_USER) {
            user.max_jobs = self.number(element, "max_jobs");
        }
        self.leave();
        users.extend(name.map(|name| (name, user)));
    }

    /// Returns the name of a pool or user. If the name is missing, too long or taken, notes a fault
    /// and returns `None`.
    fn named(&mut self, element: Node<'_, '_>, is_taken: impl Fn(&str) -> bool) -> Option<String> {
        let what = element.tag_name().name();
        for attribute in element.attributes().filter(|attribute| attribute.name() != "name") {
            let message = format!("a {what} has no attribute `{}`", clip(attribute.name()));
            self.fault(element, message, "write it as an element inside");
        }
        let name = element.attribute("name").unwrap_or_default();
        if name.trim().is_empty() {
            let hint = format!("write `<{what} name=\"…\">`");
            self.fault(element, format!("a {what} has no name"), &hint);
        } else if name.chars().nth(LONGEST_NAME).is_some() {
            let message = format!("a {what}'s name is longer than {LONGEST_NAME} characters");
            self.fault(element, message, "choose a shorter one");
        } else if is_taken(name) {
            let message = format!("there is a {what} `{name}` already");
            self.fault(element, message, "make one of the two");
        } else {
            return Some(name.to_owned());
        }
        None
    }

    /// Begins a pool or user. An element without a name is read as well, to find its faults.
    fn enter(&mut self, element: Node<'_, '_>, key: &str, name: Option<&str>) {
        self.path.extend([key.to_owned(), name.unwrap_or_default().to_owned()]);
        self.findings.stands(element, self.path.clone());
    }

    fn leave(&mut self) {
        self.path.truncate(self.path.len() - 2);
    }

    /// Returns the known elements inside another element, and notes faults for the rest.
    fn elements<'n, 'x>(&mut self, node: Node<'n, 'x>, known: &[&str]) -> Vec<Node<'n, 'x>> {
        let mut seen = Vec::new();
        for inner in node.children() {
            if self.findings.are_too_many() {
                break;
            }
            let name = inner.tag_name().name();
            if inner.is_text() && !inner.text().unwrap_or_default().trim().is_empty() {
                let message = format!("there is text in `{}`", node.tag_name().name());
                self.fault(inner, message, "write elements such as `<minMaps>10</minMaps>`");
            } else if inner.is_element() && !known.contains(&name) {
                let message =
                    format!("unknown element `{}` in `{}`", clip(name), node.tag_name().name());
                self.fault(inner, message, &instead(name, known));
            } else if inner.is_element() {
                let is_same = |other: &Node<'_, '_>| other.tag_name() == inner.tag_name();
                // The elements of pools and users may be repeated. Any other repeated element is a
                // fault here; Hadoop uses the last one.
                if !["pool", "user"].contains(&name) && seen.iter().any(is_same) {
                    self.fault(inner, format!("`{name}` is said twice"), "leave one of them out");
                } else {
                    seen.push(inner);
                }
            }
        }
        seen
    }

    fn number(&mut self, element: Node<'_, '_>, key: &str) -> Option<Number> {
        let parse = |text: &str| text.parse().ok().and_then(Number::new);
        self.value(element, key, "a whole number from 0 to 2147483647", parse)
    }

    fn number_or_none(&mut self, element: Node<'_, '_>, key: &str) -> Number {
        self.number(element, key).unwrap_or(Number::of(0))
    }

    fn weight(&mut self, element: Node<'_, '_>) -> Option<Factor> {
        let parse = |text: &str| text.parse().ok().and_then(Factor::new);
        self.value(element, "weight", "a number above zero", parse)
    }

    fn seconds(&mut self, element: Node<'_, '_>, key: &str) -> Option<SimSpan> {
        let parse = |text: &str| {
            text.parse().ok().map(SimSpan::from_secs).filter(|span| *span <= SimSpan::LONGEST)
        };
        self.value(element, key, "a whole number of seconds, a hundred years at most", parse)
    }

    /// Reads `fair` or `fifo`; capitals are allowed, as in Hadoop.
    fn order(&mut self, element: Node<'_, '_>) -> Option<JobOrder> {
        let parse = |text: &str| match text.to_ascii_lowercase().as_str() {
            "fair" => Some(JobOrder::Fair),
            "fifo" => Some(JobOrder::Fifo),
            _ => None,
        };
        self.value(element, "order", "`fair` or `fifo`", parse)
    }

    /// Returns the parsed text of an element that sets the option `key`. If the text cannot be
    /// parsed, notes a fault and returns `None`.
    fn value<T>(
        &mut self,
        element: Node<'_, '_>,
        key: &str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let path = self.path.iter().cloned().chain([key.to_owned()]).collect();
        self.findings.stands(element, path);
        self.findings.refuse_attributes(element);
        let text = text_of(element);
        let value = text.as_deref().ok().and_then(parse);
        if value.is_none() {
            let (name, text) = (element.tag_name().name(), text.unwrap_or_else(|text| text));
            let message = format!("`{name}` is `{}`, not {expected}", clip(&text));
            self.fault(element, message, "leave the element out for its default");
        }
        value
    }

    fn fault(&mut self, node: Node<'_, '_>, message: String, hint: &str) {
        self.findings.fault(node, message, hint);
    }
}

/// Returns a hint: the known element that was probably meant.
fn instead(name: &str, known: &[&str]) -> String {
    // Many users come from YARN's fair scheduler, whose files look alike.
    if name == "queue" {
        return "`queue` is YARN's word: a pool is a `pool`, and its slots are counted".to_owned();
    }
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "there are {}",
            known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scheduler::shared::xml::{self, MOST_BYTES, MOST_FAULTS, XmlFault, XmlValue};

    fn parse(text: &str) -> Result<XmlValue<Pools>, Vec<XmlFault>> {
        xml::parse(text, ())
    }

    /// Every element that the documentation of Hadoop's fair scheduler shows.
    const EXAMPLE: &str = r#"<?xml version="1.0"?>
<!-- Slots of a small cluster. -->
<allocations>
  <pool name="research">
    <minMaps>10</minMaps>
    <minReduces> 5 </minReduces>
    <maxMaps>50</maxMaps>
    <maxReduces>20</maxReduces>
    <maxRunningJobs>3</maxRunningJobs>
    <weight>2.5</weight>
    <schedulingMode>FIFO</schedulingMode>
    <minSharePreemptionTimeout>60</minSharePreemptionTimeout>
  </pool>
  <pool name="other"/>
  <user name="ann"><maxRunningJobs>2</maxRunningJobs></user>
  <userMaxJobsDefault>5</userMaxJobsDefault>
  <poolMaxJobsDefault>10</poolMaxJobsDefault>
  <fairSharePreemptionTimeout>600</fairSharePreemptionTimeout>
  <defaultMinSharePreemptionTimeout>120</defaultMinSharePreemptionTimeout>
  <defaultPoolSchedulingMode>fair</defaultPoolSchedulingMode>
</allocations>"#;

    const SAME: &str = "
pools:
  research: {weight: 2.5, min_maps: 10, min_reduces: 5, max_maps: 50, max_reduces: 20, max_jobs: 3,
    order: fifo, min_share_after: 60s}
  other: {}
users: {ann: {max_jobs: 2}}
user_max_jobs: 5
pool_max_jobs: 10
fair_share_after: 600s
min_share_after: 120s
order: fair
";

    /// Returns the faults in the text `inner`, which is put into a root element whose start tag is
    /// on line 0.
    fn faults(inner: &str) -> Vec<String> {
        let told = |faults: Vec<XmlFault>| {
            let line = |fault: &XmlFault| {
                format!("{}:{}: {}; {}", fault.line - 1, fault.column, fault.message, fault.hint)
            };
            faults.iter().map(line).collect()
        };
        match parse(&format!("<allocations>\n{inner}</allocations>")) {
            Ok(allocation) => told(allocation.warnings),
            Err(faults) => told(faults),
        }
    }

    #[test]
    fn hadoops_file_says_what_the_scenario_says() {
        let allocation = parse(EXAMPLE).unwrap();
        assert_eq!(allocation.meaning, serde_yaml::from_str::<Pools>(SAME).unwrap());
        assert!(allocation.warnings.is_empty());
        assert_eq!(parse("<allocations/>").unwrap().meaning, Pools::default());
    }

    #[test]
    fn pools_lie_in_each_other() {
        let allocation = "<allocations><pool name='a'><pool name='b'/></pool></allocations>";
        assert!(parse(allocation).unwrap().meaning.pools["a"].pools.contains_key("b"));
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once_and_where() {
        let wrong = "<pool name='a'>
<minmaps>3</minmaps>
<minMaps>-1</minMaps>
<maxMaps>many</maxMaps><weight>0</weight>
<schedulingMode>lifo</schedulingMode>
</pool>
<queue name='b'/>
";
        let number = "a whole number from 0 to 2147483647; leave the element out for its default";
        assert_eq!(
            faults(wrong),
            [
                "2:1: unknown element `minmaps` in `pool`; did you mean `minMaps`?".to_owned(),
                format!("3:1: `minMaps` is `-1`, not {number}"),
                format!("4:1: `maxMaps` is `many`, not {number}"),
                "4:24: `a` would get nothing: a weight is above zero; choose a small one, such as \
                 0.01"
                    .to_owned(),
                "5:1: `schedulingMode` is `lifo`, not `fair` or `fifo`; leave the element out for \
                 its default"
                    .to_owned(),
                "7:1: unknown element `queue` in `allocations`; `queue` is YARN's word: a pool is \
                 a `pool`, and its slots are counted"
                    .to_owned(),
            ]
        );
    }

    #[test]
    fn a_key_given_twice_is_refused() {
        assert_eq!(
            faults("<pool name='a'><weight>1</weight><weight>2</weight></pool>"),
            ["1:34: `weight` is said twice; leave one of them out"]
        );
        assert_eq!(
            faults("<pool name='a'/><pool name='a'/>"),
            ["1:17: there is a pool `a` already; make one of the two"]
        );
        assert_eq!(
            faults("<pool name='a'><pool name='a'/></pool>"),
            ["1:16: there is a pool `a` already; \
              jobs name their pool by this alone: choose another name"]
        );
        assert_eq!(
            faults("<user name='a'/><user name='a'/>"),
            ["1:17: there is a user `a` already; make one of the two"]
        );
    }

    #[test]
    fn a_name_is_needed_and_is_the_only_attribute() {
        assert_eq!(
            faults("<pool/><user/><pool name='a' weight='2'/>"),
            [
                "1:1: a pool has no name; write `<pool name=\"…\">`",
                "1:8: a user has no name; write `<user name=\"…\">`",
                "1:15: a pool has no attribute `weight`; write it as an element inside",
            ]
        );
        assert_eq!(
            faults("<userMaxJobsDefault unit='jobs'>3</userMaxJobsDefault>"),
            ["1:1: `userMaxJobsDefault` has no attribute `unit`; leave it out"]
        );
    }

    #[test]
    fn text_and_elements_stand_only_where_they_mean_something() {
        assert_eq!(
            faults("<pool name='a'>10</pool><userMaxJobsDefault><n/>3</userMaxJobsDefault>"),
            [
                "1:16: there is text in `pool`; write elements such as `<minMaps>10</minMaps>`",
                "1:25: `userMaxJobsDefault` is `3`, not a whole number from 0 to 2147483647; \
                 leave the element out for its default",
            ]
        );
        let split = "<userMaxJobsDefault>1<!-- 1 -->2</userMaxJobsDefault>";
        let allocation = parse(&format!("<allocations>{split}</allocations>")).unwrap();
        assert_eq!(allocation.meaning.user_max_jobs, Some(Number::of(12)));
    }

    #[test]
    fn a_maximum_below_the_minimum_is_a_warning_as_in_hadoop() {
        let file = "<allocations><pool name='a'><minMaps>9</minMaps><maxMaps>5</maxMaps></pool>\
                    </allocations>";
        let allocation = parse(file).unwrap();
        assert_eq!(allocation.meaning.pools["a"].max_maps, Some(Number::of(5)));
        assert_eq!(
            allocation.warnings[0].to_string(),
            "1:49: `a` is promised 9 map slots, but gets 5 at most\n  \
             hint: lower the minimum, or raise the maximum"
        );
    }

    #[test]
    fn broken_xml_is_refused_where_it_breaks() {
        let first = |text: &str| parse(text).unwrap_err()[0].to_string();
        assert_eq!(
            first("<allocations>\n<pool name='a'></allocations>"),
            "2:16: expected 'pool' tag, not 'allocations'\n  \
             hint: write XML: `<allocations> … </allocations>`"
        );
        assert!(first("").starts_with("1:1: "));
        assert_eq!(
            first("<pools/>"),
            "1:1: the outermost element is `pools`\n  \
             hint: Hadoop's allocation files begin with `<allocations>`"
        );
    }

    #[test]
    fn entities_do_not_grow_and_files_that_would_take_long_are_not_read() {
        let bomb =
            "<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;'>]><allocations>&c;</allocations>";
        assert!(parse(bomb).unwrap_err()[0].message.contains("document type"));
        let large = format!("<allocations>{}</allocations>", " ".repeat(MOST_BYTES));
        let message = "the allocation file is larger than 256 KiB";
        assert_eq!(parse(&large).unwrap_err()[0].message, message);
        let nested = "<a xmlns:b='c'>".repeat(10_000);
        assert_eq!(parse(&nested).unwrap_err()[0].message, "there is a namespace");
    }

    #[test]
    fn many_faults_and_deep_pools_end_somewhere() {
        let many = "<allocations>".to_owned() + &"<x/>".repeat(50_000) + "</allocations>";
        assert_eq!(parse(&many).unwrap_err().len(), MOST_FAULTS);
        let deep = |depth: usize| {
            let open: String = (0..depth).map(|name| format!("<pool name='{name}'>")).collect();
            parse(&format!("<allocations>{open}{}</allocations>", "</pool>".repeat(depth)))
        };
        assert!(deep(DEEPEST).is_ok());
        assert_eq!(deep(DEEPEST + 1).unwrap_err().len(), 1);
        assert_eq!(deep(8_000).unwrap_err().len(), 1);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_in_its_lines(text in ".{0,200}") {
            let _ = parse(&text);
            for fault in parse(&format!("<allocations>{text}</allocations>")).err().unwrap_or_default() {
                prop_assert!(fault.line as usize <= 1 + text.matches('\n').count());
            }
        }

        #[test]
        fn any_elements_are_read_or_refused(
            parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..30),
        ) {
            let _ = parse(&format!("<allocations>{}</allocations>", parts.concat()));
        }
    }

    const PARTS: &[&str] = &[
        "<pool name='a'>",
        "<pool name=''>",
        "</pool>",
        "<user name='a'>",
        "</user>",
        "<weight>",
        "</weight>",
        "1e999",
        "NaN",
        "-0",
        "<minMaps>4</minMaps>",
        "<maxMaps>3</maxMaps>",
        "&amp;",
        "<minSharePreemptionTimeout>9223372036854775807</minSharePreemptionTimeout>",
        "<![CDATA[7]]>",
    ];
}
