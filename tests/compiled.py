"""What is compiled once a process: statements and templates, which are compiled for each ledger and each app."""

from types import CodeType
from typing import Any

from jinja2 import Environment
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement
from sqlalchemy.util import LRUCache

_COMPILED: LRUCache[Any, Any] = LRUCache(5_000)


def share_compiled_sql() -> None:
    """Have all engines keep what they compile in one place, where others of equal databases find it."""
    # It is kept by its statement and its dialect, of which each engine has one.
    equal: Any = DefaultDialect
    equal.__eq__ = lambda self, other: isinstance(other, DefaultDialect) and _of(self) == _of(other)
    equal.__hash__ = lambda self: hash(_of(self))
    event.listen(Engine, "engine_connect", _share)
    # A ledger that is made new compiles some sixty statements, which tables and indexes keep nowhere.
    ddl: Any = ExecutableDDLElement
    compile_ddl = ddl.compile

    def share(self: Any, *args: Any, dialect: Any = None, **terms: Any) -> Any:
        if not isinstance(self, CreateTable | CreateIndex) or args or terms.get("schema_translate_map"):
            return compile_ddl(self, *args, dialect=dialect, **terms)
        key = (type(self), self.element, self.if_not_exists, dialect)
        return _COMPILED.get(key) or _COMPILED.setdefault(key, compile_ddl(self, dialect=dialect, **terms))

    ddl.compile = share


def share_compiled_templates() -> None:
    """Have all apps and sites run the same code of a template, whose filters it finds in its own environment."""
    environment: Any = Environment
    compile_template, kept = environment.compile, dict[object, CodeType]()

    def share(self: Environment, *template: str) -> CodeType:
        key = (template, self.trim_blocks, self.autoescape)
        return kept.get(key) or kept.setdefault(key, compile_template(self, *template))

    environment.compile = share


def _of(dialect: DefaultDialect) -> tuple[object, ...]:
    """Return what the SQL of a dialect depends on."""
    return (
        type(dialect),
        dialect.paramstyle,
        dialect.server_version_info,
        dialect.default_schema_name,
        dialect.max_identifier_length,
    )


def _share(connection: Connection) -> None:
    connection.engine._compiled_cache = _COMPILED
