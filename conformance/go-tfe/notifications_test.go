package conformance

import (
	"errors"
	"testing"

	tfe "github.com/hashicorp/go-tfe"
)

func TestNotificationConfigurations(t *testing.T) {
	client := connectAsAdmin(t)
	organization, workspace, _ := createAgentWorkspace(t, client)
	kind := tfe.NotificationDestinationTypeGeneric

	made, err := client.NotificationConfigurations.Create(ctx, workspace.ID, tfe.NotificationConfigurationCreateOptions{
		DestinationType: &kind, Enabled: tfe.Bool(false), Name: tfe.String("hook"),
		Token: tfe.String("secret"), URL: tfe.String("https://hooks.example.com/one"),
		Triggers: []tfe.NotificationTriggerType{tfe.NotificationTriggerCreated, tfe.NotificationTriggerErrored},
	})
	must(t, err)
	equal(t, made.Subscribable.ID, workspace.ID)
	equal(t, made.Token, "")
	equal(t, len(made.Triggers), 2)
	changed, err := client.NotificationConfigurations.Update(ctx, made.ID, tfe.NotificationConfigurationUpdateOptions{
		Name: tfe.String("other"),
	})
	must(t, err)
	equal(t, changed.Name, "other")
	equal(t, changed.URL, made.URL)
	listed, err := client.NotificationConfigurations.List(ctx, workspace.ID, nil)
	must(t, err)
	equal(t, listed.TotalCount, 1)

	// Nothing of a test reaches the public network: a private address is refused before anything is sent.
	_, err = client.NotificationConfigurations.Update(ctx, made.ID, tfe.NotificationConfigurationUpdateOptions{
		Enabled: tfe.Bool(true), URL: tfe.String("http://127.0.0.1/"),
	})
	if err == nil {
		t.Error("a private address is accepted")
	}

	team, err := client.Teams.Create(ctx, organization.Name, tfe.TeamCreateOptions{Name: tfe.String("told")})
	must(t, err)
	ofTeam, err := client.NotificationConfigurations.Create(ctx, team.ID, tfe.NotificationConfigurationCreateOptions{
		DestinationType: &kind, Enabled: tfe.Bool(false), Name: tfe.String("team"),
		URL:                tfe.String("https://hooks.example.com/team"),
		SubscribableChoice: &tfe.NotificationConfigurationSubscribableChoice{Team: team},
	})
	must(t, err)
	equal(t, ofTeam.SubscribableChoice.Team.ID, team.ID)

	must(t, client.NotificationConfigurations.Delete(ctx, made.ID))
	_, err = client.NotificationConfigurations.Read(ctx, made.ID)
	equal(t, errors.Is(err, tfe.ErrResourceNotFound), true)
}
