"""A workspace is created, locked, refused a second lock, unlocked and found, by the generated client."""

import os

from workspaces import AuthenticatedClient
from workspaces.api.organizations import post_organizations
from workspaces.api.workspaces import (
    get_organizations_organization_name_workspaces,
    post_organizations_organization_name_workspaces,
    post_workspaces_workspace_id_actions_lock,
    post_workspaces_workspace_id_actions_unlock,
)
from workspaces.models import (
    Errors,
    PostOrganizationsBody,
    PostOrganizationsOrganizationNameWorkspacesBody,
    PostWorkspacesWorkspaceIdActionsLockBody,
)

client = AuthenticatedClient(
    base_url=os.environ["SERVER_ADDRESS"] + "/api/v2",
    token=os.environ["SERVER_TOKEN"],
    # Operations without a body have no content type otherwise, which the API requires.
    headers={"Content-Type": "application/vnd.api+json"},
)


def resource(kind, **attributes):
    return {"data": {"type": kind, "attributes": attributes}}


organization = post_organizations.sync(
    client=client,
    body=PostOrganizationsBody.from_dict(
        resource("organizations", name="python", email="ops@example.com")
    ),
)
assert organization.data.id == "python", organization

created = post_organizations_organization_name_workspaces.sync(
    "python",
    client=client,
    body=PostOrganizationsOrganizationNameWorkspacesBody.from_dict(
        resource("workspaces", name="web")
    ),
)
workspace = created.data
assert workspace.attributes.name == "web" and workspace.attributes.locked is False, created

reason = PostWorkspacesWorkspaceIdActionsLockBody(reason="mine")
held = post_workspaces_workspace_id_actions_lock.sync(workspace.id, client=client, body=reason)
assert held.data.attributes.locked_reason == "mine", held
again = post_workspaces_workspace_id_actions_lock.sync_detailed(
    workspace.id, client=client, body=reason
)
assert again.status_code == 409 and isinstance(again.parsed, Errors), again
unlocked = post_workspaces_workspace_id_actions_unlock.sync(workspace.id, client=client)
assert unlocked.data.attributes.locked is False, unlocked

for part, count in (("we", 1), ("other", 0)):
    listed = get_organizations_organization_name_workspaces.sync(
        "python", client=client, searchname=part
    )
    assert listed.meta.pagination.total_count == count, listed

print("done")
