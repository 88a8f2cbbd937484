//! EDN, as Jepsen writes histories: one vector or list of maps, or maps one after the other.
//!
//! Read by hand, without recursion: the packages for EDN lose the lines and fall over deep nesting.

use seedbed_model::history::Value;

use super::events::{Event, Fault, NEMESIS, PROCESS, Type, shown};

/// Deeper nesting is refused: no history has it.
const DEPTH_MAX: usize = 64;

/// A form as it is read. What a history has no use for (characters, tagged forms, numbers that are not whole) is kept
/// as its text, and refused only where it is a value.
#[derive(Debug, Clone, PartialEq)]
enum Form {
    Value(Value),
    Keyword(String),
    Other(String),
    List(Vec<Form>),
    /// Keys and values in turn.
    Map(Vec<Form>, usize),
}

/// Reads the events. Those of `:nemesis` are skipped, but counted.
///
/// # Errors
/// On the first line that is no EDN, or a map that is no event.
pub(super) fn read(text: &str) -> Result<Vec<Event>, Fault> {
    let mut forms = Reader::new(text).all()?;
    if let [Form::List(events)] = forms.as_mut_slice() {
        forms = std::mem::take(events);
    }
    let mut events = Vec::new();
    for (position, form) in forms.into_iter().enumerate() {
        let Form::Map(entries, line) = form else {
            return Err(Fault::new(0, "a history is a vector or list of maps; something else is in it"));
        };
        let event = event(&entries, line, position as u64).map_err(|why| Fault::new(line, why))?;
        events.extend(event);
    }
    Ok(events)
}

/// Reads one value, from a text of one line.
pub(crate) fn one(text: &str) -> Result<Value, String> {
    let mut forms = Reader::new(text).all().map_err(|fault| fault.why)?;
    match (forms.pop(), forms.is_empty()) {
        (Some(form), true) => value(&form),
        _ => Err(format!("{} is not one value", shown(text))),
    }
}

fn event(entries: &[Form], line: usize, position: u64) -> Result<Option<Event>, String> {
    let field = |name: &str| {
        let is_it = |pair: &&[Form]| matches!(&pair[0], Form::Keyword(word) if word == name);
        entries.chunks_exact(2).find(is_it).map(|pair| &pair[1])
    };
    let word = |name: &str| match field(name) {
        Some(Form::Keyword(word) | Form::Value(Value::Text(word))) => Ok(word.clone()),
        Some(_) => Err(format!("`:{name}` is no keyword")),
        None => Err(format!("`:{name}` is missing; an event has :process, :type, :f and :value")),
    };
    let process = match field("process") {
        Some(Form::Value(Value::Integer(number))) => {
            u64::try_from(*number).map_err(|_| format!("`:process` is {number}; a number from 0 is wanted"))?
        }
        Some(Form::Other(text)) => return Err(format!("`:process`: {}", other(text))),
        Some(Form::Keyword(word) | Form::Value(Value::Text(word))) if word == NEMESIS => return Ok(None),
        Some(Form::Keyword(word)) => return Err(format!("`:process` is :{word}; {PROCESS}")),
        Some(Form::Value(found)) => return Err(format!("`:process` is {found}; {PROCESS}")),
        Some(_) => return Err(format!("`:process` is a collection; {PROCESS}")),
        None => return Err("`:process` is missing; an event has :process, :type, :f and :value".into()),
    };
    let kind = Type::parse(&word("type")?)?;
    let key = field("key").map(value).transpose()?;
    // What is said of a failure or a timeout is no value.
    let value = match (kind, field("value")) {
        (Type::Invoke | Type::Ok, Some(form)) => value(form)?,
        _ => Value::Nil,
    };
    Ok(Some(Event { line, process, kind, name: word("f")?, key, value, position }))
}

/// Nests no deeper than [`DEPTH_MAX`].
fn value(form: &Form) -> Result<Value, String> {
    match form {
        Form::Value(value) => Ok(value.clone()),
        Form::Keyword(word) => Ok(Value::Text(word.clone())),
        Form::List(items) => items.iter().map(value).collect::<Result<_, _>>().map(Value::List),
        Form::Map(..) => Err("a map is no value; nil, a number, a text or a list is wanted".into()),
        Form::Other(text) => Err(other(text)),
    }
}

fn other(text: &str) -> String {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).trim_end_matches('N');
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("{} is not a whole number of 64 bits", shown(text));
    }
    format!("{} is no value; nil, a whole number, a text or a list is wanted", shown(text))
}

