//! A map by key that is made for a handful of them.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;
use std::slice;

use crate::key::Key;

/// A map in order of its keys: one pair in place, a sorted list while it is
/// short, as in nearly every flow, and a tree when it has grown.
#[derive(Clone)]
pub(crate) enum KeyMap<V> {
    Few(Vec<(Key, V)>),
    Many(BTreeMap<Key, V>),
    /// Most flows have one question or one step at a time.
    One((Key, V)),
}

impl<V> KeyMap<V> {
    pub(crate) fn get(&self, key: &str) -> Option<&V> {
        match self {
            Self::Few(list) => find(list, key).ok().map(|at| &list[at].1),
            Self::Many(tree) => tree.get(key),
            Self::One((known, value)) => (known.as_str() == key).then_some(value),
        }
    }

    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut V> {
        match self {
            Self::Few(list) => match find(list, key) {
                Ok(at) => Some(&mut list[at].1),
                Err(_) => None,
            },
            Self::Many(tree) => tree.get_mut(key),
            Self::One((known, value)) => (known.as_str() == key).then_some(value),
        }
    }

    /// Sets `key` to `value`, and returns its previous value.
    pub(crate) fn insert(&mut self, key: Key, value: V) -> Option<V> {
        if let Some(known) = self.get_mut(key.as_str()) {
            return Some(mem::replace(known, value));
        }
        *self = match mem::take(self) {
            Self::Few(list) if list.is_empty() => Self::One((key, value)),
            Self::Few(mut list) if list.len() < FEW => {
                let at = find(&list, key.as_str()).unwrap_or_else(|at| at);
                list.insert(at, (key, value));
                Self::Few(list)
            }
            Self::Few(list) => Self::Many(list.into_iter().chain([(key, value)]).collect()),
            Self::Many(mut tree) => {
                tree.insert(key, value);
                Self::Many(tree)
            }
            Self::One(known) if known.0 < key => Self::Few(vec![known, (key, value)]),
            Self::One(known) => Self::Few(vec![(key, value), known]),
        };
        None
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<(Key, V)> {
        match self {
            Self::Few(list) => find(list, key).ok().map(|at| list.remove(at)),
            Self::Many(tree) => tree.remove_entry(key),
            Self::One((known, _)) if known.as_str() == key => match mem::take(self) {
                Self::One(pair) => Some(pair),
                Self::Few(_) | Self::Many(_) => None,
            },
            Self::One(_) => None,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, &V)> {
        let (list, tree) = match self {
            Self::Few(list) => (list.as_slice(), None),
            Self::Many(tree) => (&[][..], Some(tree)),
            Self::One(pair) => (slice::from_ref(pair), None),
        };
        let few = list.iter().map(|(key, value)| (key, value));
        few.chain(tree.into_iter().flatten())
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        let (list, tree) = match self {
            Self::Few(list) => (list.as_mut_slice(), None),
            Self::Many(tree) => (&mut [][..], Some(tree)),
            Self::One(pair) => (slice::from_mut(pair), None),
        };
        let few = list.iter_mut().map(|(_, value)| value);
        few.chain(tree.into_iter().flat_map(BTreeMap::values_mut))
    }
}

/// Index of `key`, or the index at which it belongs.
fn find<V>(list: &[(Key, V)], key: &str) -> Result<usize, usize> {
    list.binary_search_by(|(known, _)| known.as_str().cmp(key))
}

impl<V> Default for KeyMap<V> {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl<V> FromIterator<(Key, V)> for KeyMap<V> {
    fn from_iter<I: IntoIterator<Item = (Key, V)>>(pairs: I) -> Self {
        let mut map = Self::default();
        for (key, value) in pairs {
            map.insert(key, value);
        }
        map
    }
}

impl<V: PartialEq> PartialEq for KeyMap<V> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<V: Eq> Eq for KeyMap<V> {}

impl<V: fmt::Debug> fmt::Debug for KeyMap<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Up to here looking through a list is cheaper than growing a tree.
const FEW: usize = 16;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_map_does_what_a_tree_does(
            changes in prop::collection::vec((any::<bool>(), 0_u8..40, any::<u8>()), 0..120),
        ) {
            let (mut map, mut tree) = (KeyMap::default(), BTreeMap::new());
            for (inserts, key, value) in changes {
                let key = Key::new(&key.to_string());
                if inserts {
                    prop_assert_eq!(map.insert(key.clone(), value), tree.insert(key.clone(), value));
                } else {
                    prop_assert_eq!(map.remove(key.as_str()), tree.remove_entry(key.as_str()));
                }
                prop_assert_eq!(map.get(key.as_str()), tree.get(key.as_str()));
                prop_assert_eq!(map.get_mut(key.as_str()), tree.get_mut(key.as_str()));
                prop_assert!(map.iter().eq(tree.iter()));
                prop_assert!(map.values_mut().eq(tree.values_mut()));
            }
            let again: KeyMap<u8> = tree.into_iter().collect();
            prop_assert_eq!(&map, &again);
            map.insert(Key::new("more"), 0);
            prop_assert_ne!(&map, &again);
        }
    }

    #[test]
    fn a_map_looks_like_one() {
        let map: KeyMap<u8> = [(Key::new("plan"), 1)].into_iter().collect();
        assert_eq!(format!("{map:?}"), "{\"plan\": 1}");
    }
}
