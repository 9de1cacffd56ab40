//! One colour per algorithm, the same in every plot of every report.
//!
//! The colours keep a contrast of 3:1 to their background. Those of the table stay apart for readers with protanopia, deuteranopia or
//! tritanopia, Reno, CUBIC and BBRv3 most of all; the flows of a plot differ by the dash of their line or by their marker as well.

use core::fmt::Write as _;

use serde_json::Value;

/// A colour for a light and one for a dark background, as CSS writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colour {
    /// The colour on a light background.
    pub light: String,
    /// The colour on a dark background.
    pub dark: String,
}

/// The colour of an algorithm, given by its registry name or by a spec such as `simd:beta=1/16`.
///
/// Names without an entry in the table get a hue of their own, the same in every report.
#[must_use]
pub fn of(algorithm: &str) -> Colour {
    let name = name(algorithm);
    match TABLE.iter().find(|(known, ..)| *known == name) {
        Some((_, light, dark)) => Colour { light: (*light).to_string(), dark: (*dark).to_string() },
        None => {
            let hue = f64::from(fnv1a(name.as_bytes()) % 360);
            Colour { light: hexadecimal(hue, 0.65, 0.33), dark: hexadecimal(hue, 0.65, 0.72) }
        }
    }
}

/// The dash pattern of the flow or variant at `index`, in pixels drawn and left out.
#[must_use]
pub fn dash(index: usize) -> &'static [u8] {
    DASHES[index % DASHES.len()]
}

/// The name before the parameters of a spec.
pub(crate) fn name(algorithm: &str) -> &str {
    algorithm.split(':').next().unwrap_or_default().trim()
}

/// The colours of one page as CSS variables, so that plots follow the reader's theme and the printer's.
#[derive(Debug)]
pub(crate) struct Palette {
    /// In ascending order, each once.
    names: Vec<String>,
    colours: Vec<Colour>,
}

impl Palette {
    /// The first of several variants of an algorithm has the colour of the algorithm, and each other one a hue that no colour before it is near.
    pub(crate) fn new<'a>(algorithms: impl Iterator<Item = &'a str>) -> Self {
        let mut names: Vec<String> = algorithms.map(|algorithm| algorithm.trim().to_string()).collect();
        names.sort_unstable();
        names.dedup();
        let variants = |index: usize| names[..index].iter().filter(|other| name(other) == name(&names[index])).count();
        let first = |index: usize| (variants(index) == 0).then(|| of(&names[index]));
        let mut colours: Vec<Option<Colour>> = (0..names.len()).map(first).collect();
        for index in 0..names.len() {
            if colours[index].is_none() {
                let taken: Vec<f64> = colours.iter().flatten().filter_map(|colour| hue(&colour.light)).collect();
                colours[index] = Some(variant(&of(&names[index]), variants(index), &taken));
            }
        }
        let colours = colours.into_iter().flatten().collect();
        Self { names, colours }
    }

    /// The CSS value of a colour. Algorithms that are not of this page have the colour of text.
    pub(crate) fn variable(&self, algorithm: &str) -> String {
        let exact = self.names.iter().position(|known| known == algorithm.trim());
        match exact.or_else(|| self.names.iter().position(|known| name(known) == name(algorithm))) {
            Some(index) => format!("var(--algorithm-{index})"),
            None => "var(--text)".to_string(),
        }
    }

    /// The declarations of all variables for the light theme.
    pub(crate) fn light(&self) -> String {
        self.css(|Colour { light, .. }| light)
    }

    /// The colour in the dark theme.
    pub(crate) fn dark(&self) -> String {
        self.css(|Colour { dark, .. }| dark)
    }

    /// Replaces the variables of the page in a specification by the colours of the light theme.
    pub(crate) fn in_light(&self, spec: &mut Value) {
        replace(spec, &|name| {
            let index: usize = name.strip_prefix("algorithm-")?.parse().ok()?;
            self.colours.get(index).map(|colour| colour.light.clone())
        });
        in_light(spec);
    }

    fn css(&self, theme: fn(Colour) -> String) -> String {
        let mut css = String::new();
        for (name, light, dark) in THEME {
            let colour = Colour { light: (*light).to_string(), dark: (*dark).to_string() };
            let _ = write!(css, "--{name}:{};", theme(colour));
        }
        for (index, colour) in self.colours.iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(css, "--algorithm-{index}:{};", theme(colour.clone()));
        }
        css
    }
}

