package conformance

import (
	"errors"
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

func TestVariableSets(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	project, err := client.Projects.Create(ctx, organization.Name, tfe.ProjectCreateOptions{Name: "Shared"})
	must(t, err)

	made, err := client.VariableSets.Create(ctx, organization.Name, &tfe.VariableSetCreateOptions{
		Name: tfe.String("credentials"), Description: tfe.String("of the cloud"), Global: tfe.Bool(false), Priority: tfe.Bool(true),
	})
	must(t, err)
	equal(t, made.Name, "credentials")
	equal(t, made.Priority, true)
	equal(t, made.Parent.Organization.Name, organization.Name)
	_, err = client.VariableSets.Create(ctx, organization.Name, &tfe.VariableSetCreateOptions{
		Name: tfe.String("of the project"), Global: tfe.Bool(false), Parent: &tfe.Parent{Project: project},
	})
	must(t, err)
	list, err := client.VariableSets.List(ctx, organization.Name, &tfe.VariableSetListOptions{Query: "of the"})
	must(t, err)
	equal(t, list.TotalCount, 1)
	equal(t, list.Items[0].Parent.Project.ID, project.ID)

	must(t, client.VariableSets.ApplyToProjects(ctx, made.ID, tfe.VariableSetApplyToProjectsOptions{Projects: []*tfe.Project{project}}))
	list, err = client.VariableSets.ListForProject(ctx, project.ID, nil)
	must(t, err)
	equal(t, list.TotalCount, 1)
	must(t, client.VariableSets.RemoveFromProjects(ctx, made.ID, tfe.VariableSetRemoveFromProjectsOptions{Projects: []*tfe.Project{project}}))
	must(t, client.VariableSets.ApplyToWorkspaces(ctx, made.ID, &tfe.VariableSetApplyToWorkspacesOptions{Workspaces: []*tfe.Workspace{workspace}}))
	list, err = client.VariableSets.ListForWorkspace(ctx, workspace.ID, nil)
	must(t, err)
	equal(t, list.Items[0].ID, made.ID)
	must(t, client.VariableSets.RemoveFromWorkspaces(ctx, made.ID, &tfe.VariableSetRemoveFromWorkspacesOptions{Workspaces: []*tfe.Workspace{workspace}}))
	changed, err := client.VariableSets.UpdateWorkspaces(ctx, made.ID, &tfe.VariableSetUpdateWorkspacesOptions{Workspaces: []*tfe.Workspace{workspace}})
	must(t, err)
	equal(t, changed.Workspaces[0].Name, workspace.Name)
	changed, err = client.VariableSets.Update(ctx, made.ID, &tfe.VariableSetUpdateOptions{Name: tfe.String("renamed"), Global: tfe.Bool(true)})
	must(t, err)
	equal(t, changed.Global, true)
	stacks := []*tfe.Stack{{ID: "st-1"}}
	if client.VariableSets.ApplyToStacks(ctx, made.ID, &tfe.VariableSetApplyToStacksOptions{Stacks: stacks}) == nil {
		t.Error("a variable set was applied to a stack")
	}
	if client.VariableSets.RemoveFromStacks(ctx, made.ID, &tfe.VariableSetRemoveFromStacksOptions{Stacks: stacks}) == nil {
		t.Error("a variable set was removed from a stack")
	}
	if _, err = client.VariableSets.UpdateStacks(ctx, made.ID, &tfe.VariableSetUpdateStacksOptions{Stacks: stacks}); err == nil {
		t.Error("a variable set was given a stack")
	}

	must(t, client.VariableSets.Delete(ctx, made.ID))
	_, err = client.VariableSets.Read(ctx, made.ID, nil)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
}

func TestVariablesOfSets(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	set, err := client.VariableSets.Create(ctx, organization.Name, &tfe.VariableSetCreateOptions{
		Name: tfe.String("regions"), Global: tfe.Bool(true),
	})
	must(t, err)
	made, err := client.VariableSetVariables.Create(ctx, set.ID, &tfe.VariableSetVariableCreateOptions{
		Key: tfe.String("region"), Value: tfe.String("eu"), Category: tfe.Category(tfe.CategoryTerraform),
	})
	must(t, err)
	equal(t, made.VariableSet.ID, set.ID)
	secret, err := client.VariableSetVariables.Create(ctx, set.ID, &tfe.VariableSetVariableCreateOptions{
		Key: tfe.String("TOKEN"), Value: tfe.String("hunter2"), Category: tfe.Category(tfe.CategoryEnv), Sensitive: tfe.Bool(true),
	})
	must(t, err)
	equal(t, secret.Value, "")
	changed, err := client.VariableSetVariables.Update(ctx, set.ID, made.ID, &tfe.VariableSetVariableUpdateOptions{Value: tfe.String("us")})
	must(t, err)
	equal(t, changed.Value, "us")
	list, err := client.VariableSetVariables.List(ctx, set.ID, nil)
	must(t, err)
	equal(t, list.TotalCount, 2)
	include := []tfe.VariableSetIncludeOpt{tfe.VariableSetVars, tfe.VariableSetWorkspaces, tfe.VariableSetProjects}
	shown, err := client.VariableSets.Read(ctx, set.ID, &tfe.VariableSetReadOptions{Include: &include})
	must(t, err)
	equal(t, shown.Variables[0].Key, "region")

	_, err = client.Variables.Create(ctx, workspace.ID, tfe.VariableCreateOptions{
		Key: tfe.String("region"), Value: tfe.String("own"), Category: tfe.Category(tfe.CategoryTerraform),
	})
	must(t, err)
	all, err := client.Variables.ListAll(ctx, workspace.ID, nil)
	must(t, err)
	// The value of the set is overwritten by that of the workspace, and so no part of what runs get.
	equal(t, len(all.Items), 2)
	equal(t, all.Items[0].Value, "own")

	must(t, client.VariableSetVariables.Delete(ctx, set.ID, made.ID))
	_, err = client.VariableSetVariables.Read(ctx, set.ID, made.ID)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
}
