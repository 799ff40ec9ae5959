//! Networks in ONNX files:
//!
//!     onnx random FOLDER COUNT         write random networks, with rows for them
//!     onnx run MODEL ROW [LIBRARY]     evaluate a row, in an ONNX Runtime library if one is named
//!     onnx time                        print the time that one row takes
//!
//! A row is a file of `float32` numbers, little-endian; its result is written beside it as `ROW.out`.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;
use std::{env, fs};

use btune::onnx::{Activation, Layer, Network, Runtime, Scratch};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const ACTIVATIONS: [Activation; 5] = [
    Activation::Identity,
    Activation::Relu,
    Activation::Sigmoid,
    Activation::Tanh,
    Activation::Softmax,
];

/// Numbers between -1 and 1.
fn numbers(random: &mut fastrand::Rng, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.f32() * 2.0 - 1.0).collect()
}

fn network(
    random: &mut fastrand::Rng,
    widths: &[usize],
    activations: &[Activation],
) -> Result<Network> {
    let mut layers = Vec::new();
    for (pair, activation) in widths.windows(2).zip(activations) {
        // Sums stay of the order of 1, whatever the width.
        let scale = 2.0 / (pair[0] as f32).sqrt();
        let weights =
            numbers(random, pair[0] * pair[1]).iter().map(|weight| weight * scale).collect();
        layers.push(Layer { weights, bias: numbers(random, pair[1]), activation: *activation });
    }
    let metadata = BTreeMap::from([("widths".to_owned(), format!("{widths:?}"))]);
    Ok(Network::new(layers, metadata)?)
}

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn evaluate(network: &Network, row: &[f32]) -> Vec<f32> {
    let mut output = Vec::new();
    network.run(row, &mut output, &mut Scratch::default());
    output
}

fn random(folder: &Path, count: usize) -> Result<()> {
    let mut random = fastrand::Rng::with_seed(5);
    for number in 0..count {
        let layers = random.usize(1..5);
        let widths: Vec<_> = (0..=layers).map(|_| random.usize(1..150)).collect();
        let activations: Vec<_> = (0..layers).map(|_| ACTIVATIONS[random.usize(..5)]).collect();
        let network = network(&mut random, &widths, &activations)?;
        let row = numbers(&mut random, widths[0]);
        fs::write(folder.join(format!("{number}.onnx")), network.to_onnx())?;
        fs::write(folder.join(format!("{number}.row")), bytes(&row))?;
        fs::write(folder.join(format!("{number}.row.out")), bytes(&evaluate(&network, &row)))?;
    }
    Ok(())
}

fn run(model: &str, row: &str, library: Option<&String>) -> Result<()> {
    let model = fs::read(model)?;
    let numbers = fs::read(row)?;
    let numbers: Vec<_> =
        numbers.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect();
    let output = if let Some(library) = library {
        let mut runtime = Runtime::open(Path::new(library), &model)?;
        let mut output = Vec::new();
        runtime.run(&numbers, &mut output)?;
        print!("{:?}", runtime.metadata());
        output
    } else {
        let network = Network::from_onnx(&model)?;
        if network.inputs() != numbers.len() {
            return Err(format!("the model takes {} numbers", network.inputs()).into());
        }
        print!("{:?}", network.metadata());
        evaluate(&network, &numbers)
    };
    Ok(fs::write(format!("{row}.out"), bytes(&output))?)
}

/// The best of several rounds: what disturbs only makes them longer.
fn best<T>(rounds: usize, runs: u32, mut step: impl FnMut() -> T) -> f64 {
    let round = |_| {
        let start = Instant::now();
        for _ in 0..runs {
            std::hint::black_box(step());
        }
        start.elapsed().as_secs_f64() / f64::from(runs) * 1e6
    };
    (0..rounds).map(round).fold(f64::INFINITY, f64::min)
}

fn time() -> Result<()> {
    let shapes: [&[usize]; 3] = [&[3, 64, 64, 64], &[40, 64, 64, 160], &[32, 128, 128, 100]];
    println!("{:24} {:>10} {:>10}", "network", "us per run", "us to read");
    for widths in shapes {
        let activations = [Activation::Relu, Activation::Relu, Activation::Identity];
        let network = network(&mut fastrand::Rng::with_seed(5), widths, &activations)?;
        let row = vec![0.5; widths[0]];
        let (mut output, mut scratch) = (Vec::new(), Scratch::default());
        let run =
            best(20, 5000, || network.run(std::hint::black_box(&row), &mut output, &mut scratch));
        let file = network.to_onnx();
        let read = best(20, 50, || Network::from_onnx(&file));
        println!("{:24} {run:10.2} {read:10.1}", format!("{widths:?}"));
    }
    Ok(())
}

fn main() -> ExitCode {
    let words: Vec<_> = env::args().skip(1).collect();
    let words: Vec<_> = words.iter().collect();
    let done = match words[..] {
        [command, folder, count] if command == "random" => {
            count.parse().map_err(Into::into).and_then(|count| random(Path::new(folder), count))
        }
        [command, model, row] if command == "run" => run(model, row, None),
        [command, model, row, library] if command == "run" => run(model, row, Some(library)),
        [command] if command == "time" => time(),
        _ => Err("say one of: random FOLDER COUNT, run MODEL ROW [LIBRARY], time".into()),
    };
    if let Err(error) = done {
        eprintln!("onnx: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
