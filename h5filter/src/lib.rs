//! The HDF5 filter 32026 (Blosc2) that tunes: `libh5btune.so`.
//!
//! HDF5 finds the library on `HDF5_PLUGIN_PATH` and calls its two exported functions, which hand out the
//! filter's class. From there the way of a chunk is: `shim.c`, which adds the address of the calling HDF5
//! library; `ffi`, where pointers become slices and panics end; and one of the safe functions
//! `set_local`, `encode` and `decode`.
//!
//! What is stored is what the registered filter stores, so that any reader of it reads this too. The
//! library links no HDF5: several may live in one process, each with its own copy of the symbols.

mod buffer;
mod cd_values;
mod decode;
mod encode;
mod error;
pub mod ffi;
mod host;
mod set_local;
mod settings;
mod slot;
mod state;
mod token;
mod worker;
