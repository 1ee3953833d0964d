//! The options of an attribute, `#[tool(..)]` and its siblings.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser as _;
use syn::{Error, Ident, LitBool, LitStr, Result};

/// The options of a tool, a prompt or a resource.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) uri: Option<LitStr>,
    /// Calls of the builder that set the others.
    pub(crate) setters: TokenStream,
    /// Calls that set hints of a tool's annotations.
    pub(crate) hints: TokenStream,
}

/// Kind of thing that an attribute makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Prompt,
    Resource,
    Tool,
}

impl Options {
    pub(crate) fn parse(kind: Kind, tokens: TokenStream) -> Result<Self> {
        let mut options = Self::default();
        let parser = syn::meta::parser(|meta| options.read(kind, &meta));
        parser.parse2(tokens)?;
        if kind == Kind::Resource && options.uri.is_none() {
            let text = "a resource needs its address: `#[resource(uri = \"scheme://path\")]`";
            return Err(Error::new(Span::call_site(), text));
        }
        Ok(options)
    }

    fn read(&mut self, kind: Kind, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let name = meta.path.get_ident().map(ToString::to_string);
        let name = name.as_deref().unwrap_or_default();
        match name {
            "name" => self.name = Some(meta.value()?.parse()?),
            "description" => self.description = Some(meta.value()?.parse()?),
            "title" => {
                let title: LitStr = meta.value()?.parse()?;
                self.setters.extend(quote!(.title(#title)));
            }
            _ => match kind {
                Kind::Tool => return self.read_tool(name, meta),
                Kind::Resource => return self.read_resource(name, meta),
                Kind::Prompt => return Err(meta.error(unknown("prompt", &[]))),
            },
        }
        Ok(())
    }

    fn read_resource(&mut self, name: &str, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match name {
            "uri" => self.uri = Some(meta.value()?.parse()?),
            "mime_type" => {
                let mime_type: LitStr = meta.value()?.parse()?;
                self.setters.extend(quote!(.mime_type(#mime_type)));
            }
            _ => return Err(meta.error(unknown("resource", &["uri", "mime_type"]))),
        }
        Ok(())
    }

    fn read_tool(&mut self, name: &str, meta: &ParseNestedMeta<'_>) -> Result<()> {
        match name {
            "read_only" => self.hints.extend(quote!(.read_only())),
            "idempotent" => self.hints.extend(quote!(.idempotent())),
            "closed_world" => self.hints.extend(quote!(.closed_world())),
            "destructive" => {
                let destroys = match meta.input.peek(syn::Token![=]) {
                    true => meta.value()?.parse::<LitBool>()?.value,
                    false => true,
                };
                self.hints.extend(match destroys {
                    true => quote!(.destructive()),
                    false => quote!(.additive()),
                });
            }
            "task" => {
                let mode: Ident = meta.value()?.parse()?;
                let mode = match mode.to_string().as_str() {
                    "always" => quote!(Always),
                    "optional" => quote!(Optional),
                    "never" => quote!(Never),
                    _ => {
                        let text = "a tool runs as a task `optional`, `always` or `never`";
                        return Err(Error::new(mode.span(), text));
                    }
                };
                let setter = quote!(.task(::sterna::server::TaskMode::#mode));
                self.setters.extend(setter);
            }
            "task_on_demand" => self.setters.extend(quote!(.task_on_demand())),
            "requires_store" => self.setters.extend(quote!(.requires_store())),
            "single_use" => self.setters.extend(quote!(.single_use())),
            _ => return Err(meta.error(unknown("tool", &TOOL))),
        }
        Ok(())
    }
}

const TOOL: [&str; 8] = [
    "read_only",
    "destructive",
    "idempotent",
    "closed_world",
    "task",
    "task_on_demand",
    "requires_store",
    "single_use",
];

fn unknown(kind: &str, more: &[&str]) -> String {
    let mut names = String::from("`name`, `title`, `description`");
    for name in more {
        names.push_str(", `");
        names.push_str(name);
        names.push('`');
    }
    format!("unknown option of a {kind}; there are {names}")
}
