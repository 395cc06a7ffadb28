"""Tool calls that a model writes as text, in the notation it was trained on, because its server does not parse them.

A text is read as a call only if it ends with that call and holds no other. Words may stand before the call only where a
mark shows where it begins.

Source: the tool parsers of vLLM (Hermes, Qwen3-Coder, Llama, Mistral, DeepSeek V3 to V3.2, Kimi K2, GLM 4.5, Granite,
InternLM, Phi-4, xLAM, MiniMax M2, FunctionGemma, Gemma 4, gpt-oss) and llama.cpp's common/chat.cpp, which are less
strict.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Collection, Mapping

from predibot.domain.chat import ToolCall, ToolSchema
from predibot.domain.untrusted_text import require_shallow
from predibot.games.answers import MAX_ANSWER_CHARACTERS, decoder

ARGUMENTS = frozenset({"arguments", "parameters"})
_NAMES = frozenset({"name", "tool_name"})
_BESIDE = frozenset({"type", "id", "tool_call_id"})
_BEGINS = re.compile(
    r"<(?:\w+:|longcat_|｜DSML｜)?(?:tool_?call|function_call)s?>"  # Hermes, Qwen, GLM, MiniMax, DeepSeek V3.2
    r"|(?=<function=)"  # Llama 3.1, Qwen3-Coder
    r"|\[TOOL_CALLS\]"  # Mistral
    r"|<\|tool_call\|>"  # Granite
    r"|(?:<\|tool_call>|<start_function_call>)(?=call:)"  # Gemma
    r"|<\|python_(?:tag|start)\|>"  # Llama
    r"|(?:<｜tool[▁_ ]calls[▁_ ]begin｜>\s*)?<｜tool[▁_ ]call[▁_ ]begin｜>(?:function<｜tool[▁_ ]sep｜>)?"  # DeepSeek
    r"|(?:<\|tool_calls_section_begin\|>\s*)?<\|tool_call_(?:begin|start)\|>"  # Kimi, LFM2
    r"|<\|action_start\|>\s*<\|plugin\|>"  # InternLM
    r"|<\|START_ACTION\|>"  # Cohere
    r"|functools(?=\[\{)"  # Phi-4
    r"|(?:<\|start\|>|assistant|<\|channel\|>|commentary|analysis|\s){0,8}+to=(?=functions\.)",  # gpt-oss
    re.IGNORECASE,
)
"""Marks that begin a call; they do not occur in prose."""
_ENDS = (
    *("</tool_call>", "</tool_calls>", "</TOOLCALL>", "</function_call>", "</function_calls>", "</longcat_tool_call>"),
    *("</minimax:tool_call>", "</seed:tool_call>", "</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"),
    *("</function>", "</invoke>", "</｜DSML｜invoke>", "<|python_end|>", "<|action_end|>", "<|END_ACTION|>", "```"),
    *("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", "<|tool_call_end|>", "<|tool_calls_section_end|>"),
    *("<|im_end|>", "<|eom_id|>", "<|eot_id|>", "<|call|>", "<|end|>", "</s>", "<｜end▁of▁sentence｜>"),
    *("<|end_of_text|>", "<|endoftext|>", "<|return|>", "<|eot|>", "<|user|>", "<|observation|>"),
    *("<tool_call|>", "<end_function_call>", "<turn|>", "<end_of_turn>", "<|tool_response>"),
    *("<start_function_response>",),
)
"""Marks that end a call or a turn. Some servers leave them in, others stop there."""
_MOST_ENDS = 5
_NAME = r"(?:functions\.|default_api\.)?+([\w.-]++)(?::\d++)?+"
_NAME_ALONE = re.compile(_NAME)
_JSON_BEHIND_NAME = re.compile(
    rf"(?:<function=)?{_NAME}(?:>|<｜tool[▁_ ]sep｜>|<\|tool_call_argument_begin\|>|(?:\[CALL_ID\]\w+)?\[ARGS\]"
    r"|(?:\s|json|commentary|<\|channel\|>|<\|constrain\|>|<\|message\|>)*+)?\s*(?:```(?:json)?\s*)?(?=\{)"
)
_FIELDS_BEHIND_NAME = re.compile(
    rf'<function="?{_NAME}"?>|<(?:\w+:|｜DSML｜)?invoke name="{_NAME}">|{_NAME}\s*(?=<arg_key>)'
)
_FIELD = re.compile(
    r'\s*<(｜DSML｜)?parameter(?:=|\s+name=)"?([\w.-]+)"?(?:\s+string="(true|false)")?>(.*?)</(?(1)｜DSML｜)parameter>'
    r"|\s*<arg_key>\s*([\w.-]+)\s*</arg_key>\s*<arg_value>(.*?)</arg_value>",
    re.DOTALL,
)
_GEMMA = re.compile(r"call:([\w.-]+)(?=\{)")
_GEMMA_QUOTE = re.compile(r'<\|"\|>|<escape>')
_GEMMA_KEY = re.compile(r"([{,]\s*)([\w.-]+)\s*:")
_SEVERAL = re.compile(
    rf"{_BEGINS.pattern}|<function=|<(?:｜DSML｜)?invoke |(?:\A|(?<=[\[,])) ?[\w.]++\((?=\w+=)", re.IGNORECASE
)
_JSON = re.compile(r"\[?\s*\{")
_PYTHON = re.compile(r"\[?\s*[\w.]++\(")
_FENCE = re.compile(r"\A```\w*\s*")
_OBJECT = re.compile(r"""\{\s*["']""")
_QUOTES = tuple("\"'`“‘«")
_WORDS = {"true": True, "false": False, "null": None}


def read_call(text: str, offered: Collection[ToolSchema]) -> ToolCall | None:
    """Return the call of an offered tool that a text ends with, or None.

    The text is a turn without its thoughts. A field whose type is text stays text, whatever it looks like.

    Examples:
        >>> search = ToolSchema("web_search", "Search.", {"properties": {"query": {"type": "string"}}})
        >>> read_call('[TOOL_CALLS]web_search[ARGS]{"query": "rain"}', [search])
        ToolCall(id='', name='web_search', arguments_json='{"query": "rain"}')
        >>> read_call('As the page says: "[TOOL_CALLS]web_search[ARGS]{}"', [search]) is None
        True
    """
    found = find_call(text, offered)
    return found[1] if found is not None and found[1].name in {tool.name for tool in offered} else None


def holds_calls(text: str) -> bool:
    """Return whether a text looks like several calls."""
    return max(Counter(mark.group().strip() for mark in _SEVERAL.finditer(text)).values(), default=0) > 1


def find_call(text: str, offered: Collection[ToolSchema] = ()) -> tuple[int, ToolCall] | None:
    """Return the only call of a text, if the text ends with it, and the place where the call begins; else None."""
    bare = text.rstrip()
    for _ in range(_MOST_ENDS):
        bare = bare.removesuffix(next(filter(bare.endswith, _ENDS), "")).rstrip()
    # Try the whole text first: marks inside its strings are not marks of a call.
    starts = [(0, _FENCE.sub("", bare.lstrip()))]
    if (mark := _BEGINS.search(bare)) and not _is_quoted(bare[: mark.start()].strip()):
        starts.append((mark.start(), bare[mark.end() :].strip()))
    for begin, body in starts:
        try:
            name, arguments = _parse_json(body) if _JSON.match(body) else _parse_named(body, offered)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return begin, ToolCall("", tool_name(name), arguments)
    return None


def tool_name(written: str) -> str:
    """Return the name of a tool without the marks that some models and servers leave around it.

    Examples:
        >>> tool_name("functions.web_search:0"), tool_name("final_answer<|channel|>commentary")
        ('web_search', 'final_answer')
    """
    # The channel of gpt-oss: ollama/ollama#12132.
    bare = written.partition("<|")[0].strip()
    found = _NAME_ALONE.fullmatch(bare)
    return found[1] if found else bare


def _is_quoted(words: str) -> bool:
    """Return whether words end inside a quotation, a block of code, a fence or an object."""
    if _FENCE.fullmatch(words):
        return False
    is_open = (
        words.count("```") % 2
        or words.count("~~~") % 2
        or words.count("<<untrusted ") > words.count("<<end of untrusted ")
    )
    is_marked = words.endswith(_QUOTES) or words.rpartition("\n")[2].lstrip().startswith(">")
    return bool(is_open or is_marked or _OBJECT.search(words))


def _parse_json(body: str) -> tuple[str, str]:
    """Parse a call that is one JSON object, alone or in a list; raise `ValueError` for anything else."""
    value = decoder(()).decode(body)
    if isinstance(value, dict) and [*value] == ["tool_calls"]:
        # As OpenAI's own message has it.
        value = value["tool_calls"]
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, dict) and isinstance(value.get("function"), dict) and value.keys() <= {"function", *_BESIDE}:
        value = value["function"]
    if not isinstance(value, dict):
        raise ValueError("no object")
    (named,), (given,) = _NAMES & value.keys(), ARGUMENTS & value.keys()
    name, raw = value[named], value[given]
    if not isinstance(name, str) or not value.keys() <= {named, given, *_BESIDE}:
        raise ValueError("no call")
    arguments = raw if isinstance(raw, str) else json.dumps(raw)
    if not isinstance(json.loads(arguments), dict):
        raise ValueError("no arguments")
    return name, arguments


