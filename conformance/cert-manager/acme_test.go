// Package certmanager drives a control plane with the ACME client library of cert-manager, the calls in the
// order in which its controllers make them.
package certmanager

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cert-manager/cert-manager/third_party/forked/acme"
)

const limit = 2 * time.Minute

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newClient(t *testing.T, directory string) *acme.Client {
	t.Helper()
	return &acme.Client{
		Key:          newKey(t),
		DirectoryURL: directory,
		HTTPClient:   http.DefaultClient,
		UserAgent:    "cert-manager-challenges",
	}
}

// The parts of a challenge that differ by its kind.
type solver struct {
	kind    string
	present func(t *testing.T, client *acme.Client, domain, token string)
}

var http01 = solver{"http-01", func(t *testing.T, client *acme.Client, _, token string) {
	t.Helper()
	answer, err := client.HTTP01ChallengeResponse(token)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(os.Getenv("WEBROOT"), client.HTTP01ChallengePath(token))
	if err := os.WriteFile(file, []byte(answer), 0o644); err != nil {
		t.Fatal(err)
	}
}}

var dns01 = solver{"dns-01", func(t *testing.T, client *acme.Client, domain, token string) {
	t.Helper()
	value, err := client.DNS01ChallengeRecord(token)
	if err != nil {
		t.Fatal(err)
	}
	record, err := json.Marshal(map[string]string{"fqdn": "_acme-challenge." + domain, "value": value})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(os.Getenv("HOOK_URL")+"/present", "application/json", bytes.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}}

// An order from its making to the certificate: controllers of orders, challenges and certificate requests.
func obtain(ctx context.Context, t *testing.T, client *acme.Client, how solver, names ...string) ([][]byte, string, crypto.Signer) {
	t.Helper()
	order, err := client.AuthorizeOrder(ctx, acme.DomainIDs(names...))
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range order.AuthzURLs {
		authorization, err := client.GetAuthorization(ctx, url)
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(authorization.Challenges, func(c *acme.Challenge) bool { return c.Type == how.kind })
		if at < 0 {
			t.Fatalf("no %s for %s", how.kind, authorization.Identifier.Value)
		}
		challenge := authorization.Challenges[at]
		how.present(t, client, authorization.Identifier.Value, challenge.Token)
		if _, err := client.Accept(ctx, challenge); err != nil {
			t.Fatal(err)
		}
		if _, err := client.WaitAuthorization(ctx, url); err != nil {
			t.Fatal(err)
		}
	}
	ready, err := client.WaitOrder(ctx, order.URI)
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t)
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: names[0]}, DNSNames: names}
	csr, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatal(err)
	}
	chain, certificateURL, err := client.CreateOrderCert(ctx, ready.FinalizeURL, csr, true)
	if err != nil {
		t.Fatal(err)
	}
	return chain, certificateURL, key
}

func verify(t *testing.T, chain [][]byte, name string) *x509.Certificate {
	t.Helper()
	pem, err := os.ReadFile(os.Getenv("ROOT_FILE"))
	if err != nil {
		t.Fatal(err)
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	leaf, err := x509.ParseCertificate(chain[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, der := range chain[1:] {
		certificate, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		between.AddCert(certificate)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, DNSName: name}); err != nil {
		t.Fatal(err)
	}
	return leaf
}

func register(ctx context.Context, t *testing.T, client *acme.Client, account *acme.Account) {
	t.Helper()
	registered, err := client.Register(ctx, account, acme.AcceptTOS)
	if err != nil {
		t.Fatal(err)
	}
	// The issuer's controller looks the account up again with each of its rounds.
	found, err := client.GetReg(ctx, registered.URI)
	if err != nil {
		t.Fatal(err)
	}
	if found.Status != acme.StatusValid {
		t.Fatalf("the account is %s", found.Status)
	}
}

func TestCertificates(t *testing.T) {
	for _, how := range []solver{http01, dns01} {
		t.Run(how.kind, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			client := newClient(t, os.Getenv("DIRECTORY_URL"))
			register(ctx, t, client, &acme.Account{Contact: []string{"mailto:admin@example.com"}})
			names := []string{how.kind + "-a.example.com", how.kind + "-b.example.com"}
			chain, url, key := obtain(ctx, t, client, how, names...)
			leaf := verify(t, chain, names[1])

			// Fetched again, as after a restart of the controller.
			again, err := client.FetchCert(ctx, url, true)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again[0], chain[0]) {
				t.Fatal("another certificate the second time")
			}
			if _, err := client.ListCertAlternates(ctx, url); err != nil {
				t.Fatal(err)
			}
			renewal, err := client.GetRenewalInfo(ctx, leaf)
			if err != nil {
				t.Fatal(err)
			}
			window := renewal.SuggestedWindow
			if !window.Start.Before(window.End) || window.End.After(leaf.NotAfter) {
				t.Fatalf("renewal from %s to %s, the end is %s", window.Start, window.End, leaf.NotAfter)
			}
			if err := client.RevokeCert(ctx, key, chain[0], acme.CRLReasonSuperseded); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestExternalAccountBinding(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	hmac, err := base64.RawURLEncoding.DecodeString(os.Getenv("EAB_HMAC"))
	if err != nil {
		t.Fatal(err)
	}
	client := newClient(t, os.Getenv("BOUND_DIRECTORY_URL"))
	binding := &acme.ExternalAccountBinding{KID: os.Getenv("EAB_KID"), Key: hmac}
	register(ctx, t, client, &acme.Account{ExternalAccountBinding: binding})
	if err := client.AccountKeyRollover(ctx, newKey(t)); err != nil {
		t.Fatal(err)
	}
	chain, _, _ := obtain(ctx, t, client, http01, "bound.example.com")
	verify(t, chain, "bound.example.com")
}
