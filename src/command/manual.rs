//! `fsduel completions` and `fsduel man`: both are made from the command line's own description,
//! so they cannot differ from it.

use clap::CommandFactory;
use clap_complete::Shell;
use fsduel_harness::Result;
use fsduel_harness::error::Cannot;

use crate::cli::Cli;
use crate::destination::to_stdout;
use crate::exit;

/// Print completions for `shell`.
pub fn completions(shell: Shell) -> Result<u8> {
    to_stdout(|mut out| {
        clap_complete::generate(shell, &mut Cli::command(), "fsduel", &mut out);
        Ok(())
    })?;
    Ok(exit::OK)
}

/// Print the manual page: `fsduel man | man -l -`. The pages of the commands follow the first.
pub fn man() -> Result<u8> {
    let mut top = Cli::command().disable_help_subcommand(true);
    top.build();
    to_stdout(|out| {
        let shown = top.get_subcommands().filter(|command| !command.is_hide_set());
        for command in std::iter::once(&top).chain(shown) {
            let page = clap_mangen::Man::new(command.clone());
            page.render(&mut &mut *out).cannot(|| "make the manual page".into())?;
        }
        Ok(())
    })?;
    Ok(exit::OK)
}
