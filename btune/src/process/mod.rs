//! What a plugin keeps while its process lives, and how it deals with forks, threads and other libraries.
//!
//! A plugin is a guest: its host forks, starts and ends threads, closes stderr, and may come with a second
//! copy of a library. What is here is safe in all of that.

mod image;
pub mod models;
mod per_process;
mod per_thread;
pub mod report;

pub use image::{Image, beside};
pub use per_process::PerProcess;
pub use per_thread::PerThread;
