// Two clusters, and a client of each as the library's users make it.
package conformance

import (
	"encoding/base64"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/vault/api"
)

func connect(t *testing.T, name string) *api.Client {
	t.Helper()
	config := api.DefaultConfig()
	config.Address = os.Getenv(name + "_ADDRESS")
	client, err := api.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	client.SetToken(os.Getenv(name + "_TOKEN"))
	return client
}

func shares() []string { return strings.Split(os.Getenv("SHARES"), ",") }

func write(t *testing.T, client *api.Client, path string, data map[string]any) *api.Secret {
	t.Helper()
	secret, err := client.Logical().Write(path, data)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return secret
}

func read(t *testing.T, client *api.Client, path string) map[string]any {
	t.Helper()
	secret, err := client.Logical().Read(path)
	if err != nil || secret == nil {
		t.Fatalf("%s: %v %v", path, secret, err)
	}
	return secret.Data
}

// The state of other clusters can only be observed by polling.
func until(t *testing.T, what string, isSo func() bool) {
	t.Helper()
	for limit := time.Now().Add(4 * time.Minute); !isSo(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

type ceremony struct {
	start  func(otp, pgpKey string) (*api.GenerateRootStatusResponse, error)
	update func(share, nonce string) (*api.GenerateRootStatusResponse, error)
	cancel func() error
}

// The token of a ceremony, decoded as the command line of that vendor does.
func (c ceremony) token(t *testing.T) string {
	t.Helper()
	started, err := c.start("", "")
	if err != nil || !started.Started || len(started.OTP) != started.OTPLength {
		t.Fatalf("%+v %v", started, err)
	}
	var status *api.GenerateRootStatusResponse
	for given, share := range shares()[:started.Required] {
		status, err = c.update(share, started.Nonce)
		if err != nil || status.Progress != given+1 {
			t.Fatalf("%+v %v", status, err)
		}
	}
	mixed, err := base64.RawStdEncoding.DecodeString(status.EncodedToken)
	if err != nil || !status.Complete {
		t.Fatalf("%+v %v", status, err)
	}
	for at := range mixed {
		mixed[at] ^= started.OTP[at]
	}
	return string(mixed)
}
