//! Numbers as C's `atoi` reads them on 64-bit Linux, and what that does to what people write.

use super::quoted;

/// A number, and how it came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    /// What PostMark gets.
    pub value: i32,
    /// What was written, without the spaces around it.
    written: &'a str,
    /// There was a digit.
    digits: bool,
    /// The value needs more than 32 bits.
    cut: bool,
    /// What follows the last digit.
    rest: &'a str,
}

impl<'a> Number<'a> {
    /// White space and one sign are skipped, then digits are taken until something else comes. C
    /// reads 64 bits and stays at their ends; `atoi` returns the lower 32.
    pub fn read(text: &'a str) -> Self {
        let written = text.trim_matches(is_space);
        let unsigned = written.strip_prefix(['+', '-']).unwrap_or(written);
        let end = unsigned.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(unsigned.len());
        let (digits, rest) = unsigned.split_at(end);
        let size =
            digits.bytes().fold(0i128, |sum, digit| (sum * 10 + i128::from(digit - b'0')).min(1 << 64));
        let signed = if written.starts_with('-') { -size } else { size };
        let value = low_half(signed.clamp(i64::MIN.into(), i64::MAX.into()));
        Self { value, written, digits: !digits.is_empty(), cut: i128::from(value) != signed, rest }
    }

    /// What people would not expect of this, as half a sentence.
    pub fn surprise(&self) -> Option<String> {
        let written = quoted(self.written);
        if self.written.is_empty() {
            return Some("a missing number is read as 0".into());
        }
        if !self.digits {
            return Some(format!("{written} is no number, and is read as 0"));
        }
        if self.cut {
            return Some(format!("{written} is cut to 32 bits, which makes it {}", self.value));
        }
        let why = match self.meant() {
            _ if self.rest.is_empty() => return None,
            Some((meant, why)) => format!("{why}; {meant} was probably meant"),
            None => "what follows the digits is ignored".into(),
        };
        Some(format!("{written} is read as {}: {why}", self.value))
    }

    /// The number that someone who writes units or hexadecimal digits has in mind.
    fn meant(&self) -> Option<(i64, &'static str)> {
        let rest = self.rest.to_ascii_lowercase();
        if let Some(hexadecimal) = rest.strip_prefix('x').filter(|_| self.value == 0) {
            let meant = i64::from_str_radix(hexadecimal, 16).ok()?;
            return Some((meant, "hexadecimal numbers are not known"));
        }
        let power = match rest.trim_start_matches(is_space) {
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            _ => return None,
        };
        Some((i64::from(self.value) << power, "there are no units"))
    }
}

/// As C's `isspace` sees it.
pub fn is_space(letter: char) -> bool {
    letter.is_ascii_whitespace() || letter == '\u{b}'
}

#[expect(clippy::cast_possible_truncation, reason = "the return value of `atoi` is cut")]
fn low_half(value: i128) -> i32 {
    value as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `set number` and `show` of PostMark 1.53 have them; -1 and 0 are what glibc makes of
    /// the 64-bit ends.
    #[test]
    fn numbers_are_read_as_atoi_does() {
        let table = [
            ("10k", 10),
            ("0x10", 0),
            ("+5", 5),
            ("-5", -5),
            ("+-5", 0),
            ("++6", 0),
            ("+07", 7),
            ("08 ", 8),
            ("\u{b}\t 8", 8),
            ("- 5", 0),
            ("", 0),
            ("x", 0),
            ("1e1", 1),
            ("-1x", -1),
            ("4294967316", 20),
            ("2147483648", i32::MIN),
            ("4096 bytes", 4096),
            ("99999999999999999999", -1),
            ("-99999999999999999999", 0),
        ];
        for (text, value) in table {
            assert_eq!(Number::read(text).value, value, "{text:?}");
        }
        assert_eq!(Number::read(&"9".repeat(250)).value, -1);
    }

    #[test]
    fn what_people_would_not_expect_of_a_number_is_said() {
        let table = [
            ("10k", "`10k` is read as 10: there are no units; 10240 was probably meant"),
            ("2 MiB", "`2 MiB` is read as 2: there are no units; 2097152 was probably meant"),
            ("0x10", "`0x10` is read as 0: hexadecimal numbers are not known; 16 was probably meant"),
            ("1e6", "`1e6` is read as 1: what follows the digits is ignored"),
            ("4294967316", "`4294967316` is cut to 32 bits, which makes it 20"),
            ("x", "`x` is no number, and is read as 0"),
            (" ", "a missing number is read as 0"),
        ];
        for (text, said) in table {
            assert_eq!(Number::read(text).surprise().as_deref(), Some(said));
        }
        for plain in ["5", " 5", "5 ", "5\r", "+5", "-1", "2147483647"] {
            assert_eq!(Number::read(plain).surprise(), None, "{plain:?}");
        }
    }
}
