"""A tour with hvac, unmodified, against a server given by the environment.

Every line is what a user of the library writes. Prints `done` at the end; an exception is a failure.
"""

import base64
import http.server
import json
import os
import ssl
import subprocess
import tempfile
import threading
import time
from urllib.parse import parse_qs, urlsplit

import hvac
from hvac.exceptions import Forbidden, InvalidPath, InvalidRequest

ADDRESS = os.environ["SERVER_ADDRESS"]
ROOT_TOKEN = os.environ["SERVER_TOKEN"]

client = hvac.Client(url=ADDRESS, token=ROOT_TOKEN)


def refused(error, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except error as refusal:
        return str(refusal)
    raise AssertionError(f"{call} was not refused")


def openssl(*args, **files):
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, content in files.items():
            paths[name] = os.path.join(folder, name)
            with open(paths[name], "w", encoding="ascii") as file:
                file.write(content)
        command = ["openssl", *[arg.format(**paths) for arg in args]]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def health_and_seal():
    health = client.sys.read_health_status(method="GET")
    assert health["initialized"] is True and health["sealed"] is False, health
    assert client.sys.is_initialized()
    assert not client.sys.is_sealed()
    status = client.sys.read_seal_status()
    assert status["t"] >= 1 and status["sealed"] is False, status
    assert client.is_authenticated()


def policies_and_tokens():
    rules = 'path "tour/issue/web" { capabilities = ["create", "update"] }'
    client.sys.create_or_update_policy(name="issuer", policy=rules)
    assert client.sys.read_policy(name="issuer")["data"]["rules"] == rules
    assert "issuer" in client.sys.list_policies()["data"]["policies"]

    created = client.auth.token.create(policies=["issuer"], ttl="1h", meta={"team": "web"})
    token = created["auth"]["client_token"]
    assert "issuer" in created["auth"]["policies"]
    found = client.auth.token.lookup(token)["data"]
    assert found["meta"] == {"team": "web"} and 0 < found["ttl"] <= 3600, found
    limited = hvac.Client(url=ADDRESS, token=token)
    assert limited.auth.token.lookup_self()["data"]["accessor"] == created["auth"]["accessor"]
    assert limited.auth.token.renew_self(increment="2h")["auth"]["lease_duration"] > 0
    refused(Forbidden, limited.sys.list_policies)
    capabilities = limited.sys.get_capabilities(paths=["tour/issue/web", "sys/policy"])["data"]
    assert capabilities["tour/issue/web"] == ["create", "update"], capabilities
    assert capabilities["sys/policy"] == ["deny"], capabilities
    return limited


def wrapping():
    wrapped = client.sys.wrap(payload={"note": "for you"}, ttl=120)
    token = wrapped["wrap_info"]["token"]
    assert wrapped["wrap_info"]["ttl"] == 120
    other = hvac.Client(url=ADDRESS)
    assert other.sys.unwrap(token=token)["data"] == {"note": "for you"}
    refused((InvalidRequest, Forbidden), other.sys.unwrap, token=token)


def messages():
    path = "sys/config/ui/custom-messages"
    client.sys.create_namespace("team")
    team = hvac.Client(url=ADDRESS, token=ROOT_TOKEN, namespace="team")
    anyone = hvac.Client(url=ADDRESS, namespace="team")
    text = base64.b64encode(b"tonight").decode()
    notice = {"title": "Maintenance", "message": text, "start_time": "2026-01-01T00:00:00Z"}
    before = client.write_data(path, data={**notice, "authenticated": False})["data"]
    after = team.write_data(path, data={**notice, "type": "modal", "link": {"Plan": "https://x.example"}})["data"]
    assert before["active"] is True and before["authenticated"] is False, before
    assert after["authenticated"] is True and after["end_time"] is None, after
    assert client.list(path)["data"]["keys"] == [before["id"]]
    read = team.read(f"{path}/{after['id']}")["data"]
    assert read["type"] == "modal" and read["link"] == {"Plan": "https://x.example"}, read
    shown = anyone.read("sys/internal/ui/unauthenticated-messages")["data"]
    assert shown["keys"] == [before["id"]], shown
    assert anyone.read("sys/internal/ui/authenticated-messages")["data"] == {}
    assert team.read("sys/internal/ui/authenticated-messages")["data"]["keys"] == [after["id"]]
    changed = team.write_data(f"{path}/{after['id']}", data={**notice, "end_time": "2026-01-02T00:00:00Z"})["data"]
    assert changed["active"] is False and changed["type"] == "banner" and changed["link"] is None, changed
    text = refused(InvalidRequest, team.write_data, path, data={**notice, "message": "?"})
    assert "must be base64 encoded" in text, text
    team.delete(f"{path}/{after['id']}")
    client.delete(f"{path}/{before['id']}")
    assert client.list(path) is None
    client.sys.delete_namespace("team")


def replication():
    status = hvac.Client(url=ADDRESS).read("sys/replication/status")["data"]
    assert status == {"dr": {"mode": "disabled"}, "performance": {"mode": "disabled"}}, status
    base = "sys/replication/performance/primary"
    refused(InvalidRequest, client.write_data, f"{base}/secondary-token", data={"id": "branch"})
    refused(Forbidden, hvac.Client(url=ADDRESS).write_data, f"{base}/enable", data={})


def mounts():
    for path in ("tour", "tour-int"):
        client.sys.enable_secrets_engine("pki", path=path, config={"max_lease_ttl": "87600h"})
    listed = client.sys.list_mounted_secrets_engines()["data"]
    assert listed["tour/"]["type"] == "pki", listed
    client.sys.tune_mount_configuration("tour", description="of the tour")
    tuned = client.sys.read_mount_configuration("tour")["data"]
    assert tuned["max_lease_ttl"] == 87600 * 3600, tuned
    refused(InvalidRequest, client.sys.enable_secrets_engine, "pki", path="tour")


def authorities():
    pki = client.secrets.pki
    root = pki.generate_root(
        type="internal",
        common_name="Tour Root",
        extra_params={"ttl": "87600h", "key_type": "ec", "issuer_name": "root"},
        mount_point="tour-int",
    )["data"]
    pki.set_urls({"issuing_certificates": [f"{ADDRESS}/v1/tour/ca"]}, mount_point="tour")
    assert pki.read_urls(mount_point="tour")["data"]["ocsp_servers"] == []
    request = pki.generate_intermediate(
        type="internal",
        common_name="Tour Intermediate",
        extra_params={"key_type": "ec"},
        mount_point="tour",
    )["data"]
    signed = pki.sign_intermediate(
        csr=request["csr"],
        common_name="Tour Intermediate",
        extra_params={"ttl": "43800h"},
        mount_point="tour-int",
    )["data"]
    chain = "\n".join(signed["ca_chain"])
    pki.set_signed_intermediate(chain, mount_point="tour")
    issuers = pki.list_issuers(mount_point="tour")["data"]["keys"]
    assert len(issuers) == 2, issuers
    read = pki.read_issuer("default", mount_point="tour")["data"]
    assert read["certificate"].strip() == signed["certificate"].strip()
    assert pki.read_ca_certificate(mount_point="tour").strip() == signed["certificate"].strip()
    assert root["certificate"].strip() in pki.read_ca_certificate_chain(mount_point="tour")
    return root["certificate"], signed["certificate"]


def certificates(limited, root, intermediate):
    pki = client.secrets.pki
    role = {
        "allowed_domains": ["example.com"],
        "allow_subdomains": True,
        "key_type": "ec",
        "max_ttl": "72h",
    }
    pki.create_or_update_role("web", role, mount_point="tour")
    assert pki.read_role("web", mount_point="tour")["data"]["max_ttl"] == 72 * 3600
    assert pki.list_roles(mount_point="tour")["data"]["keys"] == ["web"]

    issued = limited.secrets.pki.generate_certificate(
        name="web",
        common_name="shop.example.com",
        extra_params={"ttl": "12h"},
        mount_point="tour",
    )["data"]
    assert isinstance(issued["expiration"], int), issued["expiration"]
    verified = openssl(
        "verify", "-CAfile", "{root}", "-untrusted", "{intermediate}", "{leaf}",
        root=root, intermediate=intermediate, leaf=issued["certificate"],
    )
    assert verified.strip().endswith("OK")
    capped = limited.secrets.pki.generate_certificate(
        name="web",
        common_name="shop.example.com",
        extra_params={"ttl": "100h"},
        mount_point="tour",
    )
    assert "maxTTL" in capped["warnings"][0], capped["warnings"]
    text = refused(
        InvalidRequest, limited.secrets.pki.generate_certificate,
        name="web", common_name="shop.example.org", mount_point="tour",
    )
    assert "common name shop.example.org not allowed by this role" in text, text
    refused(Forbidden, limited.secrets.pki.list_roles, mount_point="tour")

    csr = openssl(
        "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", "/dev/null", "-subj", "/CN=api.example.com",
    )
    signed = pki.sign_certificate(
        name="web", csr=csr, common_name="api.example.com", mount_point="tour"
    )["data"]
    verbatim = pki.sign_verbatim(csr=csr, mount_point="tour")["data"]
    serials = pki.list_certificates(mount_point="tour")["data"]["keys"]
    assert {issued["serial_number"], signed["serial_number"], verbatim["serial_number"]} <= set(serials)

    pki.revoke_certificate(serial_number=issued["serial_number"], mount_point="tour")
    read = pki.read_certificate(serial=issued["serial_number"], mount_point="tour")["data"]
    assert read["revocation_time"] > 0, read
    assert pki.rotate_crl(mount_point="tour")["data"]["success"] is True
    crl = openssl("crl", "-noout", "-text", "-in", "{crl}", crl=pki.read_crl(mount_point="tour"))
    assert issued["serial_number"].replace(":", "").upper() in crl
    refused(InvalidPath, pki.read_certificate, serial="01:02", mount_point="tour")

    flags = {"tidy_cert_store": True, "tidy_revoked_certs": True, "safety_buffer": "1h"}
    started = pki.tidy(extra_params=flags, mount_point="tour")
    assert started.status_code == 202, started.status_code
    while client.read("tour/tidy-status")["data"]["state"] == "Running":
        pass
    status = client.read("tour/tidy-status")["data"]
    assert status["state"] == "Finished" and status["tidy_cert_store"] is True, status
    # Nothing is over yet, so everything is still there.
    assert status["cert_store_deleted_count"] == 0, status
    assert pki.list_certificates(mount_point="tour")["data"]["keys"] == serials
    pki.delete_role("web", mount_point="tour")
    refused(InvalidPath, pki.list_roles, mount_point="tour")


def signing_in():
    client.sys.enable_auth_method("approle")
    assert client.sys.list_auth_methods()["data"]["approle/"]["type"] == "approle"
    approle = client.auth.approle
    approle.create_or_update_approle("ci", token_policies=["issuer"], token_ttl="10m", secret_id_num_uses=2)
    assert approle.list_roles()["data"]["keys"] == ["ci"]
    assert approle.read_role("ci")["data"]["token_ttl"] == 600
    role_id = approle.read_role_id("ci")["data"]["role_id"]
    made = approle.generate_secret_id("ci", metadata={"build": "17"})["data"]
    assert approle.list_secret_id_accessors("ci")["data"]["keys"] == [made["secret_id_accessor"]]
    machine = hvac.Client(url=ADDRESS)
    auth = machine.auth.approle.login(role_id=role_id, secret_id=made["secret_id"])["auth"]
    assert auth["metadata"] == {"role_name": "ci", "build": "17"}, auth
    assert "issuer" in machine.lookup_token()["data"]["policies"]
    found = approle.read_secret_id_accessor("ci", made["secret_id_accessor"])["data"]
    assert found["secret_id_num_uses"] == 1, found
    approle.destroy_secret_id_accessor("ci", made["secret_id_accessor"])
    refused(InvalidRequest, machine.auth.approle.login, role_id=role_id, secret_id=made["secret_id"])
    approle.delete_role("ci")
    refused(InvalidPath, approle.list_roles)

    client.sys.enable_auth_method("userpass", path="people")
    people = client.auth.userpass
    people.create_or_update_user("alice", password="first", policies="issuer", mount_point="people")
    person = hvac.Client(url=ADDRESS)
    refused(InvalidRequest, person.auth.userpass.login, "alice", "wrong", mount_point="people")
    person.auth.userpass.login("alice", "first", mount_point="people")
    assert person.lookup_token()["data"]["display_name"] == "people-alice"
    people.update_password_on_user("alice", "second", mount_point="people")
    refused(InvalidRequest, person.auth.userpass.login, "alice", "first", mount_point="people")
    assert people.list_user(mount_point="people")["data"]["keys"] == ["alice"]
    one_person(person)
    client.sys.disable_auth_method("people")
    assert not person.is_authenticated()
    client.sys.disable_auth_method("approle")
    signing_in_with_a_provider()
    signing_in_through_a_browser()
    signing_in_from_a_cluster()


def one_person(person):
    identity = client.secrets.identity
    entity_id = person.lookup_token()["data"]["entity_id"]
    entity = identity.read_entity(entity_id)["data"]
    assert [alias["name"] for alias in entity["aliases"]] == ["alice"], entity
    identity.update_entity(entity_id, name="Alice", metadata={"team": "web"}, policies=["default"])
    assert identity.read_entity_by_name("alice")["data"]["id"] == entity_id
    assert identity.list_entities_by_name()["data"]["keys"].count("Alice") == 1
    assert entity_id in identity.list_entities()["data"]["keys"]
    assert identity.lookup_entity(name="Alice")["data"]["id"] == entity_id

    other = identity.create_or_update_entity("bob")["data"]["id"]
    accessor = client.sys.list_auth_methods()["data"]["people/"]["accessor"]
    alias = identity.create_or_update_entity_alias("bob", canonical_id=other, mount_accessor=accessor)["data"]
    assert identity.read_entity_alias(alias["id"])["data"]["canonical_id"] == other
    assert alias["id"] in identity.list_entity_aliases()["data"]["keys"]
    identity.delete_entity_alias(alias["id"])
    assert identity.create_or_update_entity_by_name("bob", metadata={"team": "web"}).status_code == 204
    merged = identity.merge_entities(from_entity_ids=[other], to_entity_id=entity_id)
    assert merged.status_code == 204, merged
    assert identity.read_entity(entity_id)["data"]["merged_entity_ids"] == [other]

    group = identity.create_or_update_group("team", policies=["web"], member_entity_ids=[entity_id])["data"]["id"]
    assert "web" in person.lookup_token()["data"]["identity_policies"]
    assert identity.read_group_by_name("team")["data"]["member_entity_ids"] == [entity_id]
    assert identity.list_groups_by_name()["data"]["keys"] == ["team"]
    assert identity.lookup_group(name="team")["data"]["id"] == group
    external = identity.create_or_update_group("staff", group_type="external")["data"]["id"]
    made = identity.create_or_update_group_alias("staff", mount_accessor=accessor, canonical_id=external)["data"]
    assert identity.read_group_alias(made["id"])["data"]["name"] == "staff"
    identity.delete_group_alias(made["id"])
    identity.delete_group(group)
    identity.delete_group_by_name("staff")

    identity.update_entity(entity_id, disabled=True)
    assert not person.is_authenticated()
    identity.delete_entity(entity_id)
    refused(InvalidPath, identity.read_entity, entity_id)


def signed_token(private_key, claims):
    def encode(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    head, payload = [encode(json.dumps(part).encode()) for part in ({"alg": "EdDSA"}, claims)]
    with tempfile.TemporaryDirectory() as folder:
        key, data, signature = [os.path.join(folder, name) for name in ("key", "data", "signature")]
        for path, content in ((key, private_key), (data, f"{head}.{payload}")):
            with open(path, "w", encoding="ascii") as file:
                file.write(content)
        command = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", key, "-in", data, "-out", signature]
        subprocess.run(command, check=True)
        with open(signature, "rb") as file:
            return f"{head}.{payload}.{encode(file.read())}"


def signing_in_with_a_provider():
    private_key = openssl("genpkey", "-algorithm", "ed25519")
    public_key = openssl("pkey", "-pubout", "-in", "{key}", key=private_key)
    client.sys.enable_auth_method("jwt", path="jobs")
    jwt = client.auth.jwt
    jwt.configure(jwt_validation_pubkeys=[public_key], default_role="ci", path="jobs")
    assert jwt.read_config(path="jobs")["data"]["default_role"] == "ci"
    jwt.create_role(
        name="ci", role_type="jwt", user_claim="sub", bound_audiences=["keelson"],
        allowed_redirect_uris=[], bound_claims={"ref": ["main"]}, claim_mappings={"ref": "branch"},
        token_policies=["issuer"], token_ttl="10m", path="jobs",
    )
    assert jwt.list_roles(path="jobs")["data"]["keys"] == ["ci"]
    assert jwt.read_role("ci", path="jobs")["data"]["bound_claims"] == {"ref": ["main"]}
    claims = {"sub": "job", "aud": "keelson", "ref": "main", "exp": int(time.time()) + 60}
    program = hvac.Client(url=ADDRESS)
    token = signed_token(private_key, claims)
    auth = program.auth.jwt.jwt_login(role="ci", jwt=token, path="jobs")["auth"]
    assert auth["metadata"] == {"role": "ci", "branch": "main"}, auth
    assert program.lookup_token()["data"]["display_name"] == "jobs-job"
    text = refused(
        InvalidRequest, program.auth.jwt.jwt_login,
        role="ci", jwt=signed_token(private_key, {**claims, "ref": "dev"}), path="jobs",
    )
    assert 'claim "ref" does not match any associated bound claim values' in text, text
    jwt.delete_role("ci", path="jobs")
    refused(InvalidRequest, program.auth.jwt.jwt_login, role="ci", jwt=token, path="jobs")
    client.sys.disable_auth_method("jobs")


class Provider(http.server.BaseHTTPRequestHandler):
    """A provider of OpenID Connect at which somebody has consented: every code is good for the claims."""

    private_key = ""
    claims = {}

    def answer(self, document):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(document).encode())

    def do_GET(self):
        issuer = f"http://127.0.0.1:{self.server.server_port}"
        der = openssl("pkey", "-pubout", "-in", "{key}", key=self.private_key).split("-----")[2]
        x = base64.urlsafe_b64encode(base64.b64decode(der)[-32:]).rstrip(b"=").decode()
        if self.path == "/keys":
            self.answer({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x}]})
        else:
            self.answer({
                "issuer": issuer, "jwks_uri": f"{issuer}/keys", "authorization_endpoint": f"{issuer}/authorize",
                "token_endpoint": f"{issuer}/token", "id_token_signing_alg_values_supported": ["EdDSA"],
            })

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        token = signed_token(self.private_key, self.claims)
        self.answer({"access_token": "a", "token_type": "bearer", "id_token": token})

    def log_message(self, *_):
        pass


