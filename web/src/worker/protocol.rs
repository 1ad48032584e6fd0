//! What the page asks of the worker and what it is told.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Asks whether the engine is there.
    Ping,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The engine is there, of this version.
    Pong { version: String },
    /// The worker cannot go on, or could not read a message.
    Failed { message: String },
}
