package conformance

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

// The calls in this file are those that the Terraform provider for this API makes for its resources: what it
// writes, what it reads back for an empty plan, what it reads for an import, and how it deletes.

// gone checks the answers that the provider takes for a resource that no longer exists.
func gone(t *testing.T, read, remove error) {
	t.Helper()
	if !errors.Is(read, tfe.ErrResourceNotFound) || !errors.Is(remove, tfe.ErrResourceNotFound) {
		t.Fatalf("a deleted resource is read with %v and deleted with %v", read, remove)
	}
}

// connection makes an OAuth client as the provider does: texts that are not configured are empty.
func connection(t *testing.T, client *tfe.Client, organization string, pool *tfe.AgentPool) *tfe.OAuthClient {
	t.Helper()
	made, err := client.OAuthClients.Create(ctx, organization, tfe.OAuthClientCreateOptions{
		Name: tfe.String(""), APIURL: tfe.String("https://git.example/api/v4"), HTTPURL: tfe.String("https://git.example"),
		OAuthToken: tfe.String("secret"), Key: tfe.String(""),
		ServiceProvider: tfe.ServiceProvider(tfe.ServiceProviderGitlabEE), OrganizationScoped: tfe.Bool(true), AgentPool: pool,
	})
	must(t, err)
	return made
}

func TestResourceOAuthClient(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	pool, err := client.AgentPools.Create(ctx, organization.Name, tfe.AgentPoolCreateOptions{Name: tfe.String("inside")})
	must(t, err)
	made := connection(t, client, organization.Name, pool)
	token := made.OAuthTokens[0].ID
	read := func() *tfe.OAuthClient {
		t.Helper()
		read, err := client.OAuthClients.Read(ctx, made.ID)
		must(t, err)
		equal(t, read.Organization.Name, organization.Name)
		equal(t, read.APIURL, "https://git.example/api/v4")
		equal(t, read.HTTPURL, "https://git.example")
		equal(t, read.ServiceProvider, tfe.ServiceProviderGitlabEE)
		equal(t, len(read.OAuthTokens), 1)
		equal(t, read.OAuthTokens[0].ID, token)
		return read
	}
	equal(t, *read().OrganizationScoped, true)
	equal(t, read().AgentPool.ID, pool.ID)
	_, err = client.OAuthClients.Update(ctx, made.ID, tfe.OAuthClientUpdateOptions{
		OrganizationScoped: tfe.Bool(false), OAuthToken: tfe.String("another"),
	})
	must(t, err)
	equal(t, *read().OrganizationScoped, false)
	// The data source and `terraform import` of other resources look it up in the list.
	listed, err := client.OAuthClients.List(ctx, organization.Name, &tfe.OAuthClientListOptions{})
	must(t, err)
	equal(t, listed.Items[0].ID, made.ID)
	// A pool that a client names is kept; the provider destroys the client first.
	if err := client.AgentPools.Delete(ctx, pool.ID); err == nil {
		t.Fatal("a pool that an OAuth client names was deleted")
	}
	must(t, client.OAuthClients.Delete(ctx, made.ID))
	_, err = client.OAuthClients.Read(ctx, made.ID)
	gone(t, err, client.OAuthClients.Delete(ctx, made.ID))
	must(t, client.AgentPools.Delete(ctx, pool.ID))
}

// As the provider sends what is not configured: empty texts.
func TestResourceOAuthClientWithKeyPair(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	must(t, err)
	secret := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	must(t, err)
	public := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	options := tfe.OAuthClientCreateOptions{
		Name: tfe.String("link"), APIURL: tfe.String("https://git.example"), HTTPURL: tfe.String("https://git.example"),
		OAuthToken: tfe.String(""), Key: tfe.String("keelson"), Secret: tfe.String(string(secret)), RSAPublicKey: tfe.String(public),
		ServiceProvider: tfe.ServiceProvider(tfe.ServiceProviderBitbucketDataCenter), OrganizationScoped: tfe.Bool(true),
	}
	made, err := client.OAuthClients.Create(ctx, organization.Name, options)
	must(t, err)
	_, err = client.OAuthClients.Update(ctx, made.ID, tfe.OAuthClientUpdateOptions{OrganizationScoped: tfe.Bool(false), OAuthToken: tfe.String("")})
	must(t, err)
	read, err := client.OAuthClients.Read(ctx, made.ID)
	must(t, err)
	equal(t, *read.OrganizationScoped, false)
	equal(t, read.RSAPublicKey, public)
	equal(t, read.Key, "keelson")
	equal(t, read.Secret, "")
	equal(t, len(read.OAuthTokens), 0)
	equal(t, strings.HasSuffix(read.CallbackURL, read.ConnectPath), true)
	_, err = client.OAuthClients.Update(ctx, made.ID, tfe.OAuthClientUpdateOptions{Key: tfe.String("")})
	if err == nil {
		t.Fatal("a client with a key pair lost its consumer key")
	}
	must(t, client.OAuthClients.Delete(ctx, made.ID))
}

