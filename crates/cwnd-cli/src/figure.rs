//! `--figure`: a plot of the page as a file for a paper.

use std::path::{Path, PathBuf};

use clap::Args;
use cwnd_report::page::names::is_plot;
use cwnd_text::one_line;

use crate::failure::Failure;

/// The maximum number of names that an error lists.
const MOST_NAMES: usize = 24;

/// The plot of the page that becomes a figure, and its style.
#[derive(Args, Debug)]
pub(crate) struct Figure {
    /// Also write a plot of the page as a figure for a paper: NAME.pdf, NAME.svg or NAME.png
    #[arg(long = "figure", value_name = "NAME", id = "figure", help_heading = "Figures")]
    file: Option<PathBuf>,
    /// Which plot of the page; an unknown name lists all [default: the first]
    #[arg(long, value_name = "NAME", help_heading = "Figures")]
    plot: Option<String>,
    /// Width of the whole figure: a number and cm, mm, in, pt or px [default: 8.5cm]
    #[arg(long, value_name = "LENGTH", help_heading = "Figures")]
    width: Option<String>,
    /// Height of the whole figure [default: 0.6 of the width, or the height that the shape of the plot needs]
    #[arg(long, value_name = "LENGTH", help_heading = "Figures")]
    height: Option<String>,
    /// An installed font; PDF embeds it [default: the first installed one of Helvetica, Arial, Liberation Sans and others]
    #[arg(long, value_name = "NAME", help_heading = "Figures")]
    font: Option<String>,
    /// Size of all text [default: 8pt]
    #[arg(long, value_name = "LENGTH", help_heading = "Figures")]
    font_size: Option<String>,
}

impl Figure {
    /// Whether a figure is requested.
    pub(crate) fn is_wanted(&self) -> bool {
        self.file.is_some()
    }

    /// The file that `--figure` names.
    pub(crate) const fn file(&self) -> Option<&PathBuf> {
        self.file.as_ref()
    }

    /// Refuses options that cannot give a figure of a page whose plots have `names`. Done before the work.
    pub(crate) fn check(&self, names: &[impl AsRef<str>]) -> Result<(), Failure> {
        let lengths = [("--width", &self.width), ("--height", &self.height), ("--font-size", &self.font_size)];
        let given = [("--plot", &self.plot), ("--font", &self.font)].into_iter().chain(lengths);
        match (&self.file, given.into_iter().find(|(_, value)| value.is_some())) {
            (Some(file), _) => {
                self.check_plot(names)?;
                drawing::check(self, file)
            }
            (None, Some((flag, _))) => Err(Failure::input(format!("{flag}: there is no figure without --figure"))),
            (None, None) => Ok(()),
        }
    }

    /// Checks the options of a command that writes no page because of the option `without`.
    pub(crate) fn check_with(&self, without: Option<&str>, names: &[impl AsRef<str>]) -> Result<(), Failure> {
        self.check(names)?;
        match without.filter(|_| self.is_wanted()) {
            Some(option) => {
                let fault = format!("--figure is made of the page: with {option}, name its directory with --out");
                Err(Failure::input(fault))
            }
            None => Ok(()),
        }
    }

    /// Refuses a plot that no such page has.
    fn check_plot(&self, names: &[impl AsRef<str>]) -> Result<(), Failure> {
        let Some(wanted) = self.plot.as_ref().filter(|wanted| !is_plot(names, wanted)) else { return Ok(()) };
        let listed: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("`{}`", name.as_ref())).collect();
        let more = names.len().saturating_sub(MOST_NAMES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let fault = format!("--plot: the page has no plot `{wanted}`: expected one of {}{more}", listed.join(", "));
        let number = if listed.iter().any(|name| name.ends_with("-N`")) { "; N is a number from 1 on" } else { "" };
        Err(Failure::input(one_line(&(fault + number))))
    }

    /// Writes the figure from the page in a directory of results.
    pub(crate) fn write_from(&self, directory: &Path) -> Result<(), Failure> {
        self.write_page(&directory.join("report.html"))
    }

