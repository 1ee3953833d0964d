//! Capabilities: what each side can do for the other.

mod client;
mod required;
mod server;

pub use client::{ClientCapabilities, ElicitationCapability, SamplingCapability};
pub use server::{PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability};
