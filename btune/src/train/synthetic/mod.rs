//! Families of made-up data, for what no array at hand looks like.

mod fields;
mod tables;

use super::augment::gaussian;
use super::values::{Dtype, Kind, Values};

/// Names of the families.
pub const FAMILIES: &[&str] = &[
    "noise",
    "walk",
    "smooth",
    "waves",
    "ramp",
    "jitter",
    "steps",
    "ids",
    "counts",
    "sparse",
    "mask",
    "image",
    "text",
    "prices",
    "records",
    "outliers",
    "repeats",
    "codes",
    "times",
    "readings",
    "columns",
    "categories",
    "delays",
    "regions",
    "relief",
    "masked",
    "frames",
];

/// Types that a family is made in.
const DTYPES: [Dtype; 7] = [
    Dtype::new(Kind::Float, 4),
    Dtype::new(Kind::Float, 8),
    Dtype::new(Kind::Int, 2),
    Dtype::new(Kind::Int, 4),
    Dtype::new(Kind::Int, 8),
    Dtype::new(Kind::Uint, 1),
    Dtype::new(Kind::Uint, 2),
];

/// At least `nbytes` bytes of a family (a number below that of [`FAMILIES`]), with its typesize. Shape, scale
/// and type depend on the seed.
#[must_use]
pub fn synthetic(family: usize, nbytes: usize, seed: u64) -> (Vec<u8>, usize) {
    let mut rng = fastrand::Rng::with_seed(seed ^ (family as u64) << 32);
    let dtype = DTYPES[rng.usize(..DTYPES.len())];
    let name = FAMILIES[family % FAMILIES.len()];
    if name == "text" {
        return (text(nbytes, &mut rng), 1);
    }
    if name == "records" {
        return records(nbytes, &mut rng);
    }
    let n = nbytes / dtype.size + 1;
    let values = tables::numbers(name, n, &mut rng)
        .or_else(|| fields::numbers(name, n, &mut rng))
        .unwrap_or_else(|| numbers(name, n, &mut rng));
    let integers = dtype.kind != Kind::Float;
    let digits = rng.i32(0..5);
    let rounded = rng.bool();
    let values = match values {
        Values::Floats(v) if integers => {
            let digits = match dtype.size {
                1 => 2,
                2 => 4,
                _ => 8,
            };
            let scale = 10f64.powi(rng.i32(1..=digits));
            Values::Ints(v.iter().map(|x| (x * scale) as i64).collect())
        }
        Values::Floats(v) if rounded => {
            let scale = 10f64.powi(digits);
            Values::Floats(v.iter().map(|x| (x * scale).round() / scale).collect())
        }
        other => other,
    };
    (values.encode(dtype), dtype.size)
}

