# Every kind of resource of the provider whose area exists here, at least once with each form of its arguments.
# The tests apply it, expect an empty plan, change `revision`, and destroy it.

terraform {
  required_providers {
    tfe = { source = "hashicorp/tfe" }
  }
}

variable "hostname" {}
variable "revision" { default = "one" }
variable "private_key" {}
variable "public_key" {}
variable "repository_host" { default = "https://git.example" }

provider "tfe" {
  hostname = var.hostname
}

locals {
  organization = tfe_organization.main.name
}

resource "tfe_organization" "main" {
  name                                                    = "everything"
  email                                                   = "${var.revision}@everything.example"
  allow_force_delete_workspaces                           = true
  assessments_enforced                                    = var.revision == "two"
  send_passing_statuses_for_untriggered_speculative_plans = var.revision == "two"
  aggregated_commit_status_enabled                        = var.revision != "two"
}

resource "tfe_organization" "plain" {
  name  = "plain"
  email = "plain@everything.example"
}

resource "tfe_organization_default_settings" "main" {
  organization           = local.organization
  default_execution_mode = "agent"
  default_agent_pool_id  = var.revision == "two" ? tfe_agent_pool.excluding.id : tfe_agent_pool.main.id
}

resource "tfe_organization_token" "main" {
  organization = local.organization
  expired_at   = "2036-01-01T00:00:00Z"
}

resource "tfe_organization_token" "plain" {
  organization = tfe_organization.plain.name
}

resource "tfe_data_retention_policy" "organization" {
  organization = local.organization
  delete_older_than { days = var.revision == "two" ? 60 : 30 }
}

resource "tfe_data_retention_policy" "workspace" {
  workspace_id = tfe_workspace.main.id
  dont_delete {}
}

# Agents

resource "tfe_agent_pool" "main" {
  organization = local.organization
  name         = "pool-${var.revision}"
}

resource "tfe_agent_pool" "scoped" {
  organization        = local.organization
  name                = "scoped"
  organization_scoped = false
}

resource "tfe_agent_pool" "excluding" {
  organization = local.organization
  name         = "excluding"
}

resource "tfe_agent_token" "main" {
  agent_pool_id = tfe_agent_pool.main.id
  description   = "agents of ${var.revision}"
}

resource "tfe_agent_pool_allowed_workspaces" "main" {
  agent_pool_id         = tfe_agent_pool.scoped.id
  allowed_workspace_ids = var.revision == "two" ? [tfe_workspace.main.id, tfe_workspace.source.id] : [tfe_workspace.main.id]
}

resource "tfe_agent_pool_allowed_projects" "main" {
  agent_pool_id       = tfe_agent_pool.scoped.id
  allowed_project_ids = [tfe_project.main.id]
}

resource "tfe_agent_pool_excluded_workspaces" "main" {
  agent_pool_id          = tfe_agent_pool.excluding.id
  excluded_workspace_ids = [tfe_workspace.source.id]
}

# Projects

resource "tfe_project" "main" {
  organization                   = local.organization
  name                           = "project-${var.revision}"
  description                    = "Described in ${var.revision}."
  auto_destroy_activity_duration = "14d"
  tags = {
    team     = "infrastructure"
    revision = var.revision
  }
}

resource "tfe_project" "plain" {
  organization = local.organization
  name         = "plain project"
}

resource "tfe_project_settings" "main" {
  project_id             = tfe_project.main.id
  default_execution_mode = var.revision == "two" ? "local" : "remote"
}

resource "tfe_project_notification_configuration" "main" {
  project_id       = tfe_project.main.id
  name             = "project hook"
  destination_type = "generic"
  enabled          = false
  url              = "https://hooks.example/project"
  token            = "secret of ${var.revision}"
  triggers         = var.revision == "two" ? ["run:created", "run:errored"] : ["run:created"]
}

# Workspaces

resource "tfe_workspace" "main" {
  organization                   = local.organization
  project_id                     = tfe_project.main.id
  name                           = "workspace-${var.revision}"
  description                    = "Described in ${var.revision}."
  allow_destroy_plan             = false
  auto_apply_run_trigger         = true
  auto_destroy_activity_duration = "7d"
  file_triggers_enabled          = false
  force_delete                   = true
  queue_all_runs                 = false
  speculative_enabled            = false
  structured_run_output_enabled  = false
  ssh_key_id                     = tfe_ssh_key.main.id
  tag_names                      = ["flat-${var.revision}", "kept"]
  terraform_version              = "1.11.4"
  trigger_prefixes               = ["modules", "shared"]
  working_directory              = "infrastructure/${var.revision}"
  source_name                    = "conformance"
  source_url                     = "https://everything.example/source"
}

resource "tfe_workspace" "source" {
  organization = local.organization
  name         = "source"
  tags = {
    environment = var.revision
    empty       = ""
  }
}

resource "tfe_workspace" "scheduled" {
  organization    = local.organization
  name            = "scheduled"
  auto_destroy_at = "2036-01-01T00:00:00Z"
}

