//! Capabilities of clients and servers.

mod client;
mod extension;
mod missing;
mod server;

pub use client::{ClientCapabilities, ElicitationCapability, SamplingCapability};
pub use extension::{ExtensionId, InvalidExtensionId};
pub use server::{PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability};
