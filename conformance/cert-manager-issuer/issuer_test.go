// Package keelson signs certificates with the issuer of cert-manager, as published: it signs in as the resource says,
// in each of the documented ways, and has its request signed.
package keelson

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cert-manager/cert-manager/internal/vault"
	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	meta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	"github.com/hashicorp/vault/api"
	authentication "k8s.io/api/authentication/v1"
	core "k8s.io/api/core/v1"
	kubernetes "k8s.io/apimachinery/pkg/apis/meta/v1"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

const space = "shop"

func administrator(t *testing.T) *api.Client {
	t.Helper()
	config := api.DefaultConfig()
	config.Address = os.Getenv("ADDRESS")
	if err := config.ConfigureTLS(&api.TLSConfig{CACert: os.Getenv("CA_FILE")}); err != nil {
		t.Fatal(err)
	}
	client, err := api.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	client.SetToken(os.Getenv("TOKEN"))
	return client
}

func write(t *testing.T, path string, body map[string]any) map[string]any {
	t.Helper()
	secret, err := administrator(t).Logical().Write(path, body)
	if err != nil {
		t.Fatal(err)
	}
	if secret == nil {
		return nil
	}
	return secret.Data
}

// The Secrets of a cluster.
type secrets struct{ cache.Indexer }

func (s secrets) Secrets(namespace string) listers.SecretNamespaceLister {
	return listers.NewSecretLister(s).Secrets(namespace)
}

func secretsOf(t *testing.T, data map[string]map[string]string) secrets {
	t.Helper()
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for name, entries := range data {
		secret := &core.Secret{
			ObjectMeta: kubernetes.ObjectMeta{Namespace: space, Name: name},
			Data:       map[string][]byte{},
		}
		for key, value := range entries {
			secret.Data[key] = []byte(value)
		}
		if err := indexer.Add(secret); err != nil {
			t.Fatal(err)
		}
	}
	return secrets{indexer}
}

// createToken is the TokenRequest API of the cluster.
func createToken(t *testing.T) func(string) vault.CreateToken {
	return func(namespace string) vault.CreateToken {
		return func(_ context.Context, account string, request *authentication.TokenRequest, _ kubernetes.CreateOptions) (*authentication.TokenRequest, error) {
			wanted := []string{"vault://shop/keelson", os.Getenv("ADDRESS")}
			if namespace != space || account != "issuer" || !slices.Equal(request.Spec.Audiences, wanted) {
				t.Errorf("%s/%s asks for %v", namespace, account, request.Spec.Audiences)
			}
			return &authentication.TokenRequest{
				Status: authentication.TokenRequestStatus{Token: os.Getenv("CLUSTER_TOKEN")},
			}, nil
		}
	}
}

func issuerWith(t *testing.T, auth certmanager.VaultAuth) *certmanager.Issuer {
	t.Helper()
	authority, err := os.ReadFile(os.Getenv("CA_FILE"))
	if err != nil {
		t.Fatal(err)
	}
	return &certmanager.Issuer{
		ObjectMeta: kubernetes.ObjectMeta{Namespace: space, Name: "keelson"},
		Spec: certmanager.IssuerSpec{IssuerConfig: certmanager.IssuerConfig{
			Vault: &certmanager.VaultIssuer{
				Server:   os.Getenv("ADDRESS"),
				Path:     "pki/sign/web",
				CABundle: authority,
				Auth:     auth,
			},
		}},
	}
}

// documented is the auth of a manifest in the documents.
func documented(t *testing.T, variable string) certmanager.VaultAuth {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(os.Getenv(variable)))
	decoder.DisallowUnknownFields()
	var auth certmanager.VaultAuth
	if err := decoder.Decode(&auth); err != nil {
		t.Fatal(err)
	}
	return auth
}

func newRequest(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject:  pkix.Name{CommonName: "www.example.com"},
		DNSNames: []string{"www.example.com"},
	}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request})
}

// sign has a certificate signed as a controller does, and verifies it.
func sign(t *testing.T, auth certmanager.VaultAuth, data map[string]map[string]string) error {
	t.Helper()
	issuer := issuerWith(t, auth)
	client, err := vault.New(context.Background(), space, createToken(t), secretsOf(t, data), issuer, false)
	if err != nil {
		return err
	}
	if err := client.IsVaultInitializedAndUnsealed(); err != nil {
		t.Fatal(err)
	}
	chain, authority, err := client.Sign(newRequest(t), time.Hour)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		t.Fatalf("%s", authority)
	}
	block, _ := pem.Decode(chain)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "www.example.com"}); err != nil {
		t.Fatal(err)
	}
	return nil
}

