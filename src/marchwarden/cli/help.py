"""The list of commands in `--help`, in the order a person meets them, each in a few words."""

import click

SECTIONS = {
    "Ask": {
        "ask": "One question, and the answer with its evidence.",
        "batch": "Many questions from a file.",
        "resume": "Go on with a run that was cut short.",
        "ui": "Ask, watch and read in a browser.",
    },
    "Look at a run": {
        "traces": "The runs there are; --search finds one.",
        "replay": "A run step by step, again, or on from a step.",
        "report": "A run as one file to read, send or cite.",
        "costs": "What all runs have spent.",
    },
    "Check": {
        "verify": "Prove every citation of a run again.",
        "refresh": "What a run cites, held against today.",
        "eval": "Measure a researcher over known answers.",
        "calibrate": "Fit confidence to results known to be right.",
    },
    "Researchers": {
        "researchers": "Who can be asked, and how they are.",
        "arxiv": "Papers kept to be searched offline.",
        "serve": "Serve a researcher over MCP.",
        "mcp-config": "What to tell an MCP host about us.",
    },
    "Fleet": {
        "worker": "Work for the fleet until stopped.",
        "runs": "Look after the runs of the fleet.",
    },
    "Set up": {
        "init": "Write commented files for keys and settings.",
        "doctor": "Is everything there and well?",
        "gc": "Find what the archive keeps for no run.",
        "completion": "Let your shell complete our commands.",
        "contract": "The JSON schema of results.",
    },
}


class Sectioned(click.Group):
    """A group whose help has sections. A command that no section names is listed all the same."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        named = {name for section in SECTIONS.values() for name in section}
        others = {name: each.get_short_help_str() for name, each in self.commands.items() if name not in named}
        for title, section in {**SECTIONS, "More": others}.items():
            rows = [(f"{name:11}", told) for name, told in section.items() if name in self.commands]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
