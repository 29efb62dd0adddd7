"""Signing in with hvac, unmodified, as a person of a directory and with a client certificate.

Every line is what a user of the library writes. Prints `done` at the end; an exception is a failure.
"""

import os

import hvac
from hvac.exceptions import Forbidden, InvalidPath, InvalidRequest

ADDRESS = os.environ["SERVER_ADDRESS"]
TLS_ADDRESS = os.environ["SERVER_TLS_ADDRESS"]
AUTHORITY_FILE = os.environ["SERVER_AUTHORITY_FILE"]
FOLDER = os.environ["FOLDER"]

client = hvac.Client(url=ADDRESS, token=os.environ["SERVER_TOKEN"])


def refused(error, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except error as refusal:
        return str(refusal)
    raise AssertionError(f"{call} was not refused")


def as_a_person_of_a_directory():
    client.sys.enable_auth_method("ldap")
    ldap = client.auth.ldap
    ldap.configure(
        url=os.environ["DIRECTORY_URL"],
        binddn=os.environ["DIRECTORY_READER"],
        bindpass=os.environ["DIRECTORY_PASSWORD"],
        userdn="ou=people,dc=example,dc=com",
        userattr="uid",
        groupdn="ou=groups,dc=example,dc=com",
        token_ttl="10m",
    )
    config = ldap.read_configuration()["data"]
    assert config["userattr"] == "uid" and "bindpass" not in config, config
    ldap.create_or_update_group("Domain Admins", policies=["operator"])
    ldap.create_or_update_user("alice", policies=["issuer"], groups=["others"])
    assert ldap.list_groups()["data"]["keys"] == ["domain admins"]
    assert ldap.list_users()["data"]["keys"] == ["alice"]
    assert ldap.read_group("Domain Admins")["data"]["policies"] == ["operator"]
    person = hvac.Client(url=ADDRESS)
    refused(InvalidRequest, person.auth.ldap.login, "alice", "wrong")
    refused(InvalidRequest, person.auth.ldap.login, "nobody", "wrong")
    auth = person.auth.ldap.login("alice", "password of alice")["auth"]
    assert auth["policies"] == ["default", "issuer", "operator"], auth
    assert auth["metadata"]["username"] == "alice", auth
    assert person.auth.token.renew_self()["auth"]["lease_duration"] > 0
    ldap.delete_user("alice")
    ldap.delete_group("Domain Admins")
    refused(InvalidPath, ldap.list_users)
    client.sys.disable_auth_method("ldap")
    assert not person.is_authenticated()


def with_a_certificate():
    client.sys.enable_secrets_engine("pki", path="operators")
    pki = client.secrets.pki
    authority = pki.generate_root("internal", "Operators", {"key_type": "ec"}, mount_point="operators")
    pki.create_or_update_role(
        "operator", {"allow_any_name": True, "key_type": "ec", "ttl": "1h"}, mount_point="operators"
    )
    files = {}
    for name in ["alice", "mallory"]:
        issued = pki.generate_certificate("operator", name, mount_point="operators")["data"]
        files[name] = [os.path.join(FOLDER, f"{name}.{kind}") for kind in ["pem", "key"]]
        for path, content in zip(files[name], [issued["certificate"], issued["private_key"]]):
            with open(path, "w", encoding="ascii", opener=lambda file, flags: os.open(file, flags, 0o600)) as file:
                file.write(content)
    client.sys.enable_auth_method("cert")
    cert = client.auth.cert
    cert.create_ca_certificate_role(
        "operator",
        certificate=authority["data"]["certificate"],
        allowed_common_names=["alice"],
        token_policies=["issuer"],
        token_ttl="10m",
    )
    assert cert.list_certificate_roles()["data"]["keys"] == ["operator"]
    role = cert.read_ca_certificate_role("operator")["data"]
    assert role["allowed_common_names"] == ["alice"], role

    def sign_in(name):
        operator = hvac.Client(url=TLS_ADDRESS, verify=AUTHORITY_FILE)
        certificate, key = files[name]
        auth = operator.auth.cert.login(name="operator", cert_pem=certificate, key_pem=key)["auth"]
        return operator, auth

    refused(InvalidRequest, sign_in, "mallory")
    operator, auth = sign_in("alice")
    assert auth["metadata"]["cert_name"] == "operator", auth
    assert "issuer" in operator.lookup_token()["data"]["policies"]
    # A renewal asks for the certificate again, and this request has none.
    refused(InvalidRequest, operator.auth.token.renew_self)
    cert.configure_tls_certificate(disable_binding=True)
    assert operator.auth.token.renew_self()["auth"]["lease_duration"] > 0
    cert.delete_certificate_role("operator")
    refused(InvalidPath, cert.list_certificate_roles)
    client.sys.disable_auth_method("cert")
    refused(Forbidden, operator.auth.token.lookup_self)
    client.sys.disable_secrets_engine("operators")


as_a_person_of_a_directory()
with_a_certificate()
print("done")
