//! Reads Hadoop's XML files, and reports all faults of a file at once, each with its position.
//!
//! Hadoop ignores unknown elements, and uses the last of several equal elements. The readers here
//! are strict, so that a typing error does not silently drop the limits of a pool. They refuse
//! document types, and with them recursive entities.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read as _};
use std::path::Path;

use roxmltree::{Document, Error, Node};

use super::file_or::FileOptions;
use mumakil_base::files;
use mumakil_core::mapred::Complaint;

/// The size of the largest file that is read, in bytes: about seven hundred pools with all options.
pub(super) const MOST_BYTES: usize = 256 << 10;

/// The number of faults after which reading stops. Chosen: a user does not mend more faults at a
/// time.
pub(super) const MOST_FAULTS: usize = 100;

/// The content of a file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlValue<T> {
    /// The options that the file sets.
    pub meaning: T,
    /// Warnings, in the order of the file.
    pub warnings: Vec<XmlFault>,
}

/// A fault or a warning about a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlFault {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The complaint.
    pub message: String,
    /// How the user can mend the fault.
    pub hint: String,
}

impl fmt::Display for XmlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, message, hint } = self;
        write!(f, "{line}:{column}: {message}\n  hint: {hint}")
    }
}

/// A kind of XML file.
pub struct XmlKind {
    /// The name of such a file in complaints.
    pub name: &'static str,
    /// The name of its root element.
    pub root: &'static str,
}

/// Reads the text of a file.
///
/// # Errors
/// Returns all faults in the order of the file, at most the first hundred; only one fault if the
/// text is not XML.
pub fn parse<T: FileOptions>(
    text: &str,
    context: T::Context,
) -> Result<XmlValue<T>, Vec<XmlFault>> {
    let refused =
        |message: String, hint: String| Err(vec![XmlFault { line: 1, column: 1, message, hint }]);
    let XmlKind { name, root } = T::KIND;
    // `beginning` reads one byte beyond the limit, so this test also finds a file that is too
    // large.
    if MOST_BYTES < text.len() {
        let message = format!("the {name} is larger than {} KiB", MOST_BYTES >> 10);
        return refused(message, format!("give the path of {} {name}", article(name)));
    }
    // Namespaces have no meaning here, and the parser takes cubic time for nested ones.
    if text.contains("xmlns") {
        return refused("there is a namespace".to_owned(), "leave `xmlns` out".to_owned());
    }
    let document = Document::parse(text).map_err(|error| vec![malformed(&error, root)])?;
    let mut findings = XmlFindings::default();
    let outermost = document.root_element();
    let found = outermost.tag_name().name();
    let meaning = (found == root).then(|| T::read(outermost, &mut findings));
    if let Some(meaning) = &meaning {
        meaning.check(context).into_iter().for_each(|complaint| findings.complain(complaint));
    } else {
        let message = format!("the outermost element is `{}`", clip(found));
        findings.fault(outermost, message, &format!("Hadoop's {name}s begin with `<{root}>`"));
    }
    let (warnings, errors) = findings.placed(&document);
    match meaning {
        Some(meaning) if errors.is_empty() => Ok(XmlValue { meaning, warnings }),
        _ => Err(errors),
    }
}

fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn malformed(error: &Error, root: &str) -> XmlFault {
    let place = error.pos();
    let told = error.to_string();
    let told = told.strip_suffix(&format!(" at {place}")).unwrap_or(&told);
    let (message, hint) = match error {
        // The parser refuses every document type, so no entity can expand.
        Error::DtdDetected => ("there is a document type", "leave `<!DOCTYPE …>` out".to_owned()),
        _ => (told, format!("write XML: `<{root}> … </{root}>`")),
    };
    XmlFault { line: place.row, column: place.col, message: message.to_owned(), hint }
}