resource "tfe_workspace" "repository" {
  organization     = local.organization
  name             = "repository"
  queue_all_runs   = false
  trigger_patterns = ["/**/*.tf", "shared/${var.revision}/*"]
  vcs_repo {
    identifier         = "acme/network"
    branch             = var.revision
    ingress_submodules = true
    oauth_token_id     = tfe_oauth_client.main.oauth_token_id
  }
}

resource "tfe_workspace" "tagged" {
  organization          = local.organization
  name                  = "tagged"
  queue_all_runs        = false
  file_triggers_enabled = false
  auto_apply            = var.revision == "two"
  vcs_repo {
    identifier     = "acme/network"
    tags_regex     = "v\\d+.\\d+"
    oauth_token_id = tfe_oauth_client.main.oauth_token_id
  }
}

resource "tfe_workspace_settings" "main" {
  workspace_id              = tfe_workspace.main.id
  execution_mode            = "agent"
  agent_pool_id             = tfe_agent_pool.scoped.id
  global_remote_state       = false
  remote_state_consumer_ids = var.revision == "two" ? [tfe_workspace.source.id] : [tfe_workspace.source.id, tfe_workspace.scheduled.id]
  depends_on                = [tfe_agent_pool_allowed_workspaces.main]
}

resource "tfe_workspace_settings" "source" {
  workspace_id        = tfe_workspace.source.id
  global_remote_state = true
  # The provider sends the inherited mode as it read it.
  depends_on = [tfe_organization_default_settings.main]
}

resource "tfe_workspace_settings" "scheduled" {
  workspace_id         = tfe_workspace.scheduled.id
  project_remote_state = true
  execution_mode       = "remote"
}

resource "tfe_run_trigger" "main" {
  workspace_id  = tfe_workspace.main.id
  sourceable_id = tfe_workspace.source.id
}

resource "tfe_notification_configuration" "generic" {
  workspace_id     = tfe_workspace.main.id
  name             = "generic-${var.revision}"
  destination_type = "generic"
  enabled          = false
  url              = "https://hooks.example/${var.revision}"
  token            = "secret of ${var.revision}"
  triggers         = ["run:created", "run:planning", "run:errored", "assessment:drifted"]
}

resource "tfe_notification_configuration" "slack" {
  workspace_id     = tfe_workspace.main.id
  name             = "slack"
  destination_type = "slack"
  url              = "https://hooks.example/slack"
  triggers         = ["run:needs_attention"]
}

resource "tfe_notification_configuration" "teams" {
  workspace_id     = tfe_workspace.main.id
  name             = "teams"
  destination_type = "microsoft-teams"
  url              = "https://hooks.example/teams"
}

resource "tfe_notification_configuration" "mail" {
  workspace_id     = tfe_workspace.main.id
  name             = "mail"
  destination_type = "email"
  email_user_ids   = var.revision == "two" ? null : [tfe_organization_membership.main.user_id]
  triggers         = ["run:completed"]
}

# Variables and keys

resource "tfe_variable" "plain" {
  workspace_id = tfe_workspace.main.id
  key          = "region_${var.revision}"
  value        = "north"
  category     = "terraform"
  description  = "Described in ${var.revision}."
}

resource "tfe_variable" "hcl" {
  workspace_id = tfe_workspace.main.id
  key          = "zones"
  value        = "[\"a\", \"${var.revision}\"]"
  category     = "terraform"
  hcl          = true
}

resource "tfe_variable" "secret" {
  workspace_id = tfe_workspace.main.id
  key          = "PASSWORD"
  value        = "secret of ${var.revision}"
  category     = "env"
  sensitive    = true
}

resource "tfe_variable" "write_only" {
  workspace_id     = tfe_workspace.main.id
  key              = "write_only"
  value_wo         = "secret of ${var.revision}"
  value_wo_version = var.revision == "two" ? 2 : 1
  category         = "terraform"
}

resource "tfe_variable_set" "main" {
  organization = local.organization
  name         = "set-${var.revision}"
  description  = "Described in ${var.revision}."
  priority     = var.revision == "two"
}

resource "tfe_variable_set" "global" {
  organization = local.organization
  name         = "global"
  global       = true
}

resource "tfe_variable_set" "of_project" {
  organization      = local.organization
  name              = "of the project"
  parent_project_id = tfe_project.main.id
}

resource "tfe_variable_set" "attached" {
  organization  = local.organization
  name          = "attached"
  workspace_ids = [tfe_workspace.source.id]
}

resource "tfe_variable" "in_set" {
  variable_set_id = tfe_variable_set.main.id
  key             = "shared"
  value           = var.revision
  category        = "env"
}

resource "tfe_variable" "secret_in_set" {
  variable_set_id = tfe_variable_set.main.id
  key             = "shared_secret"
  value           = "secret of ${var.revision}"
  category        = "terraform"
  sensitive       = true
}

resource "tfe_workspace_variable_set" "main" {
  variable_set_id = tfe_variable_set.main.id
  workspace_id    = tfe_workspace.main.id
}

resource "tfe_project_variable_set" "main" {
  variable_set_id = tfe_variable_set.main.id
  project_id      = tfe_project.plain.id
}

