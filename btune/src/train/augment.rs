//! Arrays made of arrays: the same data in another type, coarser, noisier, in another order. They teach more
//! than as many arrays more would.

use super::values::{Dtype, Kind, Values};

/// What is done to an array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Variant {
    /// Nothing.
    Original,
    /// Stored in another type; floating-point numbers become integers over the whole range of 15 bits per two
    /// bytes.
    Cast(Dtype),
    /// Every so many-th element.
    Decimate(usize),
    /// Noise of this share of the standard deviation is added.
    Noise(f64),
    /// So many bits of the mantissa are kept.
    Mantissa(u32),
    /// Rounded to so many decimals, relative to the standard deviation.
    Decimals(i32),
    /// Bytes of each element the other way round.
    BigEndian,
    /// Elements in random order.
    Shuffled,
    /// Elements in order of size.
    Sorted,
    /// Differences of neighbours.
    Differences,
    /// The parts of the array element by element, as columns of a table.
    Interleaved(usize),
    /// Below this quantile there are zeros.
    Sparse(f64),
}

use Variant::{
    BigEndian, Cast, Decimals, Decimate, Differences, Interleaved, Mantissa, Noise, Original,
    Shuffled, Sorted, Sparse,
};

const F32: Dtype = Dtype::new(Kind::Float, 4);
const F64: Dtype = Dtype::new(Kind::Float, 8);
const I16: Dtype = Dtype::new(Kind::Int, 2);
const I32: Dtype = Dtype::new(Kind::Int, 4);
const I64: Dtype = Dtype::new(Kind::Int, 8);
const U8: Dtype = Dtype::new(Kind::Uint, 1);

impl Variant {
    /// What can be done to arrays of this type, [`Variant::Original`] first.
    #[must_use]
    pub fn all(dtype: Dtype) -> Vec<Self> {
        let mut all = vec![
            Original,
            BigEndian,
            Shuffled,
            Decimate(2),
            Decimate(7),
            Interleaved(2),
            Interleaved(5),
        ];
        match dtype.kind {
            Kind::Opaque => all.retain(|v| !matches!(v, BigEndian)),
            Kind::Float => {
                all.extend([Cast(F32), Cast(F64), Cast(I16), Cast(I32), Cast(U8)]);
                all.extend([Noise(1e-4), Noise(1e-2), Noise(0.3)]);
                all.extend([Mantissa(7), Mantissa(12), Decimals(2), Decimals(4)]);
                all.extend([Sorted, Differences, Sparse(0.7)]);
            }
            Kind::Int | Kind::Uint => {
                all.extend([Cast(F32), Cast(F64), Cast(I16), Cast(I32), Cast(I64), Cast(U8)]);
                all.extend([Noise(1e-2), Noise(0.3), Sorted, Differences, Sparse(0.7)]);
            }
        }
        all.retain(|v| *v != Cast(dtype) && !(dtype.size == 1 && *v == BigEndian));
        all
    }

    /// How many bytes of the array are needed for `nbytes` of the variant.
    #[must_use]
    pub fn source_bytes(self, dtype: Dtype, nbytes: usize) -> usize {
        let elements = nbytes / self.dtype(dtype).size.max(1) + 1;
        match self {
            Decimate(step) => elements * step * dtype.size,
            _ => elements * dtype.size,
        }
    }

    /// The type of the result.
    #[must_use]
    pub fn dtype(self, dtype: Dtype) -> Dtype {
        if let Cast(other) = self { other } else { dtype }
    }

    /// Applies it.
    #[must_use]
    pub fn apply(self, bytes: &[u8], dtype: Dtype, rng: &mut fastrand::Rng) -> Vec<u8> {
        let size = dtype.size;
        let elements = bytes.len() / size;
        match self {
            Original => return bytes.to_vec(),
            BigEndian => {
                return bytes.chunks_exact(size).flat_map(|e| e.iter().rev().copied()).collect();
            }
            Decimate(step) => return gathered(bytes, size, (0..elements).step_by(step)),
            Shuffled => {
                let mut order: Vec<usize> = (0..elements).collect();
                rng.shuffle(&mut order);
                return gathered(bytes, size, order.into_iter());
            }
            Interleaved(columns) => {
                let rows = elements / columns;
                let order = (0..rows * columns).map(|i| i % columns * rows + i / columns);
                return gathered(bytes, size, order);
            }
            _ => {}
        }
        let Some(values) = Values::decode(bytes, dtype) else { return bytes.to_vec() };
        self.changed(values, rng).encode(self.dtype(dtype))
    }

