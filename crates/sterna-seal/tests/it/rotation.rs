//! One rollout changes the key of a fleet while clients hold tokens.

use std::time::Duration;

use sterna_seal::{Key, Keyring, OpenError, RotateError, SealRequest, UnixMillis};

use crate::stage::{Counting, HOUR, MINUTE, NOW, Request, earlier, flow, later, ring, secret};

const ROUND: Duration = Duration::from_secs(60 * 60);

/// Seals on one ring at `now` and opens the token on another later.
struct Fleet {
    tokens: Vec<(UnixMillis, String)>,
}

impl Fleet {
    fn mint(&mut self, ring: &Keyring, now: UnixMillis) -> char {
        let binding = Request::by_alice().binding();
        let sealed = ring
            .seal(
                &SealRequest::new(flow(), b"state"),
                &binding,
                now,
                &mut Counting::default(),
            )
            .unwrap();
        self.tokens.push((now, sealed.token));
        ["a", "b"]
            .into_iter()
            .find(|letter| Key::new(secret(letter.chars().next().unwrap())).id() == sealed.key_id)
            .and_then(|letter| letter.chars().next())
            .unwrap()
    }

    /// Every token whose round is not over opens.
    #[track_caller]
    fn all_open(&self, ring: &Keyring, now: UnixMillis) {
        let binding = Request::by_alice().binding();
        for (minted, token) in &self.tokens {
            if now < *minted + ROUND {
                let opened = ring.open(token, &binding, now);
                assert!(opened.is_ok(), "minted {minted}, opened {now}: {opened:?}");
            }
        }
    }
}

#[test]
fn tokens_in_flight_survive_a_rotation_on_replicas_that_reload_at_different_times() {
    let activate = later(30 * MINUTE);
    let old = ring("a");
    let new = old.rotate(secret('b'), activate, ROUND, NOW).unwrap();
    // One replica reads the new file at once, the other just in time.
    let (early_reload, late_reload) = (later(MINUTE), later(29 * MINUTE));
    let mut fleet = Fleet { tokens: Vec::new() };
    let mut minted = String::new();
    for minute in 0..240 {
        let now = later(minute * MINUTE);
        let early = if now < early_reload { &old } else { &new };
        let late = if now < late_reload { &old } else { &new };
        fleet.all_open(early, now);
        fleet.all_open(late, now);
        minted.push(fleet.mint(early, now));
        // The clock of the late replica is almost a minute slow.
        minted.push(fleet.mint(late, UnixMillis::new(now.get() - 59_000)));
    }
    let handover = minted.find('b').unwrap();
    assert_eq!(handover, 60, "the fast clock hands over first");
    assert_eq!(&minted[handover..handover + 4], "babb");
    assert!(!minted[handover + 2..].contains('a'));

    let a = old.keys().next().unwrap().id();
    let retired = later(30 * MINUTE + HOUR + MINUTE);
    let (_, first) = &fleet.tokens[0];
    let binding = Request::by_alice().binding();
    let refuse = |now| new.open(first, &binding, now).unwrap_err();
    assert_eq!(
        refuse(UnixMillis::new(retired.get() - 1)),
        OpenError::Expired(later(HOUR))
    );
    assert_eq!(refuse(retired), OpenError::RetiredKey(a));
}

#[test]
fn a_key_opens_before_it_mints_and_until_it_retires() {
    let token_of_b = crate::stage::seal(&ring("b"), b"state");
    let b = Key::new(secret('b'));
    let id = b.id();
    let ring = Keyring::new([
        Key::new(secret('a')),
        b.activating_at(later(10)).retiring_at(later(20)),
    ])
    .unwrap();
    let binding = Request::by_alice().binding();
    let open = |now| ring.open(&token_of_b, &binding, now).map(|_| ());
    let minting = |now| ring.minting_key(now).unwrap().id() == id;
    assert_eq!((open(later(0)), minting(later(0))), (Ok(()), false));
    assert_eq!((open(later(9)), minting(later(9))), (Ok(()), false));
    assert_eq!((open(later(10)), minting(later(10))), (Ok(()), true));
    assert_eq!((open(later(19)), minting(later(19))), (Ok(()), true));
    assert_eq!(
        (open(later(20)), minting(later(20))),
        (Err(OpenError::RetiredKey(id)), false)
    );
}

#[test]
fn the_newest_active_key_mints_whatever_the_order_of_the_list() {
    let at = |letter, time| Key::new(secret(letter)).activating_at(time);
    let newest = at('b', earlier(1)).id();
    let lists = [
        [at('a', earlier(9)), at('b', earlier(1)), at('c', later(1))],
        [at('c', later(1)), at('b', earlier(1)), at('a', earlier(9))],
    ];
    for keys in lists {
        let ring = Keyring::new(keys).unwrap();
        assert_eq!(ring.minting_key(NOW).map(Key::id), Some(newest));
    }
    let tie = Keyring::new([at('a', NOW), at('b', NOW)]).unwrap();
    assert_eq!(tie.minting_key(NOW).map(Key::id), Some(newest));
}

#[test]
fn without_an_active_key_nothing_is_sealed() {
    let ring = Keyring::new([Key::new(secret('a')).activating_at(later(1))]).unwrap();
    let draft = SealRequest::new(flow(), b"state");
    let error = ring
        .seal(
            &draft,
            &Request::by_alice().binding(),
            NOW,
            &mut Counting::default(),
        )
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no key is active at 2026-07-28T00:00:00Z"
    );
}

#[test]
fn a_rotation_ends_only_keys_that_have_no_end() {
    let keys = [
        Key::new(secret('a')).retiring_at(earlier(1)),
        Key::new(secret('b')).retiring_at(later(5)),
        Key::new(secret('c')).commented("the current one"),
        Key::new(secret('d')).activating_at(later(9 * HOUR)),
    ];
    let ring = Keyring::new(keys).unwrap();
    let rotated = ring.rotate(secret('e'), later(HOUR), ROUND, NOW).unwrap();
    let times: Vec<_> = rotated
        .keys()
        .map(|key| (key.activate_at(), key.retire_at(), key.comment()))
        .collect();
    assert_eq!(
        times,
        [
            (UnixMillis::MIN, Some(later(5)), None),
            (
                UnixMillis::MIN,
                Some(later(2 * HOUR + MINUTE)),
                Some("the current one")
            ),
            (later(HOUR), None, None),
            (later(9 * HOUR), None, None),
        ]
    );
}

#[test]
fn a_rotation_that_would_lose_tokens_is_refused() {
    let ring = ring("a");
    let rotate = |letter, at| ring.rotate(secret(letter), at, ROUND, NOW).map(|_| ());
    let a = ring.keys().next().unwrap().id();
    assert_eq!(rotate('b', later(1)), Ok(()));
    assert_eq!(rotate('b', NOW), Err(RotateError::NotInFuture));
    let twice = rotate('a', later(1)).unwrap_err();
    assert_eq!(twice.to_string(), format!("key {a} is in the ring twice"));
}
