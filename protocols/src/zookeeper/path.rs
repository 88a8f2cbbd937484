//! Paths of znodes, as the real server (3.8, `PathUtils`, `PrepRequestProcessor`) takes and refuses them.

/// The node that always is.
pub const ROOT: &str = "/";

/// Nodes of the real server's own, which nobody deletes. A tree here has none but the root; the names are refused all the same.
const SPECIAL: [&str; 4] = [ROOT, "/zookeeper", "/zookeeper/quota", "/zookeeper/config"];

/// Whether a path is well-formed: what the real server calls bad arguments otherwise.
pub fn is_valid(path: &str) -> bool {
    let Some(inner) = path.strip_prefix('/') else { return false };
    if inner.is_empty() {
        return true;
    }
    inner.split('/').all(|name| !name.is_empty() && name != "." && name != ".." && name.chars().all(is_allowed))
}

/// The path of the node that `path` is a child of. Only the last slash counts: whether the rest is well-formed, the parent's
/// absence or [`is_valid`] says. `None` where nothing can be a parent.
pub fn parent(path: &str) -> Option<&str> {
    let slash = path.rfind('/')?;
    if path.contains('\0') {
        return None;
    }
    Some(if slash == 0 { ROOT } else { &path[..slash] })
}

/// The last name of a path.
pub fn name(path: &str) -> &str {
    path.rfind('/').map_or(path, |slash| &path[slash + 1..])
}

/// The path of a child.
pub fn child(parent: &str, name: &str) -> String {
    if parent == ROOT { format!("/{name}") } else { format!("{parent}/{name}") }
}

/// The path that a sequential create makes of what the client asked for: `%010d` of the parent's count.
pub fn sequential(path: &str, count: i64) -> String {
    format!("{path}{count:010}")
}

/// Whether nobody may delete it.
pub fn is_special(path: &str) -> bool {
    SPECIAL.contains(&path)
}

/// Java's `char` is half of a character beyond U+FFFF, from a range that is refused.
fn is_allowed(character: char) -> bool {
    let is_refused = matches!(character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}');
    !is_refused && u32::from(character) <= 0xffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_valid_as_in_the_real_server() {
        for path in ["/", "/a", "/a/b", "/a.b", "/...", "/a..", "/ ", "/é"] {
            assert!(is_valid(path), "{path:?}");
        }
        let bad = [
            "",
            "a",
            "//",
            "/a/",
            "/a//b",
            "/.",
            "/..",
            "/a/./b",
            "/a/..",
            "/\0",
            "/\u{1}",
            "/\u{7f}",
            "/\u{e000}",
            "/\u{fff0}",
            "/\u{1f600}",
        ];
        for path in bad {
            assert!(!is_valid(path), "{path:?}");
        }
    }

    #[test]
    fn paths_come_apart_and_together() {
        assert_eq!((parent("/a"), parent("/a/b"), parent("a"), parent("/a\0")), (Some("/"), Some("/a"), None, None));
        assert_eq!((name("/a/b"), name("/a")), ("b", "a"));
        assert_eq!((child("/", "a"), child("/a", "b")), ("/a".into(), "/a/b".into()));
        assert_eq!((sequential("/a/", 7), sequential("/n-", -5)), ("/a/0000000007".into(), "/n--000000005".into()));
    }
}
