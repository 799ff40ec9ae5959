//! What classes of parameters cost, in a file that grows piece by piece.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, bail};
use btune::blosc::Backend;
use btune::train::{Piece, Sampling, Source, sweep};
use btune::{Cparams, Speeds};
use serde::{Deserialize, Serialize};

use crate::progress;

const VERSION: u32 = 1;

/// The first line: what the others belong to.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    btune_measurements: u32,
    classes: Vec<String>,
    seed: u64,
    speeds: String,
}

/// A piece, and the costs of each class on it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    piece: String,
    costs: Vec<[f32; 3]>,
}

/// A file of measurements.
#[derive(Debug)]
pub(crate) struct Measurements {
    file: File,
    classes: Vec<Cparams>,
    speeds: Speeds,
    known: HashMap<String, Vec<[f32; 3]>>,
}

impl Measurements {
    /// Opens the file, or begins it.
    pub(crate) fn open(path: &Path, classes: &[Cparams], sampling: &Sampling) -> Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut lines = BufReader::new(&file).lines();
        let names: Vec<String> = classes.iter().map(ToString::to_string).collect();
        let mut known = HashMap::new();
        let speeds = if let Some(first) = lines.next() {
            let header: Header =
                serde_json::from_str(&first?).context("not a file of measurements")?;
            if (header.btune_measurements, &header.classes, header.seed)
                != (VERSION, &names, sampling.seed)
            {
                bail!(
                    "measurements of another version, of other classes or with another seed: name another file"
                );
            }
            for line in lines {
                // The last line of a run that was interrupted may be cut short: its piece is measured again.
                let Ok(line) = serde_json::from_str::<Line>(&line?) else { continue };
                if line.costs.len() == classes.len() {
                    known.insert(line.piece, line.costs);
                }
            }
            Speeds::parse(&header.speeds).context("the machine's speeds cannot be understood")?
        } else {
            let speeds = Speeds::measure(&mut Backend::new()).context("a codec does not work")?;
            let speeds_text = speeds.print();
            let header = Header {
                btune_measurements: VERSION,
                classes: names,
                seed: sampling.seed,
                speeds: speeds_text,
            };
            writeln!(file, "{}", serde_json::to_string(&header)?)?;
            speeds
        };
        // What follows a line that was cut short begins a line of its own.
        writeln!(file)?;
        Ok(Self { file, classes: classes.to_vec(), speeds, known })
    }

    /// The speeds of the machine that it was measured on.
    pub(crate) fn speeds(&self) -> &Speeds {
        &self.speeds
    }

    /// The costs on a piece, if they are known.
    pub(crate) fn of(&self, piece: &Piece) -> Option<&[[f32; 3]]> {
        self.known.get(&piece.key).map(Vec::as_slice)
    }

    /// Measures the pieces that are not known yet.
    pub(crate) fn complete(
        &mut self,
        pieces: &[Piece],
        sources: &[Source],
        jobs: usize,
    ) -> Result<()> {
        let missing: Vec<&Piece> =
            pieces.iter().filter(|piece| !self.known.contains_key(&piece.key)).collect();
        let bar = progress::bar("measuring", missing.len() as u64);
        let next = AtomicUsize::new(0);
        let kept = Mutex::new((&mut self.file, &mut self.known));
        let classes = &self.classes;
        let work = || -> Result<()> {
            let mut backend = Backend::new();
            while let Some(piece) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (bytes, typesize) = piece.bytes(sources);
                if let Some(costs) = sweep(&bytes, typesize, classes, &mut backend) {
                    let line = Line { piece: piece.key.clone(), costs };
                    let text = format!("{}\n", serde_json::to_string(&line)?);
                    let mut kept = kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    kept.0.write_all(text.as_bytes())?;
                    kept.1.insert(line.piece, line.costs);
                }
                bar.inc(1);
            }
            Ok(())
        };
        let results: Vec<Result<()>> = thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
            let end = |worker: thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|_| Err(anyhow::anyhow!("measuring failed")))
            };
            workers.into_iter().map(end).collect()
        });
        bar.finish_and_clear();
        results.into_iter().collect()
    }
}
