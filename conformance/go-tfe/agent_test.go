package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

// agent speaks the routes of agents, which are Keelson's own: it says what a real one would say, and
// runs nothing.
type agent struct {
	t     *testing.T
	id    string
	token string
}

type phase struct {
	RunID      string
	Attributes map[string]any
}

func send(t *testing.T, method, address, token string, body any) map[string]any {
	t.Helper()
	encoded, err := json.Marshal(body)
	must(t, err)
	request, err := http.NewRequest(method, address, bytes.NewReader(encoded))
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/vnd.api+json")
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	must(t, err)
	if response.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %s", method, address, response.StatusCode, text)
	}
	var document struct {
		Data map[string]any `json:"data"`
	}
	if len(text) > 0 {
		must(t, json.Unmarshal(text, &document))
	}
	return document.Data
}

func api(path string) string { return os.Getenv("KEELSON_ADDRESS") + "/api/v2" + path }

func resource(kind string, attributes map[string]any) map[string]any {
	return map[string]any{"data": map[string]any{"type": kind, "attributes": attributes}}
}

func registerAgent(t *testing.T, client *tfe.Client, poolID string) *agent {
	t.Helper()
	token, err := client.AgentTokens.Create(ctx, poolID, tfe.AgentTokenCreateOptions{Description: tfe.String("go")})
	must(t, err)
	made := send(t, "POST", api("/agents"), token.Token, resource("agents", map[string]any{"name": "go"}))
	return &agent{t: t, id: made["id"].(string), token: token.Token}
}

func (a *agent) claim() phase {
	a.t.Helper()
	body := map[string]any{"data": map[string]any{"type": "agents", "id": a.id}}
	taken := send(a.t, "POST", api("/agent-runs/actions/claim"), a.token, body)
	return phase{RunID: taken["id"].(string), Attributes: taken["attributes"].(map[string]any)}
}

func (a *agent) log(p phase, text string) {
	a.t.Helper()
	send(a.t, "POST", api(fmt.Sprintf("/agent-runs/%s/logs", p.RunID)), p.Attributes["token"].(string),
		resource("logs", map[string]any{"text": text}))
}

func (a *agent) report(p phase, attributes map[string]any) {
	a.t.Helper()
	send(a.t, "PATCH", api("/agent-runs/"+p.RunID), p.Attributes["token"].(string),
		resource("agent-runs", attributes))
}

func (a *agent) put(p phase, name, text string) {
	a.t.Helper()
	request, err := http.NewRequest("PUT", p.Attributes[name].(string), bytes.NewBufferString(text))
	must(a.t, err)
	response, err := http.DefaultClient.Do(request)
	must(a.t, err)
	must(a.t, response.Body.Close())
	equal(a.t, response.StatusCode, http.StatusNoContent)
}
