package conformance

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	tfe "github.com/hashicorp/go-tfe"
)

func readAll(t *testing.T, reader io.Reader, err error) string {
	t.Helper()
	must(t, err)
	text, err := io.ReadAll(reader)
	must(t, err)
	return string(text)
}

func uploadConfiguration(t *testing.T, client *tfe.Client, workspaceID string) *tfe.ConfigurationVersion {
	t.Helper()
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "main.tf"), []byte("output \"one\" { value = 1 }\n"), 0o600))
	version, err := client.ConfigurationVersions.Create(ctx, workspaceID, tfe.ConfigurationVersionCreateOptions{
		AutoQueueRuns: tfe.Bool(false),
	})
	must(t, err)
	equal(t, version.Status, tfe.ConfigurationPending)
	must(t, client.ConfigurationVersions.Upload(ctx, version.UploadURL, folder))
	return version
}

func createAgentWorkspace(t *testing.T, client *tfe.Client) (*tfe.Organization, *tfe.Workspace, *agent) {
	t.Helper()
	organization := createOrganization(t, client)
	pool, err := client.AgentPools.Create(ctx, organization.Name, tfe.AgentPoolCreateOptions{Name: tfe.String("pool")})
	must(t, err)
	workspace, err := client.Workspaces.Create(ctx, organization.Name, tfe.WorkspaceCreateOptions{
		Name: tfe.String("app"), ExecutionMode: tfe.String("agent"), AgentPoolID: tfe.String(pool.ID),
	})
	must(t, err)
	return organization, workspace, registerAgent(t, client, pool.ID)
}

func TestConfigurationVersions(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	older, newer := uploadConfiguration(t, client, workspace.ID), uploadConfiguration(t, client, workspace.ID)

	read, err := client.ConfigurationVersions.Read(ctx, newer.ID)
	must(t, err)
	equal(t, read.Status, tfe.ConfigurationUploaded)
	equal(t, read.UploadURL, "")
	listed, err := client.ConfigurationVersions.List(ctx, workspace.ID, nil)
	must(t, err)
	equal(t, listed.TotalCount, 2)
	archive, err := client.ConfigurationVersions.Download(ctx, newer.ID)
	must(t, err)
	equal(t, archive[0] == 0x1f && archive[1] == 0x8b, true)
	must(t, client.ConfigurationVersions.Archive(ctx, older.ID))
	_, err = client.ConfigurationVersions.Download(ctx, older.ID)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)

	if client.ConfigurationVersions.SoftDeleteBackingData(ctx, newer.ID) == nil {
		t.Error("the files of the current configuration were withheld")
	}
	newest := uploadConfiguration(t, client, workspace.ID)
	must(t, client.ConfigurationVersions.SoftDeleteBackingData(ctx, newer.ID))
	_, err = client.ConfigurationVersions.Download(ctx, newer.ID)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
	must(t, client.ConfigurationVersions.RestoreBackingData(ctx, newer.ID))
	_, err = client.ConfigurationVersions.Download(ctx, newer.ID)
	must(t, err)
	must(t, client.ConfigurationVersions.SoftDeleteBackingData(ctx, newer.ID))
	must(t, client.ConfigurationVersions.PermanentlyDeleteBackingData(ctx, newer.ID))
	_, err = client.ConfigurationVersions.Download(ctx, newest.ID)
	must(t, err)
}

