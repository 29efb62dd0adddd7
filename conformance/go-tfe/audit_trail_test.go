package conformance

import (
	"errors"
	"testing"
	"time"

	tfe "github.com/hashicorp/go-tfe"
)

func TestAuditTrail(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	kind := tfe.AuditTrailToken
	expiry := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	create := tfe.OrganizationTokenCreateOptions{TokenType: &kind, ExpiredAt: &expiry}
	token, err := client.OrganizationTokens.CreateWithOptions(ctx, organization.Name, create)
	must(t, err)
	equal(t, token.ExpiredAt.Equal(expiry), true)
	workspace := createWorkspace(t, client, organization.Name)
	_, err = client.Workspaces.Lock(ctx, workspace.ID, tfe.WorkspaceLockOptions{})
	must(t, err)
	_, err = client.Workspaces.Unlock(ctx, workspace.ID)
	must(t, err)

	// It reads the trail, in pages and from a time on, and nothing else.
	collector := connect(t, token.Token)
	trail, err := collector.AuditTrails.List(ctx, nil)
	must(t, err)
	newest := trail.Items[0]
	equal(t, newest.Resource.Action, "unlock")
	equal(t, newest.Resource.Type, "workspace")
	equal(t, newest.Resource.ID, workspace.ID)
	equal(t, newest.Auth.Description, "admin")
	equal(t, newest.Request.ID != "", true)
	equal(t, newest.Timestamp.IsZero(), false)
	page, err := collector.AuditTrails.List(ctx, &tfe.AuditTrailListOptions{
		ListOptions: &tfe.ListOptions{PageNumber: 2, PageSize: 1},
	})
	must(t, err)
	equal(t, len(page.Items), 1)
	equal(t, page.Items[0].Resource.Action, "lock")
	equal(t, page.CurrentPage, 2)
	equal(t, page.TotalCount, len(trail.Items))
	later, err := collector.AuditTrails.List(ctx, &tfe.AuditTrailListOptions{Since: time.Now().Add(time.Hour)})
	must(t, err)
	equal(t, len(later.Items), 0)
	_, err = collector.Workspaces.List(ctx, organization.Name, nil)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)

	// The token of the organization is another one.
	_, err = client.OrganizationTokens.Read(ctx, organization.Name)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
	read, err := client.OrganizationTokens.ReadWithOptions(ctx, organization.Name, tfe.OrganizationTokenReadOptions{TokenType: &kind})
	must(t, err)
	equal(t, read.ID, token.ID)
	equal(t, read.LastUsedAt.IsZero(), false)
	must(t, client.OrganizationTokens.DeleteWithOptions(ctx, organization.Name, tfe.OrganizationTokenDeleteOptions{TokenType: &kind}))
	_, err = collector.AuditTrails.List(ctx, nil)
	equal(t, errors.Is(err, tfe.ErrUnauthorized), true)
}
