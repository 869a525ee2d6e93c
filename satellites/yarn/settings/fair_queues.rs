//! `fair-scheduler.xml`: the queues under the fair scheduler.

use std::str::FromStr;

use roxmltree::{Document, Node};

use crate::fair::FairPolicy;
use crate::fair::settings::{FairQueueSettings, FairSettings};
use crate::size::YarnSize;

/// Reads the file into settings that have all else; the error names the line.
pub(super) fn read(text: &str, settings: &mut FairSettings) -> Result<(), String> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let root = document.root_element();
    if !root.has_tag_name("allocations") {
        return Err(format!("line 1: `<{}>` instead of `<allocations>`", root.tag_name().name()));
    }
    let queues: Vec<Node<'_, '_>> = root.children().filter(is_queue).collect();
    for element in root.children().filter(|it| it.is_element() && !is_queue(it)) {
        set_default(element, settings)?;
    }
    for queue in &queues {
        let is_root = queue.attribute("name").is_some_and(|it| it.eq_ignore_ascii_case("root"));
        if is_root && 1 < queues.len() {
            return Err(wrong(*queue, "no other queue may stand beside `root`"));
        }
        add_queue(*queue, (!is_root).then_some(("root", settings.default)), settings)?;
    }
    Ok(())
}

fn is_queue(element: &Node<'_, '_>) -> bool {
    element.has_tag_name("queue") || element.has_tag_name("pool")
}

fn wrong(element: Node<'_, '_>, message: &str) -> String {
    let line = element.document().text_pos_at(element.range().start).row;
    format!("line {line}: {message}")
}

fn value<T: FromStr>(element: Node<'_, '_>) -> Result<T, String> {
    let text = element.text().unwrap_or_default().trim();
    let name = element.tag_name().name();
    text.parse().map_err(|_| wrong(element, &format!("`{name}`: `{text}` is not a number")))
}

fn milliseconds(element: Node<'_, '_>) -> Result<u64, String> {
    value::<u64>(element).map(|seconds| seconds.saturating_mul(1_000))
}

/// Sets what an element says of a queue, or of all queues by default.
fn set(queue: &mut FairQueueSettings, element: Node<'_, '_>) -> Result<(), String> {
    match element.tag_name().name() {
        "minResources" => queue.min = size(element)?,
        "maxResources" => queue.max = size(element)?,
        "maxRunningApps" | "queueMaxAppsDefault" => queue.max_running = value(element)?,
        "maxAMShare" | "queueMaxAMShareDefault" => {
            queue.max_master_share = value::<f32>(element)?.min(1.0);
        }
        "weight" => queue.weight = value::<f64>(element)? as f32,
        "minSharePreemptionTimeout" | "defaultMinSharePreemptionTimeout" => {
            queue.timeouts_ms[0] = milliseconds(element)?;
        }
        "fairSharePreemptionTimeout" | "defaultFairSharePreemptionTimeout" => {
            queue.timeouts_ms[1] = milliseconds(element)?;
        }
        "fairSharePreemptionThreshold" | "defaultFairSharePreemptionThreshold" => {
            queue.threshold = value::<f32>(element)?.clamp(0.0, 1.0);
        }
        "schedulingPolicy"
        | "schedulingMode"
        | "defaultQueueSchedulingPolicy"
        | "defaultQueueSchedulingMode" => queue.policy = policy(element)?,
        _ => {}
    }
    Ok(())
}

fn is_default(element: Node<'_, '_>) -> bool {
    let name = element.tag_name().name();
    name.starts_with("default") || name.ends_with("Default")
}

fn set_default(element: Node<'_, '_>, settings: &mut FairSettings) -> Result<(), String> {
    match element.tag_name().name() {
        "user" => {
            let user = element.attribute("name").unwrap_or_default();
            for limit in element.children().filter(|it| it.has_tag_name("maxRunningApps")) {
                settings.user_max_running.insert(user.to_owned(), value(limit)?);
            }
        }
        "userMaxAppsDefault" => settings.user_max_running_default = value(element)?,
        // The older name counts only if the newer one has not been read.
        "fairSharePreemptionTimeout" if settings.default.timeouts_ms[1] == u64::MAX => {
            set(&mut settings.default, element)?;
        }
        _ if is_default(element) => set(&mut settings.default, element)?,
        _ => {}
    }
    Ok(())
}

