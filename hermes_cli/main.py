"""The `hermes` command: the list of its subcommands, and what becomes of their errors."""

from __future__ import annotations

import sys
from importlib.metadata import version

import click

from hermes.core.errors import HermesError
from hermes_cli.bridge import bridge
from hermes_cli.chat import chat
from hermes_cli.doctor import doctor
from hermes_cli.mcp import mcp
from hermes_cli.models import models
from hermes_cli.prompt import prompt
from hermes_cli.serve import serve
from hermes_cli.sessions import sessions
from hermes_cli.terminal_style import accept_any_text


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version("hermes-gateway"), prog_name="hermes")
def hermes() -> None:
    """An agent server that every OpenAI client can talk to.

    Start with `hermes serve`; talk to the agent right here with `hermes chat`.
    """


hermes.add_command(serve)
hermes.add_command(chat)
hermes.add_command(sessions)
hermes.add_command(models)
hermes.add_command(prompt)
hermes.add_command(doctor)
hermes.add_command(mcp)
hermes.add_command(bridge)


def main() -> None:
    """Run the command line; a deliberate error is one line on stderr and exit code 1."""
    accept_any_text(sys.stdout, sys.stderr)
    try:
        hermes()
    except HermesError as error:
        click.echo(f"hermes: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