/// Reads a file. Returns its options and warnings.
///
/// # Errors Returns the faults; each text begins with the file and the position.
pub fn read<T: FileOptions>(
    path: &Path,
    context: T::Context,
) -> Result<(T, Vec<Complaint>), Vec<Complaint>> {
    let text = beginning(path).map_err(|why| {
        let message = format!("cannot read {}: {why}", path.display());
        vec![Complaint::error(&[], message, "a relative path begins in the scenario's folder")]
    })?;
    let placed = |faults: Vec<XmlFault>, is_warning| {
        let placed = |fault: XmlFault| {
            let XmlFault { line, column, message, hint } = fault;
            let message = format!("{}:{line}:{column}: {message}", path.display());
            Complaint { is_warning, ..Complaint::error(&[], message, hint) }
        };
        faults.into_iter().map(placed).collect()
    };
    let told = parse(&text, context).map_err(|faults| placed(faults, false))?;
    Ok((told.meaning, placed(told.warnings, true)))
}

/// Returns the text of a file. For a file that is too large, returns its beginning, which exceeds
/// the limit by one byte.
fn beginning(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    // One byte beyond the limit suffices to show that a file is too large.
    files::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if MOST_BYTES < bytes.len() {
        // The text will be refused for its length, so a cut character at its end does not matter.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Complaints about a file, and the position of each option that it sets.
#[derive(Default)]
pub struct XmlFindings {
    /// The byte offset at which each option begins, by its path of keys as in YAML.
    places: BTreeMap<Vec<String>, usize>,
    /// The complaints, each with its byte offset; the line is computed from the offset later.
    all: Vec<(usize, Complaint)>,
}

impl XmlFindings {
    /// Notes where an option begins. If it is noted twice, the first position counts.
    pub fn stands(&mut self, node: Node<'_, '_>, path: Vec<String>) {
        self.places.entry(path).or_insert(node.range().start);
    }

    /// Notes a fault of an element.
    pub fn fault(&mut self, node: Node<'_, '_>, message: String, hint: &str) {
        self.all.push((node.range().start, Complaint::error(&[], message, hint)));
    }

    /// Notes a complaint at the position of its option, or of the nearest option around it.
    pub fn complain(&mut self, complaint: Complaint) {
        let path = &complaint.path;
        // If the file does not set the option, the complaint gets the position of the nearest
        // element around it.
        let around = (0..=path.len()).rev().find_map(|len| self.places.get(&path[..len]));
        self.all.push((around.copied().unwrap_or_default(), complaint));
    }

    /// Notes a fault for each attribute of an element in which attributes have no meaning.
    pub fn refuse_attributes(&mut self, element: Node<'_, '_>) {
        for attribute in element.attributes() {
            let element_name = element.tag_name().name();
            let message =
                format!("`{}` has no attribute `{}`", clip(element_name), clip(attribute.name()));
            self.fault(element, message, "leave it out");
        }
    }

    /// Returns whether there are so many complaints that reading should stop.
    pub fn are_too_many(&self) -> bool {
        MOST_FAULTS <= self.all.len()
    }

    /// Returns whether there are no complaints so far.
    pub fn are_none(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the warnings and the errors, each in the order of the file.
    fn placed(mut self, document: &Document<'_>) -> (Vec<XmlFault>, Vec<XmlFault>) {
        self.all.sort_by_key(|(byte, _)| *byte);
        let (warnings, errors): (Vec<_>, Vec<_>) =
            self.all.into_iter().partition(|(_, complaint)| complaint.is_warning);
        let place = |(byte, Complaint { message, hint, .. })| {
            let place = document.text_pos_at(byte);
            XmlFault { line: place.row, column: place.col, message, hint }
        };
        let placed = |all: Vec<_>| all.into_iter().take(MOST_FAULTS).map(place).collect();
        (placed(warnings), placed(errors))
    }
}

/// Returns the text of an element.
///
/// # Errors
/// If the element contains other elements; the error is its text.
pub fn text_of(element: Node<'_, '_>) -> Result<String, String> {
    let is_plain = !element.children().any(|inner| inner.is_element());
    let texts = element.children().filter(|inner| inner.is_text()).filter_map(|inner| inner.text());
    let text = texts.collect::<String>().trim().to_owned();
    if is_plain { Ok(text) } else { Err(text) }
}

/// Shortens a quotation for a message.
pub fn clip(text: &str) -> String {
    // Chosen: a quotation should fit on one line.
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
