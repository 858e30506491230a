"""Which proxy the environment prescribes for a provider (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).

Asked once per address: aiohttp's `trust_env` consults a thread and `.netrc` before every request.
"""

from __future__ import annotations

from urllib.request import getproxies, proxy_bypass

import yarl

from hermes.core.errors import SettingsError


def proxy_for(url: yarl.URL) -> str | None:
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(url.host or ""):
        return None
    if "://" not in proxy:
        proxy = f"http://{proxy}"
    if yarl.URL(proxy).scheme not in ("http", "https"):
        raise SettingsError(
            f"{url.scheme.upper()}_PROXY", yarl.URL(proxy).scheme + "://…", "http:// or https://"
        )
    return proxy
