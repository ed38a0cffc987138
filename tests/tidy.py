"""How the product's files stand: sizes of folders, files and constructors, layers, words, and paths in documents.

`python -m tests.tidy` prints every violation; a test runs the same.
"""

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FILES_MAX: Final = 15
"""Hand-written files in a folder; about 12 is better."""
LINES_MAX: Final = 400
PARAMETERS_MAX: Final = 8
"""Of a constructor."""

INTERFACE: Final = "motejoin"
"""The module above all packages."""
ENDINGS: Final = (".py", ".js", ".css")
DOCUMENTS: Final = ("*.md", "docs/*.md", "docs/decisions/*.md")
MADE_BY_USE: Final = ("demo/", "comparison/", "runs/", "sweeps/", "figures/METRIC")
"""Paths in documents that commands make."""

GLOSSARY: Final[dict[str, str]] = {
    "mourner": "listener",
    "befalls": "happens to",
    "befall": "happen to",
    "whom": "which node",
    "told": "sent, reported or delivered",
    "telling": "sending or reporting",
    "comings": "churn",
    "in vain": "without a match",
    "comes to pass": "happens",
    "carry the command out": "run the command",
    "smelt": "sensed",
}
"""Words that names and docstrings do without, and what to say instead."""


def violations(root: Path) -> list[str]:
    """Everything that is untidy, a line each."""
    layers = import_layers(root)
    packages = [package for layer in layers for package in layer]
    found = [*check_folders(root, packages), *check_paths(root)]
    declared = declared_attributes(root, packages)
    for path in source_files(root, packages):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(root).as_posix()
        lines = text.count("\n")
        if lines > LINES_MAX:
            found.append(f"{name}: {lines} lines, expected at most {LINES_MAX}")
        if path.suffix == ".py":
            tree = ast.parse(text)
            checks = (*check_constructors(tree), *check_listeners(tree), *check_words(tree))
            if path.with_suffix(".pxd").is_file():
                checks += (*check_declared(tree, declared),)
            found += [f"{name}:{fault}" for fault in (*checks, *check_imports(name, tree, layers))]
    return found


def import_layers(root: Path) -> list[list[str]]:
    """The packages of each layer, from the top down, as import-linter has them below the Python interface."""
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = (c for c in settings["tool"]["importlinter"]["contracts"] if "layers" in c)
    layers = [[package.strip() for package in layer.split("|")] for layer in contract["layers"]]
    return [[INTERFACE], *layers]


def source_files(root: Path, packages: list[str]) -> Iterator[Path]:
    """The files that are written by hand, `__init__.py` among them."""
    for package in packages:
        if (root / f"{package}.py").is_file():
            yield root / f"{package}.py"
        for path in sorted((root / package).rglob("*")):
            if path.suffix in ENDINGS and "library" not in path.relative_to(root).parts:
                yield path


def check_folders(root: Path, packages: list[str]) -> Iterator[str]:
    """Folders with too many files."""
    files = (path for path in source_files(root, packages) if path.name != "__init__.py")
    for folder, count in Counter(path.parent for path in files).items():
        if count > FILES_MAX:
            name = folder.relative_to(root).as_posix()
            yield f"{name}/: {count} files, expected at most {FILES_MAX}"


def check_paths(root: Path) -> Iterator[str]:
    """Paths in documents, in back-ticks or as links, at which there is nothing."""
    for document in (path for pattern in DOCUMENTS for path in sorted(root.glob(pattern))):
        text = document.read_text(encoding="utf-8")
        named = re.findall(r"`((?:[\w.-]+/)+(?:[\w.-]+\.\w+)?)`", text)
        named += re.findall(r"\]\(((?!http)[^)#]+)\)", text)
        for path in dict.fromkeys(named):
            places = (root / path, document.parent / path)
            if not path.startswith(MADE_BY_USE) and not any(place.exists() for place in places):
                yield f"{document.relative_to(root).as_posix()}: there is no {path}"


