"""How large the house is: counts of the product's code that are meant to fall, as a table.

    python -m tests.benchmarks.house            counts of this checkout
    python -m tests.benchmarks.house ../before  beside those of another one

References are resolved by mypy, so that a name counts for the function it
means: one that is called through a protocol counts for the protocol's.
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

from mypy import build, nodes
from mypy.modulefinder import BuildSource
from mypy.options import Options
from mypy.traverser import NameAndMemberCollector
from mypy.types import Instance, Type, get_proper_type

FOLDERS = ("predibot", "strategies", "tools")
LONG_LINE = 100
LONG_FUNCTION = 90
MOST_PARTS = 3
SHARED_FIELDS = 0.7
FEWEST_FIELDS = 4
"""Two classes with less are alike by chance."""
_NO_CODE = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENCODING,
        tokenize.ENDMARKER,
    }
)

_IRREGULAR = re.compile(
    "begun|bought|broken|built|caught|chosen|come|dealt|done|drawn|driven|fallen|felt|forgotten|found|given|gone|grown"
    "|heard|held|hidden|kept|known|laid|left|lent|lost|made|meant|met|paid|said|seen|sent|shown|sold|spent|spoken|taken"
    "|taught|thought|told|understood|won|worn|written"
)
_NO_PARTICIPLES = frozenset({"bleed", "breed", "embed", "exceed", "feed", "indeed", "need", "seed", "speed"})

Function = ast.FunctionDef | ast.AsyncFunctionDef


def counts_of(root: Path) -> Mapping[str, float]:
    """Return every count of a checkout, by what it is of."""
    paths = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    trees = [ast.parse(text) for text in texts]
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    functions = [node for tree in trees for node in _functions(tree)]
    names = Counter(each.name for each in classes)
    lengths = sorted((each.end_lineno or 0) - each.lineno + 1 for each in functions)
    kinds = [kind for each in functions for kind in _parameters(each)]
    return {
        "modules": len(paths),
        "modules that one sibling alone imports": _of_one_sibling(root, paths, trees),
        "code lines": sum(len(_code_lines(tree, text)) for tree, text in zip(trees, texts, strict=True)),
        "docstring lines": sum(len(_docstring_lines(tree)) for tree in trees),
        "all lines": sum(text.count("\n") for text in texts),
        "tokens": sum(token.type not in _NO_CODE for text in texts for token in _tokens(text)),
        "lines above 100 characters": sum(len(line) > LONG_LINE for text in texts for line in text.splitlines()),
        "bytes of files that are not Python": sum(
            path.stat().st_size
            for path in (root / "predibot").rglob("*")
            if path.is_file() and path.suffix not in {".py", ".pyc"}
        ),
        "classes": len(classes),
        "class names that exist twice or more": sum(number > 1 for number in names.values()),
        "pairs of classes that share 70 % of their fields": _alike(classes),
        "participles as class names": sum(
            _is_participle(_words(each.name)[-1]) for each in classes if not _is_error(each)
        ),
        "functions": len(functions),
        "functions that begin with a participle": sum(_is_participle(_words(each.name)[0]) for each in functions),
        "functions referenced once": _referenced_once(root),
        "nested functions": sum(
            inner is not each and isinstance(inner, Function) for each in functions for inner in ast.walk(each)
        ),
        "lines of a function, nine of ten have at most": lengths[int(0.9 * (len(lengths) - 1))],
        "functions above 90 lines": sum(length > LONG_FUNCTION for length in lengths),
        "parameters merely handed on, %": round(100 * sum(kinds) / max(len(kinds), 1), 1),
        "option declarations": sum(_options(tree) for tree in trees),
        "dict[str, Any]": sum(text.count("dict[str, Any]") for text in texts),
        "returned tuples of more than three parts": sum(_is_long_tuple(each.returns) for each in functions),
    }


def _functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    return tokenize.generate_tokens(io.StringIO(text).readline)


def _code_lines(tree: ast.Module, text: str) -> set[int]:
    """Return the lines that hold a token which is neither a comment nor of a docstring."""
    return {
        line
        for token in _tokens(text)
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    } - _docstring_lines(tree)


def _docstring_lines(tree: ast.Module) -> set[int]:
    """Return the lines of strings that stand by themselves."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _words(name: str) -> list[str]:
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name) or [name]


def _is_participle(word: str) -> bool:
    """Return whether a word of a name is a past participle; verbs whose forms are alike are taken for verbs."""
    word = word.lower()
    return word not in _NO_PARTICIPLES and (
        _IRREGULAR.fullmatch(word) is not None or (word.endswith("ed") and len(word) > 3)
    )


