//! Names of files made of labels.

/// A name for files: letters and digits stay, everything else becomes a dash. A name that is too long for file systems loses its end.
pub(crate) fn slug(label: &str) -> String {
    let dashed: String = label.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    let name = dashed.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    name.chars().take(LONGEST).collect()
}

/// A name for each label. Of labels that differ in dashes only, such as `cut=w*2` and `cut=w/2`, the later ones are numbered.
pub(crate) fn slugs<'a>(labels: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for label in labels {
        let name = slug(label);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

/// Two of these and an ending are below the 255 bytes of a name on Linux.
const LONGEST: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_file_names() {
        assert_eq!(slug("aimd:a=1, b=1/8"), "aimd-a-1-b-1-8");
        assert_eq!(slug("exp-tcp:gamma=.05"), "exp-tcp-gamma-.05");
        assert_eq!(slug(&"rule".repeat(300)).len(), LONGEST);
    }

    #[test]
    fn names_of_files_are_unique() {
        let labels = ["rule:cut=w/2", "rule:cut=w*2", "reno", "rule:cut=w-2"];
        assert_eq!(slugs(labels), ["rule-cut-w-2", "rule-cut-w-2-2", "reno", "rule-cut-w-2-3"]);
    }
}
