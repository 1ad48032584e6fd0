//! The page shows and its worker answers, whatever the views look like.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

/// Starts a second worker and pings it, as `fslab_web::worker::link` does.
const PING: &str = "
    const done = arguments[0];
    const boot = document.getElementById('boot').src;
    const worker = new Worker(new URL('worker.js', boot), { type: 'module' });
    worker.onmessage = ({ data: [body] }) => { worker.terminate(); done(body); };
    worker.onerror = ({ message }) => done({ failed: message });
    // Posted before the worker's wasm is there: it must not be lost.
    worker.postMessage(['Ping', []]);
";

#[tokio::test]
async fn the_page_shows_itself() -> Result<()> {
    fslab_e2e::run("", async |page| {
        page.wait_for_text("fslab").await?;
        page.screenshots("start").await
    })
    .await
}

#[tokio::test]
async fn the_worker_answers() -> Result<()> {
    fslab_e2e::run("", async |page| {
        let answer = page.driver.execute_async(PING, Vec::new()).await?;
        let answer: Value = answer.json().clone();
        ensure!(
            answer["Pong"]["version"] != json!(null),
            "The worker said {answer}."
        );
        Ok(())
    })
    .await
}