func TestResourceWorkspaceWithRepository(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	made := connection(t, client, organization.Name, nil)
	token := made.OAuthTokens[0].ID
	workspace, err := client.Workspaces.Create(ctx, organization.Name, tfe.WorkspaceCreateOptions{
		Name: tfe.String("pushed"), AllowDestroyPlan: tfe.Bool(true), AutoApply: tfe.Bool(false), AutoApplyRunTrigger: tfe.Bool(false),
		Description: tfe.String(""), FileTriggersEnabled: tfe.Bool(true), QueueAllRuns: tfe.Bool(true), SpeculativeEnabled: tfe.Bool(true),
		StructuredRunOutputEnabled: tfe.Bool(true), WorkingDirectory: tfe.String("network"), TriggerPrefixes: []string{"modules"},
		VCSRepo: &tfe.VCSRepoOptions{
			Identifier: tfe.String("acme/infra"), IngressSubmodules: tfe.Bool(false), OAuthTokenID: tfe.String(token), TagsRegex: tfe.String(""),
		},
	})
	must(t, err)
	read := func() *tfe.Workspace {
		t.Helper()
		read, err := client.Workspaces.ReadByID(ctx, workspace.ID)
		must(t, err)
		return read
	}
	first := read()
	equal(t, first.VCSRepo.Identifier, "acme/infra")
	// The provider plans a change where the branch that was not configured is not empty.
	equal(t, first.VCSRepo.Branch, "")
	equal(t, first.VCSRepo.TagsRegex, "")
	equal(t, first.VCSRepo.IngressSubmodules, false)
	equal(t, first.VCSRepo.OAuthTokenID, token)
	equal(t, first.VCSRepo.GHAInstallationID, "")
	equal(t, first.FileTriggersEnabled, true)
	equal(t, first.QueueAllRuns, true)
	equal(t, first.SpeculativeEnabled, true)
	equal(t, first.WorkingDirectory, "network")
	equal(t, len(first.TriggerPrefixes), 1)
	equal(t, len(first.TriggerPatterns), 0)
	_, err = client.Workspaces.UpdateByID(ctx, workspace.ID, tfe.WorkspaceUpdateOptions{
		Name: tfe.String("pushed"), FileTriggersEnabled: tfe.Bool(true), TriggerPrefixes: []string{}, TriggerPatterns: []string{"**/*.tf"},
		WorkingDirectory: tfe.String(""), SpeculativeEnabled: tfe.Bool(false),
		VCSRepo: &tfe.VCSRepoOptions{
			Identifier: tfe.String("acme/infra"), Branch: tfe.String("release"), IngressSubmodules: tfe.Bool(true),
			OAuthTokenID: tfe.String(token), TagsRegex: tfe.String(""),
		},
	})
	must(t, err)
	second := read()
	equal(t, second.VCSRepo.Branch, "release")
	equal(t, second.VCSRepo.IngressSubmodules, true)
	equal(t, len(second.TriggerPrefixes), 0)
	equal(t, second.TriggerPatterns[0], "**/*.tf")
	equal(t, second.WorkingDirectory, "")
	equal(t, second.SpeculativeEnabled, false)
	// `terraform import` takes the id, or organization and name.
	imported, err := client.Workspaces.Read(ctx, organization.Name, "pushed")
	must(t, err)
	equal(t, imported.ID, workspace.ID)
	key, err := client.SSHKeys.Create(ctx, organization.Name, tfe.SSHKeyCreateOptions{Name: tfe.String("modules"), Value: tfe.String("key")})
	must(t, err)
	_, err = client.Workspaces.AssignSSHKey(ctx, workspace.ID, tfe.WorkspaceAssignSSHKeyOptions{SSHKeyID: tfe.String(key.ID)})
	must(t, err)
	equal(t, read().SSHKey.ID, key.ID)
	_, err = client.Workspaces.UnassignSSHKey(ctx, workspace.ID)
	must(t, err)
	_, err = client.Workspaces.RemoveVCSConnectionByID(ctx, workspace.ID)
	must(t, err)
	if read().VCSRepo != nil || read().SSHKey != nil {
		t.Fatal("the repository or the key is still shown")
	}
	must(t, client.Workspaces.SafeDeleteByID(ctx, workspace.ID))
	_, err = client.Workspaces.ReadByID(ctx, workspace.ID)
	gone(t, err, client.Workspaces.SafeDeleteByID(ctx, workspace.ID))
}