/// The colour in the light theme of what belongs to no algorithm: a queue, an index of all flows.
pub(crate) fn neutral() -> String {
    THEME.iter().find(|(name, ..)| *name == "muted").map_or_else(String::new, |(_, light, _)| (*light).to_string())
}

/// Replaces the colours that belong to no algorithm in a specification by those of the light theme.
pub(crate) fn in_light(spec: &mut Value) {
    let theme = |name: &str| THEME.iter().find(|(known, ..)| *known == name).map(|(_, light, _)| (*light).to_string());
    replace(spec, &theme);
}

/// Replaces each variable that has a colour.
fn replace(spec: &mut Value, colour: &dyn Fn(&str) -> Option<String>) {
    match spec {
        Value::Array(all) => all.iter_mut().for_each(|one| replace(one, colour)),
        Value::Object(map) => map.values_mut().for_each(|one| replace(one, colour)),
        Value::String(text) => {
            let name = text.strip_prefix("var(--").and_then(|rest| rest.strip_suffix(')'));
            if let Some(found) = name.and_then(colour) {
                *text = found;
            }
        }
        _ => {}
    }
}

/// The colour of the variant at `index`, which is not the first, of an algorithm that has `colour`: the first turn of the hue that is not
/// near one of `taken`, or the furthest from them.
fn variant(colour: &Colour, index: usize, taken: &[f64]) -> Colour {
    let away = |hue: f64| {
        let apart = |other: &f64| (hue - other).abs().min(360.0 - (hue - other).abs());
        taken.iter().map(apart).fold(180.0, f64::min)
    };
    let base = hue(&colour.light).unwrap_or(0.0);
    let turns = (index..index + MOST_TURNS).map(|turn| (base + VARIANT_HUE * turn as f64) % 360.0);
    let found = turns.clone().find(|hue| away(*hue) >= NEAR);
    let hue = found.or_else(|| turns.max_by(|a, b| away(*a).total_cmp(&away(*b)))).unwrap_or(base);
    Colour { light: hexadecimal(hue, 0.65, 0.33), dark: hexadecimal(hue, 0.65, 0.72) }
}

/// The hue of `#rrggbb` in degrees; none for a grey.
fn hue(css: &str) -> Option<f64> {
    let channel =
        |at: usize| css.get(at..at + 2).and_then(|text| u8::from_str_radix(text, 16).ok()).map_or(0.0, f64::from);
    let [red, green, blue] = [1, 3, 5].map(channel);
    let (largest, smallest) = (red.max(green).max(blue), red.min(green).min(blue));
    let chroma = largest - smallest;
    let sixths = if chroma == 0.0 {
        return None;
    } else if largest == red {
        ((green - blue) / chroma).rem_euclid(6.0)
    } else if largest == green {
        (blue - red) / chroma + 2.0
    } else {
        (red - green) / chroma + 4.0
    };
    Some(sixths * 60.0)
}

/// Degrees between the variants of an algorithm: five are around the circle before two come near each other.
const VARIANT_HUE: f64 = 137.5;
/// Degrees below which two hues are near each other.
const NEAR: f64 = 30.0;
/// Turns that are tried for a variant.
const MOST_TURNS: usize = 24;

/// Hue in degrees, saturation and lightness as `#rrggbb`.
fn hexadecimal(hue: f64, saturation: f64, lightness: f64) -> String {
    let chroma = saturation * lightness.min(1.0 - lightness);
    let channel = |n: f64| {
        let k = (n + hue / 30.0) % 12.0;
        let value = lightness - chroma * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (255.0 * value).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0.0), channel(8.0), channel(4.0))
}

fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Colours that belong to no algorithm: name, colour in the light theme, colour in the dark one. Text keeps a contrast of 4.5:1.
const THEME: &[(&str, &str, &str)] = &[
    ("back", "#ffffff", "#15181c"),
    ("panel", "#f6f7f9", "#1c2026"),
    ("text", "#16191d", "#e8ebef"),
    ("muted", "#59616b", "#a5adb8"),
    ("grid", "#e3e6ea", "#2d333b"),
    ("shade", "#eceef1", "#252a31"),
    ("link", "#0b57a4", "#8ec5ff"),
    ("drop", "#c0182b", "#ff7b86"),
    ("mark", "#8a5a00", "#f2c14e"),
    ("match", "#1a7f37", "#5fc97b"),
    ("warn", "#fff4d6", "#3a3013"),
    ("warn-edge", "#b07a00", "#d9a520"),
];

/// Name, colour on light, colour on dark.
const TABLE: &[(&str, &str, &str)] = &[
    ("reno", "#383838", "#868686"),
    ("cubic", "#af240a", "#e23a1b"),
    ("bbr3", "#d937f4", "#ab32be"),
    ("simd", "#1f6cb0", "#6bb5ff"),
    ("daimd", "#de7616", "#efb576"),
    ("udt", "#239ba6", "#47e6f5"),
    ("exp-tcp", "#271bed", "#8982f6"),
    ("new-aimd", "#a9216e", "#e432ae"),
    ("aiad", "#601308", "#c86152"),
    ("iiad", "#660cb9", "#892df2"),
    ("aimd", "#0d2779", "#176d8e"),
    ("highspeed", "#c28557", "#e2ec2c"),
    ("scalable", "#215d38", "#bbf3cf"),
    ("sqrt", "#451142", "#d475db"),
    ("binomial", "#d918c3", "#f585b9"),
    ("mimd", "#350658", "#ccb193"),
    ("miad", "#d5456c", "#a5c636"),
];

const DASHES: [&[u8]; 8] = [&[1, 0], &[7, 3], &[2, 2], &[9, 3, 2, 3], &[4, 2], &[12, 4], &[1, 3], &[6, 2, 1, 2, 1, 2]];

/// Curves take the colours of these algorithms in turn, which stay apart for colour-blind readers.
pub(super) const SERIES: [&str; 8] = ["simd", "daimd", "scalable", "exp-tcp", "udt", "new-aimd", "reno", "cubic"];

#[cfg(test)]
mod tests {
    use cwnd_lab::compare::DEFAULT;

    use super::*;

    type Linear = [f64; 3];

