//! Files with secrets are written anew, for their owner only.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::calls::at;
use crate::command::{Ran, sterna};
use crate::server;

fn mode(file: &Path) -> u32 {
    file.metadata().unwrap().permissions().mode() & 0o777
}

fn set_mode(file: &Path, mode: u32) {
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn saves(file: &Path) -> Ran {
    let call = ["call", "URL", "confirm", "--save", file.to_str().unwrap()];
    at(&server::start(), &call)
}

fn keys(folder: &TempDir) -> PathBuf {
    let file = folder.path().join("keys.toml");
    assert_eq!(sterna(&format!("keys new {}", file.display())).code, 0);
    file
}

fn rotates(file: &Path) -> Ran {
    sterna(&format!("keys rotate {}", file.display()))
}

#[test]
fn a_call_is_saved_for_its_owner_whatever_was_there() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("call.json");
    std::fs::write(&file, "something long that was there before".repeat(1000)).unwrap();
    set_mode(&file, 0o644);
    let other = folder.path().join("other");
    std::fs::hard_link(&file, &other).unwrap();
    assert_eq!(saves(&file).code, 4);
    assert_eq!(mode(&file), 0o600);
    assert!(std::fs::read_to_string(&file).unwrap().ends_with('}'));
    // A reader who has the old file open or linked does not see the new one.
    assert!(
        std::fs::read_to_string(&other)
            .unwrap()
            .starts_with("something")
    );
    assert_eq!(
        std::fs::read_dir(&folder).unwrap().count(),
        2,
        "nothing is left behind"
    );
}

#[test]
fn a_call_is_not_saved_through_a_link_or_over_a_device() {
    let folder = TempDir::new().unwrap();
    let (link, target) = (folder.path().join("link"), folder.path().join("target"));
    std::fs::write(&target, "untouched").unwrap();
    symlink(&target, &link).unwrap();
    let dangling = folder.path().join("dangling");
    symlink(folder.path().join("nowhere"), &dangling).unwrap();
    for file in [&link, &dangling] {
        let ran = saves(file);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.stderr.contains("is a symbolic link"), "{ran:?}");
        assert!(file.symlink_metadata().unwrap().is_symlink());
    }
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "untouched");
    assert!(!folder.path().join("nowhere").exists());
    let ran = saves(Path::new("/dev/full"));
    assert!(ran.stderr.contains("is not a file"), "{ran:?}");
}

#[test]
fn rotated_keys_are_closed_to_others() {
    let folder = TempDir::new().unwrap();
    let file = keys(&folder);
    set_mode(&file, 0o644);
    let ran = rotates(&file);
    assert_eq!((ran.code, mode(&file)), (0, 0o600), "{ran:?}");
    assert!(ran.stderr.contains("could read"), "{ran:?}");
    let ran = rotates(&file);
    assert_eq!((ran.code, mode(&file), ran.stderr.as_str()), (0, 0o600, ""));
}

#[test]
fn a_group_that_reads_the_keys_goes_on_reading_them() {
    let folder = TempDir::new().unwrap();
    let file = keys(&folder);
    set_mode(&file, 0o640);
    assert_eq!((rotates(&file).code, mode(&file)), (0, 0o640));
}

#[test]
fn keys_are_not_rotated_through_a_link() {
    let folder = TempDir::new().unwrap();
    let file = keys(&folder);
    let before = std::fs::read(&file).unwrap();
    let link = folder.path().join("link");
    symlink(&file, &link).unwrap();
    let ran = rotates(&link);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("is a symbolic link"), "{ran:?}");
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert!(link.symlink_metadata().unwrap().is_symlink());
}
