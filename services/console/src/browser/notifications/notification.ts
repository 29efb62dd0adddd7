/** Notification configurations as the workspace API returns them, and the requests that change them. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { Fields } from '../components/action-button.tsx';

export type NotificationConfiguration = ResourceAttributes['notification-configurations'];

export const DESTINATIONS = {
  generic: 'a web address, as JSON',
  slack: 'Slack',
  'microsoft-teams': 'Microsoft Teams',
  email: 'mail',
} as const;

const TRIGGERS: readonly (readonly [trigger: string, words: string])[] = [
  ['run:created', 'a run is created'],
  ['run:planning', 'a run plans'],
  ['run:needs_attention', 'a run waits for somebody'],
  ['run:applying', 'a run applies'],
  ['run:completed', 'a run ends well'],
  ['run:errored', 'a run fails'],
  ['assessment:drifted', 'the infrastructure has drifted'],
  ['assessment:failed', 'an assessment fails'],
  ['workspace:auto_destroy_run_results', 'an automatic destruction ends'],
];
const REMINDER = ['workspace:auto_destroy_reminder', 'an automatic destruction is near'] as const;

export type SubscribableKind = 'workspaces' | 'teams';

/** Triggers of a workspace or a team, with their words; only workspaces have reminders. */
export const triggersOf = (kind: SubscribableKind): typeof TRIGGERS =>
  kind === 'workspaces' ? [...TRIGGERS, REMINDER] : TRIGGERS;

export const newNotification = (
  { text, isChecked }: Fields,
  kind: SubscribableKind,
  destination: string,
): object => ({
  data: {
    type: 'notification-configurations',
    attributes: {
      name: text('name'),
      'destination-type': destination,
      enabled: isChecked('enabled'),
      triggers: triggersOf(kind)
        .map(([trigger]) => trigger)
        .filter(isChecked),
      ...(destination === 'email'
        ? {
            'email-addresses': text('addresses')
              .split(/[\s,;]+/)
              .filter((address) => address !== ''),
          }
        : { url: text('url') }),
      ...(destination === 'generic' && { token: text('token') }),
    },
  },
});

/** The request that enables or disables a configuration. */
export const enabledBody = (enabled: boolean): object => ({
  data: { type: 'notification-configurations', attributes: { enabled } },
});
