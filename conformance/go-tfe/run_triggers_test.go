package conformance

import (
	"errors"
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

func TestRunTriggers(t *testing.T) {
	client := connectAsAdmin(t)
	organization, source, worker := createAgentWorkspace(t, client)
	target, err := client.Workspaces.Create(ctx, organization.Name, tfe.WorkspaceCreateOptions{
		Name: tfe.String("target"), ExecutionMode: tfe.String("agent"), AgentPoolID: tfe.String(source.AgentPool.ID),
		AutoApplyRunTrigger: tfe.Bool(true),
	})
	must(t, err)
	uploadConfiguration(t, client, source.ID)
	uploadConfiguration(t, client, target.ID)

	made, err := client.RunTriggers.Create(ctx, target.ID, tfe.RunTriggerCreateOptions{Sourceable: source})
	must(t, err)
	equal(t, made.SourceableName, source.Name)
	equal(t, made.Sourceable.ID, source.ID)
	read, err := client.RunTriggers.ReadWithOptions(ctx, made.ID, &tfe.RunTriggerReadOptions{
		Include: []tfe.RunTriggerIncludeOpt{tfe.RunTriggerWorkspace, tfe.RunTriggerSourceable},
	})
	must(t, err)
	equal(t, read.Workspace.Name, target.Name)
	inbound, err := client.RunTriggers.List(ctx, target.ID, &tfe.RunTriggerListOptions{RunTriggerType: tfe.RunTriggerInbound})
	must(t, err)
	equal(t, inbound.Items[0].ID, made.ID)
	outbound, err := client.RunTriggers.List(ctx, source.ID, &tfe.RunTriggerListOptions{RunTriggerType: tfe.RunTriggerOutbound})
	must(t, err)
	equal(t, outbound.TotalCount, 1)
	if _, err = client.RunTriggers.Create(ctx, source.ID, tfe.RunTriggerCreateOptions{Sourceable: target}); err == nil {
		t.Error("two workspaces trigger each other")
	}

	_, err = client.Runs.Create(ctx, tfe.RunCreateOptions{Workspace: source, AutoApply: tfe.Bool(true)})
	must(t, err)
	for _, changes := range []bool{true, true} {
		worker.report(worker.claim(), map[string]any{"status": "finished", "has-changes": changes})
	}
	triggered, err := client.Runs.List(ctx, target.ID, nil)
	must(t, err)
	equal(t, len(triggered.Items), 1)
	equal(t, triggered.Items[0].AutoApply, true)

	must(t, client.RunTriggers.Delete(ctx, made.ID))
	_, err = client.RunTriggers.Read(ctx, made.ID)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
}
