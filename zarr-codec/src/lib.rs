//! Zarr chunks that are compressed with parameters chosen for each of them.
//!
//! A [`Codec`] encodes the chunks of one array, in one of three [forms](Format), and learns from each;
//! [`decode`] reads all of them, told apart by their first bytes. With the feature `zarrs` (which is on by default)
//! the codec is there for the `zarrs` crate, under the name `btune`:
//!
//! ```
//! # #[cfg(feature = "zarrs")] {
//! btune_zarr::register();
//! # }
//! ```
//!
//! `libbtune_zarr.so` is the same for C, and so for Python: see [`ffi`].

mod blocks;
mod blosc1;
mod codec;
mod config;
mod decode;
mod encode;
mod error;
pub mod ffi;
mod fields;
mod format;
mod options;
mod partial;
mod settings;
mod tuners;
mod worker;
#[cfg(feature = "zarrs")]
mod zarrs;

pub use codec::Codec;
pub use config::Configuration;
pub use decode::{decode, decode_into, decoded_size};
pub use error::Error;
pub use fields::Weights;
pub use format::Format;
pub use options::Options;
pub use partial::decode_ranges;
#[cfg(feature = "zarrs")]
pub use zarrs::{ArrayOptions, BtuneCodec, PortableBlosc, register, register_portable_blosc};
