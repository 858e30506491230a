"""The options of the tools that run commands, and of what is kept of long output."""

from __future__ import annotations

from hermes.settings import kinds
from hermes.settings.option import Option

TOOL_OPTIONS = (
    Option(
        name="tools.sandbox",
        kind=kinds.one_of("local", "bubblewrap"),
        config="tools.sandbox",
        env="HERMES_SANDBOX",
        default="local",
        sentence="What commands and Python code run in.",
    ),
    Option(
        name="tools.sandbox_network",
        kind=kinds.YES_OR_NO,
        config="tools.sandbox_network",
        default="false",
        sentence="Whether what runs in the sandbox has the network.",
    ),
    Option(
        name="tools.sandbox_paths",
        kind=kinds.PLACES,
        config="tools.sandbox_paths",
        sentence="Further files and folders that the sandbox shows, read-only.",
    ),
    Option(
        name="tools.max_background",
        kind=kinds.whole_number(0, 1000),
        config="tools.max_background",
        default="16",
        sentence="How many commands of one session may run in the background; 0 allows none.",
    ),
    Option(
        name="tools.python_memory_mb",
        kind=kinds.whole_number(64, 1_048_576),
        config="tools.python_memory_mb",
        default="2048",
        sentence="How much memory the code of the python tool may use, in MB.",
    ),
    Option(
        name="tools.keep_outputs_hours",
        kind=kinds.whole_number(1, 87_600),
        config="tools.keep_outputs_hours",
        default="24",
        sentence="How long output that was too long for the model can be read in parts.",
    ),
    Option(
        name="tools.keep_outputs_mb",
        kind=kinds.whole_number(0, 1_048_576),
        config="tools.keep_outputs_mb",
        default="256",
        sentence="How much of it is kept in all; beyond it the oldest goes, and 0 keeps none.",
    ),
)
