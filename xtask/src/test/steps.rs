//! The steps of `cargo xtask test`.

use std::process::Command;

use anyhow::Result;

use super::browser::{self, Browser};
use super::{Verdict, capture, driver};
use crate::server::{Server, Site};
use crate::site::{self, Profile};
use crate::tool;
use crate::workspace::Workspace;

const WASM: [&str; 2] = ["--target", "wasm32-unknown-unknown"];
/// The path that tests see the site under: it must work at any.
const SITE_PREFIX: &str = "/some/path/";

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Step {
    Fmt,
    Clippy,
    ClippyWasm,
    Tests,
    DocTests,
    WasmTests,
    BrowserTests,
}

type Notices<'a> = &'a mut Vec<String>;

impl Step {
    pub const ALL: [Self; 7] = [
        Self::Fmt,
        Self::Clippy,
        Self::ClippyWasm,
        Self::Tests,
        Self::DocTests,
        Self::WasmTests,
        Self::BrowserTests,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Fmt => "fmt: formatting",
            Self::Clippy => "clippy: lints",
            Self::ClippyWasm => "clippy-wasm: lints of the page",
            Self::Tests => "tests: native tests",
            Self::DocTests => "doc-tests: examples in documentation",
            Self::WasmTests => "wasm-tests: tests as wasm in a browser",
            Self::BrowserTests => "browser-tests: the whole page",
        }
    }

    /// `filter` narrows the native and the browser's tests.
    pub fn run(
        self,
        workspace: &Workspace,
        filter: Option<&str>,
        notices: Notices,
    ) -> Result<Verdict> {
        match self {
            Self::Fmt => check(workspace.cargo().args(["fmt", "--all", "--check"]), notices),
            Self::Clippy => clippy(workspace, &["--workspace"], notices),
            Self::ClippyWasm => {
                site::ensure_wasm_target(workspace)?;
                clippy(
                    workspace,
                    &["--package=fslab-web", WASM[0], WASM[1]],
                    notices,
                )
            }
            Self::Tests => native_tests(workspace, filter, notices),
            Self::DocTests => check(
                workspace.cargo().args(["test", "--doc", "--workspace"]),
                notices,
            ),
            Self::WasmTests => wasm_tests(workspace, notices),
            Self::BrowserTests => browser_tests(workspace, filter, notices),
        }
    }
}

/// Runs a command that is a check by itself.
fn check(command: &mut Command, notices: Notices) -> Result<Verdict> {
    capture::run(command, notices)?;
    Ok(Verdict::Passed)
}

fn clippy(workspace: &Workspace, scope: &[&str], notices: Notices) -> Result<Verdict> {
    let mut cargo = workspace.cargo();
    cargo
        .arg("clippy")
        .args(scope)
        .args(["--all-targets", "--", "-D", "warnings"]);
    check(&mut cargo, notices)
}

/// All but the tests of the page, which need a browser.
fn native_tests(workspace: &Workspace, filter: Option<&str>, notices: Notices) -> Result<Verdict> {
    let mut tests = if has_nextest() {
        nextest(workspace, &within("not package(fslab-e2e)", filter))
    } else {
        cargo_test(workspace, &["--workspace", "--exclude=fslab-e2e"])
    };
    if std::env::var_os(SEED).is_none() {
        tests.env(SEED, "2026");
    }
    check(&mut tests, notices)
}

/// The seed of the property tests. Here it is the same each time, so that a change is
/// judged by what it changed; `cargo test` draws a new one, and so may whoever sets it.
const SEED: &str = "PROPTEST_RNG_SEED";

/// Both of two expressions of nextest.
fn within(all: &str, filter: Option<&str>) -> String {
    filter.map_or_else(|| all.to_owned(), |filter| format!("{all} and ({filter})"))
}

fn has_nextest() -> bool {
    tool::find("cargo-nextest").is_some()
}

/// Runs the tests of the workspace that `filter` names, and shows what they print.
///
/// All packages are named each time, so that cargo compiles their dependencies
/// once, with one set of features.
fn nextest(workspace: &Workspace, filter: &str) -> Command {
    let mut cargo = workspace.cargo();
    cargo.args([
        "nextest",
        "run",
        "--workspace",
        "--no-fail-fast",
        "--no-tests=pass",
    ]);
    cargo.args(["--success-output=immediate", "--filterset", filter]);
    cargo
}

/// The same by what comes with cargo.
fn cargo_test(workspace: &Workspace, packages: &[&str]) -> Command {
    let mut cargo = workspace.cargo();
    cargo
        .args(["test", "--no-fail-fast", "--lib", "--bins", "--tests"])
        .args(packages);
    cargo.args(["--", "--nocapture"]);
    cargo
}

fn wasm_tests(workspace: &Workspace, notices: Notices) -> Result<Verdict> {
    site::ensure_wasm_target(workspace)?;
    let browser = match browser::find_or_install() {
        Ok(browser) => browser,
        Err(reason) => return Ok(Verdict::Skipped(reason)),
    };
    tool::run(
        workspace
            .cargo()
            .args(["build", "--package=wasm-test-runner"]),
    )?;
    let program = format!("wasm-test-runner{}", std::env::consts::EXE_SUFFIX);
    let runner = workspace.target.join("debug").join(program);
    let capabilities = browser.write_capabilities(&workspace.scratch("e2e")?)?;

    let mut cargo = workspace.cargo();
    cargo
        .args(["test", "--no-fail-fast", "--package=fslab-web", "--tests"])
        .args(WASM);
    cargo
        .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner)
        .env("CHROMEDRIVER", &browser.driver)
        .env("WASM_BINDGEN_USE_BROWSER", "1")
        .env("WASM_BINDGEN_TEST_TIMEOUT", "120")
        .env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", capabilities);
    check(&mut cargo, notices)
}

fn browser_tests(workspace: &Workspace, filter: Option<&str>, notices: Notices) -> Result<Verdict> {
    let browser = match browser::find_or_install() {
        Ok(browser) => browser,
        Err(reason) => return Ok(Verdict::Skipped(reason)),
    };
    let folder = workspace.scratch("site")?.join("test");
    site::build(workspace, Profile::Dev, &folder)?;
    let server = Server::start(
        0,
        Site {
            folder,
            prefix: SITE_PREFIX.into(),
            reload: None,
        },
    )?;
    let driver = driver::Driver::start(&browser.driver, &workspace.scratch("e2e")?)?;

    let mut tests = if has_nextest() {
        nextest(workspace, &within("package(fslab-e2e)", filter))
    } else {
        cargo_test(workspace, &["--package=fslab-e2e"])
    };
    give_addresses(&mut tests, workspace, &browser, &server, &driver)?;
    // A failure says where it happened; the harness's insides are of no interest.
    tests.env("RUST_LIB_BACKTRACE", "0");
    check(&mut tests, notices)
}

/// What the harness in `web/e2e` wants to know.
pub fn give_addresses(
    tests: &mut Command,
    workspace: &Workspace,
    browser: &Browser,
    server: &Server,
    driver: &driver::Driver,
) -> Result<()> {
    tests
        .env("FSLAB_E2E_PAGE", server.address())
        .env("FSLAB_E2E_DRIVER", driver.address())
        .env(
            "FSLAB_E2E_CAPABILITIES",
            browser.write_capabilities(&workspace.scratch("e2e")?)?,
        )
        .env("FSLAB_E2E_SCREENSHOTS", workspace.scratch("screenshots")?);
    Ok(())
}
