package conformance

import (
	"testing"

	"github.com/hashicorp/vault/api"
)

func TestVersionIsOneThatClientsKnow(t *testing.T) {
	sys := connect(t, "A").Sys()
	health, err := sys.Health()
	if err != nil || health.Version != "1.21.0+ent" || !health.Enterprise {
		t.Fatalf("%v %v", health, err)
	}
	status, err := sys.SealStatus()
	if err != nil || status.Version != health.Version {
		t.Fatalf("%v %v", status, err)
	}
}

// The client sends each lifetime of a mount that is not set as empty text.
func TestTuneKeepsWhatIsNotAskedFor(t *testing.T) {
	sys := connect(t, "A").Sys()
	if err := sys.Mount("tuned", &api.MountInput{Type: "pki", Config: api.MountConfigInput{MaxLeaseTTL: "87600h"}}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := sys.Unmount("tuned"); err != nil {
			t.Fatal(err)
		}
	}()
	tune := func(input api.MountConfigInput) (int, int) {
		if err := sys.TuneMount("tuned", input); err != nil {
			t.Fatal(err)
		}
		config, err := sys.MountConfig("tuned")
		if err != nil {
			t.Fatal(err)
		}
		return config.DefaultLeaseTTL, config.MaxLeaseTTL
	}
	const hour = 3600
	for _, step := range []struct {
		input         api.MountConfigInput
		normal, limit int
	}{
		{api.MountConfigInput{DefaultLeaseTTL: "48h"}, 48 * hour, 87600 * hour},
		{api.MountConfigInput{PassthroughRequestHeaders: []string{"If-Modified-Since"}}, 48 * hour, 87600 * hour},
		{api.MountConfigInput{MaxLeaseTTL: "system"}, 48 * hour, 768 * hour},
	} {
		if normal, limit := tune(step.input); normal != step.normal || limit != step.limit {
			t.Fatalf("%+v: %d %d", step.input, normal, limit)
		}
	}
}

func TestSealedServerAsksForShares(t *testing.T) {
	sys := connect(t, "A").Sys()
	if err := sys.Seal(); err != nil {
		t.Fatal(err)
	}
	if _, err := sys.Unseal("junk"); err == nil {
		t.Fatal("junk is no share")
	}
	status, err := sys.SealStatus()
	if err != nil || !status.Sealed {
		t.Fatalf("%+v %v", status, err)
	}
	for _, share := range shares()[:status.T] {
		if status, err = sys.Unseal(share); err != nil {
			t.Fatal(err)
		}
	}
	if status.Sealed {
		t.Fatalf("%+v", status)
	}
}
