"""A policy is written, read, listed and deleted, by the generated client."""

import os

from administration import AuthenticatedClient
from administration.api.policies import (
    delete_sys_policies_acl_name,
    get_sys_policies_acl_name,
    list_sys_policies_acl,
    post_sys_policies_acl_name,
)
from administration.api.seal import get_sys_seal_status
from administration.models import (
    Errors,
    ListSysPoliciesAclList,
    PostSysPoliciesAclNameBody,
)

client = AuthenticatedClient(
    base_url=os.environ["SERVER_ADDRESS"] + "/v1",
    token=os.environ["SERVER_TOKEN"],
)

status = get_sys_seal_status.sync(client=client)
assert status.sealed is False and status.initialized is True, status

TEXT = 'path "secret/*" { capabilities = ["read"] }'
written = post_sys_policies_acl_name.sync_detailed(
    "generated", client=client, body=PostSysPoliciesAclNameBody(policy=TEXT)
)
assert written.status_code == 204, written

read = get_sys_policies_acl_name.sync("generated", client=client)
assert read.data.policy == TEXT, read

listed = list_sys_policies_acl.sync(client=client, list_=ListSysPoliciesAclList.TRUE)
assert "generated" in listed.data.keys, listed

deleted = delete_sys_policies_acl_name.sync_detailed("generated", client=client)
assert deleted.status_code == 204, deleted

gone = get_sys_policies_acl_name.sync_detailed("generated", client=client)
assert gone.status_code == 404 and isinstance(gone.parsed, Errors), gone

print("done")
