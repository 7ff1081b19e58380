//! A suite as a tree in which every value knows where it was written.
//!
//! Scales and `--set` change values of the tree before it is read into types, so that one reader
//! checks all of them, and an error found late still points to the place it came from.

use std::ops::Range;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, Result};

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Bytes of the file.
    File(Range<usize>),
    /// An option, as it was given.
    Option(String),
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) data: Data,
}

/// What a value can be.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) place: Place,
    pub(super) node: Node,
}

/// Keys in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table(pub(super) Vec<Entry>);

impl Table {
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.0.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// Put `entry` in the place of one with the same key.
    pub(super) fn set(&mut self, entry: Entry) {
        match self.0.iter_mut().find(|other| other.key == entry.key) {
            Some(other) => *other = entry,
            None => self.0.push(entry),
        }
    }

    /// The value under `key`; `make` is put there where nothing is.
    pub(super) fn entry(&mut self, key: &str, place: &Place, make: Data) -> &mut Node {
        let at = self.0.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
            let node = Node { place: place.clone(), data: make };
            self.0.push(Entry { key: key.to_owned(), place: place.clone(), node });
            self.0.len() - 1
        });
        &mut self.0[at].node
    }
}

impl Node {
    /// What it is, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.data {
            Data::Text(_) => "a text",
            Data::Whole(_) => "a whole number",
            Data::Number(_) => "a number",
            Data::Flag(_) => "true or false",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
        }
    }

    /// The text under `key`, if this is a table that has one.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match &self.data {
            Data::Table(table) => match table.get(key).map(|node| &node.data) {
                Some(Data::Text(text)) => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// The list under `key`; empty if this is no table that has one.
    pub(super) fn list(&self, key: &str) -> &[Self] {
        match &self.data {
            Data::Table(table) => match table.get(key).map(|node| &node.data) {
                Some(Data::List(list)) => list,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// A value that was written at one place. A null is left out, since TOML has none.
    pub(super) fn from_json(value: &Value, place: &Place) -> Self {
        let data = match value {
            Value::Null => Data::Text(String::new()),
            Value::Bool(flag) => Data::Flag(*flag),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => Data::Whole(whole),
                None => Data::Number(number.as_f64().unwrap_or_default()),
            },
            Value::String(text) => Data::Text(text.clone()),
            Value::Array(list) => Data::List(list.iter().map(|item| Self::from_json(item, place)).collect()),
            Value::Object(table) => {
                let entry = |(key, value): (&String, &Value)| Entry {
                    key: key.clone(),
                    place: place.clone(),
                    node: Self::from_json(value, place),
                };
                Data::Table(Table(table.iter().filter(|(_, value)| !value.is_null()).map(entry).collect()))
            }
        };
        Self { place: place.clone(), data }
    }

    /// The value without its places.
    pub(super) fn json(&self) -> Value {
        match &self.data {
            Data::Text(text) => text.as_str().into(),
            Data::Whole(number) => (*number).into(),
            Data::Number(number) => (*number).into(),
            Data::Flag(flag) => (*flag).into(),
            Data::List(list) => list.iter().map(Self::json).collect(),
            Data::Table(table) => {
                table.0.iter().map(|entry| (entry.key.clone(), entry.node.json())).collect()
            }
        }
    }
}

/// The text of a suite, for messages.
#[derive(Clone, Debug)]
pub(super) struct Source {
    file: String,
    text: String,
}

impl Source {
    pub(super) fn new(file: &str, text: &str) -> Self {
        Self { file: file.to_owned(), text: text.to_owned() }
    }

    /// Read the text as TOML.
    pub(super) fn parse(&self) -> Result<Table> {
        let root = DeTable::parse(&self.text).map_err(|error| {
            let end = self.text.len();
            self.error(&Place::File(error.span().unwrap_or(end..end)), error.message())
        })?;
        // Keys come sorted from the parser; the order of writing is that of reports.
        self.table(root.get_ref(), &Place::File)
    }

    /// A value as `--set` takes it: TOML where it is that, else a text.
    pub(super) fn given(option: &str, value: &str) -> Node {
        let place = Place::Option(option.to_owned());
        let parsed = DeValue::parse(value).ok();
        let source = Self::new(option, value);
        let node = parsed.and_then(|value| source.node(&value, &|_| place.clone()).ok());
        node.unwrap_or_else(|| Node { place, data: Data::Text(value.to_owned()) })
    }

    fn table(&self, table: &DeTable, place: &dyn Fn(Range<usize>) -> Place) -> Result<Table> {
        let mut keys: Vec<_> = table.iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue>)| {
            let name: &std::borrow::Cow<str> = key.get_ref();
            let node = self.node(value, place)?;
            Ok(Entry { key: name.to_string(), place: place(key.span()), node })
        };
        keys.into_iter().map(entry).collect::<Result<_>>().map(Table)
    }

    fn node(&self, value: &toml::Spanned<DeValue>, place: &dyn Fn(Range<usize>) -> Place) -> Result<Node> {
        let here = place(value.span());
        let data = match value.get_ref() {
            DeValue::String(text) => Data::Text(text.to_string()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map(Data::Whole)
                .map_err(|_| self.error(&here, "this number is too large"))?,
            DeValue::Float(number) => number
                .as_str()
                .parse()
                .map(Data::Number)
                .map_err(|_| self.error(&here, "this is not a number"))?,
            DeValue::Boolean(flag) => Data::Flag(*flag),
            DeValue::Datetime(_) => return Err(self.error(&here, "no key of a suite is a date or a time")),
            DeValue::Array(list) => {
                Data::List(list.iter().map(|item| self.node(item, place)).collect::<Result<_>>()?)
            }
            DeValue::Table(table) => Data::Table(self.table(table, place)?),
        };
        Ok(Node { place: here, data })
    }

    /// Text of the file at a place.
    pub(super) fn at(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or("")
    }

    /// What is wrong at a place: file, line, column and a caret below it, or the option.
    pub(super) fn error(&self, place: &Place, message: &str) -> Error {
        match place {
            Place::Option(option) => {
                Error::usage(format!("use `{option}`")).because(message.trim_end().to_owned())
            }
            Place::File(span) => {
                let (line, column) = self.line_and_column(span.start);
                let cause = format!("{}\n{}", message.trim_end(), self.snippet(span));
                Error::usage(format!("read {}:{line}:{column}", self.file)).because(cause)
            }
        }
    }

    /// Line and column from 1, the column in characters.
    fn line_and_column(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, before[start..].chars().count() + 1)
    }

    /// The line with carets below the place, as compilers print it.
    fn snippet(&self, span: &Range<usize>) -> String {
        let (line, column) = self.line_and_column(span.start);
        let content = self.text.split('\n').nth(line - 1).unwrap_or("").trim_end_matches('\r');
        let blank = " ".repeat(line.to_string().len());
        let left = content.chars().count().saturating_sub(column - 1);
        let carets = "^".repeat(self.at(span).chars().count().min(left).max(1));
        // A tab stays one, so that the caret stands below its place on every terminal.
        let indent: String =
            content.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let indent = format!("{indent}{}", " ".repeat((column - 1).saturating_sub(indent.chars().count())));
        format!("{blank} |\n{line} | {content}\n{blank} | {indent}{carets}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_file_line_column_and_a_caret() {
        let source = Source::new("a/suite.toml", "x = 1\n\tü = \"10XB\" # no unit\n");
        let error = source.error(&Place::File(12..18), "no size");
        assert_eq!(
            error.to_string(),
            "cannot read a/suite.toml:2:6: no size\n  |\n2 | \tü = \"10XB\" # no unit\n  | \t    ^^^^^^"
        );
    }

    #[test]
    fn a_syntax_error_looks_the_same() {
        let error = Source::new("s.toml", "x = 1\ny = = 2\n").parse().unwrap_err().to_string();
        assert!(error.starts_with("cannot read s.toml:2:5: "), "{error}");
        assert!(error.ends_with("\n  |\n2 | y = = 2\n  |     ^"), "{error}");
        let twice = Source::new("s.toml", "x = 1\nx = 2").parse().unwrap_err().to_string();
        assert!(twice.contains("s.toml:2:1"), "{twice}");
        assert!(Source::new("s.toml", "x = [").parse().unwrap_err().to_string().contains("^"));
    }

    #[test]
    fn keys_keep_the_order_in_which_they_were_written() {
        let table = Source::new("s", "z = 1\na = 2\n[m]\n[b]").parse().unwrap();
        assert_eq!(table.0.iter().map(|entry| entry.key.as_str()).collect::<Vec<_>>(), ["z", "a", "m", "b"]);
    }

    #[test]
    fn a_given_value_is_toml_where_it_is_that_and_else_a_text() {
        assert_eq!(Source::given("--set", "5").data, Data::Whole(5));
        assert_eq!(Source::given("--set", "1_000").data, Data::Whole(1000));
        assert_eq!(Source::given("--set", "-0x10").data, Data::Text("-0x10".into()));
        assert_eq!(Source::given("--set", "0x10").data, Data::Whole(16));
        assert_eq!(Source::given("--set", "1.5").data, Data::Number(1.5));
        assert_eq!(Source::given("--set", "true").data, Data::Flag(true));
        assert_eq!(Source::given("--set", "1GiB").data, Data::Text("1GiB".into()));
        assert_eq!(Source::given("--set", "\"5\"").data, Data::Text("5".into()));
        assert!(matches!(Source::given("--set", "[\"a\"]").data, Data::List(_)));
        assert_eq!(Source::given("--set", "2026-01-01").data, Data::Text("2026-01-01".into()));
        assert_eq!(Source::given("--set", "").data, Data::Text(String::new()));
    }
}
