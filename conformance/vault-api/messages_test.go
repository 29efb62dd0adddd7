package conformance

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/hashicorp/vault/api"
)

func TestCustomMessages(t *testing.T) {
	sys := connect(t, "A").Sys()
	request := api.UICustomMessageRequest{
		Title:         "Maintenance",
		Message:       base64.StdEncoding.EncodeToString([]byte("tonight")),
		Authenticated: true,
		Type:          "banner",
		StartTime:     "2026-01-01T00:00:00Z",
	}
	created, err := sys.CreateUICustomMessage(*request.WithLink("Plan", "https://example.com/plan"))
	if err != nil {
		t.Fatal(err)
	}
	id, _ := created.Data["id"].(string)
	if created.Data["active"] != true || id == "" {
		t.Fatalf("%v", created.Data)
	}
	found, err := sys.ReadUICustomMessage(id)
	if err != nil || found.Data["title"] != "Maintenance" {
		t.Fatalf("%v %v", found, err)
	}
	if link := found.Data["link"].(map[string]any); link["Plan"] != "https://example.com/plan" {
		t.Fatalf("%v", link)
	}
	request.Type, request.EndTime = "modal", "2026-01-02T00:00:00Z"
	if err := sys.UpdateUICustomMessage(id, request); err != nil {
		t.Fatal(err)
	}
	list := func(filter *api.UICustomMessageListRequest) []any {
		listed, err := sys.ListUICustomMessages(*filter)
		if err != nil {
			t.Fatal(err)
		}
		info := listed.Data["key_info"].(map[string]any)[id].(map[string]any)
		if info["type"] != "modal" || info["title"] != "Maintenance" || info["active"] != false {
			t.Fatalf("%v", info)
		}
		return listed.Data["keys"].([]any)
	}
	none := &api.UICustomMessageListRequest{}
	if keys := list(none.WithType("modal").WithAuthenticated(true).WithActive(false)); len(keys) != 1 {
		t.Fatalf("%v", keys)
	}
	// A list of nothing is 404, which this call passes on.
	_, err = sys.ListUICustomMessages(*(&api.UICustomMessageListRequest{}).WithActive(true))
	if err == nil || !strings.Contains(err.Error(), "Code: 404") {
		t.Fatalf("%v", err)
	}
	request.Type = "toast"
	err = sys.UpdateUICustomMessage(id, request)
	if err == nil || !strings.Contains(err.Error(), "unrecognized message type") {
		t.Fatalf("%v", err)
	}
	// The form without a context deletes a policy of that name instead.
	if err := sys.DeleteUICustomMessageWithContext(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := sys.ReadUICustomMessage(id); err == nil || !strings.Contains(err.Error(), "Code: 404") {
		t.Fatalf("%v", err)
	}
}
