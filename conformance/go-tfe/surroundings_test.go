package conformance

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"testing"
	"time"

	tfe "github.com/hashicorp/go-tfe"
)

// createMembership puts the caller on the team as well, by their membership.
func createMembership(t *testing.T, client *tfe.Client, organization string, team *tfe.Team) *tfe.OrganizationMembership {
	t.Helper()
	account, err := client.Users.ReadCurrent(ctx)
	must(t, err)
	list, err := client.OrganizationMemberships.List(ctx, organization, &tfe.OrganizationMembershipListOptions{
		Emails: []string{account.Email},
	})
	must(t, err)
	equal(t, len(list.Items), 1)
	must(t, client.TeamMembers.Add(ctx, team.ID, tfe.TeamMemberAddOptions{
		OrganizationMembershipIDs: []string{list.Items[0].ID},
	}))
	return list.Items[0]
}

// archiveOf packs files as a configuration is uploaded.
func archiveOf(t *testing.T, files map[string]string) *bytes.Buffer {
	t.Helper()
	packed := &bytes.Buffer{}
	compressor := gzip.NewWriter(packed)
	archive := tar.NewWriter(compressor)
	for name, text := range files {
		must(t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}))
		_, err := archive.Write([]byte(text))
		must(t, err)
	}
	must(t, archive.Close())
	must(t, compressor.Close())
	return packed
}

func TestOrganizations(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	list, err := client.Organizations.List(ctx, &tfe.OrganizationListOptions{Query: organization.Name})
	must(t, err)
	equal(t, list.Items[0].Name, organization.Name)
	read, err := client.Organizations.ReadWithOptions(ctx, organization.Name, tfe.OrganizationReadOptions{
		Include: []tfe.OrganizationIncludeOpt{tfe.OrganizationDefaultProject},
	})
	must(t, err)
	equal(t, read.DefaultProject.Name, "Default Project")
	changed, err := client.Organizations.Update(ctx, organization.Name, tfe.OrganizationUpdateOptions{
		DefaultExecutionMode: tfe.String("local"), AllowForceDeleteWorkspaces: tfe.Bool(true),
	})
	must(t, err)
	equal(t, changed.DefaultExecutionMode, "local")
	equal(t, changed.AllowForceDeleteWorkspaces, true)
	equal(t, createWorkspace(t, client, organization.Name).ExecutionMode, "local")

	policy, err := client.Organizations.SetDataRetentionPolicyDeleteOlder(ctx, organization.Name, tfe.DataRetentionPolicyDeleteOlderSetOptions{DeleteOlderThanNDays: 30})
	must(t, err)
	equal(t, policy.DeleteOlderThanNDays, 30)
	_, err = client.Organizations.SetDataRetentionPolicyDontDelete(ctx, organization.Name, tfe.DataRetentionPolicyDontDeleteSetOptions{})
	must(t, err)
	choice, err := client.Organizations.ReadDataRetentionPolicyChoice(ctx, organization.Name)
	must(t, err)
	equal(t, choice.DataRetentionPolicyDontDelete != nil, true)
	must(t, client.Organizations.DeleteDataRetentionPolicy(ctx, organization.Name))

	_, err = client.OrganizationTokens.Create(ctx, organization.Name)
	must(t, err)
	token, err := client.OrganizationTokens.Read(ctx, organization.Name)
	must(t, err)
	equal(t, token.Token, "")
	must(t, client.OrganizationTokens.Delete(ctx, organization.Name))
	_, err = client.OrganizationTokens.Read(ctx, organization.Name)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)

	other := createOrganization(t, client)
	must(t, client.Organizations.Delete(ctx, other.Name))
	_, err = client.Organizations.Read(ctx, other.Name)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
}

