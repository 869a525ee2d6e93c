//! A run of a study under the checker: it fails if the invariants are broken, or if its policy is
//! unsound.
//!
//! ```text
//! first   under the checker; a job that starves ends it   its results are kept
//! again   if the policy is a program                      the same questions, the same answers?
//! ```

use std::sync::Arc;

use parking_lot::Mutex;

use crate::run::soundness::{PolicyObservations, broken_invariants, parted};
use mumakil_run::emulation::{EmulationError, KeptRun, Options, Prepared};
use mumakil_run::output::RunFolder;
use mumakil_scenario::Registry;

/// Does a run twice at most and fills a folder with its results; returns the flaw of the run in
/// words, if it has one.
pub(crate) fn fill(
    prepared: &Prepared,
    folder: &RunFolder,
    registry: &Registry,
    options: Options,
) -> Result<Result<KeptRun, String>, EmulationError> {
    let (time_limit, transport) = (options.time_limit, options.transport);
    let (done, first) =
        watched(registry, options, |registry, options| prepared.fill(folder, registry, options));
    let kept = match blamed(done, &first) {
        Ok(done) => done?,
        Err(flaw) => return Ok(Err(flaw)),
    };
    if let Some(flaw) = kept.emulated.verifier.as_ref().and_then(broken_invariants) {
        return Ok(Err(flaw));
    }
    if prepared.scenario.programs.is_empty() {
        return Ok(Ok(kept));
    }
    let again = Options { time_limit, transport, ..Options::default() };
    let (done, second) =
        watched(registry, again, |registry, options| prepared.emulate(registry, options));
    match blamed(done, &second) {
        Ok(done) => _ = done?,
        Err(flaw) => return Ok(Err(flaw)),
    }
    Ok(match parted(&first.exchanges, &second.exchanges) {
        Some(flaw) => Err(flaw),
        None => Ok(kept),
    })
}

/// Does a run under the checker, and notes what its policy says and answers.
fn watched<T>(
    registry: &Registry,
    options: Options,
    run: impl FnOnce(&Registry, Options) -> Result<T, EmulationError>,
) -> (Result<T, EmulationError>, PolicyObservations) {
    let seen = Arc::new(Mutex::new(PolicyObservations::default()));
    let mut registry = registry.clone();
    let mut options = Options { verify: true, ..options };
    PolicyObservations::watch(&seen, &mut registry, &mut options);
    let done = run(&registry, options);
    let seen = std::mem::take(&mut *seen.lock());
    (done, seen)
}

/// Returns the result of a run, or the flaw of its policy in words, with the last words that the
/// policy has printed.
fn blamed<T>(
    done: Result<T, EmulationError>,
    seen: &PolicyObservations,
) -> Result<Result<T, EmulationError>, String> {
    let words = match (done, &seen.starved) {
        (Err(EmulationError::PolicyFailed { .. }), Some(starved)) => {
            format!("a job starves: {starved}")
        }
        (Err(EmulationError::PolicyFailed { words }), None) => words,
        (done, _) => return Ok(done),
    };
    let said: String = seen.said.iter().map(|line| format!("\n  said     {line}")).collect();
    Err(words + &said)
}
