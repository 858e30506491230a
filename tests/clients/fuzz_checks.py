"""A check of the fuzzer's, loaded by it: whatever is asked, the gateway never breaks."""

from __future__ import annotations

import schemathesis


@schemathesis.check
def never_breaks(
    _: schemathesis.CheckContext, response: schemathesis.Response, __: schemathesis.Case
) -> None:
    """501, 502 and 503 are answers with a reason; 500 is a fault of the gateway."""
    assert response.status_code != 500, "the gateway broke"
