//! A small server of static files on this machine, with live reload if wanted.

use std::fs::File;
use std::io::{Cursor, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Result, anyhow};
use tiny_http::{Header, Request, Response, StatusCode};

const THREADS: usize = 4;
const RELOAD_PATH: &str = "/.reload";

/// Listens for as long as it lives.
pub struct Server {
    http: Arc<tiny_http::Server>,
    port: u16,
    prefix: String,
}

/// What to serve.
#[derive(Debug, Clone)]
pub struct Site {
    pub folder: PathBuf,
    /// The path it stands under, from `/` to `/`.
    pub prefix: String,
    /// Tells open pages that there is a new build.
    pub reload: Option<Arc<Reload>>,
}

impl Server {
    /// Serves `site` on `port`, 0 for any that is free.
    pub fn start(port: u16, site: Site) -> Result<Self> {
        let http = tiny_http::Server::http((Ipv4Addr::LOCALHOST, port))
            .map_err(|error| anyhow!("Port {port} cannot be served: {error}."))?;
        let port = http
            .server_addr()
            .to_ip()
            .map_or(port, |address| address.port());
        let server = Self {
            http: Arc::new(http),
            port,
            prefix: site.prefix.clone(),
        };
        for _ in 0..THREADS {
            let (http, site) = (Arc::clone(&server.http), site.clone());
            thread::spawn(move || {
                // Ends when the server is dropped.
                while let Ok(request) = http.recv() {
                    answer(&site, request);
                }
            });
        }
        Ok(server)
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}{}", self.port, self.prefix)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for _ in 0..THREADS {
            self.http.unblock();
        }
    }
}

/// Pages that wait for a new build, and the number of the last one.
#[derive(Default)]
pub struct Reload {
    build: AtomicU64,
    pages: Mutex<Vec<Box<dyn Write + Send>>>,
}

impl std::fmt::Debug for Reload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reload")
            .field("build", &self.build)
            .finish_non_exhaustive()
    }
}

impl Reload {
    /// Tells every open page that there is a new build.
    pub fn announce(&self) {
        let build = self.build.fetch_add(1, Ordering::SeqCst) + 1;
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever cannot be told has gone.
        pages.retain_mut(|page| tell(page, build).is_ok());
    }

    fn join(&self, request: Request) {
        let mut page = request.into_writer();
        let greeting = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
                        Cache-Control: no-cache\r\nConnection: close\r\n\r\n";
        let told = page
            .write_all(greeting.as_bytes())
            .and_then(|()| tell(&mut page, self.build.load(Ordering::SeqCst)));
        if told.is_ok() {
            self.pages
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(page);
        }
    }
}

fn tell(page: &mut Box<dyn Write + Send>, build: u64) -> std::io::Result<()> {
    write!(page, "data: {build}\n\n")?;
    page.flush()
}

/// Reloads the page when the number it was given first is no longer the last.
const RELOAD_SCRIPT: &str = r#"<script>{
  let first;
  new EventSource("/.reload").onmessage = ({ data }) => {
    first ??= data;
    if (data !== first) location.reload();
  };
}</script>
"#;

const NOT_BUILT: &str = "<!doctype html><title>fslab</title><meta name=color-scheme \
    content='light dark'><p>There is no build yet. If it failed, the terminal tells why; \
    this page comes to life when it succeeds.</p>";

fn answer(site: &Site, request: Request) {
    let path = request
        .url()
        .split(['?', '#'])
        .next()
        .unwrap_or("/")
        .to_owned();
    if let (RELOAD_PATH, Some(reload)) = (path.as_str(), &site.reload) {
        return reload.join(request);
    }
    // A browser that goes away in the middle is no concern of ours.
    let _ = match locate(site, &path) {
        Some(file) if file.ends_with("index.html") => request.respond(page(site, &file)),
        Some(file) => match File::open(&file) {
            Ok(open) => request.respond(with_headers(Response::from_file(open), &file)),
            Err(_) => request.respond(missing()),
        },
        None => request.respond(missing()),
    };
}

/// The file that `path` means, if it is within the site.
fn locate(site: &Site, path: &str) -> Option<PathBuf> {
    let inside = path.strip_prefix(&site.prefix)?;
    if inside.is_empty() {
        return Some(site.folder.join("index.html"));
    }
    let plain = inside
        .split('/')
        .all(|part| !part.is_empty() && !part.starts_with('.'));
    (plain && !inside.contains('\\')).then(|| site.folder.join(inside))
}

fn page(site: &Site, file: &Path) -> Response<Cursor<Vec<u8>>> {
    let Ok(mut html) = std::fs::read_to_string(file) else {
        let text = if site.reload.is_some() {
            RELOAD_SCRIPT
        } else {
            ""
        };
        let response = Response::from_data(format!("{NOT_BUILT}{text}"));
        return with_headers(
            response.with_status_code(StatusCode(503)),
            Path::new("_.html"),
        );
    };
    if site.reload.is_some() {
        html.push_str(RELOAD_SCRIPT);
    }
    with_headers(Response::from_data(html), file)
}

fn missing() -> Response<Cursor<Vec<u8>>> {
    let response =
        Response::from_data("There is nothing here.\n").with_status_code(StatusCode(404));
    with_headers(response, Path::new("_.txt"))
}

fn with_headers<R: std::io::Read>(mut response: Response<R>, file: &Path) -> Response<R> {
    let headers = [
        ("Content-Type", content_type(file)),
        ("Cache-Control", "no-cache"),
    ];
    for (name, value) in headers {
        if let Ok(header) = Header::from_bytes(name, value) {
            response.add_header(header);
        }
    }
    response
}

fn content_type(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("css") => "text/css; charset=utf-8",
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("json") => "application/json",
        Some("md" | "toml" | "txt") => "text/plain; charset=utf-8",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("wasm") => "application/wasm",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site {
            folder: PathBuf::from("/site"),
            prefix: "/deep/path/".into(),
            reload: None,
        }
    }

    #[test]
    fn the_prefix_means_the_page() {
        assert_eq!(
            locate(&site(), "/deep/path/"),
            Some("/site/index.html".into())
        );
        assert_eq!(
            locate(&site(), "/deep/path/app/a.js"),
            Some("/site/app/a.js".into())
        );
    }

    #[test]
    fn nothing_outside_the_site_is_served() {
        for path in [
            "/",
            "/deep/",
            "/deep/path/../x",
            "/deep/path//etc",
            "/deep/path/a\\..\\b",
        ] {
            assert_eq!(locate(&site(), path), None, "{path}");
        }
    }
}
