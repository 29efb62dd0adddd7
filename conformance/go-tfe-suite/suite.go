// Package suite names the module whose own tests go-tfe-suite.test.ts runs.
package suite

import _ "github.com/hashicorp/go-tfe" // pins its version
