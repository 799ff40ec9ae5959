//! tmp
use btune::{blosc::Backend, *};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
type Cost = (f64, f64, usize);
fn npy(path: &str) -> (Vec<u8>, usize) {
    let raw = std::fs::read(path).unwrap();
    let header = usize::from(raw[8]) + 256 * usize::from(raw[9]);
    let text = String::from_utf8_lossy(&raw[10..10 + header]).into_owned();
    let at = text.find("'descr': '").unwrap() + 10;
    let descr = &text[at..at + text[at..].find('\'').unwrap()];
    (raw[10 + header..].to_vec(), train::Dtype::parse(descr).unwrap().size)
}
struct Costs<'a> { chunks: Vec<Chunk<'a>>, known: HashMap<(usize, Cparams), Cost>, backend: Backend, out: Vec<u8> }
impl Costs<'_> {
    fn of(&mut self, at: usize, c: &Cparams) -> Cost {
        let at = at % self.chunks.len();
        if let Some(k) = self.known.get(&(at, *c)) { return *k; }
        let mut best = (f64::INFINITY, f64::INFINITY, 0);
        for i in 0..4 {
            let m = self.backend.compress(&self.chunks[at], c, true, &mut self.out).unwrap();
            if i == 0 && m.ctime < 20e-3 { continue; }
            best = (best.0.min(m.ctime), best.1.min(m.dtime.unwrap()), m.cbytes);
            if m.ctime > 20e-3 { break; }
        }
        self.known.insert((at, *c), best);
        best
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let cells: Vec<(f64, PerfMode)> = std::env::var("CELLS").unwrap_or("0.1:COMP,0.5:COMP,0.9:COMP,0.5:DECOMP".into()).split(',').map(|c| { let (t, m) = c.split_once(':').unwrap(); (t.parse().unwrap(), PerfMode::parse(m).unwrap()) }).collect();
    let n: usize = std::env::var("CHUNKS").map_or(60, |x| x.parse().unwrap());
    let size: usize = std::env::var("SIZE").map_or(512 << 10, |x| x.parse().unwrap());
    let verbose = std::env::var("V").is_ok();
    let (mut all, mut firsts, mut withins, mut probes) = (HashMap::<String, Vec<f64>>::new(), vec![], vec![], vec![]);
    for a in &args[1..] {
        let (name, domain) = a.split_once(':').unwrap();
        let (bytes, typesize) = npy(&format!("/tmp/arrays/{name}.npy"));
        let size = size / typesize * typesize;
        let chunks: Vec<Chunk> = bytes.chunks_exact(size).take(n).map(|b| Chunk::new(b, typesize)).collect();
        let mut costs = Costs { chunks: chunks.clone(), known: HashMap::new(), backend: Backend::new(), out: vec![] };
        let orc: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(format!("/tmp/orc/{name}.json")).unwrap()).unwrap();
        let nb = orc["nbytes"].as_f64().unwrap();
        let model = (domain != "none").then(|| Arc::new(Model::from_onnx(&std::fs::read(format!("/tmp/wt/data/m/{domain}/model.onnx")).unwrap()).unwrap()));
        for &(t, mode) in &cells {
            let config = Config { tradeoff: Tradeoff::new(t as f32).unwrap(), perf_mode: mode, repeats_count: true, ..Config::default() };
            let o = Objective::new(&config);
            let tot = |nbytes: f64, c: &Cost| o.totals(&Measurement { nbytes: nbytes as usize, cbytes: c.2, ctime: c.0, dtime: Some(c.1), special: false }).unwrap();
            let mut rows: Vec<(f64, Cparams, bool)> = orc["rows"].as_array().unwrap().iter().map(|r| {
                let f = |k: &str| r[k].as_f64().unwrap();
                let c = Cparams { codec: Codec::from_code(f("codec") as u32).unwrap(), filter: Filter::from_code(f("filter") as u32).unwrap(), clevel: f("clevel") as u8, split: SplitMode::from_code(f("split") as u32).unwrap(), block_size: BlockSize::Auto, threads: 1 };
                (o.j(&tot(nb, &(f("ctime"), f("dtime"), f("cbytes") as usize))), c, nb / f("cbytes") >= 1.03)
            }).collect();
            if rows.iter().any(|r| r.2) { rows.retain(|r| r.2); }
            rows.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut cand: Vec<Cparams> = rows.iter().take(2).map(|r| r.1).collect();
            cand.push(Cparams { block_size: BlockSize::WholeChunk, ..cand[0] });
            let sums: Vec<(f64, Cparams)> = cand.iter().map(|c| { let s = (0..n).fold(Totals::default(), |s, i| s + tot(size as f64, &costs.of(i, c))); (o.j(&s), *c) }).collect();
            let (jb, best) = sums.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            // the run
            let mut run_backend = Backend::new();
            let start = Instant::now();
            let mut tuner = match &model { Some(m) => { let s = Speeds::measure(&mut run_backend).unwrap(); Tuner::with_prior(config.clone(), Box::new(Learned::new(m.clone(), s))) } None => Tuner::new(config.clone()) };
            let mut overhead = start.elapsed().as_secs_f64();
            let setup = overhead;
            let mut sum = Totals::default();
            let mut plain = Totals::default();
            let (mut probe, mut within, mut first, mut ctimes, mut contests) = (0.0, None, 0.0, 0.0, 0);
            let mut out = vec![];
            let mut last = None;
            for i in 0..n {
                let chunk = &chunks[i % chunks.len()];
                let t0 = Instant::now();
                let trial = tuner.ask(chunk, &mut run_backend);
                let took = t0.elapsed().as_secs_f64();
                overhead += took; probe += took;
                let m = run_backend.compress(chunk, &trial.cparams, trial.measure_dtime, &mut out).unwrap();
                let told = tuner.tell(&trial, &m).unwrap();
                if trial.measure_dtime && mode == PerfMode::Comp { panic!() }
                if trial.measure_dtime { overhead += m.dtime.unwrap(); probe += m.dtime.unwrap(); }
                let c = costs.of(i, &trial.cparams);
                ctimes += c.0;
                let jt = o.j(&tot(size as f64, &c)) - o.j(&tot(size as f64, &costs.of(i, &best)));
                let row = told.row.unwrap();
                if verbose { println!("  {i:2} {:5.0} ask {:5.0} jd {:5.1}% {} {} {:?} r{} {}", c.0 * 1e6, took * 1e6, 100.0 * jt.exp_m1(), trial.cparams, row.state.name(), row.readapt, row.regime, row.winner); }
                if i == 0 { first = jt; }
                let contest = last.is_some_and(|l| l != trial.cparams) && row.winner != 'W';
                if contest { contests += 1 } else { if row.winner == 'W' || last.is_none() { last = Some(trial.cparams) } }
                if !contest && jt < 0.1f64.ln_1p() && within.is_none() { within = Some(i + 1); }
                sum += tot(size as f64, &c);
                plain += if contest { tot(size as f64, &costs.of(i, &last.unwrap())) } else { tot(size as f64, &c) };
            }
            let jplain = o.j(&plain) - jb;
            let jcont = o.j(&sum) - jb;
            let jall = if mode == PerfMode::Decomp { jcont } else { sum.time += overhead; o.j(&sum) - jb };
            let key = format!("{t} {}", mode.name());
            println!("{name:20} {key:10} regret {:6.1}% (choices {:5.1}, +contests {:5.1}, +asking {:5.1}) first {:5.1}% within {:?} asking/ctime {:.3} setup {:.0}us contests {contests} best {best} last {}", 100.0 * jall.exp_m1(), 100.0 * jplain.exp_m1(), 100.0 * jcont.exp_m1(), 100.0 * jall.exp_m1(), 100.0 * first.exp_m1(), within, probe / ctimes, setup * 1e6, last.unwrap());
            all.entry(key).or_default().push(jall); all.entry("all".into()).or_default().push(jall);
            all.entry("choices".into()).or_default().push(jplain); all.entry("contests".into()).or_default().push(jcont - jplain); all.entry("asking".into()).or_default().push(jall - jcont);
            firsts.push(first); withins.push(within.unwrap_or(999) as f64); probes.push(probe / ctimes);
        }
    }
    let mut keys: Vec<_> = all.keys().cloned().collect(); keys.sort();
    for k in keys { let l = &all[&k]; let m = l.iter().sum::<f64>() / l.len() as f64; println!("{k:12} n={} geomean {:.1}% worst {:.0}%", l.len(), 100.0 * m.exp_m1(), 100.0 * l.iter().copied().fold(-9.0, f64::max).exp_m1()); }
    let mean = |l: &[f64]| l.iter().sum::<f64>() / l.len() as f64;
    let med = |l: &mut Vec<f64>| { l.sort_by(f64::total_cmp); l[l.len() / 2] };
    println!("first chunk {:.1}%  within(median) {}  asking share mean {:.3} median {:.3}", 100.0 * mean(&firsts).exp_m1(), med(&mut withins), mean(&probes), med(&mut probes));
}
