//! The number of the model.
//!
//! Programs of one version may compute other results, as a mended model does. So each run notes the
//! number of its model, and the names of a study's runs depend on it: a study never mixes the runs of
//! two models.

/// The number of the model. Raise it whenever the files of some run change: a test of digests
/// (`tests/it/model.rs`) notices that.
pub const MODEL: u32 = 2;
