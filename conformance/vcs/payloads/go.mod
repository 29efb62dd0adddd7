module keelson.example/conformance/vcs/payloads

go 1.24

// Only their folders of sample payloads are read.
require (
	github.com/go-playground/webhooks/v6 v6.4.0
	gitlab.com/gitlab-org/api/client-go v1.46.0
)
