// A control plane for the tests of a Go project, from the plain image.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/exec"
	"github.com/testcontainers/testcontainers-go/wait"
)

type firstRun struct {
	RootToken string `json:"root_token"`
	APIToken  string `json:"api_token"`
}

func main() {
	image := "keelson:dev"
	if len(os.Args) > 1 {
		image = os.Args[1]
	}
	if err := run(context.Background(), image); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, image string) error {
	keelson, err := testcontainers.Run(ctx, image,
		testcontainers.WithExposedPorts("8200/tcp"),
		testcontainers.WithWaitStrategy(wait.ForLog("Keelson is up").WithStartupTimeout(3*time.Minute)))
	defer testcontainers.TerminateContainer(keelson)
	if err != nil {
		return err
	}
	base, err := keelson.PortEndpoint(ctx, "8200/tcp", "http")
	if err != nil {
		return err
	}
	// The tokens of the first start.
	_, output, err := keelson.Exec(ctx, []string{"cat", "/data/first-run.json"}, exec.Multiplexed())
	if err != nil {
		return err
	}
	var facts firstRun
	if err := json.NewDecoder(output).Decode(&facts); err != nil {
		return err
	}

	mounted, _, err := ask(base+"/v1/sys/mounts/pki", "X-Vault-Token", facts.RootToken, `{"type":"pki"}`)
	if err != nil {
		return err
	}
	_, text, err := ask(base+"/api/v2/account/details", "Authorization", "Bearer "+facts.APIToken, "")
	if err != nil {
		return err
	}
	var account struct {
		Data struct{ Attributes struct{ Username string } }
	}
	if err := json.Unmarshal(text, &account); err != nil {
		return err
	}
	fmt.Println(mounted, account.Data.Attributes.Username)
	return nil
}

// ask returns the status and the body of an answer; it posts if there is a body.
func ask(url, header, value, body string) (int, []byte, error) {
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set(header, value)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, text, err
}