func TestRunIsPlannedConfirmedAndApplied(t *testing.T) {
	client := connectAsAdmin(t)
	organization, workspace, worker := createAgentWorkspace(t, client)
	entitlements, err := client.Organizations.ReadEntitlements(ctx, organization.Name)
	must(t, err)
	equal(t, entitlements.Operations, true)
	version := uploadConfiguration(t, client, workspace.ID)

	run, err := client.Runs.Create(ctx, tfe.RunCreateOptions{
		Workspace:   workspace,
		Message:     tfe.String("from go"),
		TargetAddrs: []string{"null_resource.a"},
		Variables:   []*tfe.RunVariable{{Key: "n", Value: "1"}},
	})
	must(t, err)
	equal(t, run.Status, tfe.RunPending)
	equal(t, run.ConfigurationVersion.ID, version.ID)
	queue, err := client.Organizations.ReadRunQueue(ctx, organization.Name, tfe.ReadRunQueueOptions{})
	must(t, err)
	equal(t, queue.Items[0].ID, run.ID)
	// Nothing is before it.
	equal(t, queue.Items[0].PositionInQueue, 0)
	equal(t, run.StatusTimestamps.PlanQueueableAt.IsZero(), false)
	capacity, err := client.Organizations.ReadCapacity(ctx, organization.Name)
	must(t, err)
	equal(t, *capacity, tfe.Capacity{Organization: organization.Name, Pending: 1})

	plan := worker.claim()
	equal(t, plan.RunID, run.ID)
	busy, err := client.Agents.Read(ctx, worker.id)
	must(t, err)
	equal(t, busy.Status, "busy")
	_, err = time.Parse(time.RFC3339, busy.LastPingAt)
	must(t, err)
	worker.log(plan, "Plan: 1 to add\n")
	worker.put(plan, "plan-file-upload-url", "plan")
	worker.put(plan, "json-output-upload-url", `{"format_version":"1.2"}`)
	worker.put(plan, "json-output-redacted-upload-url", `{"plan_format_version":"1.2"}`)
	worker.report(plan, map[string]any{"status": "finished", "has-changes": true, "resource-additions": 1})

	planned, err := client.Runs.ReadWithOptions(ctx, run.ID, &tfe.RunReadOptions{
		Include: []tfe.RunIncludeOpt{tfe.RunPlan, tfe.RunWorkspace, tfe.RunCreatedBy, tfe.RunConfigVer},
	})
	must(t, err)
	equal(t, planned.Status, tfe.RunPlanned)
	equal(t, planned.Actions.IsConfirmable, true)
	equal(t, planned.Plan.Status, tfe.PlanFinished)
	equal(t, planned.Plan.ResourceAdditions, 1)
	equal(t, planned.Workspace.Name, "app")
	equal(t, planned.CreatedBy.Username, "admin")
	equal(t, planned.StatusTimestamps.PlannedAt.IsZero(), false)
	output, err := client.Plans.ReadJSONOutput(ctx, planned.Plan.ID)
	must(t, err)
	equal(t, string(output), `{"format_version":"1.2"}`)
	logs, err := client.Plans.Logs(ctx, planned.Plan.ID)
	equal(t, readAll(t, logs, err), "Plan: 1 to add\n")

	must(t, client.Runs.Apply(ctx, run.ID, tfe.RunApplyOptions{Comment: tfe.String("go on")}))
	apply := worker.claim()
	equal(t, apply.Attributes["phase"].(string), "apply")
	locked, err := client.Workspaces.ReadByID(ctx, workspace.ID)
	must(t, err)
	equal(t, locked.LockedBy.Run.ID, run.ID)

	// The state comes with the token of the run.
	state := stateOf(1, "one")
	_, err = connect(t, apply.Attributes["token"].(string)).StateVersions.Upload(ctx, workspace.ID,
		tfe.StateVersionUploadOptions{StateVersionCreateOptions: announced(1, state), RawState: state})
	must(t, err)
	worker.log(apply, "Apply complete!\n")
	worker.report(apply, map[string]any{"status": "finished", "resource-additions": 1})

	applied, err := client.Runs.Read(ctx, run.ID)
	must(t, err)
	equal(t, applied.Status, tfe.RunApplied)
	done, err := client.Applies.Read(ctx, applied.Apply.ID)
	must(t, err)
	equal(t, done.Status, tfe.ApplyFinished)
	logs, err = client.Applies.Logs(ctx, applied.Apply.ID)
	equal(t, readAll(t, logs, err), "Apply complete!\n")
	current, err := client.StateVersions.ReadCurrent(ctx, workspace.ID)
	must(t, err)
	equal(t, current.Run.ID, run.ID)
	events, err := client.RunEvents.List(ctx, run.ID, nil)
	must(t, err)
	equal(t, len(events.Items), 6)
	equal(t, len(applied.RunEvents), 6)
	queued, err := client.RunEvents.Read(ctx, applied.RunEvents[0].ID)
	must(t, err)
	equal(t, queued.Action, "queued")
	equal(t, applied.ConfirmedBy.ID, planned.CreatedBy.ID)
	equal(t, len(applied.Comments), 1)
	comment, err := client.Comments.Read(ctx, applied.Comments[0].ID)
	must(t, err)
	equal(t, comment.Body, "go on")
	after, err := client.Workspaces.ReadByID(ctx, workspace.ID)
	must(t, err)
	equal(t, after.Locked, false)
	equal(t, after.CurrentRun.ID, run.ID)
	equal(t, after.ResourceCount, 1)
	agents, err := client.Agents.List(ctx, after.AgentPool.ID, nil)
	must(t, err)
	equal(t, agents.Items[0].Status, "idle")
}

func TestRunsAreDiscardedCanceledAndListed(t *testing.T) {
	client := connectAsAdmin(t)
	organization, workspace, worker := createAgentWorkspace(t, client)
	uploadConfiguration(t, client, workspace.ID)
	create := func(message string) *tfe.Run {
		run, err := client.Runs.Create(ctx, tfe.RunCreateOptions{Workspace: workspace, Message: tfe.String(message)})
		must(t, err)
		return run
	}
	first, second, third := create("first"), create("second"), create("third")

	must(t, client.Runs.Discard(ctx, third.ID, tfe.RunDiscardOptions{}))
	equal(t, worker.claim().RunID, first.ID)
	must(t, client.Runs.Cancel(ctx, first.ID, tfe.RunCancelOptions{}))
	asked, err := client.Runs.Read(ctx, first.ID)
	must(t, err)
	equal(t, asked.CanceledAt.IsZero(), false)
	equal(t, asked.Status, tfe.RunPlanning)
	err = client.Runs.ForceCancel(ctx, first.ID, tfe.RunForceCancelOptions{})
	if err == nil {
		t.Fatal("a run was canceled by force before its time")
	}
	// The agent starts again and has lost the phase.
	send(t, "PATCH", api("/agents/"+worker.id), worker.token, resource("agents", map[string]any{"status": "idle"}))
	lost, err := client.Runs.Read(ctx, first.ID)
	must(t, err)
	equal(t, lost.Status, tfe.RunErrored)
	equal(t, worker.claim().RunID, second.ID)

	listed, err := client.Runs.List(ctx, workspace.ID, &tfe.RunListOptions{
		Include: []tfe.RunIncludeOpt{tfe.RunPlan}, Search: "first",
	})
	must(t, err)
	equal(t, listed.TotalCount, 1)
	equal(t, listed.Items[0].Plan.Status, tfe.PlanErrored)
	all, err := client.Runs.List(ctx, workspace.ID, nil)
	must(t, err)
	equal(t, all.Items[0].ID, third.ID)
	equal(t, all.Items[2].ID, first.ID)
	ofOrganization, err := client.Runs.ListForOrganization(ctx, organization.Name, &tfe.RunListForOrganizationOptions{
		Status: "discarded,errored",
	})
	must(t, err)
	equal(t, len(ofOrganization.Items), 2)
}
