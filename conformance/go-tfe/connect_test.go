// Package conformance drives Keelson with the published go-tfe client, unchanged.
package conformance

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

var (
	ctx     = context.Background()
	counter atomic.Int64
)

// connect builds a client for the control plane that the caller of `go test` started.
func connect(t *testing.T, token string) *tfe.Client {
	t.Helper()
	client, err := tfe.NewClient(&tfe.Config{Address: os.Getenv("KEELSON_ADDRESS"), Token: token})
	must(t, err)
	return client
}

func connectAsAdmin(t *testing.T) *tfe.Client {
	t.Helper()
	return connect(t, os.Getenv("KEELSON_API_TOKEN"))
}

func unique(prefix string) string {
	return fmt.Sprintf("%s-%d", prefix, counter.Add(1))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
}

func createOrganization(t *testing.T, client *tfe.Client) *tfe.Organization {
	t.Helper()
	organization, err := client.Organizations.Create(ctx, tfe.OrganizationCreateOptions{
		Name:  tfe.String(unique("org")),
		Email: tfe.String("a@b.example"),
	})
	must(t, err)
	return organization
}

func createWorkspace(t *testing.T, client *tfe.Client, organization string) *tfe.Workspace {
	t.Helper()
	workspace, err := client.Workspaces.Create(ctx, organization, tfe.WorkspaceCreateOptions{
		Name: tfe.String(unique("ws")),
	})
	must(t, err)
	return workspace
}