func TestResourceVariableSetAndAttachments(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	project, err := client.Projects.Create(ctx, organization.Name, tfe.ProjectCreateOptions{Name: "network"})
	must(t, err)
	set, err := client.VariableSets.Create(ctx, organization.Name, &tfe.VariableSetCreateOptions{
		Name: tfe.String("shared"), Global: tfe.Bool(false), Priority: tfe.Bool(false),
	})
	must(t, err)
	include := []tfe.VariableSetIncludeOpt{tfe.VariableSetWorkspaces, tfe.VariableSetProjects, tfe.VariableSetStacks}
	read := func() *tfe.VariableSet {
		t.Helper()
		read, err := client.VariableSets.Read(ctx, set.ID, &tfe.VariableSetReadOptions{Include: &include})
		must(t, err)
		equal(t, read.Organization.Name, organization.Name)
		equal(t, len(read.Stacks), 0)
		return read
	}
	equal(t, read().Description, "")
	_, err = client.VariableSets.UpdateWorkspaces(ctx, set.ID, &tfe.VariableSetUpdateWorkspacesOptions{Workspaces: []*tfe.Workspace{workspace}})
	must(t, err)
	equal(t, read().Workspaces[0].ID, workspace.ID)
	_, err = client.VariableSets.UpdateWorkspaces(ctx, set.ID, &tfe.VariableSetUpdateWorkspacesOptions{Workspaces: []*tfe.Workspace{}})
	must(t, err)
	equal(t, len(read().Workspaces), 0)
	_, err = client.VariableSets.Update(ctx, set.ID, &tfe.VariableSetUpdateOptions{
		Name: tfe.String("for all"), Description: tfe.String(""), Global: tfe.Bool(false), Priority: tfe.Bool(true),
	})
	must(t, err)
	equal(t, read().Priority, true)

	// The attachments are resources of their own, found by organization, workspace or project, and name for an import.
	attach := &tfe.VariableSetApplyToWorkspacesOptions{Workspaces: []*tfe.Workspace{{ID: workspace.ID}}}
	must(t, client.VariableSets.ApplyToWorkspaces(ctx, set.ID, attach))
	must(t, client.VariableSets.ApplyToProjects(ctx, set.ID, tfe.VariableSetApplyToProjectsOptions{Projects: []*tfe.Project{{ID: project.ID}}}))
	equal(t, read().Workspaces[0].ID, workspace.ID)
	equal(t, read().Projects[0].ID, project.ID)
	listed, err := client.VariableSets.List(ctx, organization.Name, &tfe.VariableSetListOptions{Include: string(tfe.VariableSetWorkspaces)})
	must(t, err)
	equal(t, listed.Items[0].Name, "for all")
	equal(t, listed.Items[0].Workspaces[0].ID, workspace.ID)
	must(t, client.VariableSets.RemoveFromWorkspaces(ctx, set.ID, &tfe.VariableSetRemoveFromWorkspacesOptions{Workspaces: []*tfe.Workspace{{ID: workspace.ID}}}))
	must(t, client.VariableSets.RemoveFromProjects(ctx, set.ID, tfe.VariableSetRemoveFromProjectsOptions{Projects: []*tfe.Project{{ID: project.ID}}}))
	equal(t, len(read().Workspaces)+len(read().Projects), 0)

	variable, err := client.VariableSetVariables.Create(ctx, set.ID, &tfe.VariableSetVariableCreateOptions{
		Key: tfe.String("region"), Value: tfe.String("north"), Category: tfe.Category(tfe.CategoryTerraform),
		HCL: tfe.Bool(false), Sensitive: tfe.Bool(false), Description: tfe.String(""),
	})
	must(t, err)
	_, err = client.VariableSetVariables.Update(ctx, set.ID, variable.ID, &tfe.VariableSetVariableUpdateOptions{
		Key: tfe.String("region"), Value: tfe.String("south"), HCL: tfe.Bool(false), Sensitive: tfe.Bool(true), Description: tfe.String(""),
	})
	must(t, err)
	variable, err = client.VariableSetVariables.Read(ctx, set.ID, variable.ID)
	must(t, err)
	equal(t, variable.Sensitive, true)
	equal(t, variable.VariableSet.ID, set.ID)
	must(t, client.VariableSetVariables.Delete(ctx, set.ID, variable.ID))
	_, err = client.VariableSetVariables.Read(ctx, set.ID, variable.ID)
	gone(t, err, client.VariableSetVariables.Delete(ctx, set.ID, variable.ID))
	must(t, client.VariableSets.Delete(ctx, set.ID))
	_, err = client.VariableSets.Read(ctx, set.ID, nil)
	gone(t, err, client.VariableSets.Delete(ctx, set.ID))
}

