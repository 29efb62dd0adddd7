// bao runs the lines of docs/clients.md with OpenBao's published API module, which the program of that name is
// made of. The program itself is in no module proxy.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/openbao/openbao/api/v2"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func run(args []string) error {
	// The address, the token and the CA come from the environment.
	client, err := api.NewClient(nil)
	if err != nil {
		return err
	}
	command, rest := args[0], args[1:]
	if command == "secrets" || command == "policy" {
		command, rest = command+" "+rest[0], rest[1:]
	}
	options, rest := split(rest)
	switch command {
	case "secrets enable":
		return client.Sys().Mount(options["path"], &api.MountInput{Type: rest[0]})
	case "policy write":
		rules, err := os.ReadFile(rest[1])
		if err != nil {
			return err
		}
		return client.Sys().PutPolicy(rest[0], string(rules))
	case "write":
		data := map[string]any{}
		for _, pair := range rest[1:] {
			name, value, _ := strings.Cut(pair, "=")
			data[name] = value
		}
		return show(options["field"])(client.Logical().Write(rest[0], data))
	case "read":
		return show(options["field"])(client.Logical().Read(rest[0]))
	case "list":
		return show("keys")(client.Logical().List(rest[0]))
	}
	return fmt.Errorf("%s is on no line of the page", command)
}

// split separates "-name=value" from the other arguments.
func split(args []string) (map[string]string, []string) {
	options, rest := map[string]string{}, []string{}
	for _, arg := range args {
		if name, value, found := strings.Cut(arg, "="); found && strings.HasPrefix(name, "-") {
			options[strings.TrimLeft(name, "-")] = value
		} else {
			rest = append(rest, arg)
		}
	}
	return options, rest
}

func show(field string) func(*api.Secret, error) error {
	return func(secret *api.Secret, err error) error {
		if err != nil {
			return err
		}
		if secret == nil {
			return fmt.Errorf("nothing was found")
		}
		if field != "" {
			fmt.Println(secret.Data[field])
		}
		return nil
	}
}
