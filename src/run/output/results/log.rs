//! Reads the interval log of histograms.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, LogEntry,
};

/// Reads the wanted histograms of a log, by tag; all intervals of a tag make one histogram. An
/// error has the number of its line.
pub(super) fn read_log(
    text: &str,
    is_wanted: impl Fn(&str) -> bool,
) -> Result<BTreeMap<String, Histogram<u64>>, (u64, String)> {
    let mut histograms: BTreeMap<String, Histogram<u64>> = BTreeMap::new();
    let mut deserializer = Deserializer::new();
    for (line, content) in (1..).zip(text.lines()) {
        // Parse line by line: the library's reader does not count lines.
        let content = format!("{content}\n");
        for entry in IntervalLogIterator::new(content.as_bytes()) {
            let entry = entry.map_err(|_| (line, "not a line of an interval log".to_owned()))?;
            let LogEntry::Interval(interval) = entry else { continue };
            let name = interval.tag().map_or("", |tag| tag.as_str());
            if !is_wanted(name) {
                continue;
            }
            let read = decode(&interval, &mut deserializer).map_err(|message| (line, message))?;
            match histograms.get_mut(name) {
                // Other tools may write several intervals of a tag.
                Some(all) => all.add(read).map_err(|error| (line, error.to_string()))?,
                None => {
                    histograms.insert(name.to_owned(), read);
                }
            }
        }
    }
    Ok(histograms)
}

fn decode(
    interval: &IntervalLogHistogram<'_>,
    deserializer: &mut Deserializer,
) -> Result<Histogram<u64>, String> {
    let wrong = |why: String| format!("the histogram cannot be decoded: {why}");
    let bytes = STANDARD.decode(interval.encoded_histogram()).map_err(|e| wrong(e.to_string()))?;
    let mut histogram: Histogram<u64> =
        deserializer.deserialize(&mut bytes.as_slice()).map_err(|e| wrong(e.to_string()))?;
    // Intervals may have different ranges, so the sum must be able to grow.
    histogram.auto(true);
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use hdrhistogram::serialization::V2DeflateSerializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};

    use super::*;

    /// Returns a log with an interval for each pair: a tag and the only value of its histogram.
    fn log(intervals: &[(&str, u64)]) -> String {
        let (mut bytes, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
        let mut log = IntervalLogWriterBuilder::new()
            .with_start_time(UNIX_EPOCH)
            .begin_log_with(&mut bytes, &mut serializer)
            .unwrap();
        for (place, (tag, value)) in (0..).zip(intervals) {
            let mut histogram = Histogram::<u64>::new(3).unwrap();
            histogram.record(*value).unwrap();
            let second = Duration::from_secs(1);
            log.write_histogram(&histogram, second * place, second, Tag::new(tag)).unwrap();
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_intervals_of_a_tag_are_one_histogram() {
        let read = read_log(&log(&[("a", 5), ("b", 7), ("a", 3_000_000_000)]), |_| true).unwrap();
        assert_eq!(read.keys().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!((read["a"].len(), read["a"].min(), read["b"].max()), (2, 5, 7));
        assert!(3_000_000_000 <= read["a"].max(), "the sum takes the widest range");
    }

    #[test]
    fn unwanted_columns_are_not_read() {
        let log = log(&[("a", 5), ("b", 7)]);
        assert_eq!(
            read_log(&log, |name| name == "b").unwrap().into_keys().collect::<Vec<_>>(),
            ["b"]
        );
        assert!(read_log(TRUNCATED, |_| false).unwrap().is_empty());
    }

    const TRUNCATED: &str = "#[Histogram log format version 1.3]
#[StartTime: 0.000 (seconds since epoch)]
#\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"
Tag=commit_delay,0.000,469.935,3100671.000,HISTFAAAAD14nAEyAM3/HISTEwAAAAoAAAAAAAAAAwAAAAAAAAABAAAAAAAA///8/8AAAAAAAAAOOwARibD0LNBxqX0QhH
";

    #[test]
    fn a_file_that_is_no_log_names_its_line() {
        let (line, message) =
            read_log("#[comment]\nTag=a,0.0,1.0,5.0,HISTF???\n", |_| true).unwrap_err();
        assert_eq!(line, 2, "{message}");
        assert_eq!(read_log("nonsense\n", |_| true).unwrap_err().0, 1);
    }

    #[test]
    fn a_truncated_histogram_is_an_error() {
        let (line, message) = read_log(TRUNCATED, |_| true).unwrap_err();
        assert_eq!(line, 4);
        assert!(message.contains("cannot be decoded"), "{message}");
    }
}
