//! Chromium without a window, driven through a pipe.
//!
//! `--remote-debugging-pipe` reads and writes messages of the DevTools protocol, each ended by a
//! NUL. Chromium ends when the pipe closes, so it does not outlive a test that was killed, which
//! with a port it would. Messages are plain JSON: a newer Chromium that says more is understood.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Or why not, in a sentence.
pub type Result<T> = std::result::Result<T, String>;

/// Its names: Debian's, Google's, and that of other distributions.
pub const PROGRAMS: [&str; 3] = ["chromium", "google-chrome", "chromium-browser"];

/// No answer takes longer, even where others use the processors.
const PATIENCE: Duration = Duration::from_secs(40);

const SWITCHES: [&str; 18] = [
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    // Nothing leaves this machine, whatever a page asks for.
    "--host-resolver-rules=MAP * ~NOTFOUND",
];

/// Descriptors 3 and 4 are those of the pipe.
const WITH_PIPE: &str = r#"exec "$@" 3<&0 4>&1 0</dev/null 1>&2"#;

/// A browser that runs.
pub struct Chromium {
    child: Mutex<Child>,
    wire: Arc<Wire>,
    /// Its profile, and what it complains of.
    folder: PathBuf,
}

/// What goes through the pipe.
pub struct Wire {
    out: Mutex<Option<ChildStdin>>,
    waiting: Mutex<Waiting>,
}

/// Who waits for what comes back.
#[derive(Default)]
struct Waiting {
    last: u64,
    answers: HashMap<u64, Sender<Value>>,
    events: HashMap<String, Sender<Value>>,
}

impl Chromium {
    /// Start it, with a new profile.
    pub fn start(program: &str) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("fsduel-browser-").tempdir_in("/var/tmp");
        let folder = folder.map_err(|error| format!("cannot make a folder in /var/tmp: {error}"))?.keep();
        let log = fs::File::create(folder.join("log")).map_err(|error| error.to_string())?;
        let mut command = Command::new("sh");
        command.args(["-c", WITH_PIPE, "sh", program]).args(SWITCHES);
        command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
        // The sandbox refuses root.
        command.args(nix::unistd::Uid::effective().is_root().then_some("--no-sandbox"));
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", &folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut child = command.spawn().map_err(|error| format!("cannot start {program}: {error}"))?;
        let (out, back) = (child.stdin.take(), child.stdout.take());
        let wire = Arc::new(Wire { out: Mutex::new(out), waiting: Mutex::default() });
        let reader = Arc::clone(&wire);
        std::thread::spawn(move || reader.read(back));
        let started = Self { child: Mutex::new(child), wire, folder };
        match started.wire.call(None, "Browser.getVersion", &json!({})) {
            Ok(_) => Ok(started),
            Err(error) => {
                let log = fs::read_to_string(started.folder.join("log")).unwrap_or_default();
                let _ = started.close();
                Err(format!("{program} does not answer: {error}\n{log}"))
            }
        }
    }

    /// The line to it.
    pub fn wire(&self) -> &Arc<Wire> {
        &self.wire
    }

    /// End it, and wait for every process that it started.
    ///
    /// # Errors
    ///
    /// Some are still there after ten seconds; they are named.
    pub fn close(&self) -> Result<()> {
        let _ = self.wire.call(None, "Browser.close", &json!({}));
        *self.wire.out.lock().map_err(|error| error.to_string())? = None;
        let mut child = self.child.lock().map_err(|error| error.to_string())?;
        let begun = Instant::now();
        let mut left = self.processes();
        while child.try_wait().map_err(|error| error.to_string())?.is_none() || !left.is_empty() {
            if begun.elapsed() > Duration::from_secs(10) {
                let _ = child.kill();
                return Err(format!("of the browser there is left: {}", left.join("; ")));
            }
            std::thread::sleep(Duration::from_millis(20));
            left = self.processes();
        }
        fs::remove_dir_all(&self.folder).map_err(|error| format!("cannot remove its profile: {error}"))
    }

    /// Command lines of the processes that know our folder: by its name in them, or as their home.
    fn processes(&self) -> Vec<String> {
        let folder = self.folder.display().to_string();
        let text =
            |path: PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).replace('\0', " ");
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
        let ours = entries
            .filter(|path| ["cmdline", "environ"].iter().any(|file| text(path.join(file)).contains(&folder)));
        ours.map(|path| format!("{} {}", path.display(), text(path.join("cmdline")))).collect()
    }
}

impl Wire {
    /// Call a method, in a session or of the browser itself, and wait for the answer.
    ///
    /// # Errors
    ///
    /// The browser refuses, is gone, or takes too long.
    pub fn call(&self, session: Option<&str>, method: &str, parameters: &Value) -> Result<Value> {
        let (sender, answer) = mpsc::channel();
        let id = self.await_answer(sender)?;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        self.send(&message).map_err(|error| format!("cannot call {method}: {error}"))?;
        let mut answer =
            answer.recv_timeout(PATIENCE).map_err(|error| format!("{method} has no answer: {error}"))?;
        match answer.get("error") {
            Some(error) => Err(format!("{method} is refused: {error}")),
            None => Ok(answer["result"].take()),
        }
    }

    /// All that a session tells from now on.
    pub fn events(&self, session: &str) -> Result<Receiver<Value>> {
        let (sender, events) = mpsc::channel();
        self.waiting()?.events.insert(session.to_owned(), sender);
        Ok(events)
    }

    fn waiting(&self) -> Result<std::sync::MutexGuard<'_, Waiting>> {
        self.waiting.lock().map_err(|error| error.to_string())
    }

    fn await_answer(&self, sender: Sender<Value>) -> Result<u64> {
        let mut waiting = self.waiting()?;
        waiting.last += 1;
        let id = waiting.last;
        waiting.answers.insert(id, sender);
        Ok(id)
    }

    fn send(&self, message: &Value) -> Result<()> {
        let mut out = self.out.lock().map_err(|error| error.to_string())?;
        let out = out.as_mut().ok_or("the pipe is closed")?;
        let bytes = [message.to_string().as_bytes(), b"\0"].concat();
        out.write_all(&bytes).and_then(|()| out.flush()).map_err(|error| error.to_string())
    }

    /// Until the browser closes its end.
    fn read(&self, back: Option<ChildStdout>) {
        let messages = back.into_iter().flat_map(|back| BufReader::new(back).split(0));
        for message in messages.map_while(std::result::Result::ok) {
            let Ok(message) = serde_json::from_slice::<Value>(&message) else { continue };
            let Ok(mut waiting) = self.waiting() else { return };
            let listener = match message["id"].as_u64() {
                Some(id) => waiting.answers.remove(&id),
                None => message["sessionId"].as_str().and_then(|id| waiting.events.get(id).cloned()),
            };
            // Who no longer listens does not want it.
            let _ = listener.map(|listener| listener.send(message));
        }
        // Whoever still waits learns that nothing comes any more.
        let _ = self.waiting().map(|mut waiting| *waiting = Waiting::default());
    }
}
