//! The page shows and its worker answers.

use anyhow::Result;

#[tokio::test]
async fn the_page_shows_and_the_worker_answers() -> Result<()> {
    fslab_e2e::run("", async |page| {
        page.find("heading", "fslab").await?;
        page.wait_for_text("is ready").await?;
        page.screenshots("start").await
    })
    .await
}
