/// Words as the beginning of a sentence.
///
/// ```
/// assert_eq!(cwnd_text::capitalised("mean delay"), "Mean delay");
/// ```
#[must_use]
pub fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
