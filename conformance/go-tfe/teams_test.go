package conformance

import (
	"errors"
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

func TestTeams(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	createWorkspace(t, client, organization.Name)

	team, err := client.Teams.Create(ctx, organization.Name, tfe.TeamCreateOptions{Name: tfe.String("readers")})
	must(t, err)
	access, err := client.TeamAccess.Add(ctx, tfe.TeamAccessAddOptions{
		Access: tfe.Access(tfe.AccessRead), Team: team, Workspace: workspace,
	})
	must(t, err)
	equal(t, access.Runs, tfe.RunsPermissionRead)

	token, err := client.TeamTokens.Create(ctx, team.ID)
	must(t, err)
	reader := connect(t, token.Token)
	list, err := reader.Workspaces.List(ctx, organization.Name, nil)
	must(t, err)
	equal(t, len(list.Items), 1)
	equal(t, list.Items[0].Permissions.CanUpdate, false)
	_, err = reader.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{})
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)

	_, err = client.TeamAccess.Update(ctx, access.ID, tfe.TeamAccessUpdateOptions{Access: tfe.Access(tfe.AccessWrite)})
	must(t, err)
	locked, err := reader.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	if locked.LockedBy == nil || locked.LockedBy.Team == nil {
		t.Fatal("the team does not hold the lock")
	}
	_, err = client.Workspaces.Unlock(ctx, workspace.ID)
	equal(t, errors.Is(err, tfe.ErrWorkspaceLockedByTeam), true)

	must(t, client.TeamAccess.Remove(ctx, access.ID))
	_, err = reader.Workspaces.ReadByID(ctx, workspace.ID)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
	must(t, client.Teams.Delete(ctx, team.ID))
	_, err = reader.Workspaces.ReadByID(ctx, workspace.ID)
	equal(t, errors.Is(err, tfe.ErrUnauthorized), true)
}

func TestTokens(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)

	token, err := client.OrganizationTokens.Create(ctx, organization.Name)
	must(t, err)
	_, err = connect(t, token.Token).Workspaces.List(ctx, organization.Name, nil)
	must(t, err)
	account, err := client.Users.ReadCurrent(ctx)
	must(t, err)
	personal, err := client.UserTokens.Create(ctx, account.ID, tfe.UserTokenCreateOptions{Description: "laptop"})
	must(t, err)
	same, err := connect(t, personal.Token).Users.ReadCurrent(ctx)
	must(t, err)
	equal(t, same.ID, account.ID)

	pool, err := client.AgentPools.Create(ctx, organization.Name, tfe.AgentPoolCreateOptions{Name: tfe.String("pool")})
	must(t, err)
	_, err = client.AgentTokens.Create(ctx, pool.ID, tfe.AgentTokenCreateOptions{Description: tfe.String("agent")})
	must(t, err)
}
