# Every data source of the provider whose area exists here, of what resources.tf created.

data "tfe_agent_pool" "main" {
  organization = local.organization
  name         = tfe_agent_pool.main.name
}

data "tfe_current_user" "main" {}

data "tfe_oauth_client" "by_id" {
  oauth_client_id = tfe_oauth_client.main.id
}

data "tfe_oauth_client" "by_name" {
  organization = local.organization
  name         = tfe_oauth_client.main.name
}

data "tfe_oauth_client" "by_provider" {
  organization     = local.organization
  service_provider = "github"
  depends_on       = [tfe_oauth_client.scoped]
}

data "tfe_organization" "main" {
  name       = local.organization
  depends_on = [tfe_organization.main]
}

data "tfe_organizations" "all" {
  depends_on = [tfe_organization.main, tfe_organization.plain]
}

data "tfe_organization_members" "main" {
  organization = local.organization
  depends_on   = [tfe_organization_membership.main, tfe_organization_membership.second]
}

data "tfe_organization_membership" "by_email" {
  organization = local.organization
  email        = tfe_organization_membership.main.email
}

data "tfe_organization_membership" "by_username" {
  organization = local.organization
  username     = tfe_organization_membership.main.username
}

data "tfe_organization_membership" "by_id" {
  organization               = local.organization
  organization_membership_id = tfe_organization_membership.main.id
}

data "tfe_organization_tags" "main" {
  organization = local.organization
  depends_on   = [tfe_workspace.main]
}

data "tfe_project" "main" {
  organization = local.organization
  name         = tfe_project.main.name
  depends_on   = [tfe_workspace.main]
}

data "tfe_projects" "all" {
  organization = local.organization
  depends_on   = [tfe_project.main, tfe_project.plain]
}

data "tfe_slug" "main" {
  source_path = path.module
}

data "tfe_ssh_key" "main" {
  organization = local.organization
  name         = tfe_ssh_key.main.name
}

data "tfe_team" "main" {
  organization = local.organization
  name         = tfe_team.main.name
}

data "tfe_teams" "all" {
  organization = local.organization
  depends_on   = [tfe_team.main, tfe_team.plain, tfe_team.third, tfe_team.fourth]
}

data "tfe_team_access" "main" {
  team_id      = tfe_team.main.id
  workspace_id = tfe_workspace.main.id
  depends_on   = [tfe_team_access.custom]
}

data "tfe_team_project_access" "main" {
  team_id    = tfe_team.main.id
  project_id = tfe_project.main.id
  depends_on = [tfe_team_project_access.custom]
}

data "tfe_variable_set" "main" {
  organization = local.organization
  name         = tfe_variable_set.main.name
  depends_on   = [tfe_variable.in_set, tfe_variable.secret_in_set, tfe_workspace_variable_set.main, tfe_project_variable_set.main]
}

data "tfe_variables" "workspace" {
  workspace_id = tfe_workspace.main.id
  depends_on   = [tfe_variable.plain, tfe_variable.hcl, tfe_variable.secret, tfe_variable.write_only]
}

data "tfe_variables" "set" {
  variable_set_id = tfe_variable_set.main.id
  depends_on      = [tfe_variable.in_set, tfe_variable.secret_in_set]
}

data "tfe_workspace" "main" {
  organization = local.organization
  name         = tfe_workspace.main.name
  depends_on   = [tfe_workspace_settings.main]
}

data "tfe_workspace_ids" "by_names" {
  organization = local.organization
  names        = [tfe_workspace.main.name, "sou*", "*led"]
  depends_on   = [tfe_workspace.source, tfe_workspace.scheduled]
}

data "tfe_workspace_ids" "by_tags" {
  organization = local.organization
  tag_names    = ["kept"]
  depends_on   = [tfe_workspace.main, tfe_workspace.source]
}

data "tfe_workspace_ids" "by_tag_filters" {
  organization = local.organization
  tag_filters {
    include = { environment = var.revision }
    exclude = { kept = "" }
  }
  depends_on = [tfe_workspace.main, tfe_workspace.source]
}

# What they found, in the order above.
output "found" {
  value = {
    agent_pool         = data.tfe_agent_pool.main.id == tfe_agent_pool.main.id
    current_user       = data.tfe_current_user.main.username
    oauth_by_id        = data.tfe_oauth_client.by_id.name
    oauth_by_name      = data.tfe_oauth_client.by_name.oauth_client_id == tfe_oauth_client.main.id
    oauth_by_provider  = data.tfe_oauth_client.by_provider.oauth_client_id == tfe_oauth_client.scoped.id
    organization       = data.tfe_organization.main.email
    default_project    = data.tfe_organization.main.default_project_id != ""
    organizations      = sort(data.tfe_organizations.all.names)
    invited            = sort(data.tfe_organization_members.main.members_waiting[*].organization_membership_id) == sort([tfe_organization_membership.main.id, tfe_organization_membership.second.id])
    members            = length(data.tfe_organization_members.main.members)
    member_by_email    = data.tfe_organization_membership.by_email.username
    member_by_username = data.tfe_organization_membership.by_username.user_id == tfe_organization_membership.main.user_id
    member_by_id       = data.tfe_organization_membership.by_id.email
    tags               = sort(data.tfe_organization_tags.main.tags[*].name)
    project            = data.tfe_project.main.id == tfe_project.main.id
    project_workspaces = data.tfe_project.main.workspace_names
    projects           = sort(data.tfe_projects.all.projects[*].name)
    ssh_key            = data.tfe_ssh_key.main.id == tfe_ssh_key.main.id
    team               = data.tfe_team.main.id == tfe_team.main.id
    teams              = sort(data.tfe_teams.all.names)
    team_access        = data.tfe_team_access.main.permissions[0].runs
    team_project       = data.tfe_team_project_access.main.project_access[0].settings
    set_variables      = length(data.tfe_variable_set.main.variable_ids)
    set_projects       = data.tfe_variable_set.main.project_ids == toset([tfe_project.plain.id])
    set_workspaces     = data.tfe_variable_set.main.workspace_ids == toset([tfe_workspace.main.id])
    variables          = nonsensitive(sort(data.tfe_variables.workspace.terraform[*].name))
    environment        = nonsensitive(sort(data.tfe_variables.workspace.env[*].name))
    variables_of_set   = nonsensitive(sort(data.tfe_variables.set.variables[*].name))
    workspace          = data.tfe_workspace.main.id == tfe_workspace.main.id
    execution_mode     = data.tfe_workspace.main.execution_mode
    ids_by_names       = sort(keys(data.tfe_workspace_ids.by_names.ids))
    ids_by_tags        = keys(data.tfe_workspace_ids.by_tags.ids)
    ids_by_tag_filters = keys(data.tfe_workspace_ids.by_tag_filters.ids)
  }
}
