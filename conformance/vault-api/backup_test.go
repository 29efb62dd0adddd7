package conformance

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/vault/api"
)

// The client checks by itself that a snapshot is whole.
func TestSnapshotIsSavedAndRestored(t *testing.T) {
	client := connect(t, "A")
	sys := client.Sys()
	const before = `path "before/*" { capabilities = ["read"] }`
	if err := sys.PutPolicy("before-the-snapshot", before); err != nil {
		t.Fatal(err)
	}
	var snapshot bytes.Buffer
	if err := sys.RaftSnapshot(&snapshot); err != nil {
		t.Fatal(err)
	}
	if err := sys.PutPolicy("after-the-snapshot", before); err != nil {
		t.Fatal(err)
	}
	damaged := append([]byte{}, snapshot.Bytes()...)
	damaged = damaged[:len(damaged)*9/10]
	if err := sys.RaftSnapshotRestore(bytes.NewReader(damaged), false); err == nil || !strings.Contains(err.Error(), "damaged or incomplete") {
		t.Fatalf("%v", err)
	}
	if err := sys.RaftSnapshotRestore(bytes.NewReader(snapshot.Bytes()), false); err != nil {
		t.Fatal(err)
	}
	// The key file of the server opens the seal again.
	until(t, "the restored cluster serves", func() bool {
		policy, err := sys.GetPolicy("before-the-snapshot")
		return err == nil && policy == before
	})
	if policy, err := sys.GetPolicy("after-the-snapshot"); err != nil || policy != "" {
		t.Fatalf("%q %v", policy, err)
	}
	if err := sys.DeletePolicy("before-the-snapshot"); err != nil {
		t.Fatal(err)
	}
	until(t, "the engines serve", func() bool {
		err := sys.Mount("after-restoring", &api.MountInput{Type: "pki"})
		return err == nil || strings.Contains(err.Error(), "already in use")
	})
	if err := sys.Unmount("after-restoring"); err != nil {
		t.Fatal(err)
	}
}
