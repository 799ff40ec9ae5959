//! `btune train`: measures, fits, reports, and writes a model.

mod measurements;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use btune::onnx::Network;
use btune::train::{Dataset, Fitting, Piece, Sampling, Source, fit, validate};
use btune::{Chunk, Features, Model, Prior, Spread};

use crate::{arrays, progress};

use measurements::Measurements;

/// Makes a model from arrays: measures what each class of parameters costs on pieces of them, fits a network,
/// and reports how good it is on arrays that it has not seen.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Files .npy, .npz, HDF5 (with NetCDF-4), Zarr or Blosc2, or folders of them; `FILE::PATH` is one dataset or group
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// The model; used where `BTUNE_MODELS_DIR` names its folder, and its name is model.onnx
    #[arg(short, long, default_value = "model.onnx", value_name = "FILE")]
    out: PathBuf,
    /// What was measured, a line for each piece: a run that was interrupted goes on from there
    #[arg(long, default_value = "measurements.jsonl", value_name = "FILE")]
    measurements: PathBuf,
    /// Arrays that are held out together, since they are alike: names (or beginnings of names), joined by commas
    #[arg(long, value_name = "NAME,NAME")]
    together: Vec<String>,
    /// Pieces that are measured at a time; more than one disturb each other
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Same seed, same pieces, and of the same measurements the same model
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Passes over the pieces when the network is fitted
    #[arg(long, default_value_t = Fitting::default().epochs, value_name = "N")]
    epochs: usize,
    /// Pieces of each array; changed arrays and synthetic ones in proportion
    #[arg(long, default_value_t = Sampling::default().originals, value_name = "N")]
    pieces: usize,
    /// Skip the report, which takes about as long as fitting a model for each array
    #[arg(long)]
    no_report: bool,
    /// Write the report as JSON here, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let sources = arrays::read_all(&args.inputs)?;
    let domains = Domains::new(&args.together)?;
    let sampling = sampling(args);
    let pieces = Piece::all(&sources, &sampling);
    let classes: Vec<_> = Spread.predict(&Chunk::new(&[], 1)).iter().map(|p| p.cparams).collect();
    let mut measured = Measurements::open(&args.measurements, &classes, &sampling)
        .with_context(|| args.measurements.display().to_string())?;
    measured.complete(&pieces, &sources, usize::from(args.jobs))?;

    let dataset = dataset(&sources, &pieces, &classes, &measured)?;
    let fitting = Fitting { seed: args.seed, epochs: args.epochs, ..Fitting::default() };
    if !args.no_report {
        report(args, &dataset, &domains, &fitting)?;
    }
    let bar = progress::share("fitting");
    let layers = fit(&dataset, |_| true, &fitting, |share| progress::set(&bar, share))?;
    bar.finish_and_clear();
    let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    let training = format!("{} pieces of {} and synthetic data", pieces.len(), names.join(", "));
    let metadata = Model::metadata(&classes, measured.speeds(), &training);
    let model = Network::new(layers, metadata)?.to_onnx();
    Model::from_onnx(&model)?;
    write(&args.out, &model).with_context(|| args.out.display().to_string())?;
    println!(
        "{}: {} bytes, from {} pieces of {} arrays",
        args.out.display(),
        model.len(),
        pieces.len(),
        sources.len()
    );
    Ok(())
}

fn sampling(args: &Args) -> Sampling {
    let whole = Sampling::default();
    let scaled = |n: usize| (n * args.pieces).div_ceil(whole.originals);
    Sampling {
        originals: args.pieces,
        pieces: scaled(whole.pieces),
        synthetic: scaled(whole.synthetic),
        seed: args.seed,
        ..whole
    }
}

fn dataset(
    sources: &[Source],
    pieces: &[Piece],
    classes: &[btune::Cparams],
    measured: &Measurements,
) -> Result<Dataset> {
    let mut dataset = Dataset { classes: classes.to_vec(), ..Dataset::default() };
    let bar = progress::bar("features", pieces.len() as u64);
    for piece in pieces {
        bar.inc(1);
        let Some(costs) = measured.of(piece) else { continue };
        let (bytes, typesize) = piece.bytes(sources);
        let features = Features::of(&Chunk::new(&bytes, typesize));
        let group = piece.source().map_or("synthetic", |source| &sources[source].name);
        dataset.add(group, piece.is_original(), *features.values(), costs)?;
    }
    bar.finish_and_clear();
    Ok(dataset)
}

fn report(args: &Args, dataset: &Dataset, domains: &Domains, fitting: &Fitting) -> Result<()> {
    let domains = domains.of(&dataset.groups);
    if domains.iter().max() < Some(&1) {
        bail!("a report needs arrays of two domains at least: give more arrays, or --no-report");
    }
    let bar = progress::share("holding out");
    let report = validate(dataset, &domains, fitting, |share| progress::set(&bar, share))?;
    bar.finish_and_clear();
    println!("{}", report.table());
    if let Some(path) = &args.json {
        let json = serde_json::to_string_pretty(&report)?;
        write(path, json.as_bytes()).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Writes all of it or nothing.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    // As other programs make files: readable by whom the user lets read.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644))?;
    }
    file.persist(path)?;
    Ok(())
}

/// Which arrays are alike.
struct Domains(Vec<Vec<String>>);

impl Domains {
    fn new(together: &[String]) -> Result<Self> {
        let split = |text: &String| text.split(',').map(|name| name.trim().to_owned()).collect();
        let lists: Vec<Vec<String>> = together.iter().map(split).collect();
        if lists.iter().flatten().any(String::is_empty) {
            bail!("--together: a name is empty");
        }
        Ok(Self(lists))
    }

    /// A number for each array: the same for those that are alike.
    fn of(&self, names: &[String]) -> Vec<usize> {
        let list = |name: &String| {
            self.0.iter().position(|list| list.iter().any(|begin| name.starts_with(begin)))
        };
        let own = |(at, name)| list(name).unwrap_or(self.0.len() + at);
        names.iter().enumerate().map(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_that_are_alike_have_one_number() {
        let domains = Domains::new(&["flights,seismic".into(), "nn_".into()]).unwrap();
        let names = ["nn_a", "flights_x", "other", "nn_b", "seismic"].map(str::to_owned);
        assert_eq!(domains.of(&names), [1, 0, 4, 1, 0]);
        assert!(Domains::new(&["a,".into()]).is_err());
    }
}