    fn linear(css: &str) -> Linear {
        let channel = |at: usize| f64::from(u8::from_str_radix(&css[at..at + 2], 16).expect("hex")) / 255.0;
        let channels: Linear = [1, 3, 5].map(channel);
        channels.map(|c| if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) })
    }

    /// WCAG 2.2, "contrast ratio".
    fn contrast(a: &str, b: &str) -> f64 {
        let luminance = |css| linear(css).iter().zip([0.2126, 0.7152, 0.0722]).map(|(c, w)| c * w).sum::<f64>();
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn apply(matrix: &[Linear; 3], v: Linear) -> Linear {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0))
    }

    /// CIE 1976 L*, a*, b* of linear sRGB under D65.
    fn lab(rgb: Linear) -> Linear {
        let [x, y, z] = [
            [0.4124564, 0.3575761, 0.1804375, 0.95047],
            [0.2126729, 0.7151522, 0.0721750, 1.0],
            [0.0193339, 0.1191920, 0.9503041, 1.08883],
        ]
        .map(|[r, g, b, white]: [f64; 4]| {
            let t = (r * rgb[0] + g * rgb[1] + b * rgb[2]) / white;
            if t > 216.0 / 24389.0 { t.cbrt() } else { (24389.0 / 27.0 * t + 16.0) / 116.0 }
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// The distance of two colours in CIE Lab; 2.3 is just noticeable (Mahy, Van Eycken and Oosterlinck 1994).
    fn distance(a: Linear, b: Linear) -> f64 {
        lab(a).iter().zip(lab(b)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    #[test]
    fn every_colour_stands_out_from_its_background() {
        let others = (0..1000).map(|k| format!("mine-{k}"));
        for name in TABLE.iter().map(|(name, ..)| (*name).to_string()).chain(others) {
            let Colour { light, dark } = of(&name);
            assert!(contrast(&light, "#ffffff") >= 3.0, "{name} on light");
            assert!(contrast(&dark, "#15181c") >= 3.0, "{name} on dark");
        }
    }

    /// The least distance of two algorithms in both themes, for normal vision, protanopia, deuteranopia and tritanopia (Machado, Oliveira
    /// and Fernandes 2009).
    fn apart(a: &str, b: &str) -> f64 {
        let visions: [[Linear; 3]; 4] = [
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
            [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
            [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
        ];
        let (a, b) = (of(a), of(b));
        let themes = [(&a.light, &b.light), (&a.dark, &b.dark)];
        let seen = |vision: &[Linear; 3], css: &str| apply(vision, linear(css));
        let each = visions.iter().flat_map(|vision| themes.map(|(a, b)| distance(seen(vision, a), seen(vision, b))));
        each.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn colours_stay_apart_for_colour_blind_readers() {
        let table: Vec<&str> = TABLE.iter().map(|(name, ..)| *name).collect();
        let compared: Vec<&str> = DEFAULT.iter().map(|algorithm| name(algorithm)).collect();
        let pairs = |names: &[&str], least: f64| {
            for (k, a) in names.iter().enumerate() {
                for b in &names[..k] {
                    assert!(apart(a, b) > least, "{a} and {b}: {}", apart(a, b));
                }
            }
        };
        assert!(
            compared.iter().all(|name| table.contains(name)),
            "what is compared by default has a colour in the table"
        );
        pairs(&["reno", "cubic", "bbr3"], 35.0);
        pairs(&compared, 15.0);
        pairs(&table, 10.0);
    }

    #[test]
    fn parameters_do_not_change_the_colour() {
        assert_eq!(of("simd:beta=1/16"), of("simd"));
        assert_eq!(of("mine:x=1"), of(" mine "));
        // FNV-1a of "a" is 0xe40c292c, 340 of 360 degrees: hsl(340 65% 33%).
        assert_eq!(of("a").light, "#8b1d42");
        let palette = Palette::new(["reno", "simd:beta=1/16"].into_iter());
        let css = palette.light();
        assert!(css.starts_with("--back:#ffffff;") && css.ends_with("--algorithm-0:#383838;--algorithm-1:#1f6cb0;"));
        assert_eq!(palette.variable("simd:beta=1"), "var(--algorithm-1)");
        assert_eq!(palette.variable("cubic"), "var(--text)");
    }

    #[test]
    fn variants_keep_away_from_other_algorithms_and_their_variants() {
        // The second variants of Reno and CUBIC were two greens.
        let names = ["reno:a", "reno:b", "cubic:a", "cubic:b", "simd:a", "simd:b"];
        let palette = Palette::new(names.into_iter());
        let hues: Vec<f64> = palette.colours.iter().filter_map(|colour| hue(&colour.light)).collect();
        assert_eq!(hues.len(), 5, "Reno is grey");
        for (k, a) in hues.iter().enumerate() {
            for b in &hues[..k] {
                let apart = (a - b).abs().min(360.0 - (a - b).abs());
                assert!(apart >= NEAR - 1.0, "{hues:?}");
            }
        }
    }

    #[test]
    fn variants_on_one_page_have_colours_of_their_own() {
        let palette = Palette::new(["simd:beta=1/2", "reno", "simd", "simd:beta=1/4"].into_iter());
        let (light, dark) = (palette.light(), palette.dark());
        assert_eq!((hue("#1f6cb0").map(f64::round), hue("#383838")), (Some(208.0), None));
        assert!(light.contains("--algorithm-1:#1f6cb0;"), "{light}");
        let each = |css: &str| -> std::collections::BTreeSet<String> {
            css.split(';').filter(|one| one.starts_with("--algorithm")).map(|one| one[14..].to_string()).collect()
        };
        assert_eq!((each(&light).len(), each(&dark).len()), (4, 4));
        for colour in palette.colours.iter().skip(1) {
            assert!(
                contrast(&colour.light, "#ffffff") >= 3.0 && contrast(&colour.dark, "#15181c") >= 3.0,
                "{colour:?}"
            );
        }
        assert_eq!(palette.variable("simd:beta=1/4"), "var(--algorithm-3)");
    }
}
