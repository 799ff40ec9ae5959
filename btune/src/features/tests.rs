use super::*;

fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(seed);
    (0..len).map(|_| rng.u8(..)).collect()
}

fn feature(features: &Features, name: &str) -> f32 {
    features.values()[NAMES.iter().position(|n| *n == name).unwrap()]
}

#[test]
fn every_feature_is_set_and_finite_for_all_lengths_and_typesizes() {
    for typesize in [1, 2, 3, 4, 7, 8, 12, 16, 24, 100, 255] {
        for len in [0, 1, 2, 7, 8, 63, 64, 1000, 4095, 4096, 4097, 10_000, 70_000] {
            let data = bytes(1, len);
            let features = Features::of(&Chunk::new(&data, typesize));
            assert!(features.values().iter().all(|v| v.is_finite() && (0.0..=32.0).contains(v)));
        }
    }
}

#[test]
fn the_last_feature_is_the_last_one_pushed() {
    let mut data = vec![0; 100_000];
    let noise = bytes(2, 50_000);
    data[50_000..].copy_from_slice(&noise);
    let features = Features::of(&Chunk::new(&data, 4));
    assert!(feature(&features, "pieces.differ") > 0.9);
    assert!((feature(&features, "elements.zero") - 0.5).abs() < 0.05);
}

#[test]
fn filters_show_where_they_help() {
    let ramp: Vec<u8> = (0..50_000u32).flat_map(|i| (i * 3).to_le_bytes()).collect();
    let features = Features::of(&Chunk::new(&ramp, 4));
    assert!(feature(&features, "bytedelta.matched") > 0.9);
    assert!(feature(&features, "shuffle.matched") > feature(&features, "none.matched"));
    let noise = bytes(3, 100_000);
    let features = Features::of(&Chunk::new(&noise, 4));
    assert!(feature(&features, "shuffle.entropy") > 0.95);
    assert!(feature(&features, "plane0.entropy") > 0.9);
    assert!(feature(&features, "plane4.entropy").abs() < f32::EPSILON, "there is no fifth plane");
}

#[test]
#[ignore = "a measurement: cargo test --release -p btune features::tests::time -- --ignored --nocapture"]
fn time() {
    for typesize in [1, 2, 4, 8, 16] {
        let smooth: Vec<u8> =
            (0..1u32 << 18).flat_map(|i| (i.wrapping_mul(i) / 777).to_le_bytes()).collect();
        for (name, data) in [("noise", bytes(4, 1 << 20)), ("smooth", smooth)] {
            let chunk = Chunk::new(&data, typesize);
            let mut best = f64::INFINITY;
            for _ in 0..200 {
                let start = std::time::Instant::now();
                std::hint::black_box(Features::of(std::hint::black_box(&chunk)));
                best = best.min(start.elapsed().as_secs_f64());
            }
            println!("typesize {typesize} {name}: {:.1} µs", best * 1e6);
        }
    }
}
