//! Chunks and frames of Blosc2, compressed by C-Blosc2.
//!
//! Frames are written and read here, in Rust; C-Blosc2 compresses blocks with contexts that are used again
//! and again, and decompresses chunks that have been validated.

mod auto;
mod b2nd;
mod backend;
mod context;
mod copy;
mod encode;
mod file;
mod frame;
mod header;
mod msgpack;
mod params;
mod plan;
mod pool;
mod shape;
mod streams;
mod write;

pub use backend::{Backend, Encoded, Intent};
pub use file::FrameFile;
pub use frame::{Stored, StoredForm};
pub use header::{ChunkHeader, Special};
pub use params::Params;
pub use plan::{BlockShape, Form};
pub use write::frame_bound;

/// The most bytes that a chunk may hold: 2 GiB, less the 33 bytes that Blosc2 reserves.
pub const MAX_CHUNK_BYTES: usize = i32::MAX as usize - CHUNK_HEADER;

/// The most bytes that a block may hold.
const MAX_BLOCK_BYTES: usize = 536_866_816;

/// Bytes of the header of a Blosc2 chunk, and what a chunk may be longer than its data.
const CHUNK_HEADER: usize = 32;

/// The most dimensions of a b2nd frame.
const MAX_DIMS: usize = 16;
