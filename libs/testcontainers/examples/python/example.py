"""A control plane for the tests of a Python project, from the plain image."""

import json
import sys
import urllib.request

from testcontainers.core.container import DockerContainer
from testcontainers.core.wait_strategies import LogMessageWaitStrategy


def ask(url, headers, body=None):
    """The status and the JSON document of an answer; a POST if there is a body."""
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as answer:
        text = answer.read()
        return answer.status, json.loads(text) if text else None


image = sys.argv[1] if len(sys.argv) > 1 else "keelson:dev"
container = DockerContainer(image).with_exposed_ports(8200)
with container.waiting_for(LogMessageWaitStrategy("Keelson is up")) as keelson:
    base = f"http://{keelson.get_container_host_ip()}:{keelson.get_exposed_port(8200)}"
    # The tokens of the first start.
    facts = json.loads(keelson.exec(["cat", "/data/first-run.json"]).output)
    root = {"X-Vault-Token": facts["root_token"]}
    api = {"Authorization": f"Bearer {facts['api_token']}"}

    mounted, _ = ask(f"{base}/v1/sys/mounts/pki", root, {"type": "pki"})
    _, account = ask(f"{base}/api/v2/account/details", api)
    print(mounted, account["data"]["attributes"]["username"])
