//! One argument: a parameter of the function, and the member that it is in JSON.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Error, Expr, ExprRange, Ident, Lit, LitStr, PatType, RangeLimits, Result, Type,
};

/// An argument and its `#[arg(..)]`.
pub(crate) struct Argument {
    pub(crate) ident: Ident,
    ty: Type,
    docs: Vec<Attribute>,
    options: ArgOptions,
}

#[derive(Default)]
struct ArgOptions {
    default: Option<Preset>,
    range: Option<ExprRange>,
    length: Option<ExprRange>,
    pattern: Option<LitStr>,
    name: Option<LitStr>,
}

/// Value of an argument that is left out.
enum Preset {
    OfType,
    Given(Box<Expr>),
}

impl Argument {
    /// Reads the parameter `ident`, and leaves none of the attributes that are
    /// for this macro in it.
    pub(crate) fn take(ident: Ident, parameter: &mut PatType) -> Result<Self> {
        let mut argument = Self {
            ident,
            ty: (*parameter.ty).clone(),
            docs: Vec::new(),
            options: ArgOptions::default(),
        };
        if let Type::Reference(reference) = &argument.ty {
            let text = "an argument owns its value: take a `String` instead of a `&str`, \
                        a `Vec<T>` instead of a `&[T]`";
            return Err(Error::new(reference.span(), text));
        }
        if let Type::ImplTrait(ty) = &argument.ty {
            let text = "an argument needs a type of its own: its schema is made from it";
            return Err(Error::new(ty.span(), text));
        }
        for attribute in std::mem::take(&mut parameter.attrs) {
            if attribute.path().is_ident("doc") {
                argument.docs.push(attribute);
            } else if attribute.path().is_ident("arg") {
                argument.options.read(&attribute)?;
            } else {
                parameter.attrs.push(attribute);
            }
        }
        Ok(argument)
    }

    /// The member of the arguments' struct, and the function that makes its
    /// default if it needs one.
    pub(crate) fn member(&self) -> Result<(TokenStream, Option<TokenStream>)> {
        let Self {
            ident, ty, docs, ..
        } = self;
        let mut attributes = Vec::new();
        let mut preset = None;
        match &self.options.default {
            None => {}
            Some(Preset::OfType) => attributes.push(quote!(#[serde(default)])),
            Some(Preset::Given(value)) => {
                let function = format_ident!("__default_of_{ident}");
                let path = function.to_string();
                attributes.push(quote!(#[serde(default = #path)]));
                // A text is written as a literal and wanted as a `String`.
                let value = match &**value {
                    Expr::Lit(literal) if matches!(literal.lit, Lit::Str(_)) => {
                        quote!(::core::convert::Into::into(#value))
                    }
                    value => quote!(#value),
                };
                preset = Some(quote!(fn #function() -> #ty { #value }));
            }
        }
        if let Some(name) = &self.options.name {
            attributes.push(quote!(#[serde(rename = #name)]));
        }
        if let Some(range) = &self.options.range {
            attributes.extend(bounds(range));
        }
        if let Some(length) = &self.options.length {
            attributes.push(lengths(length)?);
        }
        if let Some(pattern) = &self.options.pattern {
            attributes.push(quote!(#[schemars(regex(pattern = #pattern))]));
        }
        let member = quote!(#(#docs)* #(#attributes)* #ident: #ty);
        Ok((member, preset))
    }
}

impl ArgOptions {
    fn read(&mut self, attribute: &Attribute) -> Result<()> {
        attribute.parse_nested_meta(|meta| {
            let name = meta.path.get_ident().map(ToString::to_string);
            match name.as_deref() {
                Some("default") if meta.input.peek(syn::Token![=]) => {
                    self.default = Some(Preset::Given(Box::new(meta.value()?.parse()?)));
                }
                Some("default") => self.default = Some(Preset::OfType),
                Some("range") => self.range = Some(meta.value()?.parse()?),
                Some("length") => self.length = Some(meta.value()?.parse()?),
                Some("pattern") => self.pattern = Some(meta.value()?.parse()?),
                Some("name") => self.name = Some(meta.value()?.parse()?),
                _ => {
                    let text = "unknown option of an argument; there are \
                                `default`, `range`, `length`, `pattern` and `name`";
                    return Err(meta.error(text));
                }
            }
            Ok(())
        })
    }
}

/// The keywords of a schema that limit a number to `range`.
fn bounds(range: &ExprRange) -> Vec<TokenStream> {
    let min = range.start.iter().map(|start| quote!(min = #start));
    match (&range.limits, &range.end) {
        (RangeLimits::Closed(_), end) => {
            let limits = min.chain(end.iter().map(|end| quote!(max = #end)));
            vec![quote!(#[schemars(range(#(#limits),*))])]
        }
        (RangeLimits::HalfOpen(_), end) => {
            let end = end.iter();
            let end = end.map(|end| quote!(#[schemars(extend("exclusiveMaximum" = #end))]));
            let min = min.map(|min| quote!(#[schemars(range(#min))]));
            min.chain(end).collect()
        }
    }
}

/// The keywords of a schema that limit the length of a text or a list.
fn lengths(range: &ExprRange) -> Result<TokenStream> {
    if let (RangeLimits::HalfOpen(_), Some(end)) = (&range.limits, &range.end) {
        let text = "a length is limited by `a..=b`, with the largest length itself";
        return Err(Error::new(end.span(), text));
    }
    let min = range.start.iter().map(|start| quote!(min = #start));
    let max = range.end.iter().map(|end| quote!(max = #end));
    let limits = min.chain(max);
    Ok(quote!(#[schemars(length(#(#limits),*))]))
}
