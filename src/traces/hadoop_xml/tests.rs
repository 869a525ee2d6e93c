//! Tests of the conversion of Hadoop's files into YAML.

use proptest::prelude::*;

use super::*;

/// Returns the options in a file, or its faults as `LINE:COLUMN: MESSAGE; HINT`; the first line is
/// line 0.
fn parse(text: &str) -> Result<Value, Vec<String>> {
    let line = |fault: YamlProblem| {
        let message = fault.message.strip_prefix("f.xml:").unwrap();
        let (line, rest) = message.split_once(':').unwrap();
        format!("{}:{rest}; {}", line.parse::<usize>().unwrap() - 1, fault.hint.unwrap())
    };
    let read = super::parse("f.xml".as_ref(), text.to_owned());
    read.map(|file| file.options).map_err(|faults| faults.into_iter().map(line).collect())
}

fn first_fault(text: &str) -> String {
    parse(text).unwrap_err()[0].clone()
}

fn line_of(fault: &str) -> usize {
    fault.split_once(':').unwrap().0.parse().unwrap()
}

fn yaml(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap()
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

/// Returns the faults in the text `inner`, which is put into a root element; its first line is
/// line 1.
fn faults(inner: &str) -> Vec<String> {
    parse(&format!("<allocations>\n{inner}</allocations>")).err().unwrap_or_default()
}

#[test]
fn hadoops_file_says_what_the_scenario_says() {
    assert_eq!(parse(EXAMPLE).unwrap(), yaml(SAME));
    assert_eq!(parse("<allocations/>").unwrap(), yaml("{}"));
    let nested = "<allocations><pool name='a'><pool name='b'/></pool></allocations>";
    assert_eq!(parse(nested).unwrap(), yaml("pools: {a: {pools: {b: {}}}}"));
}

#[test]
fn all_that_is_wrong_is_said_at_once_and_where() {
    let wrong = "<pool name='a'>
<minmaps>3</minmaps>
<minMaps>-1</minMaps>
<maxMaps>many</maxMaps><weight>NaN</weight>
<schedulingMode>lifo</schedulingMode>
</pool>
<queue name='b'/>
";
    let default = "leave the element out for its default";
    let number = format!("a whole number from 0 to 2147483647; {default}");
    assert_eq!(
        faults(wrong),
        [
            "2:1: unknown element `minmaps` in `pool`; did you mean `minMaps`?".to_owned(),
            format!("3:1: `minMaps` is `-1`, not {number}"),
            format!("4:1: `maxMaps` is `many`, not {number}"),
            format!("4:24: `weight` is `NaN`, not a number above zero; {default}"),
            format!("5:1: `schedulingMode` is `lifo`, not `fair` or `fifo`; {default}"),
            "7:1: unknown element `queue` in `allocations`; `queue` is YARN's word: a pool is a \
             `pool`, and its slots are counted"
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
            "1:25: `userMaxJobsDefault` is `3`, not a whole number from 0 to 2147483647; leave the \
             element out for its default",
        ]
    );
    let split = "<userMaxJobsDefault>1<!-- 1 -->2</userMaxJobsDefault>";
    let allocation = parse(&format!("<allocations>{split}</allocations>")).unwrap();
    assert_eq!(allocation, yaml("user_max_jobs: 12"));
}

#[test]
fn a_problem_with_an_option_is_placed_in_the_file() {
    let text = "<allocations>\n<pool name='a'><maxMaps>5</maxMaps></pool></allocations>";
    let file = super::parse("f.xml".as_ref(), text.to_owned()).unwrap();
    let placed = |path: &str| {
        let problem = file.place(YamlProblem::value(Path::of(path), "wrong"));
        assert_eq!(problem.path, Path::default());
        problem.message
    };
    assert_eq!(placed("pools.a.max_maps"), "f.xml:2:16: wrong");
    assert_eq!(placed("pools.a.min_maps"), "f.xml:2:1: wrong", "of the pool");
    assert_eq!(placed("users"), "f.xml:1:1: wrong");
}

#[test]
fn broken_xml_is_refused_where_it_breaks() {
    assert_eq!(
        first_fault("<allocations>\n<pool name='a'></allocations>"),
        "1:16: expected 'pool' tag, not 'allocations'; write XML: `<allocations> … </allocations>`"
    );
    assert!(first_fault("").starts_with("0:1: "));
    assert_eq!(
        first_fault("<pools/>"),
        "0:1: the outermost element is `pools`; Hadoop's files begin with `<allocations>` or \
         `<configuration>`"
    );
}

#[test]
fn entities_do_not_grow_and_files_that_would_take_long_are_not_read() {
    let bomb = "<!DOCTYPE a [<!ENTITY b 'bb'><!ENTITY c '&b;&b;'>]><allocations>&c;</allocations>";
    assert!(first_fault(bomb).contains("document type"));
    let large = format!("<allocations>{}</allocations>", " ".repeat(MOST_BYTES));
    assert!(first_fault(&large).contains("the allocation file is larger than 256 KiB"));
    let nested = "<a xmlns:b='c'>".repeat(10_000);
    assert!(first_fault(&nested).contains("there is a namespace"));
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

/// Returns a list of properties, each on a line of its own; the first property is on line 1.
fn file(properties: &[(&str, &str)]) -> String {
    let line = |(name, value): &(&str, &str)| {
        format!("<property><name>{PREFIX}{name}</name><value>{value}</value></property>\n")
    };
    let lines: String = properties.iter().map(line).collect();
    format!("<configuration>\n{lines}</configuration>")
}

/// Returns each fault, with the number of its property, from 1.
fn faults_of(properties: &[(&str, &str)]) -> Vec<String> {
    let faults = parse(&file(properties)).err().unwrap_or_default().into_iter();
    faults.map(|fault| fault.replacen(":1: ", ": ", 1)).collect()
}

#[test]
fn a_list_of_properties_says_what_the_scenario_says() {
    let text = file(&[
        ("maximum-system-jobs", "3000"),
        ("init-poll-interval", "5000"),
        ("init-worker-threads", "2"),
        ("maximum-tasks-per-heartbeat", "20"),
        ("maximum-tasks-after-offswitch", "0"),
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
init_poll: 5000ms
init_threads: 2
maps_per_heartbeat: 20
queues:
  prod:
    capacity: 0.7
    minimum_user_limit: 0.5
    supports_priority: true
    queues:
      etl: {capacity: 0.405, max_active_tasks_per_user: 100}
      web: {reclaim_after: 300s}
  rest: {capacity: 0.3, maximum_capacity: 0.6, minimum_user_limit: 0.5, user_limit_factor: 1.5,
    max_initialised_per_user: 4, accept_factor: 3}
";
    assert_eq!(parse(&text).unwrap(), yaml(same));
    assert_eq!(parse("<configuration/>").unwrap(), yaml("{}"));
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
        let options = parse(&file(&[&limits, line].concat())).unwrap();
        assert_eq!(options["queues"]["default"]["capacity"], yaml("1.0"));
        assert!(["5s", "5000ms"].contains(&options["init_poll"].as_str().unwrap()));
    }
    let text = file(&[
        ("queue.a.capacity", "100"),
        ("default-maximum-active-tasks-per-queue", "7"),
        ("default-maximum-active-tasks-per-user", "3"),
    ]);
    let limits = "queues: {a: {capacity: 1.0, max_active_tasks: 7, max_active_tasks_per_user: 3}}";
    assert_eq!(parse(&text).unwrap(), yaml(limits));
    let unknown = faults_of(&[("default-maximum-initialized-active-tasks", "7")]);
    assert!(unknown[0].contains("unknown property"), "{unknown:?}");
}

#[test]
fn values_are_what_they_should_be() {
    assert_eq!(
        faults_of(&[
            ("queue.a.capacity", "101"),
            ("queue.a.supports-priority", "yes"),
            ("queue.a.capasity", "5"),
            ("init-poll-interval", "0"),
            ("default-maximum-capacity", "50"),
            ("queue.ghost.init-worker-threads", "5"),
            ("maximum-tasks-after-offswitch", "3"),
        ]),
        [
            "1: `mapred.capacity-scheduler.queue.a.capacity` is `101`, not a number from 0 to 100; \
             leave the property out for its default",
            "2: `mapred.capacity-scheduler.queue.a.supports-priority` is `yes`, not `true` or \
             `false`; leave the property out for its default",
            "3: unknown property `mapred.capacity-scheduler.queue.a.capasity`; did you mean \
             `capacity`?",
            "4: `mapred.capacity-scheduler.init-poll-interval` is `0`, not a whole number of \
             milliseconds above zero; leave the property out for its default",
            "5: unknown property `mapred.capacity-scheduler.default-maximum-capacity`; such as \
             `mapred.capacity-scheduler.queue.NAME.capacity`",
            "6: unknown property `mapred.capacity-scheduler.queue.ghost.init-worker-threads`; such \
             as `mapred.capacity-scheduler.queue.NAME.capacity`",
            "7: `mapred.capacity-scheduler.maximum-tasks-after-offswitch` is `3`, not 0, Hadoop's \
             default: others are not modelled; leave the property out for its default",
        ]
    );
}

#[test]
fn nothing_that_is_said_is_dropped() {
    assert_eq!(
        faults_of(&[
            ("queue.a.capacity", "50"),
            ("queue.a.guaranteed-capacity", "60"),
            ("init-poll-interval", "3000"),
            ("reclaimCapacity.interval", "5"),
        ]),
        [
            "2: `mapred.capacity-scheduler.queue.a.guaranteed-capacity` sets `capacity` a second \
             time; leave one of them out",
            "4: `mapred.capacity-scheduler.reclaimCapacity.interval` sets `init_poll` a second time; \
             leave one of them out",
        ]
    );
    let only = yaml("queues: {default: {user_limit_factor: 5.0}}");
    assert_eq!(parse(&file(&[("default-user-limit-factor", "5")])).unwrap(), only);
    let property = |inner: &str, attribute: &str| {
        let name = format!("<name>{PREFIX}maximum-system-jobs</name>");
        let text = format!(
            "<configuration><property{attribute}>{name}{inner}<value>7</value></property>\
             </configuration>"
        );
        parse(&text).err().map_or(String::new(), |faults| faults[0].clone())
    };
    assert_eq!(property("<description>jobs</description><final>true</final>", ""), "");
    for (inner, attribute, fault) in [
        ("<vale>8</vale>", "", "unknown element `vale` in `property`; did you mean `value`?"),
        ("<value>8</value>", "", "`value` is said twice"),
        ("8", "", "there is text in `property`"),
        ("", " value='8'", "`property` has no attribute `value`"),
    ] {
        assert!(property(inner, attribute).contains(fault), "{inner}");
    }
}

#[test]
fn queues_stand_where_they_can() {
    assert_eq!(
        faults_of(&[("queue.a.capacity", "100"), ("queue.b:c.capacity", "100")]),
        ["2: the queue `b:c` is inside of `b`, which is not there; declare it: \
          `mapred.capacity-scheduler.queue.b.capacity`"]
    );
    let circle = [
        ("queue.a.capacity", "100"),
        ("queue.a:b.capacity", "100"),
        ("queue.a:b:a.capacity", "100"),
    ];
    assert_eq!(
        faults_of(&circle),
        ["3: the queue `a:b:a` would be inside of itself; a name means one queue: choose another \
             name"]
    );
    let deep = format!("queue.{}.capacity", "a:".repeat(10_000));
    assert!(faults_of(&[(&deep, "5")])[0].contains("more than 64 deep"));
}

#[test]
fn a_file_that_is_no_list_of_properties_is_refused() {
    let wrong = |inner: &str| first_fault(&format!("<configuration>{inner}</configuration>"));
    let unknown = "unknown element `queue` in `configuration`; there are `property`";
    assert!(wrong("<queue/>").contains(unknown));
    let without_value = wrong("<property><name>a</name></property>");
    assert!(without_value.contains("a property has a name and a value, which are texts"));
    let foreign = "<property><name>dfs.replication</name><value>3</value></property>";
    assert!(wrong(foreign).contains("unknown property `dfs.replication`"));
    let twice = file(&[("maximum-system-jobs", "1"), ("maximum-system-jobs", "2")]);
    assert!(first_fault(&twice).contains("sets `max_system_jobs` a second time"));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_in_its_lines(text in ".{0,200}") {
        let _ = parse(&text);
        for fault in parse(&format!("<allocations>{text}</allocations>")).err().unwrap_or_default() {
            prop_assert!(line_of(&fault) <= text.matches('\n').count());
        }
    }

    #[test]
    fn any_elements_are_read_or_refused(
        parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..30),
    ) {
        let _ = parse(&format!("<allocations>{}</allocations>", parts.concat()));
    }

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
            prop_assert!(line_of(fault) <= properties.len() + 1);
        }
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
