# A run that the provider starts and awaits, and the values that exist only while terraform works.

terraform {
  required_providers {
    tfe = { source = "hashicorp/tfe" }
  }
}

variable "hostname" {}
variable "workspace_id" {}

provider "tfe" {
  hostname     = var.hostname
  organization = "acme"
}

resource "tfe_workspace_run" "main" {
  workspace_id = var.workspace_id
  apply {
    manual_confirm = false
    wait_for_run   = true
  }
  destroy {
    manual_confirm = false
    wait_for_run   = true
  }
}

data "tfe_outputs" "main" {
  workspace  = "executed"
  depends_on = [tfe_workspace_run.main]
}

output "read" {
  value     = data.tfe_outputs.main.values
  sensitive = true
}

output "read_openly" {
  value = data.tfe_outputs.main.nonsensitive_values
}

resource "tfe_agent_pool" "main" {
  name = "pool"
}

resource "tfe_team" "main" {
  name = "team"
}

ephemeral "tfe_agent_token" "main" {
  agent_pool_id = tfe_agent_pool.main.id
  description   = "for this run of terraform"
}

ephemeral "tfe_team_token" "main" {
  team_id = tfe_team.main.id
}

ephemeral "tfe_organization_token" "main" {}

ephemeral "tfe_outputs" "main" {
  workspace  = "executed"
  depends_on = [tfe_workspace_run.main]
}
