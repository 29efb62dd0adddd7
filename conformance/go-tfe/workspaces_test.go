package conformance

import (
	"errors"
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

func TestWorkspaceLifeCycle(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)

	updated, err := client.Workspaces.Update(ctx, organization.Name, workspace.Name, tfe.WorkspaceUpdateOptions{
		Name:          tfe.String("renamed"),
		AutoApply:     tfe.Bool(true),
		ExecutionMode: tfe.String("local"),
	})
	must(t, err)
	equal(t, updated.Name, "renamed")
	equal(t, updated.AutoApply, true)
	equal(t, updated.ExecutionMode, "local")
	equal(t, *updated.SettingOverwrites.ExecutionMode, true)

	read, err := client.Workspaces.ReadByIDWithOptions(ctx, workspace.ID, &tfe.WorkspaceReadOptions{
		Include: []tfe.WSIncludeOpt{tfe.WSOrganization},
	})
	must(t, err)
	equal(t, read.Organization.Email, "a@b.example")

	_, err = client.Workspaces.Create(ctx, organization.Name, tfe.WorkspaceCreateOptions{Name: tfe.String("renamed")})
	if err == nil || err.Error() != "invalid attribute\n\nName has already been taken" {
		t.Fatalf("a second workspace of that name: %v", err)
	}

	for range 3 {
		createWorkspace(t, client, organization.Name)
	}
	list, err := client.Workspaces.List(ctx, organization.Name, &tfe.WorkspaceListOptions{
		ListOptions: tfe.ListOptions{PageSize: 2},
		Sort:        "-name",
	})
	must(t, err)
	equal(t, list.TotalCount, 4)
	equal(t, len(list.Items), 2)

	must(t, client.Workspaces.SafeDelete(ctx, organization.Name, "renamed"))
	_, err = client.Workspaces.ReadByID(ctx, workspace.ID)
	if !errors.Is(err, tfe.ErrResourceNotFound) {
		t.Fatalf("after deletion: %v", err)
	}
}

func TestLocks(t *testing.T) {
	client := connectAsAdmin(t)
	workspace := createWorkspace(t, client, createOrganization(t, client).Name)

	locked, err := client.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{Reason: tfe.String("upkeep")})
	must(t, err)
	equal(t, locked.Locked, true)
	if locked.LockedBy == nil || locked.LockedBy.User == nil {
		t.Fatal("the lock has no holder")
	}
	_, err = client.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{})
	equal(t, errors.Is(err, tfe.ErrWorkspaceLocked), true)
	err = client.Workspaces.SafeDeleteByID(ctx, workspace.ID)
	equal(t, errors.Is(err, tfe.ErrWorkspaceLockedCannotDelete), true)

	unlocked, err := client.Workspaces.Unlock(ctx, workspace.ID)
	must(t, err)
	equal(t, unlocked.Locked, false)
	_, err = client.Workspaces.Unlock(ctx, workspace.ID)
	equal(t, errors.Is(err, tfe.ErrWorkspaceNotLocked), true)

	_, err = client.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	_, err = client.Workspaces.ForceUnlock(ctx, workspace.ID)
	must(t, err)
}

func TestTags(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	createWorkspace(t, client, organization.Name)

	must(t, client.Workspaces.AddTags(ctx, workspace.ID, tfe.WorkspaceAddTagsOptions{
		Tags: []*tfe.Tag{{Name: "one"}, {Name: "two"}},
	}))
	tags, err := client.Workspaces.ListTags(ctx, workspace.ID, nil)
	must(t, err)
	equal(t, len(tags.Items), 2)
	must(t, client.Workspaces.RemoveTags(ctx, workspace.ID, tfe.WorkspaceRemoveTagsOptions{
		Tags: []*tfe.Tag{{Name: "two"}},
	}))

	bindings, err := client.Workspaces.AddTagBindings(ctx, workspace.ID, tfe.WorkspaceAddTagBindingsOptions{
		TagBindings: []*tfe.TagBinding{{Key: "env", Value: "prod"}},
	})
	must(t, err)
	equal(t, len(bindings), 2)
	effective, err := client.Workspaces.ListEffectiveTagBindings(ctx, workspace.ID)
	must(t, err)
	equal(t, len(effective), 2)

	for _, options := range []*tfe.WorkspaceListOptions{
		{Tags: "one"},
		{Tags: "one,env"},
		{TagBindings: []*tfe.TagBinding{{Key: "env", Value: "prod"}}},
	} {
		list, err := client.Workspaces.List(ctx, organization.Name, options)
		must(t, err)
		equal(t, len(list.Items), 1)
		equal(t, list.Items[0].ID, workspace.ID)
	}
	must(t, client.Workspaces.DeleteAllTagBindings(ctx, workspace.ID))
	left, err := client.Workspaces.ListTagBindings(ctx, workspace.ID)
	must(t, err)
	equal(t, len(left), 0)
}

