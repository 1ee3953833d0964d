//! The code that an attribute writes beside its function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Error, LitStr, Result, ReturnType};

use crate::function::Function;
use crate::options::{Kind, Options};

pub(crate) fn tool(options: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let (options, function) = read(Kind::Tool, options, function)?;
    let (name, setters, hints) = (name(&options, &function), &options.setters, &options.hints);
    let description = description(&options, &function)?;
    let annotations = (!hints.is_empty()).then(|| {
        let annotations = quote!(::sterna::protocol::tool::ToolAnnotations::new() #hints);
        quote!(.annotations(#annotations))
    });
    let made = quote! {
        ::sterna::server::Tool::new(#name, #description, call) #setters #annotations
    };
    beside(function, "tool", &quote!(::sterna::server::Tool), &made)
}

pub(crate) fn prompt(options: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let (options, function) = read(Kind::Prompt, options, function)?;
    let (name, setters) = (name(&options, &function), &options.setters);
    let description = description(&options, &function)?;
    let made = quote!(::sterna::server::Prompt::new(#name, #description, call) #setters);
    beside(function, "prompt", &quote!(::sterna::server::Prompt), &made)
}

pub(crate) fn resource(options: TokenStream, function: TokenStream) -> Result<TokenStream> {
    let (options, function) = read(Kind::Resource, options, function)?;
    let (name, setters, uri) = (name(&options, &function), &options.setters, &options.uri);
    let description = description(&options, &function)?;
    let is_template = uri.as_ref().is_some_and(|uri| uri.value().contains('{'));
    if let (false, Some(argument)) = (is_template, function.arguments.first()) {
        let text = "the address has no variables, so there is nothing to fill this from: \
                    name it in the address, as in `paint://walls/{number}`";
        return Err(Error::new(argument.ident.span(), text));
    }
    let ty = match is_template {
        true => quote!(::sterna::server::ResourceTemplate),
        false => quote!(::sterna::server::Resource),
    };
    let made = quote!(#ty::new(#uri, #name, call).description(#description) #setters);
    beside(function, "resource", &ty, &made)
}

fn read(kind: Kind, options: TokenStream, function: TokenStream) -> Result<(Options, Function)> {
    Ok((Options::parse(kind, options)?, Function::parse(function)?))
}

fn name(options: &Options, function: &Function) -> LitStr {
    let ident = &function.item.sig.ident;
    let spelled = ident.to_string();
    let plain = spelled.strip_prefix("r#").unwrap_or(&spelled);
    let own = options.name.clone();
    own.unwrap_or_else(|| LitStr::new(plain, ident.span()))
}

fn description(options: &Options, function: &Function) -> Result<LitStr> {
    if let Some(description) = &options.description {
        return Ok(description.clone());
    }
    let docs = function.docs();
    let ident = &function.item.sig.ident;
    if docs.is_empty() {
        let text = "a model chooses by the description: write a doc comment, \
                    or `description = \"…\"`";
        return Err(Error::new(ident.span(), text));
    }
    Ok(LitStr::new(&docs, ident.span()))
}

/// The function as it was, and a type of its name with the function `maker`,
/// which returns `made`.
fn beside(
    function: Function,
    maker: &str,
    ty: &TokenStream,
    made: &TokenStream,
) -> Result<TokenStream> {
    let arguments = Arguments::of(&function)?;
    let call = call(&function, &arguments.ty);
    let definition = &arguments.definition;
    let conditions: Vec<_> = function.conditions().collect();
    let (item, maker) = (&function.item, format_ident!("{maker}"));
    let (vis, ident) = (&item.vis, &item.sig.ident);
    let docs = format!("Holds the {maker} that calls the function of the same name.");
    let maker_docs = format!("Returns the {maker}.");
    Ok(quote! {
        #item

        #(#conditions)*
        #[doc = #docs]
        #[allow(non_camel_case_types, reason = "it has the name of a function")]
        #[derive(Debug)]
        #vis enum #ident {}

        #(#conditions)*
        impl #ident {
            #[doc = #maker_docs]
            #vis fn #maker() -> #ty {
                #definition
                #call
                #made
            }
        }
    })
}

/// The type that the arguments are read into.
struct Arguments {
    ty: TokenStream,
    definition: TokenStream,
}

impl Arguments {
    fn of(function: &Function) -> Result<Self> {
        if function.arguments.is_empty() {
            return Ok(Self {
                ty: quote!(()),
                definition: TokenStream::new(),
            });
        }
        let members = function.arguments.iter().map(|argument| argument.member());
        let members: Vec<_> = members.collect::<Result<_>>()?;
        let (members, presets): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        let title = title(&function.item.sig.ident);
        let definition = quote! {
            #[derive(::sterna::__macros::serde::Deserialize, ::sterna::__macros::schemars::JsonSchema)]
            #[serde(crate = "::sterna::__macros::serde", deny_unknown_fields)]
            #[schemars(crate = "::sterna::__macros::schemars", rename = #title)]
            struct __Arguments {
                #(#members),*
            }
            #(#presets)*
        };
        Ok(Self {
            ty: quote!(__Arguments),
            definition,
        })
    }
}

/// The handler, which calls the author's function.
fn call(function: &Function, arguments: &TokenStream) -> TokenStream {
    let signature = &function.item.sig;
    // Locals that no name of the author can mean.
    let local = |name: &str| Ident::new(name, Span::mixed_site());
    let (cx, args) = (local("cx"), local("args"));
    let states: Vec<_> = (0..function.states.len())
        .map(|number| local(&format!("state_{number}")))
        .collect();
    let types = &function.states;
    let given_cx = function.takes_cx.then(|| quote!(#cx,));
    let members = function.arguments.iter().map(|argument| &argument.ident);
    let ident = &signature.ident;
    let output = match &signature.output {
        ReturnType::Default => TokenStream::new(),
        ReturnType::Type(arrow, ty) => quote!(#arrow #ty),
    };
    let wait = signature.asyncness.map(|_| quote!(.await));
    quote! {
        #[allow(unused_variables, clippy::unused_async, reason = "every handler has this shape")]
        async fn call(
            #cx: ::sterna::server::Cx<'_>,
            #(#states: #types,)*
            #args: #arguments,
        ) #output {
            #ident(#given_cx #(#states,)* #(#args.#members),*) #wait
        }
    }
}

/// The name of the arguments in the schema: that of the function as a type's.
fn title(ident: &Ident) -> String {
    let name = ident.to_string();
    let words = name.trim_start_matches("r#").split('_');
    let mut title = String::new();
    for word in words {
        let mut letters = word.chars();
        title.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        title.extend(letters);
    }
    title
}
