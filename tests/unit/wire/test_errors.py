"""Every error has the same envelope."""

from __future__ import annotations

from hermes.core.errors import AgentIncomplete, InvalidRequest
from hermes.wire.errors import envelope


def test_an_error_is_written_with_all_four_keys():
    assert envelope(InvalidRequest("Say more.", param="input")) == {
        "error": {
            "message": "Say more.",
            "type": "invalid_request_error",
            "param": "input",
            "code": "invalid_request",
        }
    }


def test_extra_details_stand_beside_them():
    error = AgentIncomplete("Broke off.", extra={"hermes": {"failed": True}})
    assert envelope(error)["error"]["hermes"] == {"failed": True}
    assert envelope(error)["error"]["code"] == "agent_incomplete"