def _is_error(each: ast.ClassDef) -> bool:
    """Return whether a class is an exception, as far as its bases tell: what happened is what one is named by."""
    return any(re.search(r"Error|Exception|Unavailable|Refused|Failed", ast.unparse(base)) for base in each.bases)


def _of_one_sibling(root: Path, paths: list[Path], trees: list[ast.Module]) -> int:
    names = [".".join(path.relative_to(root).with_suffix("").parts) for path in paths]
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for name, tree in zip(names, trees, strict=True):
        for node in (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module):
            for each in (f"{node.module}.{alias.name}" for alias in node.names):
                importers[each if each in names else str(node.module)].add(name.removesuffix(".__init__"))
    rooms = {name: {user.rpartition(".")[0] for user in users} for name, users in importers.items() if name in names}
    return sum(len(importers[name]) == 1 and users == {name.rpartition(".")[0]} for name, users in rooms.items())


def _alike(classes: list[ast.ClassDef]) -> int:
    fields = [
        {node.target.id for node in each.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
        for each in classes
    ]
    many = [each for each in fields if len(each) >= FEWEST_FIELDS]
    return sum(len(one & other) >= SHARED_FIELDS * max(len(one), len(other)) for one, other in combinations(many, 2))


def _parameters(function: Function) -> Iterator[bool]:
    """Yield of each parameter that is used whether all that is done with it is to give it to another call as it is."""
    arguments = function.args
    names = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)} - {"self", "cls"}
    uses: defaultdict[str, int] = defaultdict(int)
    given: defaultdict[str, int] = defaultdict(int)
    for node in (inner for statement in function.body for inner in ast.walk(statement)):
        if isinstance(node, ast.Name) and node.id in names:
            uses[node.id] += 1
        if isinstance(node, ast.Call):
            for value in (*node.args, *(each.value for each in node.keywords)):
                if isinstance(value, ast.Name) and value.id in names:
                    given[value.id] += 1
    return (uses[name] == given[name] for name in sorted(uses))


def _options(tree: ast.AST) -> int:
    """Return how often an option of the command line is declared."""
    return sum(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"Option", "option", "add_argument"}
        and any(isinstance(each, ast.Constant) and str(each.value).startswith("--") for each in node.args)
        for node in ast.walk(tree)
    )


def _is_long_tuple(returned: ast.expr | None) -> bool:
    return (
        isinstance(returned, ast.Subscript)
        and ast.unparse(returned.value) == "tuple"
        and isinstance(returned.slice, ast.Tuple)
        and len(returned.slice.elts) > MOST_PARTS
    )


def _referenced_once(root: Path) -> int:
    """Return how many functions are referenced in one place of the product, however they are named there."""
    options = Options()
    options.preserve_asts = options.export_types = True
    options.explicit_package_bases = options.namespace_packages = True
    options.ignore_missing_imports = options.ignore_errors = True
    options.follow_imports = "silent"
    options.mypy_path = [str(root)]
    options.cache_dir, options.incremental = "/dev/null", False
    paths = sorted((root / "predibot").rglob("*.py"))
    modules = [".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    result = build.build([BuildSource(str(path), name) for path, name in zip(paths, modules, strict=True)], options)
    counts: Counter[str] = Counter()
    defined: set[str] = set()
    for tree in (tree for name, tree in result.files.items() if name.split(".")[0] == "predibot"):
        defined |= {name for name, node, _ in tree.local_definitions() if isinstance(node.node, nodes.FuncDef)}
        tree.accept(found := NameAndMemberCollector())
        counts.update(_meant(each, result.types) for each in (*found.name_exprs, *found.member_exprs))
    return sum(counts[name] == 1 for name in defined if not name.endswith("__"))


def _meant(expression: nodes.RefExpr, types: Mapping[nodes.Expression, Type]) -> str:
    """Return the full name of what an expression refers to, as far as mypy knows; an attribute's is its class's."""
    if isinstance(expression, nodes.MemberExpr) and expression.expr in types:
        owner = get_proper_type(types[expression.expr])
        if isinstance(owner, Instance) and (found := owner.type.get(expression.name)) and found.node is not None:
            return found.node.fullname
    return expression.fullname


def main(roots: list[Path]) -> None:
    """Print the table."""
    columns = [counts_of(root) for root in roots]
    for name in columns[0]:
        print(f"{name:52}" + "".join(f"{column[name]:>14,}" for column in columns))


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]] + [Path(__file__).parents[2]])
