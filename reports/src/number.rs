//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 seed`, `2 seeds`: the count with its noun.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = match (count, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) if !noun.ends_with("ay") => format!("{stem}ies"),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", grouped(count))
}

/// An instant [ns] in seconds with `decimals` of them, cut off.
pub fn seconds(ns: u64, decimals: usize) -> String {
    let fraction = format!("{:09}", ns % 1_000_000_000);
    let point = if decimals == 0 { "" } else { "." };
    format!("{}{point}{}s", ns / 1_000_000_000, &fraction[..decimals.min(9)])
}

/// The fewest decimals (0, 3, 6 or 9) with which [`seconds`] shows each of these instants exactly.
pub fn decimals(instants: impl IntoIterator<Item = u64>) -> usize {
    let digits = |ns: u64| match ns {
        _ if ns.is_multiple_of(1_000_000_000) => 0,
        _ if ns.is_multiple_of(1_000_000) => 3,
        _ if ns.is_multiple_of(1_000) => 6,
        _ => 9,
    };
    instants.into_iter().map(digits).max().unwrap_or(0)
}

/// A wall-clock time [s] in one or two units.
pub fn elapsed(seconds: f64) -> String {
    match seconds as u64 {
        0..=9 => format!("{seconds:.2} s"),
        10..=119 => format!("{seconds:.1} s"),
        whole => format!("{} min {} s", whole / 60, whole % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!(
            ["0", "999", "1,000", "1,234,567"],
            [0, 999, 1_000, 1_234_567].map(grouped).each_ref().map(String::as_str)
        );
    }

    #[test]
    fn nouns_agree_with_their_count() {
        assert_eq!(counted(1, "seed"), "1 seed");
        assert_eq!(counted(0, "property"), "0 properties");
        assert_eq!(counted(2_000, "day"), "2,000 days");
    }

    #[test]
    fn instants_are_shown_exactly_with_the_fewest_decimals() {
        let instants = [0, 2_000_000_000, 1_500_000];
        let digits = decimals(instants);
        assert_eq!(instants.map(|ns| seconds(ns, digits)), ["0.000000s", "2.000000s", "0.001500s"]);
        assert_eq!(seconds(3_000_000_000, decimals([3_000_000_000])), "3s");
        assert_eq!(decimals([1]), 9);
    }

    #[test]
    fn long_times_are_told_in_minutes() {
        assert_eq!(elapsed(0.5), "0.50 s");
        assert_eq!(elapsed(61.04), "61.0 s");
        assert_eq!(elapsed(125.9), "2 min 5 s");
    }
}