func TestResourceRunTrigger(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	source, target := createWorkspace(t, client, organization.Name), createWorkspace(t, client, organization.Name)
	made, err := client.RunTriggers.Create(ctx, target.ID, tfe.RunTriggerCreateOptions{Sourceable: source})
	must(t, err)
	read, err := client.RunTriggers.Read(ctx, made.ID)
	must(t, err)
	equal(t, read.Workspace.ID, target.ID)
	equal(t, read.Sourceable.ID, source.ID)
	must(t, client.RunTriggers.Delete(ctx, made.ID))
	_, err = client.RunTriggers.Read(ctx, made.ID)
	gone(t, err, client.RunTriggers.Delete(ctx, made.ID))
}

func TestResourceNotificationConfigurations(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	workspace := createWorkspace(t, client, organization.Name)
	team, err := client.Teams.Create(ctx, organization.Name, tfe.TeamCreateOptions{Name: tfe.String("told")})
	must(t, err)
	for _, subscriber := range []struct {
		id       string
		choice   *tfe.NotificationConfigurationSubscribableChoice
		triggers []tfe.NotificationTriggerType
	}{
		{workspace.ID, &tfe.NotificationConfigurationSubscribableChoice{Workspace: workspace}, []tfe.NotificationTriggerType{tfe.NotificationTriggerCreated}},
		// The provider offers teams one trigger, change_request:created, which is refused: there are no change requests.
		{team.ID, &tfe.NotificationConfigurationSubscribableChoice{Team: team}, []tfe.NotificationTriggerType{}},
	} {
		// Without triggers, and disabled, so that no destination is asked.
		made, err := client.NotificationConfigurations.Create(ctx, subscriber.id, tfe.NotificationConfigurationCreateOptions{
			DestinationType: tfe.NotificationDestination(tfe.NotificationDestinationTypeGeneric), Enabled: tfe.Bool(false),
			Name: tfe.String("hook"), Token: tfe.String("hmac"), URL: tfe.String("https://hooks.example/in"), SubscribableChoice: subscriber.choice,
		})
		must(t, err)
		read := func() *tfe.NotificationConfiguration {
			t.Helper()
			read, err := client.NotificationConfigurations.Read(ctx, made.ID)
			must(t, err)
			equal(t, read.DestinationType, tfe.NotificationDestinationTypeGeneric)
			// Secrets are not read back; the provider keeps what is configured.
			equal(t, read.Token, "")
			if subscriber.choice.Team != nil {
				equal(t, read.SubscribableChoice.Team.ID, team.ID)
			} else {
				equal(t, read.SubscribableChoice.Workspace.ID, workspace.ID)
			}
			return read
		}
		equal(t, read().URL, "https://hooks.example/in")
		equal(t, len(read().Triggers), 0)
		_, err = client.NotificationConfigurations.Update(ctx, made.ID, tfe.NotificationConfigurationUpdateOptions{
			Enabled: tfe.Bool(false), Name: tfe.String("renamed"), Token: tfe.String("hmac"), URL: tfe.String("https://hooks.example/out"),
			Triggers: subscriber.triggers,
		})
		must(t, err)
		equal(t, read().Name, "renamed")
		equal(t, read().URL, "https://hooks.example/out")
		equal(t, len(read().Triggers), len(subscriber.triggers))
		must(t, client.NotificationConfigurations.Delete(ctx, made.ID))
		_, err = client.NotificationConfigurations.Read(ctx, made.ID)
		gone(t, err, client.NotificationConfigurations.Delete(ctx, made.ID))
	}
}

