//! Blosc2's filters, on a sample.

/// The bytes of each plane together. What is no whole element stays at the end.
pub(super) fn shuffle(bytes: &[u8], typesize: usize, out: &mut [u8]) {
    let elements = bytes.len() / typesize;
    let whole = elements * typesize;
    match typesize {
        1 => out[..whole].copy_from_slice(&bytes[..whole]),
        2 => planes::<2>(bytes, out, elements),
        4 => planes::<4>(bytes, out, elements),
        8 => planes::<8>(bytes, out, elements),
        _ => {
            for (plane, stream) in out[..whole].chunks_exact_mut(elements.max(1)).enumerate() {
                for (to, element) in stream.iter_mut().zip(bytes.chunks_exact(typesize)) {
                    *to = element[plane];
                }
            }
        }
    }
    out[whole..bytes.len()].copy_from_slice(&bytes[whole..]);
}

/// A typesize that the compiler knows lets it use vectors.
fn planes<const SIZE: usize>(bytes: &[u8], out: &mut [u8], elements: usize) {
    let (elements_of, _) = bytes.as_chunks::<SIZE>();
    for (plane, stream) in out[..elements * SIZE].chunks_exact_mut(elements.max(1)).enumerate() {
        for (to, element) in stream.iter_mut().zip(elements_of) {
            *to = element[plane];
        }
    }
}

/// From shuffled bytes: the bits of each place together, from eight elements each. What does not fill eight
/// elements stays.
pub(super) fn bitshuffle(shuffled: &[u8], typesize: usize, out: &mut [u8]) {
    let elements = shuffled.len() / typesize;
    let groups = elements / 8;
    out.copy_from_slice(shuffled);
    if groups == 0 {
        return;
    }
    let streams = shuffled.chunks_exact(elements);
    for (stream, bits) in streams.zip(out.chunks_exact_mut(groups * 8)) {
        let (eights, _) = stream.as_chunks::<8>();
        let (low, high) = bits.split_at_mut(groups * 4);
        for (group, eight) in eights.iter().enumerate() {
            let rows = transposed(u64::from_le_bytes(*eight)).to_le_bytes();
            for bit in 0..4 {
                low[bit * groups + group] = rows[bit];
                high[bit * groups + group] = rows[bit + 4];
            }
        }
    }
}

/// The transpose of 8 by 8 bits, by swapping ever larger squares.
fn transposed(mut x: u64) -> u64 {
    for (shift, mask) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let swap = (x ^ (x >> shift)) & mask;
        x ^= swap ^ (swap << shift);
    }
    x
}

/// Of shuffled bytes: differences of neighbours within each plane.
pub(super) fn delta(shuffled: &[u8], typesize: usize, out: &mut [u8]) {
    let elements = shuffled.len() / typesize;
    out.copy_from_slice(shuffled);
    let streams = shuffled.chunks_exact(elements.max(1));
    for (stream, deltas) in streams.zip(out.chunks_exact_mut(elements.max(1))) {
        for ((to, &before), &now) in deltas.iter_mut().skip(1).zip(stream).zip(&stream[1..]) {
            *to = now.wrapping_sub(before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_transposed() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..100 {
            let x = rng.u64(..);
            let y = transposed(x);
            for (row, column) in (0..8).flat_map(|i| (0..8).map(move |j| (i, j))) {
                assert_eq!(x >> (row * 8 + column) & 1, y >> (column * 8 + row) & 1);
            }
        }
    }

    #[test]
    fn each_bit_of_a_ramp_has_a_stream() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut out = vec![0; 256];
        bitshuffle(&bytes, 1, &mut out);
        assert_eq!(out[..32], [0xaa; 32]);
        assert_eq!(out[7 * 32..], [[0; 16], [0xff; 16]].concat());
        delta(&bytes, 1, &mut out);
        assert_eq!(out, [[0].as_slice(), &[1; 255]].concat());
    }

    #[test]
    fn planes_are_the_same_for_every_typesize() {
        let bytes: Vec<u8> = (0..=255).collect();
        for typesize in 1..20 {
            let mut out = vec![0; bytes.len()];
            shuffle(&bytes, typesize, &mut out);
            let elements = bytes.len() / typesize;
            for (i, &byte) in bytes[..elements * typesize].iter().enumerate() {
                assert_eq!(out[i % typesize * elements + i / typesize], byte);
            }
            assert_eq!(out[elements * typesize..], bytes[elements * typesize..]);
        }
    }
}
