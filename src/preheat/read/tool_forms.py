"""Tools as providers, SDKs and instrumentations write them, in the form that OpenAI's chat endpoint takes."""

from __future__ import annotations

from typing import Any

from preheat.read.messages import openai_tool
from preheat.read.nested import decoded

_SCHEMAS = ("parameters_json_schema", "inputSchema")
"""Other names for a function's ``parameters`` (Pydantic AI, the Vercel AI SDK and MCP)."""


def tools_of(value: Any) -> list[Any] | None:
    """A list of tools, as JSON or already decoded; ``None`` where there is none."""
    value = decoded(value)
    if isinstance(value, dict):
        value = [{"name": name, **inner} for name, inner in _named(value)]
    if not isinstance(value, list):
        return None
    return [tool for entry in value for tool in _declared(decoded(entry))] or None


def _declared(entry: Any) -> list[Any]:
    """One tool, or the several of a Gemini declaration."""
    if not isinstance(entry, dict):
        return [entry] if entry else []
    several = entry.get("function_declarations", entry.get("functionDeclarations"))
    if isinstance(several, list):
        return [_function(tool) for tool in several]
    inner = entry.get("tool", entry)
    schema = decoded(inner.get("json_schema")) if isinstance(inner, dict) else None
    return [_function(schema if schema is not None else entry)]


def _function(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return tool
    fields = {name: decoded(value) for name, value in tool.items()}
    for name in _SCHEMAS:
        if name in fields and "function" not in fields:
            fields.setdefault("parameters", fields[name])
            del fields[name]
    return openai_tool(fields)


def _named(tools: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """``{name: definition}``, as Langfuse keeps them."""
    named = ((name, decoded(value)) for name, value in tools.items())
    return [(name, value) for name, value in named if isinstance(value, dict)]
