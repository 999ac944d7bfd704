// Command vault is HashiCorp Vault itself, built as an ordinary Go dependency,
// so that the tests run against the real server.
package main

import (
	"os"

	"github.com/hashicorp/vault/command"
)

func main() {
	os.Exit(command.Run(os.Args[1:]))
}