fn add_queue(
    element: Node<'_, '_>,
    parent: Option<(&str, FairQueueSettings)>,
    settings: &mut FairSettings,
) -> Result<(), String> {
    let Some(own) = element.attribute("name").map(str::trim).filter(|name| !name.is_empty()) else {
        return Err(wrong(element, "a queue without a name"));
    };
    if own.contains('.') {
        return Err(wrong(element, &format!("`{own}`: the name of a queue has no period")));
    }
    let below: Vec<Node<'_, '_>> = element.children().filter(is_queue).collect();
    let is_parent =
        element.attribute("type") == Some("parent") || parent.is_none() || !below.is_empty();
    let (name, mut queue) = match parent {
        Some((parent, above)) => (format!("{parent}.{own}"), settings.default.below(&above)),
        None => ("root".to_owned(), settings.default),
    };
    queue.is_parent = is_parent;
    for field in element.children().filter(|it| it.is_element() && !is_default(*it)) {
        set(&mut queue, field)?;
    }
    settings.queues.push((name.clone(), queue));
    below.into_iter().try_for_each(|child| add_queue(child, Some((&name, queue)), settings))
}

fn policy(element: Node<'_, '_>) -> Result<FairPolicy, String> {
    let text = element.text().unwrap_or_default().trim();
    let class = text.rsplit('.').next().unwrap_or(text).to_ascii_lowercase();
    match class.as_str() {
        "fair" | "fairsharepolicy" => Ok(FairPolicy::Fair),
        "fifo" | "fifopolicy" => Ok(FairPolicy::Fifo),
        "drf" | "dominantresourcefairnesspolicy" => Ok(FairPolicy::Dominant),
        _ => Err(wrong(element, &format!("no policy `{text}`; there are fair, fifo and drf"))),
    }
}

fn number_before(text: &str, unit: &str) -> Option<i32> {
    let (before, _) = text.split_once(unit)?;
    let digits = before.trim_end().rsplit(|c: char| !c.is_ascii_digit() && c != '.').next()?;
    // Digits behind the point are cut off.
    digits.split('.').next()?.parse().ok()
}

/// Reads an amount such as `10240 mb, 10 vcores`.
fn size(element: Node<'_, '_>) -> Result<YarnSize, String> {
    let text = element.text().unwrap_or_default().to_ascii_lowercase();
    match (number_before(&text, "mb"), number_before(&text, "vcores")) {
        (Some(memory), Some(cores)) => Ok(YarnSize::new(memory, cores)),
        _ => Err(wrong(element, &format!("`{}` is not like `1024 mb, 1 vcores`", text.trim()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::HadoopProperties;

    fn settings(text: &str) -> Result<FairSettings, String> {
        let mut settings = FairSettings::of(&HadoopProperties::default()).unwrap();
        read(text, &mut settings).map(|()| settings)
    }

    #[test]
    fn queues_have_full_names_and_their_own_settings() {
        let text = "<allocations><queue name=\"a\"><weight>2.5</weight>\
            <minResources>2048 mb, 2 vcores</minResources>\
            <queue name=\"b\"><schedulingPolicy>drf</schedulingPolicy></queue></queue>\
            <userMaxAppsDefault>3</userMaxAppsDefault></allocations>";
        let settings = settings(text).unwrap();
        let [(a, outer), (b, inner)] = &settings.queues[..] else { panic!("{settings:?}") };
        assert_eq!((a.as_str(), b.as_str()), ("root.a", "root.a.b"));
        assert_eq!((outer.weight, outer.is_parent), (2.5, true));
        assert_eq!(outer.min, YarnSize::new(2_048, 2));
        assert_eq!((inner.policy, inner.is_parent), (FairPolicy::Dominant, false));
        assert_eq!(settings.user_max_running_default, 3);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (inner, word) in [
            ("<queue name=\"a.b\"/>", "period"),
            ("<queue><weight>1</weight></queue>", "without a name"),
            ("<queue name=\"a\"><weight>heavy</weight></queue>", "`heavy`"),
            ("<queue name=\"a\"><maxResources>lots</maxResources></queue>", "`lots`"),
            ("<queue name=\"a\"><schedulingPolicy>best</schedulingPolicy></queue>", "`best`"),
        ] {
            let error = settings(&format!("<allocations>\n{inner}</allocations>")).unwrap_err();
            assert!(error.starts_with("line 2: ") && error.contains(word), "{error}");
        }
    }
}
