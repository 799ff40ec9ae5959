//! Any bytes are a network that is evaluated and written, or an error.
#![no_main]

use btune::onnx::{Network, Scratch};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(network) = Network::from_onnx(data) else { return };
    let (mut output, mut scratch) = (Vec::new(), Scratch::default());
    network.run(&vec![0.5; network.inputs()], &mut output, &mut scratch);
    assert_eq!(output.len(), network.outputs());
    assert!(Network::from_onnx(&network.to_onnx()).is_ok_and(|again| again == network));
});
