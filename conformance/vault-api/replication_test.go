package conformance

import (
	"context"
	"strings"
	"testing"

	"github.com/hashicorp/vault/api"
)

const (
	performance = "sys/replication/performance/"
	dr          = "sys/replication/dr/"
)

type status = api.ReplicationStatusGenericResponse

func statusOf(client *api.Client, kind string) *status {
	ask := client.Sys().ReplicationPerformanceStatusWithContext
	if kind == dr {
		ask = client.Sys().ReplicationDRStatusWithContext
	}
	found, err := ask(context.Background())
	if err != nil {
		// No status while a cluster changes its role.
		return &status{}
	}
	return found
}

func untilEqual(t *testing.T, kind string, a, b *api.Client) {
	t.Helper()
	until(t, "both have the same", func() bool {
		ours, theirs := statusOf(a, kind), statusOf(b, kind)
		return theirs.Mode == "secondary" && theirs.State == "stream-wals" &&
			ours.MerkleRoot != "" && ours.MerkleRoot == theirs.MerkleRoot
	})
}

// One after the other: the second kind begins with the clusters that the first one leaves.
func TestReplication(t *testing.T) {
	t.Run("performance", testPerformance)
	t.Run("dr", testDR)
}

func testPerformance(t *testing.T) {
	a, b := connect(t, "A"), connect(t, "B")
	if found, err := a.Sys().ReplicationStatus(); err != nil || found.DR.Mode != "disabled" || found.Performance.Mode != "disabled" {
		t.Fatalf("%+v %v", found, err)
	}
	enabled := write(t, a, performance+"primary/enable", nil)
	if len(enabled.Warnings) != 1 {
		t.Fatalf("%+v", enabled)
	}
	key := write(t, b, performance+"secondary/generate-public-key", nil).Data["secondary_public_key"]
	issued := write(t, a, performance+"primary/secondary-token", map[string]any{
		"id": "branch", "secondary_public_key": key,
	})
	write(t, b, performance+"secondary/enable", map[string]any{"token": issued.Data["token"]})
	untilEqual(t, performance, a, b)

	until(t, "the primary heard of it", func() bool { return len(statusOf(a, performance).Secondaries) == 1 })
	ours, theirs := statusOf(a, performance), statusOf(b, performance)
	if ours.Mode != "primary" || ours.State != "running" || ours.KnownSecondaries[0] != "branch" ||
		ours.LastPerformanceWAL == 0 || ours.LastWAL == 0 || ours.LastReindexEpoch == "" {
		t.Fatalf("%+v", ours)
	}
	peer := ours.Secondaries[0]
	if peer.NodeID != "branch" || peer.ConnectionStatus != "connected" || peer.LastHeartBeat == "" ||
		peer.ClockSkewMillis == "" || peer.LastHeartBeatDurationMillis == "" ||
		peer.ReplicationPrimaryCanaryAgeMillis == "" || peer.ClusterAddress == "" {
		t.Fatalf("%+v", peer)
	}
	if theirs.SecondaryID != "branch" || theirs.ClusterID != ours.ClusterID || theirs.PrimaryClusterAddr == "" ||
		len(theirs.KnownPrimaryClusterAddrs) == 0 {
		t.Fatalf("%+v", theirs)
	}

	// Its own token is gone; the shares of the primary make another one.
	sys := b.Sys()
	b.SetToken(ceremony{sys.GenerateRootInit, sys.GenerateRootUpdate, sys.GenerateRootCancel}.token(t))
	rules := `path "sys/mounts" { capabilities = ["read"] }`
	if err := b.Sys().PutPolicy("from-branch", rules); err != nil {
		t.Fatal(err)
	}
	if found, err := a.Sys().GetPolicy("from-branch"); err != nil || found != rules {
		t.Fatalf("%q %v", found, err)
	}
	if found, err := b.Sys().GetPolicy("from-branch"); err != nil || found != rules {
		t.Fatalf("%q %v", found, err)
	}

	filter := performance + "primary/paths-filter/branch"
	if err := a.Sys().Mount("headquarters", &api.MountInput{Type: "pki"}); err != nil {
		t.Fatal(err)
	}
	write(t, a, filter, map[string]any{"mode": "deny", "paths": []string{"headquarters/"}})
	if found := read(t, a, filter); found["mode"] != "deny" || found["paths"].([]any)[0] != "headquarters/" {
		t.Fatalf("%v", found)
	}
	until(t, "the mount is gone from the secondary", func() bool {
		mounts, err := b.Sys().ListMounts()
		return err == nil && mounts["headquarters/"] == nil
	})
	kept := read(t, b, performance+"secondary/dynamic-filter/branch")["dynamic_filtered_mounts"].([]any)
	if len(kept) != 1 || kept[0] != "headquarters/" {
		t.Fatalf("%v", kept)
	}
	if _, err := a.Logical().Delete(filter); err != nil {
		t.Fatal(err)
	}
	if found, err := a.Logical().Read(filter); err != nil || found != nil {
		t.Fatalf("%v %v", found, err)
	}

	write(t, a, performance+"primary/revoke-secondary", map[string]any{"id": "branch"})
	write(t, b, performance+"secondary/disable", nil)
	write(t, a, performance+"primary/disable", nil)
	t.Setenv("B_TOKEN", b.Token())
	joinAsSpare(t, a, b)
}

