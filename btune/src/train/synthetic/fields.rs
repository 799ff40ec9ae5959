//! Fields of two dimensions, row after row: what varies little from a point to its neighbours in either.

use std::f64::consts::TAU;

use super::super::augment::gaussian;
use super::super::values::Values;

/// Numbers of the family; none if it is not one of these.
pub(super) fn numbers(name: &str, n: usize, rng: &mut fastrand::Rng) -> Option<Values> {
    Some(match name {
        "regions" => regions(n, rng),
        "relief" => relief(n, rng),
        "masked" => masked(n, rng),
        "frames" => frames(n, rng),
        _ => return None,
    })
}

/// A sum of waves of all lengths, in rows of some width.
struct Field {
    width: usize,
    /// Radians per column and per row, phase and amplitude.
    waves: Vec<[f64; 4]>,
}

impl Field {
    fn new(width: usize, rng: &mut fastrand::Rng) -> Self {
        let roughness = 0.3 + 0.9 * rng.f64();
        let wave = |_| {
            let length = 10f64.powf(0.9 + 2.4 * rng.f64());
            let (direction, phase) = (rng.f64() * TAU, rng.f64() * TAU);
            let (down, right) = direction.sin_cos();
            [right * TAU / length, down * TAU / length, phase, (length / 1000.0).powf(roughness)]
        };
        let mut waves: Vec<[f64; 4]> = (0..7).map(wave).collect();
        let sum: f64 = waves.iter().map(|wave| wave[3]).sum();
        for wave in &mut waves {
            wave[3] /= sum;
        }
        Self { width, waves }
    }

    /// From -1 to 1.
    fn at(&self, i: usize) -> f64 {
        let (x, y) = ((i % self.width) as f64, (i / self.width) as f64);
        let wave = |&[right, down, phase, amplitude]: &[f64; 4]| {
            (x * right + y * down + phase).sin() * amplitude
        };
        self.waves.iter().map(wave).sum()
    }
}

fn width(rng: &mut fastrand::Rng) -> usize {
    10f64.powf(1.8 + 2.0 * rng.f64()) as usize
}

/// A map of a few kinds of land, by number.
fn regions(n: usize, rng: &mut fastrand::Rng) -> Values {
    let field = Field::new(width(rng), rng);
    let count = rng.i64(2..14);
    let labels: Vec<i64> =
        (0..count).map(|i| if count < 8 { i } else { rng.i64(0..255) }).collect();
    let shift = rng.f64() * 0.6 - 0.3;
    let label = |i| {
        let share = (field.at(i) + shift + 1.0) / 2.0;
        labels[((share * count as f64) as usize).min(labels.len() - 1)]
    };
    Values::Ints((0..n).map(label).collect())
}

/// Heights to the metre, say, with some noise, and flat below sea level on some maps.
fn relief(n: usize, rng: &mut fastrand::Rng) -> Values {
    let field = Field::new(width(rng), rng);
    let scale = 10f64.powf(1.0 + 3.0 * rng.f64());
    let noise = scale * 10f64.powf(-1.0 - 3.0 * rng.f64());
    let flat = rng.f64() < 0.3;
    let height = |i| {
        let x = field.at(i) * scale;
        if flat && x < 0.0 { 0.0 } else { (x + gaussian(rng) * noise).round() }
    };
    Values::Floats((0..n).map(height).collect())
}

/// A quantity that is known in some regions only.
fn masked(n: usize, rng: &mut fastrand::Rng) -> Values {
    let width = width(rng);
    let (field, mask) = (Field::new(width, rng), Field::new(width, rng));
    let fill = [0.0, -9999.0, 1e20, f64::NAN][rng.usize(..4)];
    let (level, scale) = (rng.f64() - 0.5, 10f64.powf(rng.f64() * 3.0 - 1.0));
    let noise = scale * 10f64.powf(-1.5 - 4.0 * rng.f64());
    let (mean, known) = (scale * 10.0 * rng.f64(), rng.f64() < 0.2);
    let value = |i| {
        if known || mask.at(i) > level * 0.7 {
            mean + field.at(i) * scale + gaussian(rng) * noise
        } else {
            fill
        }
    };
    Values::Floats((0..n).map(value).collect())
}

/// The same frame again and again, of which a little changes from one to the next.
fn frames(n: usize, rng: &mut fastrand::Rng) -> Values {
    let length = 10f64.powf(2.5 + 2.2 * rng.f64()) as usize;
    let field = Field::new(width(rng), rng);
    let scale = 10f64.powf(3.0 * rng.f64());
    let quantum = [0.0, 1.0][rng.usize(..2)];
    let changes = 10f64.powf(-3.0 * rng.f64());
    let step = scale * 10f64.powf(-1.0 - 2.0 * rng.f64()).max(quantum);
    let round = |x: f64| if quantum > 0.0 { x.round() } else { x };
    let mut frame: Vec<f64> = (0..length).map(|i| round(field.at(i) * scale)).collect();
    let next = |i: usize| {
        let x = &mut frame[i % length];
        if rng.f64() < changes {
            *x = round(*x + gaussian(rng) * step);
        }
        *x
    };
    Values::Floats((0..n).map(next).collect())
}