def _parse_named(body: str, offered: Collection[ToolSchema]) -> tuple[str, str]:
    """Parse a call that begins with its name; raise `ValueError` for anything else."""
    if head := _GEMMA.match(body):
        return head[1], json.dumps(_parse_gemma_arguments(body[head.end() :]))
    if head := _JSON_BEHIND_NAME.match(body):
        require_shallow(body)
        _, end = json.JSONDecoder().raw_decode(body, head.end())
        if body[end:].strip():
            raise ValueError("more than arguments")
        return head[1], body[head.end() : end]
    if head := _FIELDS_BEHIND_NAME.match(body):
        pairs, end, name = [], head.end(), next(filter(None, head.groups()))
        texts = {field for tool in offered if tool.name == tool_name(name) for field in _text_fields(tool)}
        while field := _FIELD.match(body, end):
            _, key, is_text, value, glm_key, glm_value = field.groups()
            text = (value if glm_key is None else glm_value).removeprefix("\n").removesuffix("\n")
            is_text = is_text == "true" or ((glm_key or key) in texts and text != "null")
            pairs.append((glm_key or key, text if is_text else _decode_field(text)))
            end = field.end()
    elif _PYTHON.match(body) and len(body) <= MAX_ANSWER_CHARACTERS:
        name, pairs, end = *_parse_python(ast.parse(body, mode="eval").body), len(body)
    else:
        raise ValueError("no name")
    if body[end:].strip() or len(dict(pairs)) < len(pairs):
        raise ValueError("more than arguments, or one of them twice")
    return name, json.dumps(dict(pairs))


