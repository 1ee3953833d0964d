//! Calls, rounds and everything around them.

mod paused;
mod rounds;
mod scripted;
mod shapes;