func TestProjects(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	project, err := client.Projects.Create(ctx, organization.Name, tfe.ProjectCreateOptions{
		Name: "Shop", Description: tfe.String("of all kinds"), TagBindings: []*tfe.TagBinding{{Key: "cost", Value: "1"}},
	})
	must(t, err)
	project, err = client.Projects.Update(ctx, project.ID, tfe.ProjectUpdateOptions{Name: tfe.String("Shops")})
	must(t, err)
	equal(t, project.Name, "Shops")
	_, err = client.Projects.AddTagBindings(ctx, project.ID, tfe.ProjectAddTagBindingsOptions{
		TagBindings: []*tfe.TagBinding{{Key: "env", Value: "prod"}},
	})
	must(t, err)
	bindings, err := client.Projects.ListTagBindings(ctx, project.ID)
	must(t, err)
	equal(t, len(bindings), 2)
	effective, err := client.Projects.ListEffectiveTagBindings(ctx, project.ID)
	must(t, err)
	equal(t, len(effective), 2)
	list, err := client.Projects.List(ctx, organization.Name, &tfe.ProjectListOptions{
		Name: "Shops", Include: []tfe.ProjectIncludeOpt{tfe.ProjectEffectiveTagBindings},
	})
	must(t, err)
	equal(t, len(list.Items), 1)
	equal(t, len(list.Items[0].EffectiveTagBindings), 2)
	equal(t, list.Items[0].EffectiveTagBindings[0].Key != "", true)

	workspace, err := client.Workspaces.Create(ctx, organization.Name, tfe.WorkspaceCreateOptions{
		Name: tfe.String("inside"), Project: project, TagBindings: []*tfe.TagBinding{{Key: "env", Value: "dev"}},
	})
	must(t, err)
	read, err := client.Workspaces.ReadWithOptions(ctx, organization.Name, workspace.Name, &tfe.WorkspaceReadOptions{
		Include: []tfe.WSIncludeOpt{tfe.WSEffectiveTagBindings, tfe.WSProject, tfe.WSOrganization},
	})
	must(t, err)
	equal(t, read.Project.Name, "Shops")
	equal(t, read.Organization.Email, "a@b.example")
	equal(t, len(read.EffectiveTagBindings), 2)
	for _, binding := range read.EffectiveTagBindings {
		equal(t, map[string]string{"cost": "1", "env": "dev"}[binding.Key], binding.Value)
	}

	must(t, client.Projects.DeleteAllTagBindings(ctx, project.ID))
	must(t, client.Workspaces.Delete(ctx, organization.Name, workspace.Name))
	must(t, client.Projects.Delete(ctx, project.ID))
	_, err = client.Projects.Read(ctx, project.ID)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
}

func TestKeysAndRepositories(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	key, err := client.SSHKeys.Create(ctx, organization.Name, tfe.SSHKeyCreateOptions{
		Name: tfe.String("modules"), Value: tfe.String("-----BEGIN OPENSSH PRIVATE KEY-----\nAA\n-----END OPENSSH PRIVATE KEY-----"),
	})
	must(t, err)
	key, err = client.SSHKeys.Update(ctx, key.ID, tfe.SSHKeyUpdateOptions{Name: tfe.String("all modules")})
	must(t, err)
	equal(t, key.Name, "all modules")
	assigned, err := client.Workspaces.AssignSSHKey(ctx, workspace.ID, tfe.WorkspaceAssignSSHKeyOptions{SSHKeyID: tfe.String(key.ID)})
	must(t, err)
	equal(t, assigned.SSHKey.ID, key.ID)
	unassigned, err := client.Workspaces.UnassignSSHKey(ctx, workspace.ID)
	must(t, err)
	equal(t, unassigned.SSHKey == nil, true)
	keys, err := client.SSHKeys.List(ctx, organization.Name, nil)
	must(t, err)
	equal(t, len(keys.Items), 1)

	connection, err := client.OAuthClients.Create(ctx, organization.Name, tfe.OAuthClientCreateOptions{
		APIURL: tfe.String("https://api.github.example"), HTTPURL: tfe.String("https://github.example"),
		OAuthToken: tfe.String("secret"), ServiceProvider: tfe.ServiceProvider(tfe.ServiceProviderGithub),
	})
	must(t, err)
	connection, err = client.OAuthClients.Update(ctx, connection.ID, tfe.OAuthClientUpdateOptions{
		Name: tfe.String("Hub"), OAuthToken: tfe.String("next"),
	})
	must(t, err)
	connections, err := client.OAuthClients.List(ctx, organization.Name, &tfe.OAuthClientListOptions{
		Include: []tfe.OAuthClientIncludeOpt{tfe.OauthClientOauthTokens, tfe.OauthClientProjects},
	})
	must(t, err)
	equal(t, connections.Items[0].OAuthTokens[0].CreatedAt.IsZero(), false)
	equal(t, *connections.Items[0].Name, "Hub")
	tokens, err := client.OAuthTokens.List(ctx, organization.Name, nil)
	must(t, err)
	token, err := client.OAuthTokens.Update(ctx, tokens.Items[0].ID, tfe.OAuthTokenUpdateOptions{PrivateSSHKey: tfe.String("x")})
	if err == nil {
		equal(t, token.HasSSHKey, false)
	}
	token, err = client.OAuthTokens.Read(ctx, tokens.Items[0].ID)
	must(t, err)

	connected, err := client.Workspaces.UpdateByID(ctx, workspace.ID, tfe.WorkspaceUpdateOptions{
		VCSRepo: &tfe.VCSRepoOptions{Identifier: tfe.String("acme/app"), OAuthTokenID: tfe.String(token.ID), Branch: tfe.String("main")},
	})
	must(t, err)
	equal(t, connected.VCSRepo.ServiceProvider, "github")
	equal(t, connected.VCSRepo.RepositoryHTTPURL, "https://github.example/acme/app")
	removed, err := client.Workspaces.RemoveVCSConnection(ctx, organization.Name, workspace.Name)
	must(t, err)
	equal(t, removed.VCSRepo == nil, true)
	_, err = client.Workspaces.RemoveVCSConnectionByID(ctx, workspace.ID)
	must(t, err)
	must(t, client.OAuthTokens.Delete(ctx, token.ID))
	left, err := client.OAuthClients.Read(ctx, connection.ID)
	must(t, err)
	equal(t, len(left.OAuthTokens), 0)
	must(t, client.OAuthClients.Delete(ctx, connection.ID))
	_, err = client.OAuthClients.Read(ctx, connection.ID)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
	must(t, client.SSHKeys.Delete(ctx, key.ID))
}

