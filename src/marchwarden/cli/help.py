"""Sections and summaries of the commands in `marchwarden --help`."""

import click

SECTIONS = {
    "Ask": {
        "ask": "Ask a question and print the answer with its sources.",
        "batch": "Ask many questions from a file.",
        "resume": "Resume an interrupted run.",
        "ui": "Open the browser interface.",
    },
    "Inspect runs": {
        "traces": "List past runs.",
        "replay": "Show, re-run or fork a run.",
        "report": "Export a run as HTML, Markdown, JSON or BibTeX.",
        "costs": "Show the costs of all runs.",
    },
    "Check": {
        "verify": "Verify every citation of a run.",
        "refresh": "Check whether cited sources have changed.",
        "eval": "Measure answers against a test suite.",
        "calibrate": "Fit confidence scores to known results.",
    },
    "Researchers": {
        "researchers": "List researchers and their status.",
        "arxiv": "Manage the offline arXiv library.",
        "index": "Build, show or delete the index of folders.",
        "serve": "Serve a researcher over MCP.",
        "mcp-config": "Print the configuration for an MCP client.",
    },
    "Fleet": {
        "worker": "Run a fleet worker.",
        "runs": "Manage runs on the fleet.",
    },
    "Set up": {
        "init": "Create commented configuration files.",
        "doctor": "Check the installation.",
        "gc": "Find (and delete) unused archive files.",
        "completion": "Print a shell completion script.",
        "contract": "Print the JSON schemas.",
    },
}


class SectionedGroup(click.Group):
    """A click group whose help has sections. Commands without a section are listed under "More"."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        listed = {name for section in SECTIONS.values() for name in section}
        others = {name: each.get_short_help_str() for name, each in self.commands.items() if name not in listed}
        for title, section in {**SECTIONS, "More": others}.items():
            rows = [(f"{name:11}", summary) for name, summary in section.items() if name in self.commands]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class CommandGroup(click.Group):
    """A click group that prints its help if no command is given. The exit code is that of bad input."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)
