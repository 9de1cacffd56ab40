//! The two programs stay apart: neither compiles what only the other needs.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Crates of this workspace that a crate depends on, itself included, without those for tests alone and optional ones.
fn closure(name: &str, found: &mut BTreeSet<String>) {
    if !found.insert(name.to_owned()) {
        return;
    }
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name).join("Cargo.toml");
    let text = fs::read_to_string(manifest).expect("a crate of this workspace");
    let section = text.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    for line in section.take_while(|line| !line.starts_with('[')) {
        let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if dependency.starts_with("cwnd") && !line.contains("optional = true") {
            closure(dependency, found);
        }
    }
}

#[test]
fn neither_program_compiles_what_only_the_other_needs() {
    let transport = ["cwnd-files", "cwnd-link", "cwnd-meet", "cwnd-net", "cwnd-secure", "cwnd-transfer"];
    let laboratory = ["cwnd-cli", "cwnd-conform", "cwnd-lab", "cwnd-live", "cwnd-model", "cwnd-papers", "cwnd-report"];
    for (program, others) in [("cwnd-cli", &transport[..]), ("cwnd-transfer", &laboratory)] {
        let mut needs = BTreeSet::new();
        closure(program, &mut needs);
        assert!(needs.contains("cwnd-sim") && needs.contains("cwnd-terminal"), "{program}: {needs:?}");
        let wrong: Vec<&&str> = others.iter().filter(|other| needs.contains(**other)).collect();
        assert_eq!(wrong, Vec::<&&str>::new(), "{program} compiles them");
    }
}
