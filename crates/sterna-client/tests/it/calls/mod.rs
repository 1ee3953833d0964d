//! Calls, rounds and everything around them.

mod auth;
mod beliefs;
mod cache;
mod dialects;
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
mod road;
mod rounds;
mod rules;
mod schemas;
mod scripted;
mod session_tasks;
mod sessions;
mod shapes;
mod stale;
mod stdio;
mod tasks;
mod time;
