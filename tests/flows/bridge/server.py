"""The bridge as its users meet it: uvicorn on loopback, and a process as CLI."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import uvicorn

from app import main
from tests.unit.backends.processes import WAIT_SECONDS

TOKEN = "flow-token"

FAKE_CLAUDE = r"""
'''A stand-in for the CLI: the last word of its prompt says what to do.'''
import json, os, signal, subprocess, sys, time

args = sys.argv[1:]
prompt = args[args.index("--") + 1] if "--" in args else sys.stdin.read()
wish = prompt.split()[-1]


def say(**event):
    print(json.dumps(event), flush=True)


def say_in_pieces(*texts):
    def tell(**event):
        say(type="stream_event", event=event)

    tell(type="message_start", message={"id": "m-1", "usage": {"input_tokens": 5}})
    tell(type="content_block_start", index=0, content_block={"type": "text", "text": ""})
    for text in texts:
        tell(type="content_block_delta", index=0, delta={"type": "text_delta", "text": text})
        sys.stdout.flush()
    tell(type="content_block_stop", index=0)
    whole = {"type": "text", "text": "".join(texts)}
    say(type="assistant", message={"id": "m-1", "model": "x", "content": [whole]})
    tell(type="message_stop")


def announce(*pids):
    with open("pids.tmp", "w") as file:
        print(*pids, file=file)
    os.rename("pids.tmp", "pids")


say(type="system", subtype="init", session_id="s-1")
if wish == "fail":
    say(type="result", subtype="success", is_error=True, result="API Error: 529 overloaded")
    sys.exit(1)
elif wish == "exit":
    sys.exit("the disk is on fire")
elif wish == "cut":
    sys.stdout.write('{"type": "result", "result": "half of')
elif wish == "huge":
    say(type="result", is_error=False, result="x" * 1_000_000)
elif wish == "slow":
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    announce(os.getpid(), child.pid)
    time.sleep(600)
elif wish == "apart":
    sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
    child = subprocess.Popen(sleep, start_new_session=True)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    announce(os.getpid(), child.pid)
    time.sleep(600)
elif wish == "pieces":
    say_in_pieces("One, ", "two.")
    say(type="result", is_error=False, result="One, two.", usage={"output_tokens": 3})
elif wish == "breaks":
    say_in_pieces("One, ")
    open("spoken", "w").close()
    while not os.path.exists("go"):
        time.sleep(0.01)
    say(type="result", is_error=True, result="API Error: 529 overloaded")
    sys.exit(1)
elif wish == "noise":
    sys.stderr.write("x" * 1_000_000)
    say(type="result", is_error=False, result="heard through the noise")
elif wish == "bytes":
    sys.stdout.buffer.write(b"caf\xe9\n")
    sys.stderr.buffer.write(b"caf\xe9\n")
    say(type="result", is_error=False, result="still here")
elif wish == "stdin":
    say(type="result", is_error=False, result=repr(sys.stdin.read()))
elif wish == "arguments":
    say(type="result", is_error=False, result=json.dumps(args))
elif wish == "denies":
    say(type="result", subtype="error_during_execution", is_error=True, errors=["it went wrong"])
elif wish == "env":
    say(type="result", is_error=False, result=json.dumps(dict(os.environ)))
elif wish == "story":
    say(type="result", is_error=False, result=open("story").read())
else:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 40, "output_tokens": 3}
    say(
        type="result", is_error=False, result=f"You said {len(prompt)} characters.",
        session_id="s-1", total_cost_usd=0.002, usage=usage,
    )
"""


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(main.app, log_config=None, loop="none", lifespan="off")
        server = uvicorn.Server(config)
        task = asyncio.ensure_future(server.serve(sockets=[listener]))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            await asyncio.wait_for(task, WAIT_SECONDS)


async def ask(client: httpx.AsyncClient, wish: str) -> httpx.Response:
    body = {"messages": [{"role": "user", "content": wish}]}
    return await client.post("/v1/chat/completions", json=body)


def text_of(answer: httpx.Response) -> str:
    assert answer.status_code == 200, answer.text
    return str(answer.json()["choices"][0]["message"]["content"])


async def idle(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(WAIT_SECONDS):
        while (await client.get("/health")).json()["busy"]:
            await asyncio.sleep(0.01)


async def settled(client: httpx.AsyncClient, job_id: str) -> dict[str, Any]:
    """The record of a job that has ended."""
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            job: dict[str, Any] = (await client.get(f"/jobs/{job_id}")).json()
            if job["status"] not in ("queued", "running"):
                return job
            await asyncio.sleep(0.01)
