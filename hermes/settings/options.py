"""The table of options: every setting once, with the names it has on each way in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hermes.settings import kinds
from hermes.settings.budget_options import BUDGET_OPTIONS
from hermes.settings.cli_options import CLI_OPTIONS
from hermes.settings.context_options import CONTEXT_OPTIONS
from hermes.settings.mcp_options import MCP_OPTIONS
from hermes.settings.memory_options import MEMORY_OPTIONS, PROMPT_OPTIONS
from hermes.settings.option import Option
from hermes.settings.provider_options import PROVIDER_OPTIONS
from hermes.settings.receipt_options import RECEIPT_OPTIONS
from hermes.settings.run_options import APPROVAL_OPTIONS, RUN_OPTIONS
from hermes.settings.tool_options import TOOL_OPTIONS
from hermes.settings.web_options import WEB_OPTIONS

_SECONDS = kinds.seconds(0, 3600)

_LISTENER = (
    Option(
        name="listener.host",
        kind=kinds.LINE,
        config="server.host",
        env="API_SERVER_HOST",
        default="127.0.0.1",
        sentence="The address to listen on; anything but this machine needs a key.",
    ),
    Option(
        name="listener.port",
        kind=kinds.whole_number(0, 65535),
        config="server.port",
        env="API_SERVER_PORT",
        default="8642",
        sentence="The port to listen on; 0 lets the system choose.",
    ),
    Option(
        name="listener.key",
        kind=kinds.KEY,
        config="server.key",
        env="API_SERVER_KEY",
        sentence="The bearer token clients must send.",
    ),
    Option(
        name="listener.key_env",
        kind=kinds.VARIABLE,
        config="server.key_env",
        sentence="The variable that holds the bearer token, instead of `server.key`.",
    ),
    Option(
        name="listener.keys",
        kind=kinds.SECTION,
        config="server.keys",
        sentence="Further bearer tokens, each under a name.",
    ),
    Option(
        name="listener.cors_origins",
        kind=kinds.ORIGINS,
        config="server.cors_origins",
        env="API_SERVER_CORS_ORIGINS",
        sentence="Origins whose web pages may call the gateway.",
    ),
    Option(
        name="listener.model_name",
        kind=kinds.LINE,
        config="server.model_name",
        env="API_SERVER_MODEL_NAME",
        default="the profile's name",
        sentence="The model name clients see in /v1/models.",
    ),
    Option(
        name="listener.max_body_bytes",
        kind=kinds.whole_number(1024, 2**30),
        config="server.max_body_bytes",
        default="16777216",
        sentence="The largest request body; a larger one is answered with 413.",
    ),
    Option(
        name="listener.drain_seconds",
        kind=_SECONDS,
        config="server.drain_seconds",
        default="5",
        sentence="How long running turns may still take after SIGTERM.",
    ),
    Option(
        name="listener.keepalive_seconds",
        kind=kinds.seconds(0.01, 3600),
        config="server.keepalive_seconds",
        default="10",
        sentence="After this much silence a stream gets a comment line that keeps it open.",
    ),
    Option(
        name="listener.tool_form",
        kind=kinds.one_of("auto", "default", "mcp", "open_webui", "reasoning", "hidden"),
        config="server.tool_form",
        default="auto",
        sentence="How clients are shown the tools the server ran; `auto` goes by the client.",
    ),
    Option(
        name="listener.show_reasoning",
        kind=kinds.YES_OR_NO,
        config="server.show_reasoning",
        default="false",
        sentence="Whether clients are shown what the model thinks.",
    ),
    Option(
        name="listener.unknown_model",
        kind=kinds.one_of("agent", "refuse"),
        config="server.unknown_model",
        default="agent",
        sentence="Who answers a request for a model that is not served; `refuse` is a 404.",
    ),
    Option(
        name="listener.strict_params",
        kind=kinds.YES_OR_NO,
        config="server.strict_params",
        default="false",
        sentence="Whether parameters that have no effect are refused instead of named.",
    ),
)

_AGENT = (
    Option(
        name="agent.reasoning_effort",
        kind=kinds.one_of("none", "minimal", "low", "medium", "high", "xhigh"),
        config="agent.reasoning_effort",
        env="HERMES_REASONING_EFFORT",
        default="the provider's",
        sentence="How much the model thinks before it answers.",
    ),
    Option(
        name="agent.max_iterations",
        kind=kinds.whole_number(1, 10_000),
        config="agent.max_iterations",
        env="HERMES_MAX_ITERATIONS",
        default="50",
        sentence="How many model calls one turn may take.",
    ),
    Option(
        name="agent.system_prompt",
        kind=kinds.PROSE,
        config="agent.system_prompt",
        default="the built-in one",
        sentence="What the agent is told before every conversation.",
    ),
    Option(
        name="agent.threads",
        kind=kinds.whole_number(1, 10_000),
        config="agent.threads",
        default="1000",
        sentence="How many threads tools, and turns that block one, may use at once.",
    ),
    Option(
        name="agent.toolsets",
        kind=kinds.TOOLSETS,
        config="tools.toolsets",
        default="all of them",
        sentence="The toolsets the agent may use; an empty list means no tools.",
    ),
    Option(
        name="agent.api_server_toolsets",
        kind=kinds.TOOLSETS,
        config="platforms.api_server.toolsets",
        default="those of `tools.toolsets`",
        sentence="The toolsets for turns that come over HTTP, if they differ.",
    ),
    Option(
        name="agent.confine",
        kind=kinds.YES_OR_NO,
        config="tools.confine",
        default="true",
        sentence="Whether the file tools refuse paths outside the workspace.",
    ),
    Option(
        name="agent.workspace",
        kind=kinds.FOLDER,
        config="tools.workspace",
        env="HERMES_WORKSPACE",
        default="`workspace` in the home folder",
        sentence="The folder the agent works in; in config.yaml relative to the home folder.",
    ),
    Option(
        name="agent.terminal_env",
        kind=kinds.VARIABLES,
        config="tools.terminal_env",
        sentence="Variables that commands may see beside the harmless ones.",
    ),
    Option(
        name="agent.vision",
        kind=kinds.YES_OR_NO,
        config="vision",
        default="true",
        sentence="Whether the model can look at images; if not, they are refused.",
    ),
)

_ATTACHMENTS = (
    Option(
        name="fetch.allow_http",
        kind=kinds.YES_OR_NO,
        config="fetch.allow_http",
        default="false",
        sentence="Whether images may be fetched from http URLs too.",
    ),
    Option(
        name="fetch.allow_private",
        kind=kinds.YES_OR_NO,
        config="fetch.allow_private",
        default="false",
        sentence="Whether images and pages may be fetched from this machine and private networks.",
    ),
    Option(
        name="fetch.max_bytes",
        kind=kinds.whole_number(1024, 2**30),
        config="fetch.max_bytes",
        default="10485760",
        sentence="The largest image that is fetched.",
    ),
    Option(
        name="fetch.timeout_seconds",
        kind=kinds.seconds(0.1, 600),
        config="fetch.timeout_seconds",
        default="10",
        sentence="How long fetching one image may take.",
    ),
    Option(
        name="files.max_bytes",
        kind=kinds.whole_number(1024, 2**32),
        config="files.max_bytes",
        default="33554432",
        sentence="The largest file that may be uploaded.",
    ),
    Option(
        name="files.max_total_bytes",
        kind=kinds.whole_number(1024, 2**50),
        config="files.max_total_bytes",
        default="1073741824",
        sentence="How much all uploaded files may take together.",
    ),
    Option(
        name="files.expire_days",
        kind=kinds.whole_number(0, 36_500),
        config="files.expire_days",
        default="30",
        sentence="How long an uploaded file is kept; 0 keeps it until it is deleted.",
    ),
    Option(
        name="files.max_pages",
        kind=kinds.whole_number(1, 100_000),
        config="files.max_pages",
        default="500",
        sentence="How many pages of a PDF are read.",
    ),
    Option(
        name="files.max_characters",
        kind=kinds.whole_number(1000, 10**8),
        config="files.max_characters",
        default="400000",
        sentence="How much text of one file the model is given.",
    ),
    Option(
        name="sessions.compact_after_messages",
        kind=kinds.whole_number(0, 1_000_000),
        config="sessions.compact_after_messages",
        default="400",
        sentence="How many messages of a session the model is told before the older ones are "
        "summarised; 0 tells it all.",
    ),
)

_REST = (
    Option(
        name="log.level",
        kind=kinds.one_of("DEBUG", "INFO", "WARNING", "ERROR"),
        config="log.level",
        env="HERMES_LOG_LEVEL",
        default="INFO",
        sentence="The least severe messages that are logged.",
    ),
    Option(
        name="log.format",
        kind=kinds.one_of("text", "json"),
        config="log.format",
        env="HERMES_LOG_FORMAT",
        default="text",
        sentence="Lines for people, or one JSON object per line.",
    ),
    Option(
        name="profile",
        kind=kinds.LINE,
        config="profile",
        env="HERMES_PROFILE",
        default="default",
        sentence="A name for this installation; clients see it as the model's name.",
    ),
)

OPTIONS: Mapping[str, Option] = MappingProxyType(
    {
        option.name: option
        for option in _LISTENER
        + PROVIDER_OPTIONS
        + _AGENT
        + _ATTACHMENTS
        + CONTEXT_OPTIONS
        + WEB_OPTIONS
        + CLI_OPTIONS
        + MCP_OPTIONS
        + PROMPT_OPTIONS
        + MEMORY_OPTIONS
        + RUN_OPTIONS
        + APPROVAL_OPTIONS
        + RECEIPT_OPTIONS
        + TOOL_OPTIONS
        + BUDGET_OPTIONS
        + _REST
    }
)

HOLDERS: Mapping[str, str] = MappingProxyType(
    {
        "listener.key_env": "listener.key",
        "agent.api_key_env": "agent.api_key",
        "agent.api_keys_env": "agent.api_keys",
        "fallback.api_key_env": "fallback.api_key",
        "fallback.api_keys_env": "fallback.api_keys",
        "web.search_key_env": "web.search_key",
    }
)
"""Options that name the variables in which another option's value is found."""
