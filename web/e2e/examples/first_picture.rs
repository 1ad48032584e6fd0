//! What `cargo xtask bench first-picture` runs: chooses an image on the page, some times
//! over, and prints how long each step took, in milliseconds: `[opened, map, drawn]`.

use std::path::Path;

use anyhow::{Context as _, Result};
use fslab_e2e::Page;

const VISITS: u32 = 5;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let image = std::env::args_os().nth(1).context("No image is named.")?;
    for _ in 0..VISITS {
        fslab_e2e::run("#explore", async |page| {
            visit(page, Path::new(&image)).await
        })
        .await?;
    }
    Ok(())
}

async fn visit(page: &Page, image: &Path) -> Result<()> {
    // The sample of a first visit is out of the way.
    fslab_e2e::until("the sample's map", async || {
        let ready = "return !!document.querySelector('.map canvas') && !document.querySelector('.map .progress')";
        Ok(page.evaluate::<bool>(ready).await?.then_some(()))
    })
    .await?;
    page.upload("#image-file", image).await?;
    let times: [f64; 3] = fslab_e2e::until("the picture", async || {
        let script = "const t = window.firstPicture;
            return t.drawn ? [t.opened, t.map, t.drawn].map((at) => at - t.chosen) : null;";
        page.evaluate(script).await
    })
    .await?;
    println!("{times:?}");
    Ok(())
}
