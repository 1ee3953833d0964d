//! The function under an attribute: which of its parameters are the context,
//! state and arguments.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Error, Expr, FnArg, ItemFn, Lit, Meta, Pat, PatType, Result, Type};

use crate::argument::Argument;

/// A function whose parameters were told apart.
pub(crate) struct Function {
    /// The function itself, without what is for the macro in its parameters.
    pub(crate) item: ItemFn,
    pub(crate) takes_cx: bool,
    /// Types of the parameters that are `State<T>`.
    pub(crate) states: Vec<Type>,
    pub(crate) arguments: Vec<Argument>,
}

impl Function {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        let mut item: ItemFn = syn::parse2(tokens)?;
        if let Some(generic) = item.sig.generics.params.first() {
            let text = "a generic function has no single schema: write one for each type";
            return Err(Error::new(generic.span(), text));
        }
        let mut function = Parameters::default();
        for parameter in &mut item.sig.inputs {
            match parameter {
                FnArg::Receiver(receiver) => {
                    let text = "a method has a receiver that no call brings along: use a free \
                                function, and a parameter `State<T>` for what it shares";
                    return Err(Error::new(receiver.span(), text));
                }
                FnArg::Typed(parameter) => function.take(parameter)?,
            }
        }
        let Parameters {
            takes_cx,
            states,
            arguments,
        } = function;
        Ok(Self {
            item,
            takes_cx,
            states,
            arguments,
        })
    }

    /// The text of the doc comment, for the model.
    pub(crate) fn docs(&self) -> String {
        let lines = self.item.attrs.iter().filter_map(doc_line);
        let lines: Vec<_> = lines.map(|line| line.trim().to_owned()).collect();
        lines.join("\n").trim().to_owned()
    }

    /// The attributes that decide whether the function is there at all.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Attribute> {
        let attributes = self.item.attrs.iter();
        attributes.filter(|attribute| attribute.path().is_ident("cfg"))
    }
}

#[derive(Default)]
struct Parameters {
    takes_cx: bool,
    states: Vec<Type>,
    arguments: Vec<Argument>,
}

impl Parameters {
    fn take(&mut self, parameter: &mut PatType) -> Result<()> {
        let is_first = !self.takes_cx && self.states.is_empty() && self.arguments.is_empty();
        match last_segment(&parameter.ty).as_deref() {
            Some("Cx") if is_first => self.takes_cx = true,
            Some("Cx") => {
                let text = "the context is the first parameter";
                return Err(Error::new(parameter.span(), text));
            }
            Some("State") if !self.arguments.is_empty() => {
                let text = "state stands before the arguments";
                return Err(Error::new(parameter.span(), text));
            }
            Some("State") if self.states.len() == MOST_STATES => {
                let text = "a function takes at most two values of state: put them into one struct";
                return Err(Error::new(parameter.span(), text));
            }
            Some("State") => self.states.push((*parameter.ty).clone()),
            _ => {
                let Pat::Ident(pattern) = &*parameter.pat else {
                    let text = "an argument needs a name: clients send it by that";
                    return Err(Error::new(parameter.pat.span(), text));
                };
                let ident = pattern.ident.clone();
                self.arguments.push(Argument::take(ident, parameter)?);
            }
        }
        Ok(())
    }
}

const MOST_STATES: usize = 2;

/// The name of a type without its path and its parameters.
fn last_segment(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last()?;
    Some(segment.ident.to_string())
}

fn doc_line(attribute: &Attribute) -> Option<String> {
    if !attribute.path().is_ident("doc") {
        return None;
    }
    let Meta::NameValue(meta) = &attribute.meta else {
        return None;
    };
    match &meta.value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        other => Some(other.to_token_stream().to_string()),
    }
}
