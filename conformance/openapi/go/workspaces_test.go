package generated

import (
	"context"
	"net/http"
	"os"
	"testing"

	"keelson.example/conformance/openapi/workspaces"
)

// A workspace that is locked, refused a second lock, unlocked and found by a part of its name.
func TestWorkspaceIsLockedAndFound(t *testing.T) {
	ctx := context.Background()
	identify := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("API_TOKEN"))
		// Operations without a body have no content type otherwise, which the API requires.
		request.Header.Set("Content-Type", "application/vnd.api+json")
		return nil
	}
	c, err := workspaces.NewClientWithResponses(os.Getenv("SERVER_ADDRESS")+"/api/v2", workspaces.WithRequestEditorFn(identify))
	if err != nil {
		t.Fatal(err)
	}
	text := func(value string) *string { return &value }

	var organization workspaces.PostOrganizationsApplicationVndAPIPlusJSONRequestBody
	organization.Data.Type = "organizations"
	organization.Data.Attributes.Name = "golang"
	organization.Data.Attributes.Email = "ops@example.com"
	made, err := c.PostOrganizationsWithApplicationVndAPIPlusJSONBodyWithResponse(ctx, nil, organization)
	if err != nil || made.ApplicationvndApiJSON201 == nil || made.ApplicationvndApiJSON201.Data.Id != "golang" {
		t.Fatal(err, string(made.Body))
	}

	var given workspaces.PostOrganizationsOrganizationNameWorkspacesApplicationVndAPIPlusJSONRequestBody
	given.Data.Type = "workspaces"
	given.Data.Attributes.Name = "web"
	created, err := c.PostOrganizationsOrganizationNameWorkspacesWithApplicationVndAPIPlusJSONBodyWithResponse(ctx, "golang", nil, given)
	if err != nil || created.ApplicationvndApiJSON201 == nil {
		t.Fatal(err, string(created.Body))
	}
	id := created.ApplicationvndApiJSON201.Data.Id

	reason := workspaces.PostWorkspacesWorkspaceIdActionsLockApplicationVndAPIPlusJSONRequestBody{Reason: text("mine")}
	locked, err := c.PostWorkspacesWorkspaceIdActionsLockWithApplicationVndAPIPlusJSONBodyWithResponse(ctx, id, nil, reason)
	if err != nil || locked.ApplicationvndApiJSON200 == nil || !locked.ApplicationvndApiJSON200.Data.Attributes.Locked {
		t.Fatal(err, string(locked.Body))
	}
	again, err := c.PostWorkspacesWorkspaceIdActionsLockWithApplicationVndAPIPlusJSONBodyWithResponse(ctx, id, nil, reason)
	if err != nil || again.StatusCode() != http.StatusConflict || again.ApplicationvndApiJSONDefault == nil || again.ApplicationvndApiJSONDefault.Errors[0].Status != "409" {
		t.Fatal(err, string(again.Body))
	}
	unlocked, err := c.PostWorkspacesWorkspaceIdActionsUnlockWithResponse(ctx, id, nil)
	if err != nil || unlocked.ApplicationvndApiJSON200 == nil || unlocked.ApplicationvndApiJSON200.Data.Attributes.Locked {
		t.Fatal(err, string(unlocked.Body))
	}

	for part, count := range map[string]int{"we": 1, "other": 0} {
		listed, err := c.GetOrganizationsOrganizationNameWorkspacesWithResponse(ctx, "golang",
			&workspaces.GetOrganizationsOrganizationNameWorkspacesParams{SearchName: text(part)})
		if err != nil || listed.ApplicationvndApiJSON200 == nil || listed.ApplicationvndApiJSON200.Meta.Pagination.TotalCount != count {
			t.Fatal(err, string(listed.Body))
		}
	}
}
