//! What could be written at a place of a program.

mod here;
mod own;

use super::names::{self, Constant, Signature, What};
use super::prelude;
use super::token::KEYWORDS;
use here::Place;
pub(super) use own::comment_above;
use serde::{Deserialize, Serialize};

/// What something that could be written is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ItemKind {
    /// A call of the kernel.
    Call,
    /// A function of the language.
    Function,
    /// A workload of the prelude.
    Workload,
    /// A function of the program.
    Own,
    /// A variable of the program.
    Variable,
    /// A parameter of the function whose arguments are being written.
    Parameter,
    /// A field of what stat and its like give.
    Field,
    /// A flag, an error, a number with a name.
    Constant,
    /// A word of the language.
    Keyword,
}

/// Something that could be written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Item {
    /// What is put in place of the word that has been begun.
    pub text: String,
    /// What it is.
    pub kind: ItemKind,
    /// How it is written, where it takes arguments, and what it does.
    pub help: String,
}

/// What could be written at a place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Completions {
    /// Where the word begins that has been begun, in bytes; it goes up to the cursor.
    pub from: u32,
    /// What it could become: the nearest first.
    pub items: Vec<Item>,
}

fn item(kind: ItemKind, text: &str, help: impl Into<String>) -> Item {
    Item {
        text: text.into(),
        kind,
        help: help.into(),
    }
}

/// What could be written at the cursor (in bytes) of any text: everything that begins with
/// the letters before it, of whatever case. In comments and strings there is nothing.
pub fn complete(text: &str, cursor: usize) -> Completions {
    let place = Place::find(text, cursor);
    let from = u32::try_from(place.from).unwrap_or(u32::MAX);
    let items = if place.silent {
        Vec::new()
    } else if place.field {
        let field = |(name, help): (&str, &str)| item(ItemKind::Field, name, help);
        names::FIELDS.into_iter().map(field).collect()
    } else {
        everything(text, &place)
    };
    let wanted = place.word.to_lowercase();
    let begins = |item: &Item| item.text.to_lowercase().starts_with(&wanted);
    Completions {
        from,
        items: items.into_iter().filter(begins).collect(),
    }
}

fn everything(text: &str, place: &Place<'_>) -> Vec<Item> {
    let own = own::Own::find(text, place.from);
    let mut items = Vec::new();
    if let Some(call) = place.call {
        items.extend(parameters(call, &own));
    }
    items.extend(own.items());
    items.extend(names::signatures().map(known));
    items.extend(prelude::workloads().map(|w| {
        let help = format!("{}: {}", w.written, w.help);
        item(ItemKind::Workload, w.name, help)
    }));
    items.extend(names::constants().map(|(name, value)| {
        let help = match value {
            Constant::Int(n) if n > 9 => format!("{n} = {n:#x}"),
            Constant::Int(n) => n.to_string(),
            Constant::Error(e) => e.to_string(),
        };
        item(ItemKind::Constant, name, help)
    }));
    items.extend(
        KEYWORDS
            .into_iter()
            .map(|word| item(ItemKind::Keyword, word, keyword(word))),
    );
    items
}

fn known(signature: &Signature) -> Item {
    let kind = match signature.what {
        What::Call(_) => ItemKind::Call,
        What::Builtin(_) => ItemKind::Function,
    };
    let help = format!("{}: {}", signature.written(), signature.doc);
    item(kind, signature.name, help)
}

/// Names of arguments: of what is called around the cursor.
fn parameters(call: &str, own: &own::Own<'_>) -> Vec<Item> {
    let named = |(name, written): (&str, String)| item(ItemKind::Parameter, name, written);
    if let Some(signature) = names::signature(call) {
        let params = signature.params.iter();
        return params
            .map(|p| named((p.name, signature.written())))
            .collect();
    }
    if let Some(params) = own.parameters(call) {
        return params.into_iter().map(named).collect();
    }
    let workload = prelude::workloads().find(|w| w.name == call);
    let params = workload.into_iter().flat_map(|w| {
        let written = w.written.clone();
        w.params.into_iter().map(move |p| (p, written.clone()))
    });
    params.map(named).collect()
}

