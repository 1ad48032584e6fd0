//! A running chromedriver.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use crate::{net, tool};

const PATIENCE: Duration = Duration::from_secs(20);

/// Ends with its browsers when dropped.
pub struct Driver {
    child: Child,
    port: u16,
}

impl Driver {
    /// Starts `program` on a free port, with its log in `folder`.
    pub fn start(program: &Path, folder: &Path) -> Result<Self> {
        let log = File::create(folder.join("chromedriver.log"))?;
        let port = net::free_port()?;
        let mut command = Command::new(program);
        command.arg(format!("--port={port}")).stdin(Stdio::null());
        command.stdout(log.try_clone()?).stderr(log);
        let child = command
            .spawn()
            .with_context(|| tool::cannot_start(&command))?;
        let driver = Self { child, port };
        if !net::wait_for(port, PATIENCE) {
            bail!(
                "chromedriver does not answer; its log is in {}.",
                folder.display()
            );
        }
        Ok(driver)
    }

    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks it to close its browsers and go; killed, it would leave them behind.
    fn ask_to_end(&self) -> std::io::Result<()> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream
            .write_all(b"GET /shutdown HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        stream.read_to_end(&mut Vec::new())?;
        Ok(())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let asked = Instant::now();
        let polite = self.ask_to_end().is_ok();
        while polite && asked.elapsed() < Duration::from_secs(10) {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