resource "tfe_ssh_key" "main" {
  organization = local.organization
  name         = "key-${var.revision}"
  key          = var.private_key
}

resource "tfe_ssh_key" "write_only" {
  organization   = local.organization
  name           = "write-only"
  key_wo         = var.private_key
  key_wo_version = var.revision == "two" ? 2 : 1
}

resource "tfe_oauth_client" "main" {
  organization     = local.organization
  name             = "gitlab ${var.revision}"
  api_url          = "${var.repository_host}/api/v4"
  http_url         = var.repository_host
  oauth_token      = "token"
  service_provider = "gitlab_community_edition"
}

resource "tfe_oauth_client" "scoped" {
  organization        = local.organization
  api_url             = "https://api.github.com"
  http_url            = "https://github.com"
  oauth_token         = "token"
  service_provider    = "github"
  organization_scoped = false
}

resource "tfe_oauth_client" "data_center" {
  organization     = local.organization
  name             = "Bitbucket"
  api_url          = "https://bitbucket.example"
  http_url         = "https://bitbucket.example"
  key              = "consumer"
  secret           = var.private_key
  rsa_public_key   = var.public_key
  service_provider = "bitbucket_data_center"
}

resource "tfe_project_oauth_client" "main" {
  oauth_client_id = tfe_oauth_client.scoped.id
  project_id      = tfe_project.main.id
}

# Teams

resource "tfe_organization_membership" "main" {
  organization = local.organization
  email        = "member@everything.example"
}

resource "tfe_organization_membership" "second" {
  organization = local.organization
  email        = "second@everything.example"
}

resource "tfe_team" "main" {
  organization                  = local.organization
  name                          = "team-${var.revision}"
  visibility                    = var.revision == "two" ? "organization" : "secret"
  allow_member_token_management = var.revision != "two"
  organization_access {
    access_secret_teams        = true
    manage_agent_pools         = true
    manage_membership          = true
    manage_organization_access = true
    manage_projects            = true
    manage_teams               = true
    manage_vcs_settings        = var.revision == "two"
    manage_workspaces          = true
    read_projects              = true
    read_workspaces            = true
  }
}

resource "tfe_team" "plain" {
  organization = local.organization
  name         = "plain"
}

resource "tfe_team" "third" {
  organization = local.organization
  name         = "third"
}

resource "tfe_team" "fourth" {
  organization = local.organization
  name         = "fourth"
}

resource "tfe_team_access" "plain" {
  team_id      = tfe_team.plain.id
  workspace_id = tfe_workspace.main.id
  access       = var.revision == "two" ? "write" : "plan"
}

resource "tfe_team_access" "custom" {
  team_id      = tfe_team.main.id
  workspace_id = tfe_workspace.main.id
  permissions {
    runs              = var.revision == "two" ? "apply" : "plan"
    variables         = "write"
    state_versions    = "read-outputs"
    sentinel_mocks    = "none"
    workspace_locking = true
    run_tasks         = false
  }
}

resource "tfe_team_project_access" "plain" {
  team_id    = tfe_team.plain.id
  project_id = tfe_project.main.id
  access     = var.revision == "two" ? "maintain" : "read"
}

resource "tfe_team_project_access" "custom" {
  team_id    = tfe_team.main.id
  project_id = tfe_project.main.id
  access     = "custom"
  project_access {
    settings      = "update"
    teams         = "read"
    variable_sets = "write"
  }
  workspace_access {
    create         = true
    delete         = var.revision == "two"
    locking        = true
    move           = true
    run_tasks      = false
    runs           = "apply"
    sentinel_mocks = "none"
    state_versions = "write"
    variables      = "write"
  }
}

resource "tfe_team_token" "main" {
  team_id     = tfe_team.main.id
  description = "described"
  expired_at  = "2036-01-01T00:00:00Z"
}

resource "tfe_team_token" "plain" {
  team_id = tfe_team.plain.id
}

resource "tfe_team_organization_member" "main" {
  team_id                    = tfe_team.main.id
  organization_membership_id = tfe_organization_membership.main.id
}

resource "tfe_team_organization_members" "plain" {
  team_id                     = tfe_team.plain.id
  organization_membership_ids = var.revision == "two" ? [tfe_organization_membership.second.id] : [tfe_organization_membership.main.id, tfe_organization_membership.second.id]
}

resource "tfe_team_member" "third" {
  team_id  = tfe_team.third.id
  username = tfe_organization_membership.main.username
}

resource "tfe_team_members" "fourth" {
  team_id   = tfe_team.fourth.id
  usernames = var.revision == "two" ? [tfe_organization_membership.second.username] : [tfe_organization_membership.main.username]
}

resource "tfe_team_notification_configuration" "main" {
  team_id          = tfe_team.main.id
  name             = "team hook"
  destination_type = "generic"
  enabled          = false
  url              = "https://hooks.example/team"
  triggers         = ["change_request:created"]
}

resource "tfe_team_notification_configuration" "mail" {
  team_id          = tfe_team.main.id
  name             = "team mail"
  destination_type = "email"
  email_user_ids   = [tfe_organization_membership.main.user_id]
}
