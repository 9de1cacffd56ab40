//! Names of files made of labels.

/// A name for files: letters and digits stay, everything else is a dash.
pub(crate) fn slug(label: &str) -> String {
    let dashed: String = label.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' }).collect();
    dashed.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_become_file_names() {
        assert_eq!(slug("aimd:a=1, b=1/8"), "aimd-a-1-b-1-8");
        assert_eq!(slug("exp-tcp:gamma=.05"), "exp-tcp-gamma-.05");
    }
}