/// A form that is open: its closing sign, the line it begins on, what is in it.
struct Open {
    closing: char,
    line: usize,
    items: Vec<Form>,
    /// Whether the form before it was `#tag` or `#_`: how many forms are swallowed.
    swallow: Vec<String>,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Reader { text, at: 0, line: 1 }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let found = self.peek()?;
        self.at += found.len_utf8();
        self.line += usize::from(found == '\n');
        Some(found)
    }

    /// Past white space, commas and comments.
    fn skip(&mut self) {
        while let Some(sign) = self.peek() {
            match sign {
                ';' => {
                    while self.peek().is_some_and(|sign| sign != '\n') {
                        self.next();
                    }
                }
                ',' => drop(self.next()),
                sign if sign.is_whitespace() => drop(self.next()),
                _ => return,
            }
        }
    }

    /// Everything that stands at the top.
    fn all(mut self) -> Result<Vec<Form>, Fault> {
        let top = Open { closing: '\0', line: 1, items: Vec::new(), swallow: Vec::new() };
        let mut open = vec![top];
        loop {
            self.skip();
            let line = self.line;
            let Some(sign) = self.next() else { break };
            if let Some(closing) = closing_of(sign, self.peek()) {
                if sign == '#' {
                    self.next();
                }
                if open.len() > DEPTH_MAX {
                    return Err(Fault::new(line, format!("lists nest deeper than {DEPTH_MAX}")));
                }
                open.push(Open { closing, line, items: Vec::new(), swallow: Vec::new() });
                continue;
            }
            let form = match sign {
                ')' | ']' | '}' => self.close(&mut open, sign, line)?,
                '"' => self.string(line)?,
                '#' => {
                    let tag = self.token(sign);
                    innermost(&mut open).swallow.push(tag);
                    continue;
                }
                '\\' => {
                    let first = self.next().unwrap_or('\\');
                    Form::Other(format!("\\{}", self.token(first)))
                }
                _ => atom(self.token(sign)),
            };
            put(innermost(&mut open), form);
        }
        match open.pop() {
            Some(top) if open.is_empty() => Ok(top.items),
            Some(unclosed) => Err(Fault::new(
                self.line,
                format!("the file ends, but `{}` is missing for line {}", unclosed.closing, unclosed.line),
            )),
            None => Ok(Vec::new()),
        }
    }

    fn close(&self, open: &mut Vec<Open>, sign: char, line: usize) -> Result<Form, Fault> {
        let closed = open.pop().filter(|closed| closed.closing == sign);
        let Some(closed) = closed.filter(|_| !open.is_empty()) else {
            return Err(Fault::new(line, format!("`{sign}` closes nothing that is open here")));
        };
        match sign {
            '}' if !closed.items.len().is_multiple_of(2) => {
                Err(Fault::new(closed.line, "a map has a value for each key; one is missing"))
            }
            '}' => Ok(Form::Map(closed.items, closed.line)),
            _ => Ok(Form::List(closed.items)),
        }
    }

    fn string(&mut self, line: usize) -> Result<Form, Fault> {
        let mut text = String::new();
        loop {
            match self.next() {
                Some('"') => return Ok(Form::Value(Value::Text(text))),
                Some('\\') => text.push(match self.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some(sign) => sign,
                    None => '\\',
                }),
                Some(sign) => text.push(sign),
                None => return Err(Fault::new(line, "a text begins and never ends; `\"` is missing")),
            }
        }
    }

    /// From `first`, which is read, to the next white space or bracket.
    fn token(&mut self, first: char) -> String {
        let mut token = String::from(first);
        let is_end = |sign: char| sign.is_whitespace() || ",;\"()[]{}".contains(sign);
        while let Some(sign) = self.peek().filter(|sign| !is_end(*sign)) {
            token.push(sign);
            self.next();
        }
        token
    }
}

/// The sign that closes what `sign` opens; `#{` is a set.
fn closing_of(sign: char, next: Option<char>) -> Option<char> {
    match (sign, next) {
        ('(', _) => Some(')'),
        ('[', _) => Some(']'),
        ('{', _) => Some('}'),
        ('#', Some('{')) => Some('}'),
        _ => None,
    }
}

/// What is open and innermost: the top is never closed.
fn innermost(open: &mut [Open]) -> &mut Open {
    let last = open.len() - 1;
    &mut open[last]
}

/// Puts a form where it belongs. After `#_` it is swallowed, after another tag it is something that is no value.
fn put(open: &mut Open, form: Form) {
    match open.swallow.pop() {
        None => open.items.push(form),
        Some(tag) if tag == "#_" => {}
        // Jepsen's own records of maps are maps.
        Some(_) if matches!(form, Form::Map(..)) => open.items.push(form),
        Some(tag) => open.items.push(Form::Other(tag)),
    }
}

fn atom(token: String) -> Form {
    if let Some(word) = token.strip_prefix(':') {
        return Form::Keyword(word.to_owned());
    }
    match token.as_str() {
        "nil" => Form::Value(Value::Nil),
        "true" => Form::Value(Value::Bool(true)),
        "false" => Form::Value(Value::Bool(false)),
        // An N behind it says that it may be long, not that it is.
        number => match number.strip_suffix('N').unwrap_or(number).parse() {
            Ok(number) => Form::Value(Value::Integer(number)),
            Err(_) => Form::Other(token),
        },
    }
}
