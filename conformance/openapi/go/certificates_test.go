// Package generated runs scenarios with the clients that oapi-codegen generates: certificates from
// sys/internal/specs/openapi, workspaces from /openapi/workspace.json?version=3.0.
package generated

import (
	"context"
	"net/http"
	"os"
	"testing"

	"keelson.example/conformance/openapi/certificates"
)

// A root, a role and a certificate, which is then revoked.
func TestCertificateIsIssuedAndRevoked(t *testing.T) {
	ctx := context.Background()
	identify := func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-Vault-Token", os.Getenv("SERVER_TOKEN"))
		return nil
	}
	c, err := certificates.NewClientWithResponses(os.Getenv("SERVER_ADDRESS")+"/v1", certificates.WithRequestEditorFn(identify))
	if err != nil {
		t.Fatal(err)
	}
	text := func(value string) *string { return &value }
	yes := true

	root, err := c.PostPkiMountPathRootGenerateTypeWithResponse(ctx, "pki", "internal",
		certificates.PostPkiMountPathRootGenerateTypeJSONRequestBody{CommonName: text("Generated Root"), KeyType: text("ec")})
	if err != nil || root.StatusCode() != http.StatusOK {
		t.Fatal(err, string(root.Body))
	}
	role, err := c.PostPkiMountPathRolesNameWithResponse(ctx, "pki", "web",
		certificates.PostPkiMountPathRolesNameJSONRequestBody{AllowAnyName: &yes, KeyType: text("ec")})
	if err != nil || role.StatusCode() >= http.StatusBadRequest {
		t.Fatal(err, string(role.Body))
	}

	issued, err := c.PostPkiMountPathIssueNameWithResponse(ctx, "pki", "web",
		certificates.PostPkiMountPathIssueNameJSONRequestBody{CommonName: text("www.example.com")})
	if err != nil || issued.JSON200 == nil {
		t.Fatal(err, string(issued.Body))
	}
	data := issued.JSON200.Data
	if data.Certificate == nil || data.PrivateKey == nil || data.SerialNumber == nil {
		t.Fatal(string(issued.Body))
	}

	revoked, err := c.PostPkiMountPathRevokeWithResponse(ctx, "pki",
		certificates.PostPkiMountPathRevokeJSONRequestBody{SerialNumber: data.SerialNumber})
	if err != nil || revoked.StatusCode() != http.StatusOK {
		t.Fatal(err, string(revoked.Body))
	}
	read, err := c.GetPkiMountPathCertSerialWithResponse(ctx, "pki", *data.SerialNumber)
	if err != nil || read.JSON200 == nil {
		t.Fatal(err, string(read.Body))
	}
	if at := read.JSON200.Data.RevocationTime; at == nil || *at == 0 {
		t.Fatal(string(read.Body))
	}
	refused, err := c.PostPkiMountPathIssueNameWithResponse(ctx, "pki", "absent",
		certificates.PostPkiMountPathIssueNameJSONRequestBody{CommonName: text("www.example.com")})
	if err != nil || refused.StatusCode() != http.StatusBadRequest || refused.JSONDefault == nil || len(refused.JSONDefault.Errors) == 0 {
		t.Fatal(err, string(refused.Body))
	}
}
