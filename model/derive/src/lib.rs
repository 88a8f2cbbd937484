//! `#[derive(Canonical)]` for the structs and enums of a protocol.
//!
//! The encoding is the fields in order; an enum puts its variant's index (one byte) in front. Renaming visits the fields
//! in the same order. The kinds of an enum are its variants' names.

use proc_macro::TokenStream;
use proc_macro2::{Ident, TokenStream as Tokens};
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Fields, parse_macro_input, parse_quote};

/// Derives `seedbed_model::Canonical`: canonical bytes, renaming, kinds.
///
/// Type parameters must be `Canonical` themselves, unless `#[canonical(unbounded)]` says that they only name types.
/// Fails to compile on unions and on enums of more than 256 variants.
#[proc_macro_derive(Canonical, attributes(canonical))]
pub fn derive_canonical(input: TokenStream) -> TokenStream {
    let mut input = parse_macro_input!(input as DeriveInput);
    if !is_unbounded(&input) {
        for param in input.generics.type_params_mut() {
            param.bounds.push(parse_quote!(::seedbed_model::Canonical));
        }
    }
    let (impl_generics, type_generics, where_clause) = input.generics.split_for_impl();
    let name = &input.ident;
    let body = match &input.data {
        Data::Struct(data) => struct_body(name, &data.fields),
        Data::Enum(data) if data.variants.len() <= 256 => enum_body(data),
        _ => return quote!(compile_error!("Canonical is for structs and for enums of at most 256 variants");).into(),
    };
    quote! {
        #[automatically_derived]
        impl #impl_generics ::seedbed_model::Canonical for #name #type_generics #where_clause { #body }
    }
    .into()
}

fn is_unbounded(input: &DeriveInput) -> bool {
    input.attrs.iter().any(|attribute| {
        attribute.path().is_ident("canonical") && attribute.parse_args::<Ident>().is_ok_and(|word| word == "unbounded")
    })
}

