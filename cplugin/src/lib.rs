//! The tuner plugin `BLOSC_BTUNE` of C-Blosc2: `libblosc2_btune.so`.
//!
//! C-Blosc2 calls it for each context that has this tuner: once to begin, before and after each chunk, and at
//! the end. A context is read and written in place, at offsets that differ from version to version: see
//! [`layout`]. All decisions come from the `btune` crate; here they are only translated. The way of a chunk
//! is: `ffi`, where pointers become slices and panics end; `context`, which reads and writes the fields; and
//! `instance`, which asks the tuner and tells it.
//!
//! A context owns its tuner as long as it lives. Then `warm` keeps it for the next one of the same kind.

mod abi;
mod context;
mod defaults;
mod error;
pub mod ffi;
mod host;
mod instance;
mod layout;
mod live;
mod log;
mod records;
mod settings;
mod warm;

pub use abi::{
    btune_behaviour, btune_config, btune_performance_mode, btune_record, btune_repeat_mode,
};
