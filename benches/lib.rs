//! Benchmarks, in `benches/`: `cargo bench -p cwnd-benches`.
