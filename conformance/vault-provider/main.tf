terraform {
  required_providers {
    vault = { source = "hashicorp/vault" }
  }
}

variable "address" { type = string }
variable "token" {
  type      = string
  sensitive = true
}
variable "public_key" { type = string }
variable "revision" {
  type    = string
  default = "one"
}

locals {
  is_second = var.revision == "two"
}

provider "vault" {
  address = var.address
  token   = var.token
}

resource "vault_policy" "issuer" {
  name   = "issuer"
  policy = "path \"pki/issue/${var.revision}\" { capabilities = [\"update\"] }"
}

resource "vault_token_auth_backend_role" "jobs" {
  role_name        = "jobs"
  allowed_policies = [vault_policy.issuer.name, var.revision]
  orphan           = true
  renewable        = !local.is_second
  path_suffix      = "ci"
}

resource "vault_jwt_auth_backend" "jobs" {
  path                   = "jobs"
  bound_issuer           = "https://${var.revision}.example.com"
  jwt_validation_pubkeys = [var.public_key]
  jwt_supported_algs     = local.is_second ? ["RS256", "RS512"] : ["RS256"]
  default_role           = "deploy-${var.revision}"
}

resource "vault_identity_entity" "alice" {
  name     = "alice-${var.revision}"
  policies = [vault_policy.issuer.name, var.revision]
  metadata = { team = var.revision }
}

# Its name is made from its id.
resource "vault_identity_entity" "bob" {}

resource "vault_identity_entity_alias" "alice" {
  name           = "alice"
  mount_accessor = vault_jwt_auth_backend.jobs.accessor
  canonical_id   = local.is_second ? vault_identity_entity.bob.id : vault_identity_entity.alice.id
}

resource "vault_identity_group" "external" {
  name     = "external-${var.revision}"
  type     = "external"
  policies = [vault_policy.issuer.name]
}

resource "vault_identity_group_alias" "external" {
  name           = "reported"
  mount_accessor = vault_jwt_auth_backend.jobs.accessor
  canonical_id   = vault_identity_group.external.id
}

resource "vault_identity_group" "team" {
  name              = "team-${var.revision}"
  type              = "internal"
  policies          = [vault_policy.issuer.name, var.revision]
  metadata          = { floor = var.revision }
  member_group_ids  = [vault_identity_group.external.id]
  member_entity_ids = local.is_second ? [vault_identity_entity.bob.id] : [vault_identity_entity.alice.id]
}
