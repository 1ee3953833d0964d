//! Serves one client on standard input and output. Only messages may be written
//! to standard output; the log goes to standard error.

use mimalloc::MiMalloc;
use sterna::server::StartError;

use my_server::server;

/// A request allocates some twenty times, and each costs less here than in the
/// C library.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> Result<(), StartError> {
    server().log_to_stderr().stdio().await
}
