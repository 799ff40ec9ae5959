//! Copies a Zarr array, chunk by chunk, to one that is compressed with another codec:
//!
//!     cargo run --release -p btune_zarr --example copy_array -- SOURCE DEST '{"name": "btune", "configuration": {"typesize": 4}}'

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use serde_json::{Value, json};
use zarrs::array::{Array, ArrayBytes};
use zarrs::filesystem::FilesystemStore;

type Stored = Array<FilesystemStore>;

/// An array like `source`, of bytes in the order of this machine that `codec` compresses.
fn like(source: &Stored, dest: &str, codec: &Value) -> Result<Stored, Box<dyn Error>> {
    let mut metadata = serde_json::to_value(source.metadata())?;
    metadata["codecs"] = json!([{"name": "bytes", "configuration": {"endian": "little"}}, codec]);
    let store = Arc::new(FilesystemStore::new(dest)?);
    let array = Array::new_with_metadata(store, "/", serde_json::from_value(metadata)?)?;
    array.store_metadata()?;
    Ok(array)
}

fn copy(source: &str, dest: &str, codec: &str) -> Result<usize, Box<dyn Error>> {
    // Makes sure that the codec is linked: nothing else here names it.
    btune_zarr::register();
    let source = Array::open(Arc::new(FilesystemStore::new(source)?), "/")?;
    let dest = like(&source, dest, &serde_json::from_str(codec)?)?;
    let chunks = source.chunk_grid_shape().to_vec();
    let count: u64 = chunks.iter().product();
    for number in 0..count {
        let mut rest = number;
        let mut at = vec![0; chunks.len()];
        for (index, along) in at.iter_mut().zip(&chunks).rev() {
            *index = rest % along;
            rest /= along;
        }
        let bytes: ArrayBytes<'_> = source.retrieve_chunk(&at)?;
        dest.store_chunk(&at, bytes)?;
    }
    Ok(count as usize)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [source, dest, codec] = &arguments[..] else {
        eprintln!("usage: copy_array SOURCE DEST CODEC");
        return ExitCode::from(2);
    };
    match copy(source, dest, codec) {
        Ok(chunks) => {
            println!("{chunks} chunks");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