    fn changed(self, values: Values, rng: &mut fastrand::Rng) -> Values {
        let spread = Spread::of(&values);
        match (self, values) {
            (Cast(to), Values::Floats(v)) if to.kind != Kind::Float => {
                let top = if to.size == 1 {
                    255.0
                } else {
                    f64::from(1 << 15) * f64::from(to.size as u32 / 2)
                };
                Values::Ints(v.iter().map(|x| (spread.position(*x) * top) as i64).collect())
            }
            (Cast(to), Values::Ints(v)) if to.size == 1 => {
                let narrow = spread.range() < 256.0;
                let position = |x: i64| (spread.position(x as f64) * 255.0) as i64;
                Values::Ints(v.iter().map(|&x| if narrow { x } else { position(x) }).collect())
            }
            (Noise(share), values) => values.map(|x| x + gaussian(rng) * share * spread.deviation),
            (Mantissa(bits), values) => values.map(|x| {
                let drop = 52 - bits;
                f64::from_bits(x.to_bits().wrapping_add(1 << (drop - 1)) >> drop << drop)
            }),
            (Decimals(digits), values) => {
                let scale =
                    10f64.powi(digits - spread.deviation.max(1e-300).log10().floor() as i32);
                values.map(|x| (x * scale).round() / scale)
            }
            (Sparse(quantile), values) => {
                let limit = spread.quantile(quantile);
                values.map(|x| if x < limit { 0.0 } else { x })
            }
            (Differences, Values::Ints(v)) => {
                Values::Ints(v.windows(2).map(|w| w[1].wrapping_sub(w[0])).collect())
            }
            (Differences, Values::Floats(v)) => {
                Values::Floats(v.windows(2).map(|w| w[1] - w[0]).collect())
            }
            (Sorted, Values::Ints(mut v)) => {
                v.sort_unstable();
                Values::Ints(v)
            }
            (Sorted, Values::Floats(mut v)) => {
                v.sort_unstable_by(f64::total_cmp);
                Values::Floats(v)
            }
            (_, values) => values,
        }
    }
}

fn gathered(bytes: &[u8], size: usize, order: impl Iterator<Item = usize>) -> Vec<u8> {
    order.flat_map(|i| &bytes[i * size..(i + 1) * size]).copied().collect()
}

impl Values {
    fn map(self, mut f: impl FnMut(f64) -> f64) -> Self {
        match self {
            Self::Ints(v) => Self::Ints(v.iter().map(|&x| f(x as f64).round() as i64).collect()),
            Self::Floats(v) => Self::Floats(v.iter().map(|&x| f(x)).collect()),
        }
    }
}

/// A normal deviate.
pub(super) fn gaussian(rng: &mut fastrand::Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// Where the finite values lie.
struct Spread {
    sorted: Vec<f64>,
    deviation: f64,
}

impl Spread {
    fn of(values: &Values) -> Self {
        let mut sorted = values.floats();
        sorted.retain(|x| x.is_finite());
        sorted.sort_unstable_by(f64::total_cmp);
        // Fill values are far away from the rest: the middle 98 % count.
        let middle = &sorted[sorted.len() / 100..sorted.len() - sorted.len() / 100];
        let n = middle.len().max(1) as f64;
        let mean = middle.iter().sum::<f64>() / n;
        let deviation = (middle.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        Self { sorted, deviation }
    }

    fn quantile(&self, q: f64) -> f64 {
        let last = self.sorted.len().saturating_sub(1);
        self.sorted.get((last as f64 * q) as usize).copied().unwrap_or(0.0)
    }

    fn range(&self) -> f64 {
        self.quantile(1.0) - self.quantile(0.0)
    }

    /// 0 to 1 within the middle 98 %.
    fn position(&self, x: f64) -> f64 {
        let (low, high) = (self.quantile(0.01), self.quantile(0.99));
        ((x - low) / (high - low).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_makes_elements_of_its_type() {
        let floats: Vec<u8> =
            (0..9000).flat_map(|i| ((f64::from(i) / 90.0).sin() as f32).to_le_bytes()).collect();
        for dtype in [F32, F64, I16, I32, I64, U8, Dtype::new(Kind::Opaque, 12)] {
            let all = Variant::all(dtype);
            assert_eq!(all[0], Original);
            for variant in all {
                let mut rng = fastrand::Rng::with_seed(1);
                let source = &floats[..variant.source_bytes(dtype, 1000).min(floats.len())
                    / dtype.size
                    * dtype.size];
                let made = variant.apply(source, dtype, &mut rng);
                assert!(made.len() >= 900, "{variant:?} {dtype:?} {}", made.len());
                assert_eq!(made.len() % variant.dtype(dtype).size, 0);
                assert_eq!(made, variant.apply(source, dtype, &mut fastrand::Rng::with_seed(1)));
            }
        }
    }

    #[test]
    fn rounding_keeps_values_near() {
        let rng = &mut fastrand::Rng::with_seed(2);
        let values = Values::Floats((0..1000).map(|_| gaussian(rng)).collect());
        for (variant, error) in [(Mantissa(12), 2e-3), (Decimals(4), 1e-4), (Noise(1e-4), 1e-3)] {
            let made = variant.changed(values.clone(), rng).floats();
            let worst =
                made.iter().zip(values.floats()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst > 0.0 && worst < error, "{variant:?} {worst}");
        }
    }
}
