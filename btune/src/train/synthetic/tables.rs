//! Columns of tables: what loggers, sensors and registers write, one value after the other.

use super::super::augment::gaussian;
use super::super::values::Values;

/// Numbers of the family; none if it is not one of these.
pub(super) fn numbers(name: &str, n: usize, rng: &mut fastrand::Rng) -> Option<Values> {
    Some(match name {
        "times" => times(n, rng),
        "readings" => {
            let mut sensor = Sensor::new(rng);
            Values::Floats((0..n).map(|_| sensor.next(rng)).collect())
        }
        "columns" => {
            let mut sensors: Vec<Sensor> = (0..rng.usize(2..9)).map(|_| Sensor::new(rng)).collect();
            let count = sensors.len();
            Values::Floats((0..n).map(|i| sensors[i % count].next(rng)).collect())
        }
        "categories" => categories(n, rng),
        "delays" => {
            let (scale, tail) = (10f64.powf(rng.f64() * 2.5), rng.f64() * 1.5);
            let delay = |_| (gaussian(rng) * (gaussian(rng) * tail).exp() * scale) as i64;
            Values::Ints((0..n).map(delay).collect())
        }
        _ => return None,
    })
}

/// Times of events in order, to the second, the minute or the like; several events may have the same time.
fn times(n: usize, rng: &mut fastrand::Rng) -> Values {
    let unit = [1, 10, 60, 900, 3600][rng.usize(..5)] * 10i64.pow(3 * rng.u32(0..4));
    let advances = 10f64.powf(-2.2 * rng.f64());
    let spread = rng.f64().powi(3) * 20.0;
    let mut t = rng.i64(0..1_700_000_000 / 3600) * 3600 * (unit / 3600).max(1);
    let mut next = |_| {
        if rng.f64() < advances {
            t += unit * (1 + (-(1.0 - rng.f64()).ln() * spread) as i64);
        }
        t
    };
    Values::Ints((0..n).map(&mut next).collect())
}

/// What is measured wanders about a mean, is rounded to what the instrument resolves, may be cut off at zero, and may
/// stay as it is for some time.
struct Sensor {
    state: f64,
    memory: f64,
    mean: f64,
    deviation: f64,
    quantum: f64,
    cut: bool,
    stuck: f64,
    last: f64,
}

impl Sensor {
    fn new(rng: &mut fastrand::Rng) -> Self {
        let deviation = 10f64.powf(0.3 + 3.2 * rng.f64());
        Self {
            state: gaussian(rng),
            memory: 1.0 - 10f64.powf(-4.0 * rng.f64()),
            mean: gaussian(rng) * deviation * 3.0 * f64::from(rng.u8(0..2)),
            deviation,
            quantum: [1.0, 0.5, 0.0625, 0.3][rng.usize(..4)] * 10f64.powi(-rng.i32(0..5)),
            cut: rng.f64() < 0.3,
            stuck: (rng.f64() * 1.6 - 0.6).max(0.0) * 0.95,
            last: 0.0,
        }
    }

    fn next(&mut self, rng: &mut fastrand::Rng) -> f64 {
        let free = (1.0 - self.memory * self.memory).sqrt();
        self.state = self.state * self.memory + gaussian(rng) * free;
        if rng.f64() >= self.stuck {
            let x = (self.mean + self.state * self.deviation).round();
            self.last = if self.cut { x.max(0.0) } else { x } * self.quantum;
        }
        self.last
    }
}

/// Codes of things, some of which are much more frequent than others, and often follow themselves.
fn categories(n: usize, rng: &mut fastrand::Rng) -> Values {
    let count = 10f64.powf(0.3 + 3.2 * rng.f64()) as i64;
    let small = rng.bool();
    let codes: Vec<i64> = (0..count).map(|i| if small { i } else { rng.i64(0..1 << 40) }).collect();
    let (skew, stays) = (1.0 + rng.f64() * 4.0, rng.f64().powi(2) * 0.98);
    let mut code = codes[0];
    let mut next = |_| {
        if rng.f64() >= stays {
            code = codes[(count as f64 * rng.f64().powf(skew)) as usize];
        }
        code
    };
    Values::Ints((0..n).map(&mut next).collect())
}
