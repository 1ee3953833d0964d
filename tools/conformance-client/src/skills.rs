//! A host of skills: lists them, and loads one only after checking each file.
//!
//! What the files mean is the host's business, so the checks are here and not
//! in the library.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use sterna_client::Client;
use sterna_protocol::resource::ResourceContents;

#[derive(Deserialize)]
struct Skills {
    skills: Vec<Skill>,
}

/// What the server says about a skill before anything of it is read.
#[derive(Deserialize)]
pub(crate) struct Skill {
    uri: String,
    frontmatter: BTreeMap<String, String>,
    resources: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    uri: String,
    digest: String,
    size: usize,
}

/// Lists the skills and reads none of their files.
pub(crate) async fn list(client: &Client) -> Result<Vec<Skill>> {
    let skills: Skills = client.request("skills/list", ()).await?;
    Ok(skills.skills)
}

/// Loads the first skill: its front page, then its other files.
pub(crate) async fn load(client: &Client) -> Result<()> {
    let skills = list(client).await?;
    let skill = skills.first().context("there is no skill")?;
    for file in &skill.resources {
        let text = read(client, file).await?;
        if file.uri == skill.uri {
            ensure!(
                frontmatter(&text)? == skill.frontmatter,
                "{} describes itself otherwise than its entry",
                file.uri
            );
        }
    }
    Ok(())
}

/// Reads a file and checks that it is the one that was listed.
async fn read(client: &Client, file: &File) -> Result<String> {
    let mut contents = client.read(&file.uri).await?.contents;
    let Some(ResourceContents::Text(text)) = contents.pop() else {
        bail!("{} holds no text", file.uri);
    };
    let text = text.text;
    ensure!(
        text.len() == file.size,
        "{} is not as long as listed",
        file.uri
    );
    let hash = Sha256::digest(text.as_bytes());
    let digest: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    ensure!(
        file.digest == format!("sha256:{digest}"),
        "{} is not what was listed",
        file.uri
    );
    Ok(text)
}

/// The members of the block at the head of a front page: plain lines of
/// `name: value`, the only form of YAML that is accepted here.
fn frontmatter(page: &str) -> Result<BTreeMap<String, String>> {
    let block = page
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"))
        .context("no front matter")?
        .0;
    block
        .lines()
        .map(|line| {
            let (name, value) = line.split_once(": ").context("front matter too clever")?;
            Ok((name.to_owned(), value.to_owned()))
        })
        .collect()
}
