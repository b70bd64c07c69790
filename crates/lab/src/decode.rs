//! Bytes of a file as text, by the encoding that it names.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How far into a file its encoding is looked for.
const NAMED_WITHIN: usize = 1 << 14;

/// The text of an SGF file: by a mark at its start, by its property CA, else UTF-8, else Latin-1.
pub fn sgf_text(bytes: &[u8]) -> String {
    // Before the property CA: a mark says how the file was saved, and programs that save it leave CA as it was.
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[mark..]).0.into_owned();
    }
    let plain = str::from_utf8(bytes);
    // The file is decoded before it is parsed: in Shift_JIS and Big5 the second byte of a letter may be a backslash
    // or a ], which would escape or end a value.
    if let Some(encoding) = named_encoding(bytes).filter(|encoding| *encoding != UTF_8) {
        let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
        // Editors save as UTF-8 and leave the old name in.
        if !had_errors || plain.is_err() {
            return text.into_owned();
        }
    }
    // FF[4] has Latin-1 where nothing is said, programs of today write UTF-8; text in Latin-1 with letters beyond
    // ASCII is hardly ever valid UTF-8.
    plain.map_or_else(|_| WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned(), str::to_string)
}

/// The encoding of the first property CA, of those that the standards of the web know.
fn named_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    // CA stands in the first node. Further down the same letters are likely to be a player's words.
    let head = &bytes[..bytes.len().min(NAMED_WITHIN)];
    let mut at = 0;
    while let Some(found) = head[at..].windows(2).position(|pair| pair == b"CA") {
        let begin = at + found;
        at = begin + 2;
        // `PCA[x]` is another property, whose name ends in the same letters.
        let is_longer_name = begin > 0 && head[begin - 1].is_ascii_uppercase();
        let after = head[at..].trim_ascii_start();
        if let (false, Some(value)) = (is_longer_name, after.strip_prefix(b"[")) {
            let end = value.iter().position(|&byte| byte == b']')?;
            return Encoding::for_label(value[..end].trim_ascii());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_decoded_by_the_name_of_their_encoding() {
        let japanese = b"(;GM[1]CA[Shift_JIS]GN[\x94\xad\x95\x5c])";
        assert_eq!(sgf_text(japanese), "(;GM[1]CA[Shift_JIS]GN[発表])");
        let chinese = encoding_rs::GBK.encode("(;CA[GB2312]PB[誠]C[俓])").0.into_owned();
        assert_eq!(sgf_text(&chinese), "(;CA[GB2312]PB[誠]C[俓])");
        let taiwanese = encoding_rs::BIG5.encode("(;CA[Big5]PB[許功蓋])").0.into_owned();
        assert!(taiwanese.contains(&b'\\'));
        assert_eq!(sgf_text(&taiwanese), "(;CA[Big5]PB[許功蓋])");
    }

    #[test]
    fn others_are_utf8_or_latin1() {
        assert_eq!(sgf_text("(;PB[é])".as_bytes()), "(;PB[é])");
        assert_eq!(sgf_text(b"(;PB[\xe9])"), "(;PB[é])");
        assert_eq!(sgf_text(b"(;CA[UTF-8]PB[\xe9])"), "(;CA[UTF-8]PB[é])");
        assert_eq!(sgf_text("(;CA[GB2312]PB[日 x])".as_bytes()), "(;CA[GB2312]PB[日 x])");
        assert_eq!(sgf_text(b"\xef\xbb\xbf(;PB[a])"), "(;PB[a])");
        assert_eq!(sgf_text("(;PCA[x]CA [utf-8]PB[ü])".as_bytes()), "(;PCA[x]CA [utf-8]PB[ü])");
    }
}
