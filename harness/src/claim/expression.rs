//! The expression of a claim: read once, checked by the suite, evaluated on results.
//!
//! From the loosest to the tightest: `and`; one comparison; `+` and `-`; `*` and `/`. Brackets
//! hold either a condition or a number, so both are read by one function and told apart after.

use std::ops::Range;

use super::SyntaxError;
use super::token::{Token, tokens};

/// A figure: of a step or of the whole case, on one file system.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Name of the step; the whole case without one.
    pub step: Option<String>,
    /// Key of the metric or fact.
    pub metric: String,
    /// Id of the configuration.
    pub filesystem: String,
    /// Place in the expression, in bytes.
    pub place: Range<usize>,
}

/// Something with a number.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// Itself.
    Number(f64),
    /// A figure of the run.
    Term(Term),
    /// Two with an operator: `*`, `/`, `+` or `-`.
    Binary(Box<Quantity>, &'static str, Box<Quantity>),
}

/// Something that holds or does not.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Two with a comparison: `<`, `>`, `<=` or `>=`.
    Compare(Quantity, &'static str, Quantity),
    /// The first differs from the second by at most so many percent of the second.
    Near(Quantity, Quantity, f64),
    /// Each of them.
    All(Vec<Condition>),
}

/// Step and metric that a bare id stands for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// Name of the step.
    pub step: Option<&'a str>,
    /// Key of the metric.
    pub metric: Option<&'a str>,
}

impl Quantity {
    /// Every figure in it, in order.
    #[must_use]
    pub fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Number(_) => vec![],
            Self::Term(term) => vec![term],
            Self::Binary(left, _, right) => [left.terms(), right.terms()].concat(),
        }
    }
}

impl Condition {
    /// Read a condition.
    ///
    /// # Errors
    ///
    /// What does not fit, with its place in `text`.
    pub fn parse(text: &str, context: Context) -> Result<Self, SyntaxError> {
        let mut parser = Parser { tokens: tokens(text)?, at: 0, end: text.len(), context, depth: 0 };
        let (part, place) = parser.all()?;
        parser.nothing_more()?;
        part.condition(place)
    }

    /// The comparisons it is made of, in order.
    #[must_use]
    pub fn comparisons(&self) -> Vec<&Self> {
        match self {
            Self::All(parts) => parts.iter().flat_map(Self::comparisons).collect(),
            _ => vec![self],
        }
    }

    /// Every figure in it, in order.
    #[must_use]
    pub fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Compare(left, _, right) | Self::Near(left, right, _) => {
                [left.terms(), right.terms()].concat()
            }
            Self::All(parts) => parts.iter().flat_map(Self::terms).collect(),
        }
    }
}

/// What brackets may hold.
enum Part {
    Quantity(Quantity),
    Condition(Condition),
}

type Placed = (Part, Range<usize>);

impl Part {
    fn quantity(self, place: Range<usize>) -> Result<Quantity, SyntaxError> {
        match self {
            Self::Quantity(quantity) => Ok(quantity),
            Self::Condition(_) => Err(SyntaxError::new(place, "a number is needed here, not a comparison")),
        }
    }

    fn condition(self, place: Range<usize>) -> Result<Condition, SyntaxError> {
        match self {
            Self::Condition(condition) => Ok(condition),
            Self::Quantity(_) => {
                Err(SyntaxError::new(place, "a comparison is needed here, such as `btrfs < 0.1 * ext4`"))
            }
        }
    }
}

struct Parser<'a> {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    end: usize,
    context: Context<'a>,
    /// Brackets that are open.
    depth: usize,
}

/// Brackets in brackets, at most: a claim must not exhaust the stack.
const DEEPEST: usize = 64;