def signing_in_through_a_browser():
    Provider.private_key = openssl("genpkey", "-algorithm", "ed25519")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    issuer = f"http://127.0.0.1:{server.server_port}"
    client.sys.enable_auth_method("oidc")
    oidc = client.auth.oidc
    oidc.configure(
        oidc_discovery_url=issuer, oidc_client_id="keelson", oidc_client_secret="secret", default_role="people"
    )
    assert oidc.read_config()["data"]["oidc_client_id"] == "keelson"
    uri = "http://localhost:8250/oidc/callback"
    oidc.create_role(
        "people", "sub", [uri], bound_claims={"groups": ["platform"]}, claim_mappings={"email": "mail"},
        oidc_scopes=["email"], token_policies=["issuer"], token_ttl="10m",
    )
    assert oidc.read_role("people")["data"]["allowed_redirect_uris"] == [uri]
    person = hvac.Client(url=ADDRESS)

    def come_back(groups):
        asked = person.auth.oidc.oidc_authorization_url_request("people", uri)["data"]["auth_url"]
        query = {name: value for name, [value] in parse_qs(urlsplit(asked).query).items()}
        now = int(time.time())
        Provider.claims = {
            "iss": issuer, "sub": "ann", "aud": "keelson", "nonce": query["nonce"], "iat": now, "exp": now + 60,
            "groups": groups, "email": "ann@example.com",
        }
        return person.auth.oidc.oidc_callback(query["state"], query["nonce"], "code")

    refused(InvalidRequest, come_back, ["others"])
    auth = come_back(["platform"])["auth"]
    assert auth["metadata"] == {"role": "people", "mail": "ann@example.com"}, auth
    person.token = auth["client_token"]
    assert person.lookup_token()["data"]["display_name"] == "oidc-ann"
    oidc.delete_role("people")
    client.sys.disable_auth_method("oidc")
    assert not person.is_authenticated()
    server.shutdown()


