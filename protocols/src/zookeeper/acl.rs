//! Access-control lists: the schemes `world` and `digest`.
//!
//! A digest's identity is `user:hash`, as the real server stores it; hashing the password is the connection's business, and here
//! the client's.

use seedbed_model::Canonical;

/// What may be done, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Permissions(pub u8);

impl Permissions {
    /// Read its data and list its children.
    pub const READ: Permissions = Permissions(1);
    /// Set its data.
    pub const WRITE: Permissions = Permissions(2);
    /// Create a child.
    pub const CREATE: Permissions = Permissions(4);
    /// Delete a child.
    pub const DELETE: Permissions = Permissions(8);
    /// Set its list.
    pub const ADMIN: Permissions = Permissions(16);
    /// All of them.
    pub const ALL: Permissions = Permissions(31);

    /// These and those.
    #[must_use]
    pub const fn and(self, other: Permissions) -> Permissions {
        Permissions(self.0 | other.0)
    }

    fn meet(self, other: Permissions) -> bool {
        self.0 & other.0 != 0
    }
}

/// Who somebody is, or is to be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Identity {
    /// `world`, `digest`; `auth` stands for whoever asks.
    pub scheme: String,
    /// `anyone`, or `user:hash`.
    pub id: String,
}

impl Identity {
    /// Everybody.
    pub fn anyone() -> Identity {
        Identity { scheme: "world".into(), id: "anyone".into() }
    }

    /// Whoever knows a password, by its hash.
    pub fn digest(user: &str, hash: &str) -> Identity {
        Identity { scheme: "digest".into(), id: format!("{user}:{hash}") }
    }

    fn is_anyone(&self) -> bool {
        self.scheme == "world" && self.id == "anyone"
    }

    fn is_valid_digest(&self) -> bool {
        // Java's `split` forgets empty pieces at the end.
        let pieces: Vec<&str> = self.id.trim_end_matches(':').split(':').collect();
        self.scheme == "digest" && pieces.len() == 2
    }
}

/// An entry: what somebody may do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Canonical)]
pub struct Acl {
    /// What.
    pub permissions: Permissions,
    /// Who.
    pub identity: Identity,
}

/// Anybody may do anything: `OPEN_ACL_UNSAFE`.
pub fn open() -> Vec<Acl> {
    vec![Acl { permissions: Permissions::ALL, identity: Identity::anyone() }]
}

/// Whether somebody who is each of `who` may do one of `wanted`.
pub fn allows(acl: &[Acl], wanted: Permissions, who: &[Identity]) -> bool {
    let is_met = |entry: &Acl| entry.identity.is_anyone() || who.contains(&entry.identity);
    acl.is_empty() || acl.iter().any(|entry| entry.permissions.meet(wanted) && is_met(entry))
}

/// The list as it is kept: without repetitions, with `auth` replaced by who asks. `None` where it is no list.
pub fn fixed(acl: &[Acl], who: &[Identity]) -> Option<Vec<Acl>> {
    let mut kept: Vec<Acl> = Vec::new();
    for (place, entry) in acl.iter().enumerate() {
        if acl[..place].contains(entry) {
            continue;
        }
        if entry.identity.scheme == "auth" {
            if who.is_empty() {
                return None;
            }
            kept.extend(who.iter().map(|identity| Acl { identity: identity.clone(), ..entry.clone() }));
        } else if entry.identity.is_anyone() || entry.identity.is_valid_digest() {
            kept.push(entry.clone());
        } else {
            return None;
        }
    }
    (!kept.is_empty()).then_some(kept)
}

/// The list as it is shown to who may read it and not set it: without the hashes of passwords.
pub fn shown(acl: &[Acl]) -> Vec<Acl> {
    let mut shown = acl.to_vec();
    for entry in shown.iter_mut().filter(|entry| entry.identity.scheme == "digest") {
        let user = entry.identity.id.split(':').next().unwrap_or_default();
        entry.identity.id = format!("{user}:x");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(permissions: Permissions, identity: Identity) -> Acl {
        Acl { permissions, identity }
    }

    #[test]
    fn permissions_are_of_who_asks() {
        let (ann, bob) = (Identity::digest("ann", "1"), Identity::digest("bob", "2"));
        let acl = [entry(Permissions::READ, Identity::anyone()), entry(Permissions::ALL, ann.clone())];
        assert!(allows(&acl, Permissions::READ, &[]));
        assert!(!allows(&acl, Permissions::WRITE, std::slice::from_ref(&bob)));
        assert!(allows(&acl, Permissions::WRITE, &[bob, ann]));
        assert!(allows(&acl, Permissions::READ.and(Permissions::ADMIN), &[]));
    }

    #[test]
    fn lists_are_fixed_or_refused() {
        let ann = Identity::digest("ann", "1");
        let auth = entry(Permissions::ALL, Identity { scheme: "auth".into(), id: String::new() });
        let named = entry(Permissions::ALL, ann.clone());
        assert_eq!(fixed(&[], &[]), None);
        assert_eq!(fixed(std::slice::from_ref(&auth), &[]), None);
        assert_eq!(fixed(&[auth.clone(), auth], &[ann]), Some(vec![named.clone()]));
        assert_eq!(fixed(&[open().remove(0), named.clone(), named.clone()], &[]), Some(vec![open().remove(0), named]));
        for id in ["ann", "ann:", "a:b:c"] {
            let odd = entry(Permissions::ALL, Identity { scheme: "digest".into(), id: id.into() });
            assert_eq!(fixed(&[odd], &[]), None, "{id}");
        }
    }

    #[test]
    fn hashes_are_not_shown() {
        let acl = [entry(Permissions::ALL, Identity::digest("ann", "1"))];
        assert_eq!(shown(&acl)[0].identity.id, "ann:x");
    }
}