func joinAsSpare(t *testing.T, a, b *api.Client) {
	t.Helper()
	write(t, a, dr+"primary/enable", map[string]any{"primary_cluster_addr": ""})
	issued := write(t, a, dr+"primary/secondary-token", map[string]any{"id": "spare", "ttl": "10m"})
	if issued.WrapInfo == nil || issued.WrapInfo.TTL != 600 || issued.WrapInfo.CreationTime.IsZero() {
		t.Fatalf("%+v", issued)
	}
	write(t, b, dr+"secondary/enable", map[string]any{"token": issued.WrapInfo.Token})
	untilEqual(t, dr, a, b)
}

func testDR(t *testing.T) {
	a, b := connect(t, "A"), connect(t, "B")
	health, err := b.Sys().Health()
	if err != nil || health.ReplicationDRMode != "secondary" || health.ReplicationPerformanceMode != "disabled" {
		t.Fatalf("%+v %v", health, err)
	}
	if _, err := b.Sys().ListMounts(); err == nil || !strings.Contains(err.Error(), "path disabled in replication DR secondary mode") {
		t.Fatalf("%v", err)
	}
	b.ClearToken()
	sys := b.Sys()
	operation := ceremony{sys.GenerateDROperationTokenInit, sys.GenerateDROperationTokenUpdate, sys.GenerateDROperationTokenCancel}.token(t)
	progress, err := sys.GenerateDROperationTokenStatus()
	if err != nil || progress.Started || progress.Required != 3 {
		t.Fatalf("%+v %v", progress, err)
	}
	authorized := func(more map[string]any) map[string]any {
		body := map[string]any{"dr_operation_token": operation}
		for name, value := range more {
			body[name] = value
		}
		return body
	}
	report := write(t, b, dr+"secondary/merkle-check", authorized(nil)).Data["merkle_corruption_report"].(map[string]any)
	if report["corrupted_root"] != false {
		t.Fatalf("%v", report)
	}
	if started := write(t, b, dr+"secondary/reindex", authorized(map[string]any{"diff": true})); len(started.Warnings) == 0 {
		t.Fatalf("%+v", started)
	}
	until(t, "it was counted", func() bool { return statusOf(b, dr).LastReindexEpoch != "0" })
	untilEqual(t, dr, a, b)
	write(t, a, dr+"primary/demote", nil)
	until(t, "it is the primary", func() bool {
		promoted, err := b.Logical().Write(dr+"secondary/promote", authorized(nil))
		return err == nil && promoted.Data["complete"] == true
	})
	// Tokens of the former primary hold here.
	b.SetToken(a.Token())
	if found, err := b.Sys().GetPolicy("from-branch"); err != nil || found == "" {
		t.Fatalf("%q %v", found, err)
	}
}