class ApiServer(http.server.BaseHTTPRequestHandler):
    """Reviews tokens as the API server of a cluster does, if the reviewer asks."""

    accounts = {}

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != "Bearer reviewer" or not self.path.endswith("/v1/tokenreviews"):
            self.send_error(401)
            return
        user = self.accounts.get(review["spec"]["token"])
        audiences = review["spec"]["audiences"]
        review["status"] = {"authenticated": user is not None, "user": user or {}, "audiences": audiences}
        self.send_response(201)
        self.end_headers()
        self.wfile.write(json.dumps(review).encode())

    def log_message(self, *_):
        pass


def start_api_server():
    key = openssl("genpkey", "-algorithm", "ed25519")
    certificate = openssl(
        "req", "-x509", "-key", "{key}", "-subj", "/CN=cluster", "-addext", "subjectAltName=IP:127.0.0.1", key=key
    )
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), ApiServer)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(certificate + key)
        file.flush()
        context.load_cert_chain(file.name)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"https://127.0.0.1:{server.server_port}", certificate


def signing_in_from_a_cluster():
    host, certificate = start_api_server()
    private_key = openssl("genpkey", "-algorithm", "ed25519")
    client.sys.enable_auth_method("kubernetes", path="pods")
    kubernetes = client.auth.kubernetes
    kubernetes.configure(
        kubernetes_host=host, kubernetes_ca_cert=certificate, token_reviewer_jwt="reviewer", mount_point="pods"
    )
    config = kubernetes.read_config(mount_point="pods")
    assert config["kubernetes_host"] == host and "reviewer" not in json.dumps(config).split('"'), config
    kubernetes.create_role(
        name="web", bound_service_account_names=["web"], bound_service_account_namespaces=["shop"],
        policies=["issuer"], ttl="10m", alias_name_source="serviceaccount_name", mount_point="pods",
    )
    # The library has no parameter for the audience.
    client.write_data("auth/pods/role/web", data={"audience": "keelson"})
    assert kubernetes.list_roles(mount_point="pods")["keys"] == ["web"]
    assert kubernetes.read_role("web", mount_point="pods")["audience"] == "keelson"
    account = {"namespace": "shop", "serviceaccount": {"name": "web", "uid": "u-1"}}
    token = signed_token(private_key, {"aud": ["keelson"], "kubernetes.io": account})
    program = hvac.Client(url=ADDRESS)
    refused(Forbidden, program.auth.kubernetes.login, role="web", jwt=token, mount_point="pods")
    ApiServer.accounts[token] = {"username": "system:serviceaccount:shop:web", "uid": "u-1"}
    auth = program.auth.kubernetes.login(role="web", jwt=token, mount_point="pods")["auth"]
    assert auth["metadata"]["service_account_namespace"] == "shop", auth
    found = program.lookup_token()["data"]
    assert found["display_name"] == "pods-shop-web" and found["entity_id"], found
    program.auth.token.renew_self()
    kubernetes.delete_role("web", mount_point="pods")
    refused(InvalidRequest, program.auth.token.renew_self)
    refused(InvalidRequest, program.auth.kubernetes.login, role="web", jwt=token, mount_point="pods")
    client.sys.disable_auth_method("pods")


def leaving(limited):
    limited.auth.token.revoke_self()
    refused(Forbidden, limited.auth.token.lookup_self)
    assert not limited.is_authenticated()
    client.sys.disable_secrets_engine("tour")
    client.sys.disable_secrets_engine("tour-int")
    assert "tour/" not in client.sys.list_mounted_secrets_engines()["data"]
    client.sys.delete_policy("issuer")
    refused(InvalidPath, client.sys.read_policy, "issuer")


health_and_seal()
wrapping()
messages()
replication()
mounts()
limited_client = policies_and_tokens()
root_pem, intermediate_pem = authorities()
certificates(limited_client, root_pem, intermediate_pem)
signing_in()
leaving(limited_client)
print("done")
