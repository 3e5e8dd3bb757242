"""The client program for the Python packages mcp and fastmcp. Arguments: the library, the era and the address."""

import hashlib
import json
import sys
import threading
import time
import urllib.error
import urllib.request
import webbrowser
from contextlib import AsyncExitStack
from urllib.parse import parse_qs, urlparse

import anyio

CALLBACK = "http://127.0.0.1:9/callback"


def say(line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def read_line():
    """The next line; exits if the driver is gone."""
    line = sys.stdin.readline()
    if line == "":
        sys.exit(0)
    return json.loads(line)


class Mcp:
    """The client of the package mcp, with a token store in memory."""

    def __init__(self, url, era):
        from mcp.client.auth import OAuthClientProvider
        from mcp.shared.auth import OAuthClientMetadata

        self.url, self.mode = url, "auto" if era == "modern" else "legacy"
        self.tokens = self.registered = None
        metadata = OAuthClientMetadata(
            client_name="Python mcp",
            redirect_uris=[CALLBACK],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            token_endpoint_auth_method="none",
        )
        self.auth = OAuthClientProvider(url, metadata, self, self.open_page, self.wait_for_callback)

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.registered

    async def set_client_info(self, registered):
        self.registered = registered

    async def open_page(self, page):
        say({"authorize": page})

    async def wait_for_callback(self):
        from mcp.client.auth import OAuthFlowError
        from mcp.shared.auth import AuthorizationCodeResult

        line = await anyio.to_thread.run_sync(read_line)
        found = {name: values[0] for name, values in parse_qs(urlparse(line["callback"]).query).items()}
        if "code" not in found:
            raise OAuthFlowError(f"no sign-in: {found.get('error')}")
        return AuthorizationCodeResult(code=found["code"], state=found.get("state"), iss=found.get("iss"))

    async def connect(self, stack):
        from mcp.client.client import Client
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        http = await stack.enter_async_context(create_mcp_http_client(auth=self.auth))
        transport = streamable_http_client(self.url, http_client=http)
        self.client = await stack.enter_async_context(Client(transport, mode=self.mode))
        return self.client.protocol_version

    async def list(self):
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, name, given):
        return await self.client.call_tool(name, given)


class FastMcp:
    """The client of the package fastmcp, with only its browser replaced."""

    def __init__(self, url, era):
        from fastmcp.client.auth import OAuth

        self.url, self.mode = url, "auto" if era == "modern" else "legacy"
        self.auth = OAuth(url)
        webbrowser.open = self.open_page

    def open_page(self, page, *_more):
        say({"authorize": page})
        # The client starts listening for the callback only after it has opened the page.
        threading.Thread(target=self.visit_callback, daemon=True).start()
        return True

    def visit_callback(self):
        callback = read_line()["callback"]
        for _attempt in range(100):
            try:
                urllib.request.urlopen(callback, timeout=10).read()
                return
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.05)

    async def connect(self, stack):
        from fastmcp import Client

        self.client = await stack.enter_async_context(Client(self.url, auth=self.auth, mode=self.mode))
        return self.client.protocol_version

    async def list(self):
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, name, given):
        return await self.client.call_tool_mcp(name, given)


async def close(stack, failure=None):
    """Closes the connection and returns why it failed; `failure` is what canceled its last call."""
    try:
        await stack.__aexit__(type(failure) if failure else None, failure, None)
    except Exception as cause:
        return cause
    return failure


def message_of(error):
    """The message of the first error in a group, which is the one that explains the failure."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def main(library, era, url):
    driven = {"mcp": Mcp, "fastmcp": FastMcp}[library](url, era)
    context, stack = driven.auth.context, AsyncExitStack()

    async def run(command, name=None, arguments=None):
        nonlocal stack
        if command == "connect":
            await close(stack)
            stack = AsyncExitStack()
            return await driven.connect(stack)
        if command == "list":
            return await driven.list()
        if command == "call":
            result = await driven.call(name, arguments)
            is_error = result.is_error if hasattr(result, "is_error") else result.isError
            content = result.structured_content if hasattr(result, "structured_content") else result.structuredContent
            return {"isError": bool(is_error), "structured": content or {}}
        if command == "expire":
            # Both refresh when the token expires by the clock, not on a 401.
            context.token_expiry_time = time.time() - 1
            return None
        held = context.current_tokens
        return "" if held is None else hashlib.sha256(held.access_token.encode()).hexdigest()

    while True:
        line = await anyio.to_thread.run_sync(sys.stdin.readline)
        if line == "":
            break
        try:
            say({"result": await run(**json.loads(line))})
        except anyio.get_cancelled_exc_class() as cancelled:
            # A failed connection of the package mcp cancels its calls, and raises the cause when it is closed.
            cause, stack = await close(stack, cancelled), AsyncExitStack()
            say({"error": message_of(cause)})
        except Exception as error:
            say({"error": message_of(error)})
    await close(stack)


anyio.run(main, *sys.argv[1:4])