func TestOrganizationTags(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	first := createWorkspace(t, client, organization.Name)
	second := createWorkspace(t, client, organization.Name)
	must(t, client.Workspaces.AddTags(ctx, first.ID, tfe.WorkspaceAddTagsOptions{Tags: []*tfe.Tag{{Name: "net"}, {Name: "old"}}}))
	tags, err := client.OrganizationTags.List(ctx, organization.Name, &tfe.OrganizationTagsListOptions{Query: "net"})
	must(t, err)
	equal(t, len(tags.Items), 1)
	net := tags.Items[0]
	must(t, client.OrganizationTags.AddWorkspaces(ctx, net.ID, tfe.AddWorkspacesToTagOptions{WorkspaceIDs: []string{second.ID}}))
	tags, err = client.OrganizationTags.List(ctx, organization.Name, &tfe.OrganizationTagsListOptions{Filter: second.ID})
	must(t, err)
	equal(t, len(tags.Items), 1)
	equal(t, tags.Items[0].Name, "old")
	must(t, client.OrganizationTags.Delete(ctx, organization.Name, tfe.OrganizationTagsDeleteOptions{IDs: []string{net.ID}}))
	read, err := client.Workspaces.Read(ctx, organization.Name, second.Name)
	must(t, err)
	equal(t, len(read.TagNames), 0)
}

