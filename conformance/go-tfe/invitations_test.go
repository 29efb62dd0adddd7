package conformance

import (
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

func TestInvitations(t *testing.T) {
	client := connectAsAdmin(t)
	organization, _, _ := createAgentWorkspace(t, client)
	address := "invited-to-" + organization.Name + "@example.com"
	team, err := client.Teams.Create(ctx, organization.Name, tfe.TeamCreateOptions{Name: tfe.String("invited")})
	must(t, err)
	made, err := client.OrganizationMemberships.Create(ctx, organization.Name, tfe.OrganizationMembershipCreateOptions{
		Email: tfe.String(address), Teams: []*tfe.Team{team},
	})
	must(t, err)
	equal(t, made.Status, tfe.OrganizationMembershipInvited)
	read, err := client.OrganizationMemberships.ReadWithOptions(ctx, made.ID, tfe.OrganizationMembershipReadOptions{
		Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser, tfe.OrgMembershipTeam},
	})
	must(t, err)
	equal(t, read.Email, address)
	equal(t, read.User.ID, made.User.ID)
	equal(t, read.Teams[0].Name, "invited")
	listed, err := client.OrganizationMemberships.List(ctx, organization.Name, &tfe.OrganizationMembershipListOptions{
		Status: tfe.OrganizationMembershipInvited, Emails: []string{address},
	})
	must(t, err)
	equal(t, len(listed.Items), 1)
	must(t, client.OrganizationMemberships.Delete(ctx, made.ID))
}
