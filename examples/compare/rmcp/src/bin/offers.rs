use rmcp::handler::server::router::prompt::PromptRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig,
};
use rmcp::model::{PromptMessage, Role};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler, ServiceExt, prompt, prompt_handler, prompt_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// The code to look at
    code: String,
}

#[derive(Clone)]
struct Server {
    prompt_router: PromptRouter<Self>,
}

#[prompt_router]
impl Server {
    /// Asks for a review of code
    #[prompt]
    async fn review(&self, Parameters(args): Parameters<Review>) -> Vec<PromptMessage> {
        let text = format!("Review this code:\n{}", args.code);
        vec![PromptMessage::new_text(Role::User, text)]
    }
}

#[prompt_handler]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder()
            .enable_prompts()
            .enable_resources();
        ServerConfig::new(offers.build())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let colours = Resource::new("paint://colours", "colours")
            .with_description("Colours of the house")
            .with_mime_type("text/plain");
        Ok(ListResourcesResult::with_all_items(vec![colours]))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let wall = ResourceTemplate::new("paint://walls/{number}", "wall")
            .with_description("One wall of the house")
            .with_mime_type("text/plain");
        Ok(ListResourceTemplatesResult::with_all_items(vec![wall]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let number = uri.strip_prefix("paint://walls/");
        let text = match number.and_then(|number| number.parse::<u32>().ok()) {
            Some(number @ 1..=4) => format!("Wall {number} is white."),
            None if uri == "paint://colours" => "red, white".to_owned(),
            _ => return Err(ErrorData::resource_not_found(uri, None)),
        };
        let contents = ResourceContents::text(text, uri).with_mime_type("text/plain");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server {
        prompt_router: Server::prompt_router(),
    };
    server
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