func TestWhoMayWhat(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	team, err := client.Teams.Create(ctx, organization.Name, tfe.TeamCreateOptions{Name: tfe.String("builders")})
	must(t, err)
	team, err = client.Teams.Update(ctx, team.ID, tfe.TeamUpdateOptions{
		Visibility: tfe.String("organization"), OrganizationAccess: &tfe.OrganizationAccessOptions{ManageWorkspaces: tfe.Bool(true)},
	})
	must(t, err)
	equal(t, team.OrganizationAccess.ManageWorkspaces, true)
	membership := createMembership(t, client, organization.Name, team)
	users, err := client.TeamMembers.List(ctx, team.ID)
	must(t, err)
	equal(t, users[0].Username, "admin")
	memberships, err := client.TeamMembers.ListOrganizationMemberships(ctx, team.ID)
	must(t, err)
	equal(t, memberships[0].ID, membership.ID)
	read, err := client.OrganizationMemberships.ReadWithOptions(ctx, membership.ID, tfe.OrganizationMembershipReadOptions{
		Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser},
	})
	must(t, err)
	equal(t, read.User.Username, "admin")
	teams, err := client.Teams.List(ctx, organization.Name, &tfe.TeamListOptions{
		Names: []string{"builders"}, Include: []tfe.TeamIncludeOpt{tfe.TeamUsers, tfe.TeamOrganizationMemberships},
	})
	must(t, err)
	equal(t, teams.Items[0].UserCount, 1)
	equal(t, teams.Items[0].Users[0].Username, "admin")
	must(t, client.TeamMembers.Remove(ctx, team.ID, tfe.TeamMemberRemoveOptions{Usernames: []string{"admin"}}))

	access, err := client.TeamAccess.Add(ctx, tfe.TeamAccessAddOptions{Access: tfe.Access(tfe.AccessPlan), Team: team, Workspace: workspace})
	must(t, err)
	grants, err := client.TeamAccess.List(ctx, &tfe.TeamAccessListOptions{WorkspaceID: workspace.ID})
	must(t, err)
	equal(t, grants.Items[0].ID, access.ID)
	access, err = client.TeamAccess.Read(ctx, access.ID)
	must(t, err)
	equal(t, access.Runs, tfe.RunsPermissionPlan)

	project := workspace.Project
	inProject, err := client.TeamProjectAccess.Add(ctx, tfe.TeamProjectAccessAddOptions{
		Access: tfe.TeamProjectAccessCustom, Team: team, Project: project,
		WorkspaceAccess: &tfe.TeamProjectAccessWorkspacePermissionsOptions{Locking: tfe.Bool(true)},
	})
	must(t, err)
	equal(t, inProject.WorkspaceAccess.WorkspaceLockingPermission, true)
	inProject, err = client.TeamProjectAccess.Update(ctx, inProject.ID, tfe.TeamProjectAccessUpdateOptions{
		Access: tfe.ProjectAccess(tfe.TeamProjectAccessMaintain),
	})
	must(t, err)
	listed, err := client.TeamProjectAccess.List(ctx, tfe.TeamProjectAccessListOptions{ProjectID: project.ID})
	must(t, err)
	equal(t, len(listed.Items), 1)
	inProject, err = client.TeamProjectAccess.Read(ctx, inProject.ID)
	must(t, err)
	equal(t, inProject.Access, tfe.TeamProjectAccessMaintain)
	must(t, client.TeamProjectAccess.Remove(ctx, inProject.ID))
	teamRead, err := client.Teams.Read(ctx, team.ID)
	must(t, err)
	equal(t, teamRead.Visibility, "organization")
}

func TestKeysOfRuns(t *testing.T) {
	settings := connectAsAdmin(t).Admin.Settings.OIDC
	must(t, settings.RotateKey(ctx))
	must(t, settings.TrimKey(ctx))
	member := connect(t, "none")
	if err := member.Admin.Settings.OIDC.RotateKey(ctx); err == nil {
		t.Fatal("a stranger has rotated the key")
	}
}

