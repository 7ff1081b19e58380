//! A command line on several lines, broken as a shell reads it, so that it can be copied.

use crate::report::human::columns;

/// Words are never broken here: a command must stay what it is.
pub(super) fn lines_of(command: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts_of(command) {
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(&part) + 2 <= room => {
                line.push(' ');
                line.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    lines
}

/// Words; an option stays beside its value.
fn parts_of(command: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in words_of(command) {
        match parts.last_mut() {
            Some(option) if is_option(option) && !word.starts_with('-') => {
                option.push(' ');
                option.push_str(word);
            }
            _ => parts.push(word.to_owned()),
        }
    }
    parts
}

/// One that has no value yet.
fn is_option(part: &str) -> bool {
    part.len() > 2 && part.starts_with("--") && !part.contains([' ', '='])
}

/// Blanks in quotes part no words.
fn words_of(command: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    command.split(move |sign| match (quote, sign) {
        (None, ' ') => true,
        (None, '\'' | '"') => {
            quote = Some(sign);
            false
        }
        (Some(open), sign) if sign == open => {
            quote = None;
            false
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_stays_on_one_line() {
        assert_eq!(lines_of("fsduel exec -- sh -c 'dd of=a; rm a'", 10).last().unwrap(), "'dd of=a; rm a'");
    }

    #[test]
    fn a_command_breaks_between_words_only_and_not_before_a_value() {
        let lines = lines_of("fsduel run linux-magazin-2010 --scale quick --seed 2010", 30);
        assert_eq!(lines, ["fsduel run", "linux-magazin-2010", "--scale quick --seed 2010"]);
    }
}