fn struct_body(name: &Ident, fields: &Fields) -> Tokens {
    let names = field_names(fields);
    let pattern = pattern(fields, &names);
    let decode = decode(fields, &names);
    let write = write(name, fields, &names);
    let (read, value) = read(fields, &names);
    let word = unraw(name);
    quote! {
        fn write(&self, out: &mut ::seedbed_model::TextWriter<'_>) {
            let Self #pattern = self;
            #write
        }
        fn read(input: &mut ::seedbed_model::TextReader<'_>) -> Result<Self, ::seedbed_model::Unreadable> {
            input.expect(#word)?;
            #read
            Ok(Self #value)
        }
        #[inline]
        fn encode(&self, out: &mut ::seedbed_model::Encoder) {
            let Self #pattern = self;
            #(::seedbed_model::Canonical::encode(#names, out);)*
        }
        #[inline]
        fn decode(input: &mut ::seedbed_model::Decoder<'_>) -> Result<Self, ::seedbed_model::Malformed> {
            Ok(Self #decode)
        }
        fn rename(&mut self, names: &mut dyn ::seedbed_model::Renaming) {
            let Self #pattern = self;
            #(::seedbed_model::Canonical::rename(#names, names);)*
            let _ = names;
        }
    }
}

fn enum_body(data: &syn::DataEnum) -> Tokens {
    let kinds = data.variants.iter().map(|variant| variant.ident.to_string());
    let mut encode_arms = Vec::new();
    let mut decode_arms = Vec::new();
    let mut rename_arms = Vec::new();
    let mut kind_arms = Vec::new();
    let mut write_arms = Vec::new();
    let mut read_arms = Vec::new();
    for (index, variant) in data.variants.iter().enumerate() {
        let ident = &variant.ident;
        let names = field_names(&variant.fields);
        let pattern = pattern(&variant.fields, &names);
        let decode = decode(&variant.fields, &names);
        let write = write(ident, &variant.fields, &names);
        let (read, value) = read(&variant.fields, &names);
        let word = unraw(ident);
        write_arms.push(quote!(Self::#ident #pattern => { #write }));
        read_arms.push(quote!(#word => {
            #read
            Self::#ident #value
        }));
        let byte = index as u8;
        encode_arms.push(quote!(Self::#ident #pattern => {
            out.byte(#byte);
            #(::seedbed_model::Canonical::encode(#names, out);)*
        }));
        decode_arms.push(quote!(#byte => Self::#ident #decode,));
        rename_arms.push(quote!(Self::#ident #pattern => { #(::seedbed_model::Canonical::rename(#names, names);)* }));
        kind_arms.push(quote!(Self::#ident { .. } => #index,));
    }
    quote! {
        const KINDS: &'static [&'static str] = &[#(#kinds),*];
        fn kind(&self) -> usize { match self { #(#kind_arms)* } }
        fn write(&self, out: &mut ::seedbed_model::TextWriter<'_>) {
            match self { #(#write_arms)* }
            let _ = out;
        }
        fn read(input: &mut ::seedbed_model::TextReader<'_>) -> Result<Self, ::seedbed_model::Unreadable> {
            Ok(match input.word()? {
                #(#read_arms)*
                other => return Err(input.unknown("variant", other, Self::KINDS)),
            })
        }
        #[inline]
        fn encode(&self, out: &mut ::seedbed_model::Encoder) { match self { #(#encode_arms)* } }
        #[inline]
        fn decode(input: &mut ::seedbed_model::Decoder<'_>) -> Result<Self, ::seedbed_model::Malformed> {
            Ok(match input.byte()? {
                #(#decode_arms)*
                other => return Err(input.unknown_variant(other, Self::KINDS.len())),
            })
        }
        fn rename(&mut self, names: &mut dyn ::seedbed_model::Renaming) {
            match self { #(#rename_arms)* }
            let _ = names;
        }
    }
}

fn field_names(fields: &Fields) -> Vec<Ident> {
    fields
        .iter()
        .enumerate()
        .map(|(index, field)| field.ident.clone().unwrap_or_else(|| format_ident!("field_{index}")))
        .collect()
}

fn pattern(fields: &Fields, names: &[Ident]) -> Tokens {
    match fields {
        Fields::Named(_) => quote!({ #(#names),* }),
        Fields::Unnamed(_) => quote!((#(#names),*)),
        Fields::Unit => quote!(),
    }
}

fn decode(fields: &Fields, names: &[Ident]) -> Tokens {
    let decode = quote!(::seedbed_model::Canonical::decode(input)?);
    match fields {
        Fields::Named(_) => quote!({ #(#names: #decode),* }),
        Fields::Unnamed(_) => {
            let each = names.iter().map(|_| &decode);
            quote!((#(#each),*))
        }
        Fields::Unit => quote!(),
    }
}

/// The name without the marks of a raw identifier.
fn unraw(name: &Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

/// Writes `Name`, `Name(a, b)` or `Name { a: …, b: … }`; the fields are bound to `names`.
fn write(name: &Ident, fields: &Fields, names: &[Ident]) -> Tokens {
    let word = unraw(name);
    // By name, so that the order in the source changes nothing.
    let mut names: Vec<&Ident> = names.iter().collect();
    if matches!(fields, Fields::Named(_)) {
        names.sort_by_key(|name| unraw(name));
    }
    let each = names.iter().enumerate().map(|(index, name)| match fields {
        Fields::Named(_) => {
            let (first, field) = (index == 0, unraw(name));
            quote!(out.field(#first, #field); ::seedbed_model::Canonical::write(#name, out);)
        }
        _ => {
            let comma = if index == 0 { "" } else { ", " };
            quote!(out.push(#comma); ::seedbed_model::Canonical::write(#name, out);)
        }
    });
    let (open, close) = match fields {
        Fields::Named(_) => (" {", " }"),
        Fields::Unnamed(_) if !names.is_empty() => ("(", ")"),
        _ => ("", ""),
    };
    quote!(out.push(#word); out.push(#open); #(#each)* out.push(#close);)
}

/// Statements that read the fields behind the name, by name in any order or one after the other, and the fields as the
/// expression that follows the type's or variant's name.
fn read(fields: &Fields, names: &[Ident]) -> (Tokens, Tokens) {
    let slots: Vec<Ident> = names.iter().map(|name| format_ident!("slot_{}", unraw(name))).collect();
    match fields {
        Fields::Named(_) => {
            let words: Vec<String> = names.iter().map(unraw).collect();
            let statements = quote! {
                input.expect("{")?;
                #(let mut #slots = None;)*
                let mut first = true;
                while let Some(field) = input.field(::std::mem::take(&mut first))? {
                    match field {
                        #(#words => #slots = Some(::seedbed_model::Canonical::read(input)?),)*
                        other => return Err(input.unknown("field", other, &[#(#words),*])),
                    }
                }
            };
            let value = quote!({ #(#names: match #slots {
                Some(value) => value,
                None => return Err(input.unreadable(concat!("field `", #words, "` is missing"))),
            }),* });
            (statements, value)
        }
        Fields::Unnamed(_) if names.is_empty() => (quote!(), quote!(())),
        Fields::Unnamed(_) => {
            let marks = (0..names.len()).map(|index| if index == 0 { "(" } else { "," });
            let statements = quote! {
                #(input.expect(#marks)?; let #slots = ::seedbed_model::Canonical::read(input)?;)*
                input.expect(")")?;
            };
            (statements, quote!((#(#slots),*)))
        }
        Fields::Unit => (quote!(), quote!()),
    }
}