func TestTokensAndPools(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	account, err := client.Users.ReadCurrent(ctx)
	must(t, err)
	expiry := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	made, err := client.UserTokens.Create(ctx, account.ID, tfe.UserTokenCreateOptions{Description: "short", ExpiredAt: &expiry})
	must(t, err)
	read, err := client.UserTokens.Read(ctx, made.ID)
	must(t, err)
	equal(t, read.ExpiredAt.Equal(expiry), true)
	tokens, err := client.UserTokens.List(ctx, account.ID)
	must(t, err)
	equal(t, len(tokens.Items) > 0, true)
	must(t, client.UserTokens.Delete(ctx, made.ID))

	pool, err := client.AgentPools.Create(ctx, organization.Name, tfe.AgentPoolCreateOptions{Name: tfe.String("pool"), OrganizationScoped: tfe.Bool(false)})
	must(t, err)
	workspace := createWorkspace(t, client, organization.Name)
	pool, err = client.AgentPools.UpdateAllowedWorkspaces(ctx, pool.ID, tfe.AgentPoolAllowedWorkspacesUpdateOptions{AllowedWorkspaces: []*tfe.Workspace{workspace}})
	must(t, err)
	equal(t, pool.AllowedWorkspaces[0].ID, workspace.ID)
	pool, err = client.AgentPools.UpdateAllowedProjects(ctx, pool.ID, tfe.AgentPoolAllowedProjectsUpdateOptions{AllowedProjects: []*tfe.Project{workspace.Project}})
	must(t, err)
	equal(t, pool.AllowedProjects[0].ID, workspace.Project.ID)
	assigned, err := client.Workspaces.Update(ctx, organization.Name, workspace.Name, tfe.WorkspaceUpdateOptions{
		ExecutionMode: tfe.String("agent"), AgentPoolID: tfe.String(pool.ID),
	})
	must(t, err)
	equal(t, assigned.AgentPool.ID, pool.ID)
	equal(t, *assigned.SettingOverwrites.ExecutionMode, true)
	shown, err := client.AgentPools.ReadWithOptions(ctx, pool.ID, &tfe.AgentPoolReadOptions{Include: []tfe.AgentPoolIncludeOpt{tfe.AgentPoolWorkspaces}})
	must(t, err)
	equal(t, shown.Workspaces[0].Name, workspace.Name)
	_, err = client.AgentPools.Update(ctx, pool.ID, tfe.AgentPoolUpdateOptions{Name: tfe.String("renamed")})
	must(t, err)
	pools, err := client.AgentPools.List(ctx, organization.Name, &tfe.AgentPoolListOptions{AllowedWorkspacesName: workspace.Name})
	must(t, err)
	equal(t, pools.Items[0].Name, "renamed")
	token, err := client.AgentTokens.Create(ctx, pool.ID, tfe.AgentTokenCreateOptions{Description: tfe.String("one")})
	must(t, err)
	agentToken, err := client.AgentTokens.Read(ctx, token.ID)
	must(t, err)
	equal(t, agentToken.Description, "one")
	agentTokens, err := client.AgentTokens.List(ctx, pool.ID)
	must(t, err)
	equal(t, len(agentTokens.Items), 1)
	must(t, client.AgentTokens.Delete(ctx, token.ID))
	_, err = client.Workspaces.UpdateByID(ctx, workspace.ID, tfe.WorkspaceUpdateOptions{
		SettingOverwrites: &tfe.WorkspaceSettingOverwritesOptions{ExecutionMode: tfe.Bool(false)},
	})
	must(t, err)
	must(t, client.AgentPools.Delete(ctx, pool.ID))
}

func TestStatesAndConfigurationsByID(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	_, err := client.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{Reason: tfe.String("state")})
	must(t, err)
	state := stateOf(1, "one")
	made, err := client.StateVersions.Upload(ctx, workspace.ID, tfe.StateVersionUploadOptions{
		StateVersionCreateOptions: announced(1, state), RawState: state,
	})
	must(t, err)
	read, err := client.StateVersions.ReadWithOptions(ctx, made.ID, &tfe.StateVersionReadOptions{
		Include: []tfe.StateVersionIncludeOpt{tfe.SVoutputs, tfe.SVcreatedby},
	})
	must(t, err)
	equal(t, read.Status, tfe.StateVersionFinalized)
	equal(t, len(read.Outputs) > 0, true)
	equal(t, read.Outputs[0].Name != "", true)
	same, err := client.StateVersions.Read(ctx, made.ID)
	must(t, err)
	equal(t, same.Serial, int64(1))
	variable, err := client.Variables.Create(ctx, workspace.ID, tfe.VariableCreateOptions{
		Key: tfe.String("a"), Value: tfe.String("s"), Category: tfe.Category(tfe.CategoryTerraform), Sensitive: tfe.Bool(true),
	})
	must(t, err)
	variable, err = client.Variables.Read(ctx, workspace.ID, variable.ID)
	must(t, err)
	equal(t, variable.Value, "")
	equal(t, variable.Workspace.ID, workspace.ID)

	version, err := client.ConfigurationVersions.Create(ctx, workspace.ID, tfe.ConfigurationVersionCreateOptions{AutoQueueRuns: tfe.Bool(false)})
	must(t, err)
	must(t, client.ConfigurationVersions.UploadTarGzip(ctx, version.UploadURL, archiveOf(t, map[string]string{"main.tf": ""})))
	version, err = client.ConfigurationVersions.ReadWithOptions(ctx, version.ID, &tfe.ConfigurationVersionReadOptions{
		Include: []tfe.ConfigVerIncludeOpt{tfe.ConfigVerIngressAttributes},
	})
	must(t, err)
	equal(t, version.Status, tfe.ConfigurationUploaded)
}
