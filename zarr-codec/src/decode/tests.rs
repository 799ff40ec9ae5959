use btune::{BlockSize, Chunk, Codec, Cparams, Filter, SplitMode};

use super::*;
use crate::codec::Codec as Encoder;
use crate::format::Format;
use crate::options::Options;
use crate::partial::decode_ranges;

fn chunk(random: &mut fastrand::Rng, nbytes: usize) -> Vec<u8> {
    (0..nbytes).map(|i| if i % 3 == 0 { random.u8(..8) } else { (i / 40) as u8 }).collect()
}

/// A chunk of Blosc whose last block C-Blosc2 would not restore.
fn misread(random: &mut fastrand::Rng, codec: Codec) -> (Vec<u8>, Vec<u8>) {
    // In blocks of 768 bytes: the last one has 8 elements of 3 bytes, and 2 bytes more.
    let bytes = chunk(random, 4 * 768 + 8 * 3 + 2);
    let cparams = Cparams {
        codec,
        filter: Filter::BitShuffle,
        clevel: 9,
        split: SplitMode::ForwardCompat,
        block_size: BlockSize::Bytes(768),
        threads: 1,
    };
    let mut stored = Vec::new();
    blosc1::compress(&Chunk::new(&bytes, 3), &cparams, &mut stored).unwrap();
    (bytes, stored)
}

#[test]
fn the_bytes_behind_the_last_element_are_restored() {
    let mut random = fastrand::Rng::with_seed(1);
    let (bytes, stored) = misread(&mut random, Codec::Zstd);
    assert!(parse(&stored).unwrap().header().is_misread());
    assert!(btune::blosc::Backend::new().decompress(&stored, &mut vec![0; bytes.len()]).is_err());
    assert!(decode(&stored).unwrap() == bytes);
    let end = bytes.len() as u64;
    assert!(
        decode_ranges(&stored, &[end - 40..end, 0..3]).unwrap()[0] == bytes[bytes.len() - 40..]
    );
}

/// Whatever it returns, it returns.
#[test]
fn damaged_chunks_of_every_form_are_survived() {
    let mut random = fastrand::Rng::with_seed(2);
    let mut stored: Vec<Vec<u8>> =
        Codec::ALL.iter().map(|&codec| misread(&mut random, codec).1).collect();
    for format in Format::ALL {
        for typesize in [1, 4] {
            let codec = Encoder::new(Options { format, typesize, ..Options::default() });
            stored.push(codec.encode(&chunk(&mut random, 6000)).unwrap());
        }
    }
    let mut refused = 0;
    for case in 0..30_000 {
        let mut damaged = stored[case % stored.len()].clone();
        for _ in 0..random.usize(1..4) {
            // Half of them in the header.
            let most = if random.bool() { 48 } else { damaged.len() };
            let at = random.usize(..most.min(damaged.len()));
            damaged[at] = if random.bool() { random.u8(..) } else { damaged[at] ^ 1 };
        }
        if decoded_size(&damaged).is_ok_and(|size| size < 1 << 20) {
            refused += usize::from(decode(&damaged).is_err());
            let _ = decode_ranges(&damaged, &[0..10, 2000..2100]);
        }
    }
    assert!(refused > 1000, "C was reached, and refused {refused}");
}