func TestRemoteStateConsumers(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	producer := createWorkspace(t, client, organization.Name)
	first := createWorkspace(t, client, organization.Name)
	second := createWorkspace(t, client, organization.Name)

	consumers := func() int {
		list, err := client.Workspaces.ListRemoteStateConsumers(ctx, producer.ID, nil)
		must(t, err)
		return len(list.Items)
	}
	must(t, client.Workspaces.AddRemoteStateConsumers(ctx, producer.ID, tfe.WorkspaceAddRemoteStateConsumersOptions{
		Workspaces: []*tfe.Workspace{first, second},
	}))
	equal(t, consumers(), 2)
	must(t, client.Workspaces.RemoveRemoteStateConsumers(ctx, producer.ID, tfe.WorkspaceRemoveRemoteStateConsumersOptions{
		Workspaces: []*tfe.Workspace{first},
	}))
	equal(t, consumers(), 1)
	must(t, client.Workspaces.UpdateRemoteStateConsumers(ctx, producer.ID, tfe.WorkspaceUpdateRemoteStateConsumersOptions{
		Workspaces: []*tfe.Workspace{first},
	}))
	equal(t, consumers(), 1)
}

func TestRetention(t *testing.T) {
	client := connectAsAdmin(t)
	workspace := createWorkspace(t, client, createOrganization(t, client).Name)

	days, err := client.Workspaces.SetDataRetentionPolicyDeleteOlder(ctx, workspace.ID,
		tfe.DataRetentionPolicyDeleteOlderSetOptions{DeleteOlderThanNDays: 30})
	must(t, err)
	equal(t, days.DeleteOlderThanNDays, 30)
	choice, err := client.Workspaces.ReadDataRetentionPolicyChoice(ctx, workspace.ID)
	must(t, err)
	equal(t, choice.DataRetentionPolicyDeleteOlder.DeleteOlderThanNDays, 30)
	_, err = client.Workspaces.SetDataRetentionPolicyDontDelete(ctx, workspace.ID, tfe.DataRetentionPolicyDontDeleteSetOptions{})
	must(t, err)
	choice, err = client.Workspaces.ReadDataRetentionPolicyChoice(ctx, workspace.ID)
	must(t, err)
	if choice.DataRetentionPolicyDontDelete == nil {
		t.Fatal("the policy did not change its kind")
	}
	must(t, client.Workspaces.DeleteDataRetentionPolicy(ctx, workspace.ID))
}

func TestVariables(t *testing.T) {
	client := connectAsAdmin(t)
	workspace := createWorkspace(t, client, createOrganization(t, client).Name)

	plain, err := client.Variables.Create(ctx, workspace.ID, tfe.VariableCreateOptions{
		Key: tfe.String("region"), Value: tfe.String("north"), Category: tfe.Category(tfe.CategoryTerraform),
	})
	must(t, err)
	equal(t, plain.Value, "north")
	secret, err := client.Variables.Create(ctx, workspace.ID, tfe.VariableCreateOptions{
		Key: tfe.String("TOKEN"), Value: tfe.String("hidden"), Category: tfe.Category(tfe.CategoryEnv), Sensitive: tfe.Bool(true),
	})
	must(t, err)
	equal(t, secret.Value, "")
	changed, err := client.Variables.Update(ctx, workspace.ID, plain.ID, tfe.VariableUpdateOptions{Value: tfe.String("south")})
	must(t, err)
	equal(t, changed.Value, "south")
	list, err := client.Variables.List(ctx, workspace.ID, nil)
	must(t, err)
	equal(t, len(list.Items), 2)
	must(t, client.Variables.Delete(ctx, workspace.ID, secret.ID))
}