// refused says whether the service has refused the login.
func refused(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "Code: 400") || strings.Contains(err.Error(), "Code: 403"))
}

func TestToken(t *testing.T) {
	created, err := administrator(t).Auth().Token().Create(&api.TokenCreateRequest{Policies: []string{"signer"}})
	if err != nil {
		t.Fatal(err)
	}
	auth := certmanager.VaultAuth{TokenSecretRef: &meta.SecretKeySelector{
		LocalObjectReference: meta.LocalObjectReference{Name: "keelson"},
	}}
	data := map[string]map[string]string{"keelson": {"token": created.Auth.ClientToken}}
	if err := sign(t, auth, data); err != nil {
		t.Fatal(err)
	}
}

func TestAppRole(t *testing.T) {
	write(t, "sys/auth/approle", map[string]any{"type": "approle"})
	write(t, "auth/approle/role/cert-manager", map[string]any{"token_policies": "signer", "token_ttl": "5m"})
	role, err := administrator(t).Logical().Read("auth/approle/role/cert-manager/role-id")
	if err != nil {
		t.Fatal(err)
	}
	secret := write(t, "auth/approle/role/cert-manager/secret-id", nil)
	auth := documented(t, "AUTH_APP_ROLE")
	auth.AppRole.RoleId = role.Data["role_id"].(string)
	data := map[string]map[string]string{"keelson": {"secret-id": secret["secret_id"].(string) + "\n"}}
	if err := sign(t, auth, data); err != nil {
		t.Fatal(err)
	}
	write(t, "auth/approle/role/cert-manager/secret-id/destroy", map[string]any{"secret_id": secret["secret_id"]})
	if err := sign(t, auth, data); !refused(err) {
		t.Fatalf("%v", err)
	}
}

func TestServiceAccount(t *testing.T) {
	write(t, "sys/auth/kubernetes", map[string]any{"type": "kubernetes"})
	write(t, "auth/kubernetes/config", map[string]any{
		"kubernetes_host":    os.Getenv("CLUSTER_URL"),
		"kubernetes_ca_cert": os.Getenv("CLUSTER_CA"),
		"token_reviewer_jwt": os.Getenv("CLUSTER_REVIEWER"),
	})
	write(t, "auth/kubernetes/role/cert-manager", map[string]any{
		"bound_service_account_names":      "issuer",
		"bound_service_account_namespaces": space,
		"audience":                         "vault://shop/keelson",
		"token_policies":                   "signer",
		"token_ttl":                        "5m",
	})
	auth := documented(t, "AUTH_KUBERNETES")
	if err := sign(t, auth, nil); err != nil {
		t.Fatal(err)
	}
	auth.Kubernetes.Role = "other"
	if err := sign(t, auth, nil); !refused(err) {
		t.Fatalf("%v", err)
	}
}

func TestClientCertificate(t *testing.T) {
	write(t, "sys/auth/cert", map[string]any{"type": "cert"})
	write(t, "pki/roles/operator", map[string]any{"allow_any_name": true, "key_type": "ec", "ttl": "1h"})
	issued := write(t, "pki/issue/operator", map[string]any{"common_name": "cert-manager.example.com"})
	write(t, "auth/cert/certs/cert-manager", map[string]any{
		"certificate":          issued["issuing_ca"],
		"allowed_common_names": "cert-manager.example.com",
		"token_policies":       "signer",
		"token_ttl":            "5m",
	})
	auth := documented(t, "AUTH_CLIENT_CERTIFICATE")
	entries := map[string]string{
		"tls.crt": issued["certificate"].(string),
		"tls.key": issued["private_key"].(string),
	}
	if err := sign(t, auth, map[string]map[string]string{"keelson-client": entries}); err != nil {
		t.Fatal(err)
	}
	other := write(t, "pki/issue/operator", map[string]any{"common_name": "other.example.com"})
	entries["tls.crt"] = other["certificate"].(string)
	entries["tls.key"] = other["private_key"].(string)
	if err := sign(t, auth, map[string]map[string]string{"keelson-client": entries}); !refused(err) {
		t.Fatalf("%v", err)
	}
}