func TestResourceOrganizationMembership(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	address := "member-of-" + organization.Name + "@example.com"
	made, err := client.OrganizationMemberships.Create(ctx, organization.Name, tfe.OrganizationMembershipCreateOptions{Email: tfe.String(address)})
	must(t, err)
	read, err := client.OrganizationMemberships.ReadWithOptions(ctx, made.ID, tfe.OrganizationMembershipReadOptions{
		Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser},
	})
	must(t, err)
	equal(t, read.Email, address)
	equal(t, read.Organization.Name, organization.Name)
	// The provider reads both, of an invitation too.
	if read.User == nil || read.User.ID == "" {
		t.Fatal("the invited person has no user")
	}
	// `terraform import` looks for the address in the organization.
	listed, err := client.OrganizationMemberships.List(ctx, organization.Name, &tfe.OrganizationMembershipListOptions{
		Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser}, Emails: []string{address},
	})
	must(t, err)
	equal(t, len(listed.Items), 1)
	equal(t, listed.Items[0].ID, made.ID)
	must(t, client.OrganizationMemberships.Delete(ctx, made.ID))
	_, err = client.OrganizationMemberships.Read(ctx, made.ID)
	gone(t, err, client.OrganizationMemberships.Delete(ctx, made.ID))
}

func TestResourceSSHKey(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	made, err := client.SSHKeys.Create(ctx, organization.Name, tfe.SSHKeyCreateOptions{Name: tfe.String("modules"), Value: tfe.String("key")})
	must(t, err)
	read, err := client.SSHKeys.Read(ctx, made.ID)
	must(t, err)
	equal(t, read.Name, "modules")
	_, err = client.SSHKeys.Update(ctx, made.ID, tfe.SSHKeyUpdateOptions{Name: tfe.String("all modules")})
	must(t, err)
	read, err = client.SSHKeys.Read(ctx, made.ID)
	must(t, err)
	equal(t, read.Name, "all modules")
	must(t, client.SSHKeys.Delete(ctx, made.ID))
	_, err = client.SSHKeys.Read(ctx, made.ID)
	gone(t, err, client.SSHKeys.Delete(ctx, made.ID))
}

func TestResourceAgentPoolWithAllowedWorkspaces(t *testing.T) {
	client := connectAsAdmin(t)
	organization := createOrganization(t, client)
	one, two := createWorkspace(t, client, organization.Name), createWorkspace(t, client, organization.Name)
	pool, err := client.AgentPools.Create(ctx, organization.Name, tfe.AgentPoolCreateOptions{Name: tfe.String("builders"), OrganizationScoped: tfe.Bool(false)})
	must(t, err)
	read := func() *tfe.AgentPool {
		t.Helper()
		read, err := client.AgentPools.Read(ctx, pool.ID)
		must(t, err)
		equal(t, read.Organization.Name, organization.Name)
		equal(t, read.OrganizationScoped, false)
		return read
	}
	for _, allowed := range [][]*tfe.Workspace{{{ID: one.ID}}, {{ID: one.ID}, {ID: two.ID}}, {}} {
		_, err = client.AgentPools.UpdateAllowedWorkspaces(ctx, pool.ID, tfe.AgentPoolAllowedWorkspacesUpdateOptions{AllowedWorkspaces: allowed})
		must(t, err)
		equal(t, len(read().AllowedWorkspaces), len(allowed))
	}
	_, err = client.AgentPools.Update(ctx, pool.ID, tfe.AgentPoolUpdateOptions{Name: tfe.String("renamed"), OrganizationScoped: tfe.Bool(false)})
	must(t, err)
	equal(t, read().Name, "renamed")
	// `terraform import` takes the id, or organization and name, which is looked for in the list.
	listed, err := client.AgentPools.List(ctx, organization.Name, &tfe.AgentPoolListOptions{Query: "renamed"})
	must(t, err)
	equal(t, listed.Items[0].ID, pool.ID)
	must(t, client.AgentPools.Delete(ctx, pool.ID))
	_, err = client.AgentPools.Read(ctx, pool.ID)
	gone(t, err, client.AgentPools.Delete(ctx, pool.ID))
}
