package conformance

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/hashicorp/vault/api"
	"github.com/hashicorp/vault/api/auth/approle"
	"github.com/hashicorp/vault/api/auth/kubernetes"
	"github.com/hashicorp/vault/api/auth/ldap"
	"github.com/hashicorp/vault/api/auth/userpass"
)

// enableAuth mounts a method at its type until the test ends.
func enableAuth(t *testing.T, method string) *api.Client {
	client := connect(t, "A")
	if err := client.Sys().EnableAuthWithOptions(method, &api.EnableAuthOptions{Type: method}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Sys().DisableAuth(method); err != nil {
			t.Fatal(err)
		}
	})
	return client
}

// signIn logs a client without a token in, and returns the metadata of its token.
func signIn(t *testing.T, method api.AuthMethod) map[string]any {
	client := connect(t, "A")
	client.ClearToken()
	secret, err := client.Auth().Login(context.Background(), method)
	if err != nil {
		t.Fatal(err)
	}
	self, err := client.Auth().Token().LookupSelf()
	if err != nil || self.Data["accessor"] != secret.Auth.Accessor {
		t.Fatalf("%v %v", self, err)
	}
	watcher, err := client.NewLifetimeWatcher(&api.LifetimeWatcherInput{Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	go watcher.Start()
	defer watcher.Stop()
	select {
	case renewal := <-watcher.RenewCh():
		if renewal.Secret.Auth.ClientToken != secret.Auth.ClientToken {
			t.Fatalf("%+v", renewal)
		}
	case err := <-watcher.DoneCh():
		t.Fatalf("not renewed: %v", err)
	}
	return self.Data["meta"].(map[string]any)
}

func TestKubernetesWithServiceAccountToken(t *testing.T) {
	client := enableAuth(t, "kubernetes")
	write(t, client, "auth/kubernetes/config", map[string]any{
		"kubernetes_host":    os.Getenv("CLUSTER_URL"),
		"kubernetes_ca_cert": os.Getenv("CLUSTER_CA"),
		"token_reviewer_jwt": os.Getenv("CLUSTER_REVIEWER"),
	})
	write(t, client, "auth/kubernetes/role/web", map[string]any{
		"bound_service_account_names":      []string{"web"},
		"bound_service_account_namespaces": []string{"shop"},
		"audience":                         "keelson",
		"token_ttl":                        "10m",
	})
	method, err := kubernetes.NewKubernetesAuth("web", kubernetes.WithServiceAccountToken(os.Getenv("CLUSTER_TOKEN")))
	if err != nil {
		t.Fatal(err)
	}
	meta := signIn(t, method)
	if meta["service_account_name"] != "web" || meta["service_account_namespace"] != "shop" || meta["role"] != "web" {
		t.Fatalf("%v", meta)
	}
}

func TestAppRoleWithWrappedSecretID(t *testing.T) {
	client := enableAuth(t, "approle")
	write(t, client, "auth/approle/role/ci", map[string]any{"token_ttl": "10m", "token_policies": "default"})
	role := read(t, client, "auth/approle/role/ci/role-id")
	client.SetWrappingLookupFunc(func(_, _ string) string { return "60s" })
	wrapped := write(t, client, "auth/approle/role/ci/secret-id", nil)
	client.SetWrappingLookupFunc(nil)
	method, err := approle.NewAppRoleAuth(
		role["role_id"].(string),
		&approle.SecretID{FromString: wrapped.WrapInfo.Token},
		approle.WithWrappingToken(),
	)
	if err != nil {
		t.Fatal(err)
	}
	if meta := signIn(t, method); meta["role_name"] != "ci" {
		t.Fatalf("%v", meta)
	}
}

func TestUserPass(t *testing.T) {
	client := enableAuth(t, "userpass")
	write(t, client, "auth/userpass/users/alice", map[string]any{"password": "right", "token_ttl": "10m"})
	method, err := userpass.NewUserpassAuth("alice", &userpass.Password{FromString: "right"})
	if err != nil {
		t.Fatal(err)
	}
	if meta := signIn(t, method); meta["username"] != "alice" {
		t.Fatalf("%v", meta)
	}
}

func TestLDAP(t *testing.T) {
	client := enableAuth(t, "ldap")
	write(t, client, "auth/ldap/config", map[string]any{
		"url":       os.Getenv("DIRECTORY_URL"),
		"binddn":    os.Getenv("DIRECTORY_READER"),
		"bindpass":  os.Getenv("DIRECTORY_PASSWORD"),
		"userdn":    "ou=people,dc=example,dc=com",
		"userattr":  "uid",
		"token_ttl": "10m",
	})
	method, err := ldap.NewLDAPAuth("alice", &ldap.Password{FromString: "password of alice"})
	if err != nil {
		t.Fatal(err)
	}
	if meta := signIn(t, method); meta["username"] != "alice" {
		t.Fatalf("%v", meta)
	}
}

func TestPoliciesOfEntityAndGroup(t *testing.T) {
	client := enableAuth(t, "userpass")
	write(t, client, "auth/userpass/users/ann", map[string]any{"password": "right", "token_ttl": "10m"})
	mounts, err := client.Sys().ListAuth()
	if err != nil {
		t.Fatal(err)
	}
	entity := write(t, client, "identity/entity", map[string]any{"name": "ann", "policies": []string{"web"}})
	id := entity.Data["id"].(string)
	alias := map[string]any{"name": "ann", "canonical_id": id, "mount_accessor": mounts["userpass/"].Accessor}
	write(t, client, "identity/entity-alias", alias)
	write(t, client, "identity/group", map[string]any{
		"name": "team", "policies": []string{"team"}, "member_entity_ids": []string{id},
	})
	method, err := userpass.NewUserpassAuth("ann", &userpass.Password{FromString: "right"})
	if err != nil {
		t.Fatal(err)
	}
	person := connect(t, "A")
	person.ClearToken()
	secret, err := person.Auth().Login(context.Background(), method)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(secret.Auth.IdentityPolicies, []string{"team", "web"}) || secret.Auth.EntityID != id {
		t.Fatalf("%+v", secret.Auth)
	}
	policies, err := secret.TokenPolicies()
	if err != nil || !slices.Equal(policies, []string{"default", "team", "web"}) {
		t.Fatalf("%v %v", policies, err)
	}
}