#[allow(clippy::too_many_lines, reason = "one arm for each family")]
#[allow(clippy::many_single_char_names, reason = "they are defined beside their use")]
fn numbers(name: &str, n: usize, rng: &mut fastrand::Rng) -> Values {
    let scale = 10f64.powf(rng.f64() * 4.0 - 2.0);
    match name {
        "walk" => {
            let mut x = scale * 100.0;
            floats(n, |_| {
                x += gaussian(rng) * scale;
                x
            })
        }
        "smooth" => {
            let (mut x, mut v) = (scale * 30.0, 0.0);
            let damping = 1.0 - 10f64.powf(-1.0 - 2.0 * rng.f64());
            floats(n, |_| {
                v = v * damping + gaussian(rng) * scale * 0.01;
                x += v;
                x
            })
        }
        "waves" => {
            let periods =
                [rng.f64() * 50.0 + 5.0, rng.f64() * 900.0 + 60.0, rng.f64() * 9000.0 + 1000.0];
            let noise = scale * 10f64.powf(-1.0 - 5.0 * rng.f64());
            floats(n, |i| {
                let waves =
                    periods.iter().map(|p| (i as f64 * std::f64::consts::TAU / p).sin() * p.sqrt());
                waves.sum::<f64>() * scale * 0.1 + gaussian(rng) * noise
            })
        }
        "ramp" => {
            let (mut next, step) = (rng.i64(0..1 << 40), rng.i64(1..5000));
            ints(n, |_| {
                let x = next;
                next += step;
                x
            })
        }
        "jitter" => {
            let (mut t, step) =
                (1_600_000_000_000_000_000 + rng.i64(0..1 << 50), rng.i64(10..1 << 30));
            let jitter = rng.i64(1..step);
            ints(n, |_| {
                t += step + rng.i64(0..jitter);
                t
            })
        }
        "steps" => {
            let stay = rng.f64() * 0.3 + 0.002;
            let mut x = 0.0;
            floats(n, |_| {
                if rng.f64() < stay {
                    x = gaussian(rng) * scale;
                }
                x
            })
        }
        "ids" => {
            let (most, skew) = (10f64.powf(rng.f64() * 4.0 + 0.5), 1.0 + rng.f64() * 3.0);
            ints(n, |_| (most * rng.f64().powf(skew)) as i64)
        }
        "counts" => {
            let mean = 10f64.powf(rng.f64() * 3.0 - 0.5);
            ints(n, |_| (-(1.0 - rng.f64()).ln() * mean) as i64)
        }
        "sparse" => {
            let filled = 10f64.powf(-0.3 - 2.5 * rng.f64());
            floats(n, |_| if rng.f64() < filled { gaussian(rng) * scale } else { 0.0 })
        }
        "mask" => {
            let turn = 10f64.powf(-0.5 - 3.0 * rng.f64());
            let (mut x, levels) = (0, rng.i64(2..9));
            ints(n, |_| {
                if rng.f64() < turn {
                    x = rng.i64(0..levels);
                }
                x
            })
        }
        "image" => {
            let width = rng.usize(100..2000);
            let (a, b, noise) =
                (rng.f64() * 60.0 + 9.0, rng.f64() * 60.0 + 9.0, rng.f64().powi(2) * 0.2);
            floats(n, |i| {
                let (x, y) = ((i % width) as f64, (i / width) as f64);
                ((x / a).sin() * (y / b).cos() + 1.0 + gaussian(rng) * noise).max(0.0) * scale
            })
        }
        "prices" => {
            let mut x = 5.0 + rng.f64() * 200.0;
            floats(n, |_| {
                x = (x * (1.0 + gaussian(rng) * 0.001)).max(0.01);
                (x * 100.0).round() / 100.0
            })
        }
        "outliers" => floats(n, |_| {
            let x = gaussian(rng) * scale;
            match rng.u32(0..200) {
                0 => f64::NAN,
                1..=9 => -9999.0,
                _ => x,
            }
        }),
        "repeats" => {
            let length = rng.usize(20..3000);
            let pattern: Vec<f64> = (0..length).map(|_| gaussian(rng) * scale).collect();
            let change = 10f64.powf(-1.0 - 3.0 * rng.f64());
            floats(
                n,
                |i| if rng.f64() < change { gaussian(rng) * scale } else { pattern[i % length] },
            )
        }
        "codes" => {
            let bits = rng.u32(1..20);
            ints(n, |_| rng.i64(0..1 << bits))
        }
        _ => floats(n, |_| gaussian(rng) * scale),
    }
}

fn floats(n: usize, f: impl FnMut(usize) -> f64) -> Values {
    Values::Floats((0..n).map(f).collect())
}

fn ints(n: usize, f: impl FnMut(usize) -> i64) -> Values {
    Values::Ints((0..n).map(f).collect())
}

/// Words of a small vocabulary, the first ones more often.
fn text(nbytes: usize, rng: &mut fastrand::Rng) -> Vec<u8> {
    let words: Vec<Vec<u8>> = (0..rng.usize(50..2000))
        .map(|_| (0..rng.usize(1..11)).map(|_| rng.u8(b'a'..=b'z')).chain([b' ']).collect())
        .collect();
    let mut out = Vec::with_capacity(nbytes + 16);
    while out.len() < nbytes {
        out.extend_from_slice(&words[(words.len() as f64 * rng.f64().powi(3)) as usize]);
    }
    out
}

/// Elements of several fields: a count, a few measured numbers, a class.
fn records(nbytes: usize, rng: &mut fastrand::Rng) -> (Vec<u8>, usize) {
    let numbers = rng.usize(1..6);
    let size = 4 + 4 * numbers + 4;
    let mut out = Vec::with_capacity(nbytes + size);
    let mut state: Vec<f32> = (0..numbers).map(|_| rng.f32() * 100.0).collect();
    let mut row = 0u32;
    while out.len() < nbytes {
        out.extend_from_slice(&row.to_le_bytes());
        for x in &mut state {
            *x += (rng.f32() - 0.5) * 0.1;
            out.extend_from_slice(&x.to_le_bytes());
        }
        out.extend_from_slice(&u32::from(rng.u8(..5)).to_le_bytes());
        row += 1;
    }
    (out, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_long_enough_and_replay() {
        for family in 0..FAMILIES.len() {
            for seed in 0..5 {
                let (bytes, typesize) = synthetic(family, 10_000, seed);
                assert!(
                    bytes.len() >= 10_000 && bytes.len().is_multiple_of(typesize) || typesize == 1
                );
                assert_eq!((bytes, typesize), synthetic(family, 10_000, seed));
            }
        }
    }
}
