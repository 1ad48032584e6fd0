//! Ports on this machine.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// A port nobody listens on at this moment.
pub fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("No port is free.")?;
    Ok(listener.local_addr()?.port())
}

/// Waits until somebody listens on `port`; says whether that came to pass.
pub fn wait_for(port: u16, patience: Duration) -> bool {
    let start = Instant::now();
    while start.elapsed() < patience {
        if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}