fn keyword(word: &str) -> &'static str {
    match word {
        "if" => "if a { … } else if b { … } else { … }",
        "else" => "What is done where `if` does not hold",
        "while" => "while a { … }: again and again, as long as a holds",
        "for" => "for x in list { … }, for i in range(n) { … }",
        "in" => "x in list: whether it is there",
        "break" => "Leaves the loop",
        "continue" => "Goes on with the loop's next round",
        "fn" => "fn name(a, b = 1) { … return a }",
        "return" => "Ends the function and gives a value",
        "and" => "Both hold",
        "or" => "One of them holds, or both",
        "not" => "It does not hold",
        "true" | "false" => "A truth value",
        "nothing" => "No value",
        "global" => "global a: this function changes the program's variable",
        _ => "Does nothing",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is offered at the bar of a text.
    fn at(text: &str) -> Vec<String> {
        let cursor = text.find('|').unwrap();
        let whole = text.replacen('|', "", 1);
        let items = complete(&whole, cursor).items;
        items.into_iter().map(|i| i.text).collect()
    }

    #[test]
    fn words_are_completed() {
        assert_eq!(at("fsy|"), ["fsync"]);
        assert_eq!(at("open(\"/a\", o_cr|)"), ["O_CREAT"]);
        assert_eq!(at("s = stat(\"/\")\nprint(s.si|)"), ["size"]);
        assert_eq!(at("whi|"), ["while"]);
        assert_eq!(at("seq|"), ["sequential"]);
        assert!(at("|").len() > 150);
    }

    #[test]
    fn nothing_stands_in_comments_strings_and_numbers() {
        for text in [
            "# op|",
            "x = 1 // op|",
            "\"op|\"",
            "print(\"a\\\"op|",
            "4|",
            "x = 0x|",
            "\"{{op|\"",
        ] {
            assert_eq!(at(text), [""; 0], "{text}");
        }
        assert_eq!(at("print(\"{fsy|"), ["fsync"]);
        assert_eq!(at("print(\"\\u{e9} {fsy|}\")"), ["fsync"]);
        assert_eq!(at("print(\"# {'a'} // \" + fsy|"), ["fsync"]);
    }

    #[test]
    fn the_programs_own_names_come_first() {
        let text = "total = 1\nfn totals(tot_a, b) {\n  tot_b = tot|\n}\nfor tot_c in [1] { }\n";
        assert_eq!(at(text), ["tot_a", "tot_b", "tot_c", "total", "totals"]);
        let outside = "fn f(xa) { xb = 1 }\nxc = 1\nx|";
        assert_eq!(at(outside), ["xc"]);
        let help = &complete("# Counts.\nfn mine(a, b = 2) { }\nmi", 35).items[0].help;
        assert_eq!(help, "mine(a, b = 2): Counts.");
    }

    #[test]
    fn arguments_have_names() {
        assert_eq!(at("sequential(\"/a\", blo|)"), ["block"]);
        assert_eq!(at("open(path, mod|)"), ["mode"]);
        assert_eq!(at("fn f(abc) { }\nf(ab|)")[0], "abc");
        assert_eq!(at("f(open(1), ab|)"), ["abs"]);
        let all = complete("sequential(s", 12);
        assert_eq!(all.from, 11);
        assert_eq!(all.items[0].kind, ItemKind::Parameter);
    }

    proptest! {
        #[test]
        fn any_text_and_cursor(text in super::super::any_text(), cursor in any::<prop::sample::Index>(), beyond in 0usize..4) {
            let cursor = cursor.index(text.len() + 1) + beyond;
            let found = complete(&text, cursor);
            let from = found.from as usize;
            prop_assert!(from <= cursor.min(text.len()));
            let word = &text[from..text.floor_char_boundary(cursor)];
            for item in &found.items {
                prop_assert!(item.text.to_lowercase().starts_with(&word.to_lowercase()));
                prop_assert!(!item.help.is_empty());
            }
        }
    }
}
