// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the language of parameter files, one feature at a time.

use super::*;

/// Writes a tree as text, for readable expectations.
fn shown(text: &str) -> String {
    let tree = parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let items: Vec<String> = tree.items.iter().map(|item| shown_item(text, item)).collect();
    items.join(" ")
}

fn shown_item(text: &str, item: &Item) -> String {
    match item {
        Item::Block(block) => shown_block(text, block),
        Item::Source(file) => format!("<{}>", file.of(text)),
        Item::Instance { names, of } => format!("{}:{}", shown_list(text, names), of.of(text)),
        Item::Topology { below } => shown_list(text, below),
    }
}

fn shown_block(text: &str, block: &Block) -> String {
    let name = block.name.map_or("", |name| name.of(text));
    let parameters = block.parameters.iter();
    let parameters = parameters.map(|p| format!("{}={}", p.name, shown_value(text, &p.value)));
    let parameters: Vec<String> = parameters.collect();
    format!("{}({name}){{{}}}", block.kind.of(text), parameters.join("; "))
}

fn shown_value(text: &str, value: &Value) -> String {
    match value {
        Value::Word(word) => word.of(text).to_owned(),
        Value::Source(file) => format!("<{}>", file.of(text)),
        Value::List(list) => shown_list(text, list),
        Value::Block(block) => shown_block(text, block),
    }
}

fn shown_list(text: &str, list: &List) -> String {
    let values: Vec<String> = list.values.iter().map(|value| shown_value(text, value)).collect();
    format!("[{}]", values.join(" "))
}

fn refusal(text: &str) -> (String, (usize, usize)) {
    let error = parse(text).expect_err("it does not fit the language");
    (error.message.clone(), error.line_and_column(text))
}

#[test]
fn names_have_several_words_and_values_one() {
    let text = "dm_disk Some_Disk { # a comment\n  Number of\tdata surfaces = 18,\n Skew = -0.5 }";
    assert_eq!(shown(text), "dm_disk(Some_Disk){Number of data surfaces=18; Skew=-0.5}");
}

#[test]
fn commas_may_be_missing_or_too_many() {
    let expected = "a(){Seek type=extracted; Full curve=x.seek; list=[1 2 3]; b=c(){d=e}; f=1}";
    for text in [
        "a { Seek type = extracted, Full curve = x.seek, list = [1, 2, 3], b = c { d = e }, f = 1 }",
        "a { Seek type = extracted Full curve = x.seek list = [1 2 3] b = c { d = e } f = 1 }",
        "a {, Seek type = extracted,, Full curve = x.seek; list = [,1,2,,3,], b = c { d = e,}, f = 1, }",
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn blocks_stand_in_values_in_lists_and_with_names() {
    let text = "a { Layout Model = dm_layout_g1 { Zones = [ z { First = 0 } z { First = 1 } ] },\n\
                Model = dm_disk X { n = 1 } }";
    let expected = "a(){Layout Model=dm_layout_g1(){Zones=[z(){First=0} z(){First=1}]}; \
                    Model=dm_disk(X){n=1}}";
    assert_eq!(shown(text), expected);
}

#[test]
fn other_files_are_named_among_items_and_as_values() {
    let text = "source a.diskspecs\nd E { Model = source sub/b.model, source = c }";
    assert_eq!(shown(text), "<a.diskspecs> d(E){Model=<sub/b.model>; source=c}");
}

#[test]
fn components_and_their_topology_are_read() {
    let text = "instantiate [ disk0 .. disk2, x ] as BIG\n\
                topology driver d0 [ bus b0 [ disk disk0 [], disk x [] ] ] # done";
    let expected = "[disk0 .. disk2 x]:BIG [bus b0 [disk disk0 [] disk x []]]";
    assert_eq!(shown(text), expected);
}

#[test]
fn a_list_may_end_the_file_with_its_block() {
    assert_eq!(
        shown("dm_layout_g4 {\nSlips = [ 1, 2\n   ],\nRemaps = [ ]\n}"),
        "dm_layout_g4(){Slips=[1 2]; Remaps=[]}"
    );
    assert_eq!(shown(""), "");
}

#[test]
fn unclosed_blocks_are_reported_at_their_beginning() {
    let (message, place) = refusal("a {\n  b = [ 1, 2");
    assert_eq!((message.as_str(), place), ("the list that begins here does not end", (2, 7)));
    let (message, place) = refusal("a {\n b c { d = 1");
    assert_eq!((message.as_str(), place), ("the parameter `b c` has no value", (2, 2)));
    assert_eq!(refusal("a b {\n c = 1,").0, "the block that begins here does not end");
}

#[test]
fn signs_in_the_wrong_place_are_refused_with_the_place() {
    assert_eq!(refusal("a { b = } }"), ("`}` cannot stand here".to_owned(), (1, 9)));
    assert_eq!(refusal("}"), ("`}` cannot stand here".to_owned(), (1, 1)));
    assert_eq!(refusal("a { b }"), ("the parameter `b` has no value".to_owned(), (1, 5)));
    assert_eq!(refusal("a { b = [ c = d ] }").0, "`=` cannot stand here");
    assert_eq!(refusal("word").0, "the file ends here");
    assert_eq!(refusal("instantiate [ a ] like b").0, "`like` cannot stand here");
}

#[test]
fn nesting_is_limited_before_the_stack_is() {
    for (begin, value) in [("a { b = ", "c { b = "), ("a { b = ", "[")] {
        let text = format!("{begin}{}", value.repeat(1_000_000));
        assert!(refusal(&text).0.contains("nested deeper than 32"), "{value}");
    }
}

#[test]
fn messages_stay_short_whatever_the_text_is() {
    let (message, _) = refusal(&format!("a {{ {} }}", "w\u{7}".repeat(100_000)));
    assert!(message.chars().count() < 200 && !message.contains('\u{7}'), "{message}");
}
