"""Whatever JSON comes in, a reader gives requests or a reason, and never fails in another way."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.prompts.chatml import render
from preheat.read.reader import JSON_FORMATS
from preheat.read.unreadable import Unreadable
from preheat.records.request import ReadReport

NAMES = """
conversations from value hash_ids input_length output_length chat_id parent_chat_id turn call_type startTime
model_parameters prompt_tokens proxy_server_request params input_schema tool_use_id image_url source data top_p
previous_response_id call_id output
messages prompt tools functions input instructions system body request request_body response usage id request_id
timestamp created tenant user metadata session_id model adapter temperature max_tokens role content parts type text
name tool_calls function arguments url resourceSpans resource scopeSpans spans attributes events key value stringValue
intValue arrayValue kvlistValue values traceId spanId startTimeUnixNano startTime spanContext
gen_ai.input.messages gen_ai.prompt gen_ai.prompt.0 gen_ai.prompt.0.role gen_ai.prompt.0.content
gen_ai.prompt.0.tool_calls gen_ai.prompt.0.tool_calls.0.name gen_ai.tool.definitions gen_ai.system_instructions
gen_ai.user.message gen_ai.event.content gen_ai.content.prompt gen_ai.operation.name
llm.input_messages.0.message llm.input_messages.0.message.role llm.input_messages.0.message.tool_calls
llm.input_messages.0.message.contents.0.message_content.text llm.tools.0.tool llm.prompts.0.prompt
llm.invocation_parameters llm.request.functions ai.prompt input.value openinference.span.kind
observations trace traceId parentObservationId modelParameters usageDetails toolDefinitions method uri status
resourceLogs scopeLogs logRecords eventName droppedAttributesCount llm gen_ai input_messages kwargs lc additional_kwargs
contents functionCall functionResponse args inline_data toolCallId toolName prompts config system_instruction
llm.input_messages llm.request.prompt model_request_parameters function_tools ai.prompt.tools data tags references
"""
_names = st.sampled_from(NAMES.split())

_scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "text", "0", "[{", "user"]) | _names
)
_json = st.recursive(
    _scalars
    | st.sampled_from(
        ["tool_use", "tool_result", "function_call", "message", "human", "gpt", "data:image/png;base64,AA"]
    )
    | st.sampled_from(
        ["GENERATION", "POST", "tool-call", "tool-result", "HumanMessage", "tool_call_response", "t" * 4096]
    )
    | st.sampled_from(
        ['[{"role":"user","content":"x"}]', '{"messages":7}', "[1]", '{"prompt":{}}', "http://e/api/chat"]
    )
    | st.sampled_from(
        ['[{"role":"user","content":"x', '{"contents":[{"parts":[{"te', '"[{\\"role\\":', "x [truncated]"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=5),
    max_leaves=25,
)


@pytest.mark.parametrize("format", JSON_FORMATS)
@settings(max_examples=40)
@given(record=st.dictionaries(_names, _json, min_size=1, max_size=6))
def test_requests_or_a_reason(format: str, record: dict[str, Any]) -> None:
    data = json.dumps(record).encode()
    JSON_FORMATS[format].refusal(data)
    try:
        requests = list(JSON_FORMATS[format].requests(data, "log:1", ReadReport()))
    except Unreadable:
        return
    for request in requests:
        assert request.id
        assert msgspec.json.encode(request)
        asked = (bool(request.messages), request.prompt is not None, request.blocks is not None)
        assert sum(asked) <= 1
        if request.blocks is None and any(asked):
            assert isinstance(render(request), str)
        else:
            assert request.blocks is not None or request.input_tokens is not None or request.truncated
