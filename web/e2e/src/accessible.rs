//! Finding elements by role and name, as assistive technology does.
//!
//! WebDriver has no such search, but the browser has; it answers with nodes in
//! terms of its own, so the node is marked and then found by the mark.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use thirtyfour::{By, WebDriver, WebElement};

const MARK: &str = "data-e2e-found";

/// The first such element; a name that is only part of the element's name will
/// do if there is none with the whole.
pub async fn find(driver: &WebDriver, role: &str, name: &str) -> Result<Option<WebElement>> {
    let Some(node) = best(&query(driver, role).await?, name) else {
        return Ok(None);
    };
    mark(driver, node).await
}

/// All nodes of that role that assistive technology would see.
async fn query(driver: &WebDriver, role: &str) -> Result<Vec<Value>> {
    let document = driver
        .cdp()
        .send_raw("Runtime.evaluate", json!({ "expression": "document" }))
        .await?;
    let object = &document["result"]["objectId"];
    let question = json!({ "objectId": object, "role": role });
    let mut answer = driver
        .cdp()
        .send_raw("Accessibility.queryAXTree", question)
        .await?;
    let nodes = answer["nodes"]
        .as_array_mut()
        .map(std::mem::take)
        .unwrap_or_default();
    Ok(nodes
        .into_iter()
        .filter(|node| node["ignored"] != json!(true))
        .collect())
}

fn best(nodes: &[Value], name: &str) -> Option<u64> {
    let name_of = |node: &&Value| {
        node["name"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let node = nodes
        .iter()
        .find(|node| name_of(node) == name)
        .or_else(|| nodes.iter().find(|node| name_of(node).contains(name)))?;
    node["backendDOMNodeId"].as_u64()
}

/// None if the element has gone in the meantime.
async fn mark(driver: &WebDriver, node: u64) -> Result<Option<WebElement>> {
    let cdp = driver.cdp();
    let Ok(resolved) = cdp
        .send_raw("DOM.resolveNode", json!({ "backendNodeId": node }))
        .await
    else {
        return Ok(None);
    };
    let object = resolved["object"]["objectId"]
        .as_str()
        .context("A node has no object.")?;
    let script = format!("function () {{ this.setAttribute('{MARK}', '') }}");
    let call = json!({ "objectId": object, "functionDeclaration": script });
    cdp.send_raw("Runtime.callFunctionOn", call).await?;

    let found = driver
        .find_all(By::Css(format!("[{MARK}]")))
        .await?
        .into_iter()
        .next();
    let clean =
        format!("document.querySelectorAll('[{MARK}]').forEach(e => e.removeAttribute('{MARK}'))");
    driver.execute(clean, Vec::new()).await?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_name_goes_before_a_part_of_it() {
        let node =
            |id: u64, name: &str| json!({ "name": { "value": name }, "backendDOMNodeId": id });
        let nodes = [node(1, "Open another…"), node(2, "Open"), node(3, "Close")];
        assert_eq!(best(&nodes, "Open"), Some(2));
        assert_eq!(best(&nodes, "another"), Some(1));
        assert_eq!(best(&nodes, "Save"), None);
    }
}