impl Parser<'_> {
    fn here(&self) -> Range<usize> {
        self.tokens.get(self.at).map_or(self.end..self.end, |(_, place)| place.clone())
    }

    fn fail<T>(&self, message: &str) -> Result<T, SyntaxError> {
        Err(SyntaxError::new(self.here(), message))
    }

    fn next_sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        match self.tokens.get(self.at) {
            Some((Token::Sign(sign), _)) if signs.contains(sign) => {
                self.at += 1;
                Some(sign)
            }
            _ => None,
        }
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), SyntaxError> {
        match self.next_sign(&[sign]) {
            Some(_) => Ok(()),
            None => self.fail(&format!("`{sign}` is missing here")),
        }
    }

    fn keyword(&mut self, word: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some((Token::Word(here), _)) if here == word);
        self.at += usize::from(found);
        found
    }

    fn nothing_more(&self) -> Result<(), SyntaxError> {
        match self.tokens.get(self.at) {
            None => Ok(()),
            Some(_) => self.fail("`and` or the end of the claim is expected here"),
        }
    }

    fn all(&mut self) -> Result<Placed, SyntaxError> {
        let (first, place) = self.comparison()?;
        if !self.keyword("and") {
            return Ok((first, place));
        }
        let start = place.start;
        let mut parts = vec![first.condition(place)?];
        loop {
            let (part, place) = self.comparison()?;
            let end = place.end;
            parts.push(part.condition(place)?);
            if !self.keyword("and") {
                return Ok((Part::Condition(Condition::All(parts)), start..end));
            }
        }
    }

    fn comparison(&mut self) -> Result<Placed, SyntaxError> {
        let (left, left_place) = self.binary(0)?;
        let Some(sign) = self.next_sign(&["<", ">", "<=", ">=", "~"]) else {
            return Ok((left, left_place));
        };
        let left = left.quantity(left_place.clone())?;
        let (right, place) = self.binary(0)?;
        let whole = left_place.start..place.end;
        let right = right.quantity(place)?;
        let condition = match sign {
            "~" => Condition::Near(left, right, self.within()?),
            _ => Condition::Compare(left, sign, right),
        };
        Ok((Part::Condition(condition), whole))
    }

    fn within(&mut self) -> Result<f64, SyntaxError> {
        if !self.keyword("within") {
            return self.fail("`~` needs `within N%` after the second number");
        }
        let Some((Token::Number(percent), _)) = self.tokens.get(self.at) else {
            return self.fail("a number of percent is missing here");
        };
        let percent = *percent;
        self.at += 1;
        self.expect("%")?;
        Ok(percent)
    }

    /// Level 0 is sums, level 1 products.
    fn binary(&mut self, level: usize) -> Result<Placed, SyntaxError> {
        const LEVELS: [&[&str]; 2] = [&["+", "-"], &["*", "/"]];
        let Some(signs) = LEVELS.get(level) else { return self.atom() };
        let (mut left, mut place) = self.binary(level + 1)?;
        while let Some(sign) = self.next_sign(signs) {
            let first = left.quantity(place.clone())?;
            let (right, right_place) = self.binary(level + 1)?;
            place.end = right_place.end;
            let second = right.quantity(right_place)?;
            left = Part::Quantity(Quantity::Binary(Box::new(first), sign, Box::new(second)));
        }
        Ok((left, place))
    }

    fn atom(&mut self) -> Result<Placed, SyntaxError> {
        let place = self.here();
        match self.tokens.get(self.at).map(|(token, _)| token.clone()) {
            Some(Token::Number(value)) => {
                self.at += 1;
                Ok((Part::Quantity(Quantity::Number(value)), place))
            }
            Some(Token::Word(word)) if word != "and" && word != "within" => {
                self.at += 1;
                let term = self.term(&word, place.clone())?;
                let place = place.start..term.place.end;
                Ok((Part::Quantity(Quantity::Term(term)), place))
            }
            Some(Token::Sign("(")) => {
                if self.depth == DEEPEST {
                    return self.fail("brackets are nested too deep here");
                }
                (self.at, self.depth) = (self.at + 1, self.depth + 1);
                let (part, _) = self.all()?;
                self.depth -= 1;
                let end = self.here().end;
                self.expect(")")?;
                Ok((part, place.start..end))
            }
            _ => {
                self.fail("a number, `STEP.METRIC[FILE SYSTEM]` or the id of a file system is expected here")
            }
        }
    }

    /// `STEP.METRIC[ID]`, `METRIC[ID]`, or a bare id where the claim has a metric.
    fn term(&mut self, word: &str, mut place: Range<usize>) -> Result<Term, SyntaxError> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        if self.next_sign(&["["]).is_none() {
            let Some(metric) = owned(self.context.metric) else {
                let message =
                    format!("`{word}` alone needs `metric` in the claim; or write STEP.METRIC[{word}]");
                return Err(SyntaxError::new(place, message));
            };
            return Ok(Term { step: owned(self.context.step), metric, filesystem: word.to_owned(), place });
        }
        let Some((Token::Word(filesystem), _)) = self.tokens.get(self.at).cloned() else {
            return self.fail("the id of a file system is expected here");
        };
        self.at += 1;
        place.end = self.here().end;
        self.expect("]")?;
        let (step, metric) = match word.split_once('.') {
            Some((step, metric)) => (Some(step), metric),
            None => (self.context.step, word),
        };
        Ok(Term { step: owned(step), metric: metric.to_owned(), filesystem, place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Context = Context { step: Some("small-files"), metric: Some("space_used_bytes") };

    fn error(text: &str) -> (Range<usize>, String) {
        let error = Condition::parse(text, Context::default()).unwrap_err();
        (error.place, error.message)
    }

    #[test]
    fn a_bare_id_stands_for_step_and_metric_of_the_claim() {
        let bare = Condition::parse("btrfs < 0.1 * ext4", CONTEXT).unwrap();
        let (terms, longer) = (bare.terms(), "small-files.space_used_bytes[btrfs] < 1");
        assert_eq!(terms[0].step.as_deref(), Some("small-files"));
        assert_eq!(terms[1].filesystem, "ext4");
        let spelled = Condition::parse(longer, Context::default()).unwrap();
        assert_eq!(spelled.terms()[0].metric, terms[0].metric);
        assert_eq!(spelled.terms()[0].place, 0..35);
    }

    #[test]
    fn a_product_binds_tighter_than_a_sum_and_brackets_tighter_still() {
        let Condition::Compare(left, "<", right) =
            Condition::parse("1 + 2 * 3 < (1 + 2) * 3", CONTEXT).unwrap()
        else {
            panic!("not a comparison")
        };
        assert!(matches!(left, Quantity::Binary(_, "+", _)));
        assert!(matches!(right, Quantity::Binary(_, "*", _)));
    }

    #[test]
    fn brackets_are_refused_where_they_are_too_deep() {
        let nested = |depth: usize| format!("{}1{} < 2", "(".repeat(depth), ")".repeat(depth));
        Condition::parse(&nested(DEEPEST), Context::default()).unwrap();
        for depth in [DEEPEST + 1, 100_000] {
            let (place, message) = error(&nested(depth));
            assert_eq!(place, DEEPEST..DEEPEST + 1);
            assert!(message.contains("too deep"), "{message}");
        }
    }

    #[test]
    fn conditions_are_joined_by_and_with_brackets_or_without() {
        let condition =
            Condition::parse("(a < b and b <= c) and (a ~ c within 5%) and (a + 1) > 2", CONTEXT).unwrap();
        assert_eq!(condition.comparisons().len(), 4);
        assert!(matches!(condition.comparisons()[2], Condition::Near(_, _, percent) if *percent == 5.0));
    }

    #[test]
    fn a_metric_without_a_step_is_one_of_the_case() {
        let condition = Condition::parse("mkfs_s[ext4] < mkfs_s[btrfs]", Context::default()).unwrap();
        assert_eq!(condition.terms()[0].step, None);
        assert_eq!(condition.terms()[0].metric, "mkfs_s");
    }

    #[test]
    fn what_does_not_fit_is_told_with_its_place() {
        assert_eq!(error("s.m[a] <").0, 8..8);
        assert_eq!(error("s.m[a] < 1 2").0, 11..12);
        assert_eq!(error("s.m[a < 1").0, 6..7);
        assert_eq!(error("a < 1").0, 0..1);
        assert_eq!(error("s.m[a] + 1").0, 0..10);
        assert_eq!(error("(1 < 2) * 3 < 4").0, 0..7);
        assert_eq!(error("1 < 2 < 3").0, 6..7);
        assert_eq!(error("1 ~ 2").0, 5..5);
        assert_eq!(error("1 ~ 2 within 5").0, 14..14);
        assert_eq!(error("").0, 0..0);
        assert!(error("a < 1").1.contains("STEP.METRIC[a]"));
    }

    #[test]
    fn no_text_makes_the_reader_panic() {
        let whole = "(small-files.synced_s[ext4#2] - 1.5) * 2 ~ é b within 5% and a <= b";
        for end in (0..=whole.len()).filter(|end| whole.is_char_boundary(*end)) {
            let error = Condition::parse(&whole[..end], CONTEXT).unwrap_err();
            assert!(error.place.end <= end && error.place.start <= error.place.end, "{end}: {error:?}");
        }
    }
}
