//! tmp
use btune::{Chunk, Prior, Spread, train::*};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let dir = "/tmp/wt/data/";
    let classes: Vec<_> = Spread.predict(&Chunk::new(&[], 4)).iter().map(|p| p.cparams).collect();
    let mut features = std::collections::HashMap::new();
    for l in std::fs::read_to_string(format!("{dir}features.jsonl")).unwrap().lines() {
        let v: serde_json::Value = serde_json::from_str(l).unwrap();
        let f: Vec<f32> = serde_json::from_value(v["features"].clone()).unwrap();
        features.insert(v["key"].as_str().unwrap().to_owned(), f);
    }
    let mut d = Dataset { classes, ..Dataset::default() };
    for l in std::fs::read_to_string(format!("{dir}costs.jsonl")).unwrap().lines() {
        let Ok(v) = serde_json::from_str::<serde_json::Value>(l) else { continue };
        let c: Vec<[f32; 3]> = serde_json::from_value(v["costs"].clone()).unwrap();
        let f = features[v["key"].as_str().unwrap()].clone();
        let g = v["group"].as_str().unwrap();
        d.add(g, v["original"].as_bool().unwrap(), f.try_into().unwrap(), &c).unwrap();
    }
    let dom = |n: &str| match n {
        "levitus_salt_f32" | "ocean_temp_f32" => "ocean", "scada_wind_f64" | "scada_time_i64" => "scada",
        "mri_t1_u8" | "mri_macaque_f32" | "atlas_labels_i16" => "mri",
        n if n.starts_with("flights") => "flights", n if n.starts_with("nn") => "nn", n => n }.to_owned();
    let mut names: Vec<String> = Vec::new();
    let domains: Vec<usize> = d.groups.iter().map(|g| { let n = dom(g); names.iter().position(|x| *x == n).unwrap_or_else(|| { names.push(n); names.len() - 1 }) }).collect();
    let mut f = Fitting::default();
    for a in &args[1..] {
        let (k, v) = a.split_once('=').unwrap();
        match k { "h" => f.hidden = v.split(',').map(|x| x.parse().unwrap()).collect(), "e" => f.epochs = v.parse().unwrap(), "wd" => f.weight_decay = v.parse().unwrap(), "lr" => f.learning_rate = v.parse().unwrap(), "n" => f.input_noise = v.parse().unwrap(), "b" => f.batch = v.parse().unwrap(), "s" => f.seed = v.parse().unwrap(), _ => panic!() }
    }
    if let Ok(out) = std::env::var("OUT") {
        let except = std::env::var("EXCEPT").unwrap_or_default();
        let at = names.iter().position(|n| *n == except);
        assert!(at.is_some() || except.is_empty(), "{names:?}");
        let layers = fit(&d, |e| Some(domains[e.group]) != at, &f, |_| ()).unwrap();
        let speeds = btune::Speeds::measure(&mut btune::blosc::Backend::new()).unwrap();
        let net = btune::onnx::Network::new(layers, btune::Model::metadata(&d.classes, &speeds, "tmp")).unwrap();
        std::fs::write(out, net.to_onnx()).unwrap();
        return;
    }
    let t = std::time::Instant::now();
    let r = validate(&d, &domains, &f, |_| ()).unwrap();
    let table = r.table();
    if std::env::var("FULL").is_ok() { println!("{table}"); } else { println!("{args:?} {:.0}s\n{}", t.elapsed().as_secs_f64(), table.lines().rev().take(6).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")); }
}
