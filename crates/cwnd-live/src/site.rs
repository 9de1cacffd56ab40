//! The page as a directory of files that any static host can serve: its engine is a worker of the page.

use crate::http::PARTS;

/// The file with links to the figures of papers. The page links to it, and the caller of [`site`] adds it.
pub const FIGURES: &str = "figures.html";

/// The file with the exercises. The page links to it, and the caller of [`site`] adds it.
pub const EXERCISES: &str = "exercises.html";

/// The name and the bytes of each file of the directory. `engine` is the module that `cwnd-wasm` is compiled to, `licences` are those of the
/// crates in it, and `others` are further files.
#[must_use]
pub fn site(engine: &[u8], licences: &str, others: Vec<(String, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    let parts = PARTS.iter().map(|part| match part.name {
        "" => ("index.html", page(part.bytes)),
        LICENCES => {
            (LICENCES, [b"The scripts of the page:\n\n", part.bytes, ENGINE_BELOW, licences.as_bytes()].concat())
        }
        name => (name, part.bytes.to_vec()),
    });
    let worker: &[u8] = include_bytes!("../page/dist/worker.js");
    let own = [("worker.js", worker), (ENGINE, engine)].map(|(name, bytes)| (name, bytes.to_vec()));
    let own = parts.chain(own).map(|(name, bytes)| (name.to_string(), bytes));
    let mut files: Vec<(String, Vec<u8>)> = own.chain(others).collect();
    let script = offline(files.iter().map(|(name, _)| name.as_str()));
    files.push((OFFLINE.to_string(), script.into_bytes()));
    files
}

/// The script that keeps `files` for a visit without a network. Their list is a part of it: a browser installs a script anew if a byte of it
/// differs.
fn offline<'a>(files: impl Iterator<Item = &'a str>) -> String {
    // Names of files here need no escape.
    let files: Vec<String> = files.map(|name| format!("\"{name}\"")).collect();
    format!("const FILES=[\"./\",{}];\n{}", files.join(","), include_str!("../page/dist/offline.js"))
}

/// The page with the head of a static one, and with the links to the other pages.
fn page(bytes: &[u8]) -> Vec<u8> {
    let page = String::from_utf8_lossy(bytes).replacen(CHARSET, &head(), 1);
    page.replacen(TITLE, &linked(), 1).into_bytes()
}

/// The head of a static page: only its own files may run, and the name of its engine.
fn head() -> String {
    format!(
        "{CHARSET}\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"cwnd-engine\" content=\"{ENGINE}\">"
    )
}

/// The title with the links to the other pages.
fn linked() -> String {
    format!(
        "{TITLE}\n  <a class=\"others\" href=\"{EXERCISES}\">Exercises</a>\n  <a class=\"others\" href=\"{FIGURES}\">Papers and models</a>"
    )
}

const TITLE: &str = "<h1>cwnd <span>live</span></h1>";
const LICENCES: &str = "licences.txt";
const ENGINE_BELOW: &[u8] = b"\n\nThe simulator, cwnd.wasm:\n\n";
const CHARSET: &str = "<meta charset=\"utf-8\">";
const ENGINE: &str = "cwnd.wasm";
const OFFLINE: &str = "offline.js";
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self' 'unsafe-inline'; \
                      connect-src 'self'; img-src 'self' data: blob:; form-action 'none'; base-uri 'none'";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_licence_of_the_bundled_library_is_a_part() {
        let manifest = include_str!("../page/package.json");
        let (_, bundled) = manifest.split_once("\"dependencies\": { ").expect("a list");
        let bundled = bundled.split(" }").next().expect("its end").replace("\": \"", " ").replace('"', "");
        let licences = PARTS.iter().find(|part| part.name == LICENCES).expect("a part").bytes;
        assert!(String::from_utf8_lossy(licences).starts_with(&format!("{bundled} (MIT)\n")), "{bundled}");
    }

    #[test]
    fn the_page_names_its_engine_and_is_otherwise_the_one_of_the_server() {
        let files = site(b"module", "licences of crates", vec![("more.html".to_string(), b"more".to_vec())]);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["index.html", "live.css", "live.js", "licences.txt", "worker.js", "cwnd.wasm", "more.html", "offline.js"]
        );
        let list = format!("const FILES=[\"./\",\"{}\"];\n", names[..7].join("\",\""));
        assert!(files[7].1.starts_with(list.as_bytes()), "{}", String::from_utf8_lossy(&files[7].1));
        let page = String::from_utf8(files[0].1.clone()).expect("text");
        let (start, rest) = page.split_once(&head()).expect("the head is in the page");
        let (between, rest) = rest.split_once(&linked()).expect("the link is in the page");
        assert_eq!(format!("{start}{CHARSET}{between}{TITLE}{rest}").as_bytes(), PARTS[0].bytes);
        assert_eq!(files[5].1, b"module");
        let licences = String::from_utf8(files[3].1.clone()).expect("text");
        assert!(licences.contains("uplot") && licences.ends_with("licences of crates"), "{licences}");
    }

    #[test]
    fn every_page_leads_to_the_licences() {
        let link = format!("<a href=\"{LICENCES}\">");
        assert!(String::from_utf8_lossy(PARTS[0].bytes).contains(&link));
    }
}
