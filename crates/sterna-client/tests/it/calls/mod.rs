//! Calls, rounds and everything around them.

mod auth;
mod beliefs;
mod cache;
mod duties;
mod eras;
mod hostile;
mod lines;
mod listen;
mod news;
mod paused;
mod real;
mod redirects;
mod resumption;
mod rounds;
mod scripted;
mod sessions;
mod shapes;
mod stale;
mod stdio;
mod tasks;
mod time;
