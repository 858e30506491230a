"""Writes metrics in Prometheus' text format, version 0.0.4."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hermes.metrics.series import Family, Sample

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(families: Iterable[Family]) -> str:
    return "".join(line for family in families for line in _lines(family))


def _lines(family: Family) -> Iterable[str]:
    yield f"# HELP {family.name} {_escaped(family.about)}\n"
    yield f"# TYPE {family.name} {family.kind}\n"
    for sample in family.samples():
        yield f"{sample.name}{_labels(sample.labels)} {_number(sample)}\n"


def _labels(labels: Sequence[tuple[str, str]]) -> str:
    inside = ",".join(f'{name}="{_quoted(value)}"' for name, value in labels)
    return f"{{{inside}}}" if inside else ""


def _number(sample: Sample) -> str:
    value = sample.value
    return str(int(value)) if value == int(value) else repr(float(value))


def _quoted(value: str) -> str:
    return _escaped(value).replace('"', '\\"')


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")
