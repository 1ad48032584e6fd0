//! Waiting for the page, which answers in its own time.

use std::time::Duration;

use anyhow::{Result, bail};

const PATIENCE: Duration = Duration::from_secs(15);
const INTERVAL: Duration = Duration::from_millis(50);

/// Asks again and again until there is a value; `what` names it if there is
/// never one.
pub async fn until<T>(what: &str, ask: impl AsyncFn() -> Result<Option<T>>) -> Result<T> {
    let start = tokio::time::Instant::now();
    loop {
        if let Some(value) = ask().await? {
            return Ok(value);
        }
        if start.elapsed() > PATIENCE {
            bail!("Waited {} s in vain for {what}.", PATIENCE.as_secs());
        }
        tokio::time::sleep(INTERVAL).await;
    }
}
