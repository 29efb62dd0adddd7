package conformance

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

func stateOf(serial int64, value string) []byte {
	return fmt.Appendf(nil, `{"version":4,"terraform_version":"1.11.4","serial":%d,"lineage":"l","outputs":{
		"plain":{"value":%q,"type":"string"},"secret":{"value":"hidden","type":"string","sensitive":true}},
		"resources":[{"mode":"managed","type":"null_resource","name":"a","provider":"p","instances":[{}]}]}`, serial, value)
}

func announced(serial int64, state []byte) tfe.StateVersionCreateOptions {
	digest := md5.Sum(state)
	return tfe.StateVersionCreateOptions{
		Lineage: tfe.String("l"),
		MD5:     tfe.String(hex.EncodeToString(digest[:])),
		Serial:  tfe.Int64(serial),
	}
}

func TestStateVersions(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	first, second := stateOf(1, "one"), stateOf(2, "two")

	_, err := client.StateVersions.ReadCurrent(ctx, workspace.ID)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
	_, err = client.StateVersions.Upload(ctx, workspace.ID, tfe.StateVersionUploadOptions{
		StateVersionCreateOptions: announced(1, first), RawState: first,
	})
	if err == nil {
		t.Fatal("a state was taken without the lock")
	}

	_, err = client.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	inline := announced(1, first)
	inline.State = tfe.String(base64.StdEncoding.EncodeToString(first))
	created, err := client.StateVersions.Create(ctx, workspace.ID, inline)
	must(t, err)
	equal(t, created.Status, tfe.StateVersionFinalized)

	// The same state twice: clients repeat an upload whose answer they lost.
	var uploaded *tfe.StateVersion
	for range 2 {
		uploaded, err = client.StateVersions.Upload(ctx, workspace.ID, tfe.StateVersionUploadOptions{
			StateVersionCreateOptions: announced(2, second), RawState: second, RawJSONState: []byte(`{"format_version":"1.0"}`),
		})
		must(t, err)
		equal(t, uploaded.Status, tfe.StateVersionFinalized)
	}
	equal(t, uploaded.Serial, 2)
	equal(t, uploaded.ResourcesProcessed, true)
	equal(t, len(uploaded.Resources), 1)
	equal(t, uploaded.Modules.Root.NullResource, 1)
	for url, want := range map[string]string{
		uploaded.DownloadURL:     string(second),
		uploaded.JSONDownloadURL: `{"format_version":"1.0"}`,
	} {
		content, err := client.StateVersions.Download(ctx, url)
		must(t, err)
		equal(t, string(content), want)
	}

	_, err = client.StateVersions.Create(ctx, workspace.ID, inline)
	if err == nil {
		t.Fatal("an older serial was taken")
	}
	_, err = client.StateVersions.Create(ctx, workspace.ID, announced(3, stateOf(3, "three")))
	must(t, err)
	_, err = client.Workspaces.ForceUnlock(ctx, workspace.ID)
	must(t, err)

	current, err := client.StateVersions.ReadCurrentWithOptions(ctx, workspace.ID, &tfe.StateVersionCurrentOptions{
		Include: []tfe.StateVersionIncludeOpt{tfe.SVoutputs},
	})
	must(t, err)
	equal(t, current.ID, uploaded.ID)
	equal(t, len(current.Outputs), 2)
	list, err := client.StateVersions.List(ctx, &tfe.StateVersionListOptions{
		Organization: organization.Name, Workspace: workspace.Name,
	})
	must(t, err)
	equal(t, list.TotalCount, 4)

	equal(t, errors.Is(client.Workspaces.SafeDeleteByID(ctx, workspace.ID), tfe.ErrWorkspaceNotSafeToDelete), true)
	must(t, client.Workspaces.DeleteByID(ctx, workspace.ID))
}

func TestOutputs(t *testing.T) {
	client := connectAsAdmin(t)
	workspace := createWorkspace(t, client, createOrganization(t, client).Name)
	_, err := client.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	state := stateOf(1, "one")
	version, err := client.StateVersions.Upload(ctx, workspace.ID, tfe.StateVersionUploadOptions{
		StateVersionCreateOptions: announced(1, state), RawState: state,
	})
	must(t, err)

	outputs, err := client.StateVersionOutputs.ReadCurrent(ctx, workspace.ID)
	must(t, err)
	ofVersion, err := client.StateVersions.ListOutputs(ctx, version.ID, nil)
	must(t, err)
	equal(t, len(ofVersion.Items), len(outputs.Items))
	for _, output := range outputs.Items {
		if output.Sensitive && output.Value != nil {
			t.Fatal("a sensitive value was listed")
		}
		alone, err := client.StateVersionOutputs.Read(ctx, output.ID)
		must(t, err)
		equal(t, alone.Value.(string) != "", true)
		equal(t, alone.DetailedType.(string), "string")
	}
}

func TestBackingData(t *testing.T) {
	client := connectAsAdmin(t)
	workspace := createWorkspace(t, client, createOrganization(t, client).Name)
	_, err := client.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	var versions []*tfe.StateVersion
	for serial := range int64(2) {
		state := stateOf(serial, "x")
		version, err := client.StateVersions.Upload(ctx, workspace.ID, tfe.StateVersionUploadOptions{
			StateVersionCreateOptions: announced(serial, state), RawState: state,
		})
		must(t, err)
		versions = append(versions, version)
	}
	if client.StateVersions.SoftDeleteBackingData(ctx, versions[1].ID) == nil {
		t.Fatal("the current state was withheld")
	}
	old := versions[0].ID
	must(t, client.StateVersions.SoftDeleteBackingData(ctx, old))
	must(t, client.StateVersions.RestoreBackingData(ctx, old))
	must(t, client.StateVersions.SoftDeleteBackingData(ctx, old))
	must(t, client.StateVersions.PermanentlyDeleteBackingData(ctx, old))
}
