//! One page in the browser, at a size and in colours that are chosen.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chromium::{Result, Wire};

/// A page of a long report takes its time, above all without optimisation.
const LOADED_WITHIN: Duration = Duration::from_secs(40);

/// How a page is looked at.
#[derive(Clone, Copy)]
pub struct View {
    /// In CSS pixels.
    pub width: u32,
    /// The reader prefers dark colours.
    pub dark: bool,
    /// On paper.
    pub print: bool,
}

/// A page.
pub struct Tab {
    wire: Arc<Wire>,
    target: String,
    session: String,
    events: Receiver<Value>,
}

/// What a page did while it was loaded.
#[derive(Default)]
pub struct Told {
    /// Errors and warnings of the console, and what no one caught.
    pub complaints: Vec<String>,
    /// Addresses that were asked for.
    pub requests: Vec<String>,
}

impl Tab {
    /// An empty one.
    pub fn open(wire: &Arc<Wire>) -> Result<Self> {
        let made =
            wire.call(None, "Target.createTarget", &json!({ "url": "about:blank", "newWindow": true }))?;
        let target = made["targetId"].as_str().unwrap_or_default().to_owned();
        let attached = json!({ "targetId": target, "flatten": true });
        let attached = wire.call(None, "Target.attachToTarget", &attached)?;
        let session = attached["sessionId"].as_str().unwrap_or_default().to_owned();
        let events = wire.events(&session)?;
        let tab = Self { wire: Arc::clone(wire), target, session, events };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), &json!({}))?;
        }
        Ok(tab)
    }

    /// Call a method of the DevTools protocol.
    pub fn call(&self, method: &str, parameters: &Value) -> Result<Value> {
        self.wire.call(Some(&self.session), method, parameters)
    }

    /// Look at it in another way.
    pub fn view(&self, view: View) -> Result<()> {
        let phone = view.width < 600;
        let size = json!({ "width": view.width, "height": 900, "deviceScaleFactor": 1, "mobile": phone });
        self.call("Emulation.setDeviceMetricsOverride", &size)?;
        let scheme = if view.dark { "dark" } else { "light" };
        let media = json!({
            "media": if view.print { "print" } else { "screen" },
            "features": [{ "name": "prefers-color-scheme", "value": scheme }],
        });
        self.call("Emulation.setEmulatedMedia", &media).map(drop)
    }

    /// Allow scripts to a page that is loaded from now on, or not.
    pub fn allow_scripts(&self, allowed: bool) -> Result<()> {
        self.call("Emulation.setScriptExecutionDisabled", &json!({ "value": !allowed })).map(drop)
    }

    /// Load a page, and wait until all of it is there.
    pub fn load(&self, address: &str) -> Result<Told> {
        self.events.try_iter().for_each(drop);
        let answer = self.call("Page.navigate", &json!({ "url": address }))?;
        if let Some(error) = answer["errorText"].as_str() {
            return Err(format!("cannot load {address}: {error}"));
        }
        let mut told = Told::default();
        let until = Instant::now() + LOADED_WITHIN;
        while !told.hears(&self.next(until, address)?) {}
        // What a page does in its first moment is heard too: an answer comes after all before it.
        std::thread::sleep(Duration::from_millis(50));
        self.evaluate("0")?;
        for event in self.events.try_iter() {
            told.hears(&event);
        }
        Ok(told)
    }

    fn next(&self, until: Instant, address: &str) -> Result<Value> {
        let left = until.saturating_duration_since(Instant::now());
        self.events.recv_timeout(left).map_err(|error| format!("{address} is not loaded: {error}"))
    }

    /// The value of an expression in the page.
    pub fn evaluate(&self, expression: &str) -> Result<Value> {
        let asked = json!({ "expression": expression, "returnByValue": true });
        let mut answer = self.call("Runtime.evaluate", &asked)?;
        match answer.get("exceptionDetails") {
            Some(exception) => Err(format!("the check itself fails: {exception}")),
            None => Ok(answer["result"]["value"].take()),
        }
    }
}

impl Told {
    /// Take in an event; whether it says that the page is loaded.
    fn hears(&mut self, event: &Value) -> bool {
        let told = &event["params"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match event["method"].as_str().unwrap_or_default() {
            "Page.loadEventFired" => return true,
            "Network.requestWillBeSent" => self.requests.push(text(&told["request"]["url"])),
            "Runtime.exceptionThrown" => self.complaints.push(told["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if is_bad(&told["type"]) => {
                self.complaints.push(told["args"].to_string())
            }
            "Log.entryAdded" if is_bad(&told["entry"]["level"]) => {
                self.complaints.push(text(&told["entry"]["text"]))
            }
            _ => {}
        }
        false
    }
}

fn is_bad(level: &Value) -> bool {
    ["error", "warning", "assert"].contains(&level.as_str().unwrap_or_default())
}

impl Drop for Tab {
    fn drop(&mut self) {
        let _ = self.wire.call(None, "Target.closeTarget", &json!({ "targetId": self.target }));
    }
}
