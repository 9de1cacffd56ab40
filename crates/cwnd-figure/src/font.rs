//! The installed fonts: which there are, and how wide text is in them.

use resvg::usvg::fontdb::{Database, Family, Query, Stretch, Style, Weight};

use crate::FigureError;

/// The fonts of this system.
#[derive(Debug)]
pub struct Fonts {
    database: Database,
}

impl Fonts {
    /// Looks for them.
    #[must_use]
    pub fn installed() -> Self {
        let mut database = Database::new();
        database.load_system_fonts();
        Self { database }
    }

    /// The names of the families, each once, in order.
    #[must_use]
    pub fn families(&self) -> Vec<String> {
        let names = self.database.faces().flat_map(|face| face.families.iter().map(|(name, _)| name.clone()));
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The family called `name`, whatever its case; one for papers where none is named.
    ///
    /// # Errors
    /// There is none of the name, or none at all.
    pub fn family(&self, name: Option<&str>) -> Result<String, FigureError> {
        let families = self.families();
        let find =
            |wanted: &str| families.iter().find(|family| family.to_lowercase() == wanted.to_lowercase()).cloned();
        match name {
            Some(name) => find(name).ok_or_else(|| match families.is_empty() {
                true => FigureError::NoFont,
                false => FigureError::Font { name: name.to_string(), known: some(&families) },
            }),
            None => {
                let usual = USUAL.iter().find_map(|name| find(name));
                usual.or_else(|| families.first().cloned()).ok_or(FigureError::NoFont)
            }
        }
    }

    /// How wide a line of text is, in the unit of `size`.
    pub(crate) fn width(&self, text: &str, family: &str, size: f64, bold: bool) -> f64 {
        let weight = if bold { Weight::BOLD } else { Weight::NORMAL };
        let families = &[Family::Name(family)];
        let query = Query { families, weight, stretch: Stretch::Normal, style: Style::Normal };
        let face = self.database.query(&query);
        let measured = face.and_then(|face| {
            self.database.with_face_data(face, |data, index| {
                let face = ttf_parser::Face::parse(data, index).ok()?;
                let em = f64::from(face.units_per_em());
                let advance = |letter| face.glyph_index(letter).and_then(|glyph| face.glyph_hor_advance(glyph));
                Some(text.chars().map(|letter| advance(letter).map_or(0.6, |units| f64::from(units) / em)).sum::<f64>())
            })
        });
        measured.flatten().unwrap_or(text.chars().count() as f64 * 0.6) * size
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }
}

/// A few of many names.
fn some(names: &[String]) -> String {
    let mut shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        shown += &format!(" and {} more", names.len() - SHOWN);
    }
    shown
}

/// Families that papers are set in, the first that is installed.
const USUAL: [&str; 6] = ["Helvetica", "Arial", "Liberation Sans", "Nimbus Sans", "Noto Sans", "DejaVu Sans"];
/// Names that a message has.
const SHOWN: usize = 8;
