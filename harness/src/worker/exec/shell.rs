//! A shell in which a person works: theirs, as they know it, with a prompt that says where they are.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::command::quoted;
use crate::error::{Cannot, Result};

/// How a shell starts.
pub(super) struct Start {
    /// The shell and its arguments.
    pub(super) words: Vec<String>,
    /// Added to its environment.
    pub(super) environment: Vec<(&'static str, OsString)>,
}

/// Start the shell of these `words` with `label` before its own prompt; what it needs for that is put
/// into `folder`.
pub(super) fn start(words: &[String], label: &str, folder: &Path) -> Result<Start> {
    let label = format!("[{label}] ");
    let path = |name: &str| folder.join(name);
    let quoted_path = |name: &str| path(name).to_string_lossy().into_owned();
    let (mut words, mut environment) =
        (words.to_vec(), vec![("PS1", OsString::from(format!("{label}\\$ ")))]);
    match Path::new(&words[0]).file_name().and_then(|name| name.to_str()) {
        Some("bash") => {
            let lines = format!("[ -f ~/.bashrc ] && . ~/.bashrc\nPS1={}\"$PS1\"\n", quoted(&label));
            write(&path("bashrc"), &lines)?;
            words.extend(["--rcfile".into(), quoted_path("bashrc")]);
        }
        Some("zsh") => {
            // Where its own files are is told by this variable, so it is set back.
            let lines = format!(
                "unset ZDOTDIR\n[ -f ~/.zshrc ] && . ~/.zshrc\nPROMPT={}\"$PROMPT\"\n",
                quoted(&label)
            );
            write(&path(".zshrc"), &lines)?;
            environment.push(("ZDOTDIR", folder.into()));
        }
        Some("fish") => {
            let own = "functions --copy fish_prompt fsduel_prompt";
            let new = format!("function fish_prompt; echo -n {}; fsduel_prompt; end", quoted(&label));
            words.extend(["--init-command".into(), format!("{own}; {new}")]);
        }
        _ => {}
    }
    Ok(Start { words, environment })
}

fn write(path: &Path, lines: &str) -> Result<()> {
    fs::write(path, lines).cannot(|| format!("write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_shell_gets_its_prompt_in_its_own_way() {
        let folder = tempfile::tempdir().unwrap();
        let of = |shell: &str| start(&[shell.to_owned()], "ext4 2 GiB", folder.path()).unwrap();
        assert_eq!(of("/bin/bash").words[1], "--rcfile");
        let lines = fs::read_to_string(folder.path().join("bashrc")).unwrap();
        assert!(lines.contains("PS1='[ext4 2 GiB] '\"$PS1\""), "{lines}");
        assert_eq!(of("zsh").words, ["zsh"]);
        assert!(of("zsh").environment.iter().any(|(name, _)| *name == "ZDOTDIR"));
        assert!(of("/usr/bin/fish").words[2].contains("[ext4 2 GiB] "));
        let plain = of("/bin/dash");
        assert_eq!((plain.words.len(), plain.environment[0].0), (1, "PS1"));
    }
}