def check_constructors(tree: ast.Module) -> Iterator[str]:
    """Constructors with too many parameters, `self` apart."""
    for owner in (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)):
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                given = node.args
                count = len([*given.posonlyargs, *given.args, *given.kwonlyargs]) - 1
                if count > PARAMETERS_MAX:
                    yield (
                        f"{node.lineno}: {owner.name} takes {count} parameters,"
                        f" expected at most {PARAMETERS_MAX}"
                    )


def check_listeners(tree: ast.Module) -> Iterator[str]:
    """Attributes `on_…` that somebody other than their owner sets."""
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets):
                pass
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target):
                targets = [target]
            case _:
                continue
        for place in (each for target in targets for each in ast.walk(target)):
            match place:
                case ast.Attribute(value=ast.Name("self")):
                    pass
                case ast.Attribute(attr=name) if name.startswith("on_"):
                    yield f"{node.lineno}: {ast.unparse(place)} is set from outside its owner"


def declared_attributes(root: Path, packages: list[str]) -> dict[str, set[str]]:
    """What the classes of compiled modules may hold, by class: their own attributes and those of their bases."""
    declared: dict[str, set[str]] = {}
    base_of: dict[str, str] = {}
    for path in (p for package in packages for p in sorted((root / package).rglob("*.pxd"))):
        owner = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if heading := re.match(r"cdef class (\w+)(?:\((\w+)\))?:", line):
                owner, base_of[owner] = heading[1], heading[2] or ""
                declared[owner] = set()
            elif attribute := re.match(r"    cdef (?:public |readonly )?[^(]*?(\w+)$", line):
                declared[owner].add(attribute[1])
    for owner, names in declared.items():
        base = base_of[owner]
        while base:
            names |= declared.get(base, set())
            base = base_of.get(base, "")
    return declared


def check_declared(tree: ast.Module, declared: dict[str, set[str]]) -> Iterator[str]:
    """Attributes of compiled classes that their `.pxd` does not declare: compiled code could not set them."""
    for owner in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        if owner.name not in declared:
            continue
        for node in ast.walk(owner):
            match node:
                case ast.Attribute(value=ast.Name("self"), attr=name, ctx=ast.Store()):
                    if name not in declared[owner.name]:
                        yield f"{node.lineno}: the .pxd of {owner.name} does not declare {name}"


def check_imports(name: str, tree: ast.Module, layers: list[list[str]]) -> Iterator[str]:
    """Imports that do not point down."""
    level = {package: place for place, layer in enumerate(layers) for package in layer}
    own = name.split("/")[0].removesuffix(".py")
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module)):
                modules = [module]
            case _:
                continue
        for module in modules:
            package = module.split(".")[0]
            if package != own and package in level and level[package] <= level[own]:
                yield f"{node.lineno}: {own} imports {module}, which is not below it"


def check_words(tree: ast.Module) -> Iterator[str]:
    """Names and docstrings with words that the glossary has a better one for."""
    banned = re.compile(rf"(?<![a-z])({'|'.join(GLOSSARY)})(?![a-z])", re.IGNORECASE)
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=text) | ast.ClassDef(name=text) | ast.arg(arg=text):
                pass
            case ast.Name(id=text, ctx=ast.Store()) | ast.Attribute(attr=text, ctx=ast.Store()):
                pass
            case ast.Expr(value=ast.Constant(value=str(text))):
                pass
            case _:
                continue
        for word in dict.fromkeys(each.lower() for each in banned.findall(text)):
            line = getattr(node, "lineno", 1)
            yield f"{line}: {word!r}, say {GLOSSARY[word]!r}"


if __name__ == "__main__":
    untidy = violations(Path(__file__).parents[1])
    sys.stdout.write("".join(f"{line}\n" for line in untidy))
    sys.exit(bool(untidy))
