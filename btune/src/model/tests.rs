use super::*;
use crate::cparams::{BlockSize, Codec, Filter, SplitMode};
use crate::onnx::{Activation, Layer, Network};

const SPEEDS: &str = "0.5 0.2; 0.5 0.2";

fn classes() -> Vec<Cparams> {
    let zstd = Cparams {
        codec: Codec::Zstd,
        filter: Filter::ByteDelta,
        clevel: 3,
        split: SplitMode::Always,
        block_size: BlockSize::Auto,
        threads: 1,
    };
    vec![zstd, Cparams { codec: Codec::Lz4, filter: Filter::Shuffle, ..zstd }]
}

/// A network that says for every chunk the same.
fn model(
    bias: [f32; 6],
    change: impl FnOnce(&mut BTreeMap<String, String>),
) -> Result<Model, ModelError> {
    let mut metadata = Model::metadata(&classes(), &Speeds::parse(SPEEDS).unwrap(), "nothing");
    change(&mut metadata);
    let weights = vec![0.0; FEATURE_COUNT * bias.len()];
    let layer = Layer { weights, bias: bias.to_vec(), activation: Activation::Identity };
    Model::from_onnx(&Network::new(vec![layer], metadata).unwrap().to_onnx())
}

#[test]
fn predictions_are_scaled_to_the_machine() {
    let bias = [0.25f32.ln(), -20.0, -21.0, 0.5f32.ln(), -22.0, f32::MAX];
    let model = model(bias, |_| ()).unwrap();
    assert_eq!(model.classes(), classes());
    let slower = Speeds::parse(&SPEEDS.replace("0.5", "1.0")).unwrap();
    let features = Features::of(&Chunk::new(&[1; 100], 4));
    let [zstd, lz4] = model.predict(&features, &slower).unwrap()[..] else { panic!("two classes") };
    assert!((zstd.share - 0.25).abs() < 1e-6 && (lz4.share - 0.5).abs() < 1e-6);
    assert!((zstd.ctime / (-20f64).exp() - 2.0).abs() < 1e-4);
    assert!((zstd.dtime / (-21f64).exp() - 1.0).abs() < 1e-4);
    assert!(lz4.dtime.is_finite());
}

#[test]
fn what_was_made_for_something_else_is_refused() {
    let refused = |key: &'static str, value: Option<&str>| {
        let changed = model([0.0; 6], |metadata| match value {
            Some(value) => drop(metadata.insert(key.to_owned(), value.to_owned())),
            None => drop(metadata.remove(key)),
        });
        changed.unwrap_err()
    };
    for key in ["btune.features", "btune.classes", "btune.calibration", "btune.speeds"] {
        assert_eq!(refused(key, None), ModelError::Missing(key));
    }
    assert!(matches!(refused("btune.features", Some("other")), ModelError::Mismatch { .. }));
    assert!(matches!(refused("btune.calibration", Some("other")), ModelError::Mismatch { .. }));
    assert!(matches!(
        refused("btune.classes", Some("zstd-1 shuffle always")),
        ModelError::Shape { .. }
    ));
    for bad in [
        "",
        "zstd-10 shuffle always; lz4-1 shuffle never",
        "zstd shuffle always; lz4-1 shuffle never",
    ] {
        assert_eq!(refused("btune.classes", Some(bad)), ModelError::Value("btune.classes"));
    }
    assert_eq!(refused("btune.speeds", Some("1 2")), ModelError::Value("btune.speeds"));
}
