"""`marchwarden completion`: print a shell completion script."""

import sys

import click

SHELLS = ("bash", "zsh", "fish")
_INSTALLATION = {
    "bash": 'eval "$(marchwarden completion bash)"     in ~/.bashrc',
    "zsh": 'eval "$(marchwarden completion zsh)"      in ~/.zshrc',
    "fish": "marchwarden completion fish | source      in ~/.config/fish/config.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes commands, options and values in your shell.

    \b
    marchwarden completion bash
    """
    from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

    scripts: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
    click.echo(scripts[shell](context.find_root().command, {}, "marchwarden", "_MARCHWARDEN_COMPLETE").source())
    if sys.stdout.isatty():
        click.echo(f"to install it: {_INSTALLATION[shell]}", err=True)
