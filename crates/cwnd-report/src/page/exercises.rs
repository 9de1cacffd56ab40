//! The page of a site with exercises: a text whose presets are links that run them.

use askama::Template;
use cwnd_run::VERSION;
use cwnd_run::scenario::Document;
use pulldown_cmark::{Event, LinkType, Parser, Tag, TagEnd, html};

use super::assets::render;
use super::link::Link;
use crate::plot::colour::Palette;
use crate::plot::paper::palette;

/// The page of `exercises`, a text in Markdown. Where the title of one of `presets` is emphasised there, it is a link that runs the preset on
/// the page `index.html` of its directory. `others` are further pages: file and title.
#[must_use]
pub fn exercises_html(exercises: &str, presets: &[Document], others: &[(&str, &str)]) -> String {
    let mut events: Vec<Event<'_>> = Parser::new(exercises).collect();
    for at in 1..events.len().saturating_sub(1) {
        let (Event::Start(Tag::Emphasis), Event::Text(title)) = (&events[at - 1], &events[at]) else { continue };
        let preset = presets.iter().find(|preset| preset.title.as_deref() == Some(&**title));
        let Some(link) = preset.and_then(|preset| Link::of(preset, false, None)) else { continue };
        let dest_url = format!("index.html{}", link.fragment).into();
        events[at - 1] =
            Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, title: "".into(), id: "".into() });
        events[at + 1] = Event::End(TagEnd::Link);
    }
    let mut text = String::new();
    html::push_html(&mut text, events.into_iter());
    render(&Exercises { title: "Exercises", palette: palette(), revision: VERSION, others, text: &text })
}

#[derive(Template)]
#[template(path = "exercises.html")]
struct Exercises<'a> {
    title: &'a str,
    palette: Palette,
    revision: &'a str,
    others: &'a [(&'a str, &'a str)],
    text: &'a str,
}
