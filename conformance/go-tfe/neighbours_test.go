package conformance

import (
	"errors"
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

func TestTeamTokens(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	team, err := client.Teams.Create(ctx, organization.Name, tfe.TeamCreateOptions{Name: tfe.String("ci")})
	must(t, err)

	named, err := client.TeamTokens.CreateWithOptions(ctx, team.ID, tfe.TeamTokenCreateOptions{Description: tfe.String("nightly")})
	must(t, err)
	equal(t, *named.Description, "nightly")
	equal(t, named.Team.ID, team.ID)
	_, err = client.TeamTokens.CreateWithOptions(ctx, team.ID, tfe.TeamTokenCreateOptions{Description: tfe.String("nightly")})
	if err == nil {
		t.Fatal("two tokens have one description")
	}
	_, err = client.TeamTokens.Create(ctx, team.ID)
	must(t, err)
	read, err := client.TeamTokens.ReadByID(ctx, named.ID)
	must(t, err)
	equal(t, read.Token, "")
	list, err := client.TeamTokens.List(ctx, organization.Name, &tfe.TeamTokenListOptions{Query: "ci", Sort: "-expired-at"})
	must(t, err)
	equal(t, len(list.Items), 2)
	must(t, client.TeamTokens.Delete(ctx, team.ID))
	must(t, client.TeamTokens.DeleteByID(ctx, named.ID))
	list, err = client.TeamTokens.List(ctx, organization.Name, nil)
	must(t, err)
	equal(t, list.TotalCount, 0)
}

func TestReservedTagKeys(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	made, err := client.ReservedTagKeys.Create(ctx, organization.Name, tfe.ReservedTagKeyCreateOptions{Key: "env", DisableOverrides: tfe.Bool(true)})
	must(t, err)
	equal(t, made.Key, "env")
	equal(t, made.CreatedAt.IsZero(), false)
	changed, err := client.ReservedTagKeys.Update(ctx, made.ID, tfe.ReservedTagKeyUpdateOptions{Key: tfe.String("stage"), DisableOverrides: tfe.Bool(false)})
	must(t, err)
	equal(t, changed.DisableOverrides, false)
	list, err := client.ReservedTagKeys.List(ctx, organization.Name, nil)
	must(t, err)
	equal(t, list.Items[0].Key, "stage")
	must(t, client.ReservedTagKeys.Delete(ctx, made.ID))
}

func TestScopes(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	project, err := client.Projects.Create(ctx, organization.Name, tfe.ProjectCreateOptions{Name: "Scoped"})
	must(t, err)

	connection, err := client.OAuthClients.Create(ctx, organization.Name, tfe.OAuthClientCreateOptions{
		APIURL:             tfe.String("https://api.github.example"),
		HTTPURL:            tfe.String("https://github.example"),
		OAuthToken:         tfe.String("secret"),
		ServiceProvider:    tfe.ServiceProvider(tfe.ServiceProviderGithubEE),
		OrganizationScoped: tfe.Bool(false),
	})
	must(t, err)
	must(t, client.OAuthClients.AddProjects(ctx, connection.ID, tfe.OAuthClientAddProjectsOptions{Projects: []*tfe.Project{project}}))
	connection, err = client.OAuthClients.Read(ctx, connection.ID)
	must(t, err)
	equal(t, connection.Projects[0].ID, project.ID)
	equal(t, *connection.OrganizationScoped, false)
	must(t, client.OAuthClients.RemoveProjects(ctx, connection.ID, tfe.OAuthClientRemoveProjectsOptions{Projects: []*tfe.Project{project}}))

	pool, err := client.AgentPools.Create(ctx, organization.Name, tfe.AgentPoolCreateOptions{
		Name: tfe.String("pool"), ExcludedWorkspaces: []*tfe.Workspace{workspace},
	})
	must(t, err)
	equal(t, pool.ExcludedWorkspaces[0].ID, workspace.ID)
	pool, err = client.AgentPools.UpdateExcludedWorkspaces(ctx, pool.ID, tfe.AgentPoolExcludedWorkspacesUpdateOptions{
		ExcludedWorkspaces: []*tfe.Workspace{},
	})
	must(t, err)
	equal(t, len(pool.ExcludedWorkspaces), 0)
}

func TestComments(t *testing.T) {
	client := connectAsAdmin(t)
	_, workspace, _ := createAgentWorkspace(t, client)
	uploadConfiguration(t, client, workspace.ID)
	run, err := client.Runs.Create(ctx, tfe.RunCreateOptions{Workspace: workspace})
	must(t, err)
	made, err := client.Comments.Create(ctx, run.ID, tfe.CommentCreateOptions{Body: "why now?"})
	must(t, err)
	must(t, client.Runs.Discard(ctx, run.ID, tfe.RunDiscardOptions{Comment: tfe.String("not now")}))
	list, err := client.Comments.List(ctx, run.ID)
	must(t, err)
	equal(t, len(list.Items), 2)
	read, err := client.Comments.Read(ctx, made.ID)
	must(t, err)
	equal(t, read.Body, "why now?")
	events, err := client.RunEvents.List(ctx, run.ID, &tfe.RunEventListOptions{
		Include: []tfe.RunEventIncludeOpt{tfe.RunEventComment, tfe.RunEventActor},
	})
	must(t, err)
	last := events.Items[len(events.Items)-1]
	equal(t, last.Action, "discarded")
	equal(t, last.Comment.Body, "not now")
}

func TestWhatAWorkspaceHolds(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	_, err := client.Variables.Create(ctx, workspace.ID, tfe.VariableCreateOptions{
		Key: tfe.String("A"), Category: tfe.Category(tfe.CategoryEnv),
	})
	must(t, err)
	variables, err := client.Variables.ListAll(ctx, workspace.ID, nil)
	must(t, err)
	equal(t, variables.Items[0].Key, "A")

	readme, err := client.Workspaces.Readme(ctx, workspace.ID)
	must(t, err)
	equal(t, readme == nil, true)

	state := stateOf(1, "held")
	_, err = client.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	_, err = client.StateVersions.Upload(ctx, workspace.ID, tfe.StateVersionUploadOptions{
		StateVersionCreateOptions: announced(1, state), RawState: state,
	})
	must(t, err)
	resources, err := client.WorkspaceResources.List(ctx, workspace.ID, nil)
	must(t, err)
	equal(t, len(resources.Items) > 0, true)
	shown, err := client.Workspaces.ReadByIDWithOptions(ctx, workspace.ID, &tfe.WorkspaceReadOptions{
		Include: []tfe.WSIncludeOpt{tfe.WSCurrentStateVer, tfe.WSOutputs, tfe.WSLockedBy},
	})
	must(t, err)
	equal(t, shown.CurrentStateVersion.Serial, int64(1))
}

func TestAuditTrailTokensAreNotTheOrganizations(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	token, err := client.OrganizationTokens.Create(ctx, organization.Name)
	must(t, err)
	kind := tfe.AuditTrailToken
	auditor, err := client.OrganizationTokens.CreateWithOptions(ctx, organization.Name, tfe.OrganizationTokenCreateOptions{TokenType: &kind})
	must(t, err)
	_, err = connect(t, auditor.Token).AuditTrails.List(ctx, nil)
	must(t, err)
	_, err = connect(t, auditor.Token).Workspaces.List(ctx, organization.Name, nil)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
	_, err = connect(t, token.Token).Workspaces.List(ctx, organization.Name, nil)
	must(t, err)
}