    /// Writes the figure from the file of a page.
    pub(crate) fn write_page(&self, page: &Path) -> Result<(), Failure> {
        if !self.is_wanted() {
            return Ok(());
        }
        let html = std::fs::read_to_string(page).map_err(|error| crate::files::unreadable(page, &error))?;
        self.write(&html)
    }

    /// Writes the figure from a page.
    pub(crate) fn write(&self, html: &str) -> Result<(), Failure> {
        match &self.file {
            Some(file) => drawing::write(self, file, html),
            None => Ok(()),
        }
    }
}

#[cfg(feature = "figures")]
mod drawing {
    use std::path::Path;

    use cwnd_figure::{FigureError, Fonts, Format, Length, Look, draw};
    use cwnd_report::page::{libraries, specifications};
    use cwnd_run::files::write_whole;
    use cwnd_text::one_line;

    use super::Figure;
    use crate::failure::Failure;

    pub(super) fn check(figure: &Figure, file: &Path) -> Result<(), Failure> {
        look(figure)?;
        Format::of(file).map_err(|error| refused("--figure", &error))?;
        let directory = file.parent().filter(|directory| !directory.as_os_str().is_empty());
        if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
            let fault = format!("--figure: there is no directory `{}`", directory.display());
            return Err(Failure::input(one_line(&fault)));
        }
        if file.is_dir() {
            return Err(Failure::input(one_line(&format!("--figure: `{}` is a directory", file.display()))));
        }
        Fonts::installed().family(figure.font.as_deref()).map_err(|error| refused("--font", &error))?;
        Ok(())
    }

    pub(super) fn write(figure: &Figure, file: &Path, html: &str) -> Result<(), Failure> {
        let plots = specifications(html);
        let found = match &figure.plot {
            None => plots.first(),
            Some(wanted) => plots.iter().find(|(name, _)| name == wanted),
        };
        let Some((_, specification)) = found else {
            let known = plots.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let fault = match &figure.plot {
                Some(wanted) => format!("--plot: the page has no plot `{wanted}`; it has {known}"),
                None => "--figure: the page has no plot".to_string(),
            };
            return Err(Failure::input(one_line(&fault)));
        };
        let format = Format::of(file).map_err(|error| refused("--figure", &error))?;
        let (vega, vega_lite) = libraries();
        let libraries = cwnd_figure::Libraries { vega, vega_lite };
        let bytes = draw(specification, &look(figure)?, format, libraries)
            .map_err(|error| Failure::run(format!("--figure: {error}")))?;
        let name = file.display().to_string();
        write_whole(file, &bytes)
            .map_err(|error| Failure::run(one_line(&format!("--figure: cannot write `{name}`: {error}"))))?;
        say!("wrote {}", one_line(&name));
        Ok(())
    }

    fn look(figure: &Figure) -> Result<Look, Failure> {
        let length = |flag: &str, text: &Option<String>| {
            text.as_ref().map(|text| text.parse::<Length>().map_err(|error| refused(flag, &error))).transpose()
        };
        let look = Look {
            width: length("--width", &figure.width)?,
            height: length("--height", &figure.height)?,
            font: figure.font.clone(),
            font_size: length("--font-size", &figure.font_size)?,
        };
        look.check().map_err(|(flag, error)| refused(flag, &error))?;
        Ok(look)
    }

    fn refused(flag: &str, error: &FigureError) -> Failure {
        Failure::input(one_line(&format!("{flag}: {error}")))
    }
}

#[cfg(not(feature = "figures"))]
mod drawing {
    use std::path::Path;

    use super::Figure;
    use crate::failure::Failure;

    pub(super) fn check(_: &Figure, _: &Path) -> Result<(), Failure> {
        Err(Failure::input(MISSING.to_string()))
    }

    pub(super) fn write(_: &Figure, _: &Path, _: &str) -> Result<(), Failure> {
        Err(Failure::input(MISSING.to_string()))
    }

    const MISSING: &str = "--figure: this build draws no figures; `cargo install --path crates/cwnd-cli --features figures` makes one that does";
}
