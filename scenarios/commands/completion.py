"""`motejoin completion`: commands, options and shipped names completed by the shell."""

import argparse
from importlib import import_module
from typing import Final

from scenarios.commands.docs import documents
from scenarios.files.shipped import shipped_scenarios, shipped_sweeps

_EXAMPLES: Final = """examples:
  motejoin completion bash >> ~/.bash_completion
  motejoin completion zsh >> ~/.zshrc
  motejoin completion fish > ~/.config/fish/completions/motejoin.fish
"""

_BASH: Final = """\
_motejoin() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$word"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}}
complete -o filenames -F _motejoin motejoin
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to its parser."""
    parser.description = "Print a script that makes the shell complete commands, options and names."
    parser.epilog = _EXAMPLES
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    words = completions()
    if args.shell == "fish":
        commands = [f"complete -c motejoin -n __fish_use_subcommand -a '{' '.join(words)}'"]
        commands += [
            f"complete -c motejoin -n '__fish_seen_subcommand_from {name}' -a '{' '.join(known)}'"
            for name, known in words.items()
        ]
        print("\n".join(commands))
        return 0
    cases = "\n".join(f'    {name}) words="{" ".join(known)}" ;;' for name, known in words.items())
    if args.shell == "zsh":
        print("autoload -U +X bashcompinit && bashcompinit")
    print(_BASH.format(commands=" ".join(words), cases=cases), end="")
    return 0


def completions() -> dict[str, list[str]]:
    """What can follow each command: its options, and names of what ships."""
    from scenarios.cli import COMMANDS

    names = {
        "run": list(shipped_scenarios()),
        "sweep": list(shipped_sweeps()),
        "scenarios": [*shipped_scenarios(), *shipped_sweeps()],
        "docs": sorted(documents()),
        "completion": ["bash", "zsh", "fish"],
    }
    words = {}
    for command in COMMANDS:
        parser = argparse.ArgumentParser(prog=command)
        import_module(f"scenarios.commands.{command}").add_arguments(parser)
        # argparse has no public list of a parser's options.
        options = [option for action in parser._actions for option in action.option_strings]
        words[command] = [*names.get(command, []), *(o for o in options if o.startswith("--"))]
    return words
