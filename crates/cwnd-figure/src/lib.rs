//! Vega-Lite specifications as figures for papers: PDF, SVG and PNG of a given size, in a given font.
//!
//! The specification is drawn by Vega itself, run in QuickJS, so that a figure is the plot of the page. Text is measured in the font that it
//! is drawn in, and the font is embedded in the PDF. The same specification and [`Look`] give the same bytes, where the same fonts are
//! installed.

mod font;
mod look;
mod vega;

use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use serde_json::Value;
use thiserror::Error;

pub use font::Fonts;
pub use look::{Length, Look};
pub use vega::Libraries;

/// What a figure is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Vectors, with the fonts embedded.
    Pdf,
    /// Vectors; whoever shows them has the font, or another one.
    Svg,
    /// Pixels: 300 to the inch, or as many as [`Look`] says.
    Png,
}

impl Format {
    /// The format of a file by the end of its name.
    ///
    /// # Errors
    /// The name ends in none of `.pdf`, `.svg` and `.png`.
    pub fn of(path: &Path) -> Result<Self, FigureError> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("pdf") => Ok(Self::Pdf),
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(FigureError::Ending(path.display().to_string())),
        }
    }
}

/// Why there is no figure.
#[derive(Debug, Error)]
pub enum FigureError {
    /// The name of a file tells no format.
    #[error("`{0}` ends in none of .pdf, .svg and .png")]
    Ending(String),
    /// A length that cannot be read.
    #[error(
        "cannot read `{0}`: expected a number above 0 with a unit, such as `8.5cm`, `85mm`, `3.3in`, `240pt` or `400px`"
    )]
    Length(String),
    /// A length outside of what can be drawn.
    #[error("cannot be `{given}`: accepted is {accepted}")]
    Range {
        /// The value as given.
        given: String,
        /// The accepted values.
        accepted: &'static str,
    },
    /// A font that is not installed.
    #[error("no font `{name}` is installed; among those that are: {known}")]
    Font {
        /// The requested name.
        name: String,
        /// Some that there are.
        known: String,
    },
    /// No font at all.
    #[error("no font is installed, and text needs one")]
    NoFont,
    /// A picture of too many pixels.
    #[error("{width} by {height} pixels are too many: accepted are {MOST_PIXELS:e} in all")]
    Pixels {
        /// Of the picture.
        width: f64,
        /// Of the picture.
        height: f64,
    },
    /// Vega fails.
    #[error("the plot cannot be drawn: {0}")]
    Drawing(String),
}

/// Of a picture: a page of A3 at 300 to the inch has 17 million.
const MOST_PIXELS: f64 = 2e7;

/// Draws a Vega-Lite specification with its data and its configuration.
///
/// # Errors
/// The font is not installed, or the specification cannot be drawn in this size.
pub fn draw(spec: &Value, look: &Look, format: Format, libraries: Libraries<'_>) -> Result<Vec<u8>, FigureError> {
    let fonts = Rc::new(Fonts::installed());
    let family = fonts.family(look.font.as_deref())?;
    let spec = look.apply(spec, &family, |text, size| fonts.width(text, &family, size, false));
    if format == Format::Png {
        let side = |name: &str| (spec[name].as_f64().unwrap_or(0.0) * look.pixels_per_dot()).round();
        let (width, height) = (side("width"), side("height"));
        if width * height > MOST_PIXELS {
            return Err(FigureError::Pixels { width, height });
        }
    }
    let svg = vega::svg(&spec, libraries, &fonts, &family)?;
    let svg = look.sized(&svg, &spec, format == Format::Svg);
    if format == Format::Svg {
        return Ok(svg.into_bytes());
    }
    let options = Options { fontdb: Arc::new(fonts.database().clone()), font_family: family, ..Options::default() };
    let tree = Tree::from_str(&svg, &options).map_err(|error| FigureError::Drawing(error.to_string()))?;
    match format {
        Format::Png => png(&tree, look),
        Format::Pdf | Format::Svg => {
            let page = svg2pdf::PageOptions { dpi: look::DOTS_PER_INCH as f32 };
            svg2pdf::to_pdf(&tree, svg2pdf::ConversionOptions::default(), page)
                .map_err(|error| FigureError::Drawing(error.to_string()))
        }
    }
}

fn png(tree: &Tree, look: &Look) -> Result<Vec<u8>, FigureError> {
    let scale = look.pixels_per_dot() as f32;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    let too_large = || FigureError::Drawing(format!("{width:.0} by {height:.0} pixels are too many"));
    let mut pixels = Pixmap::new(width.round() as u32, height.round() as u32).ok_or_else(too_large)?;
    pixels.fill(Color::WHITE);
    resvg::render(tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| FigureError::Drawing(error.to_string()))
}