def _text_fields(tool: ToolSchema) -> list[str]:
    properties = tool.parameters.get("properties")
    fields = properties.items() if isinstance(properties, Mapping) else ()
    return [name for name, schema in fields if isinstance(schema, Mapping) and schema.get("type") == "string"]


def _parse_gemma_arguments(written: str) -> dict[str, object]:
    """Parse arguments as Gemma writes them: JSON with other quotes, and keys without any."""
    plain, *others = _GEMMA_QUOTE.split(written)
    if len(others) % 2:
        raise ValueError("a text without an end")
    pieces = [_GEMMA_KEY.sub(r'\1"\2":', plain)]
    for text, between in zip(others[::2], others[1::2], strict=True):
        pieces += [json.dumps(text), _GEMMA_KEY.sub(r'\1"\2":', between)]
    found = decoder(()).decode("".join(pieces))
    if not isinstance(found, dict):
        raise ValueError("no arguments")
    return found


def _decode_field(text: str) -> object:
    """Return the JSON value of a field; text stays as it is, with its quotes."""
    try:
        value: object = decoder(()).decode(text)
    except (ValueError, RecursionError):
        return text
    return text if isinstance(value, str) else value


def _parse_python(node: ast.expr) -> tuple[str, list[tuple[str, object]]]:
    """Parse a call in Python whose arguments are all named literals; nothing is run."""
    match node:
        case ast.List(elts=[ast.Call() as call]) | ast.Call(ast.Name("print"), [ast.Call() as call], []):
            return _parse_python(call)
        case ast.Call(ast.Name() | ast.Attribute(ast.Name()) as name, [], given) if all(each.arg for each in given):
            # Llama calls a tool that it knows by its method `call`.
            return ast.unparse(name).removesuffix(".call"), [(str(each.arg), _literal(each.value)) for each in given]
    raise ValueError("no call of one function")


def _literal(node: ast.expr | None) -> object:
    """Return the value of a Python literal that JSON has too; raise `ValueError` for anything else."""
    match node:
        case ast.Constant(value=None | str() | int() | float() as value):
            return value
        case ast.Name(id="true" | "false" | "null" as word):
            return _WORDS[word]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_literal(each) for each in elements]
        case ast.Dict(keys=keys, values=values):
            names = [_literal(each) for each in keys]
            if len(set(map(str, names))) == len(names) and all(isinstance(each, str) for each in names):
                return dict(zip(names, map(_literal, values), strict=True))
    raise ValueError("no literal")
