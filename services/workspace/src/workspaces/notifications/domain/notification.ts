/** Notification configurations: the destinations, triggers and formats of events. */

import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { attributeViolation, type Violation } from '../../../base/validation/domain/violation.ts';
import { isWebUrl } from '../../../base/validation/domain/web-url.ts';
import { isEmail } from '../../../identity/model/domain/organization.ts';

export const DESTINATION_TYPES = ['generic', 'slack', 'microsoft-teams', 'email'] as const;
export const destinationTypeShape = Type.Enum(DESTINATION_TYPES);

const RUN_TRIGGERS = [
  'run:created',
  'run:planning',
  'run:needs_attention',
  'run:applying',
  'run:completed',
  'run:errored',
] as const;

/** Time before an auto-destroy at which the reminder is sent. */
export const REMINDER_TRIGGER = 'workspace:auto_destroy_reminder';

export const TRIGGERS = [
  ...RUN_TRIGGERS,
  'assessment:drifted',
  'assessment:failed',
  REMINDER_TRIGGER,
  'workspace:auto_destroy_run_results',
] as const;
export const notificationTriggerShape = Type.Enum(TRIGGERS);
export type NotificationTrigger = Shaped<typeof notificationTriggerShape>;

/** The vendor's triggers for features that do not exist here. */
const WITHOUT_EVENTS: Readonly<Record<string, string>> = {
  'assessment:check_failure': 'health assessments evaluate no checks',
  'change_request:created': 'there are no change requests',
};

/** The only trigger that public clients can give a team's configuration, which is therefore accepted. */
const TEAM_TRIGGER = 'change_request:created';

/** The accepted triggers that are never sent, with the reasons. */
export const warnOfTriggers = (triggers: readonly string[]): readonly string[] =>
  triggers
    .filter((trigger) => trigger === TEAM_TRIGGER)
    .map((trigger) => `triggers: ${trigger} is never sent: ${WITHOUT_EVENTS[trigger]}`);

/** The source of a configuration's events; a team's events are those of workspaces whose runs it may read. */
export const subscribableShape = Type.Object({
  kind: Type.Enum(['workspaces', 'projects', 'teams']),
  /** `ws-…`, `prj-…`, `team-…`. */
  id: Type.String(),
});
export type Subscribable = Shaped<typeof subscribableShape>;

export const notificationConfigurationShape = Type.Object({
  /** `nc-…`. */
  id: Type.String(),
  organizationId: Type.String(),
  subscribable: subscribableShape,
  name: Type.String(),
  enabled: Type.Boolean(),
  destinationType: destinationTypeShape,
  /** null for mail. */
  url: nullable(Type.String()),
  /** Key of the signatures of a generic destination; never shown. */
  token: nullable(Type.String()),
  triggers: Type.Array(Type.String()),
  /** `user-…` of the organization who get mail. */
  userIds: Type.Array(Type.String()),
  emailAddresses: Type.Array(Type.String()),
  createdAtMs: Type.Number(),
  updatedAtMs: Type.Number(),
});
export type NotificationConfiguration = Shaped<typeof notificationConfigurationShape>;

export type NotificationSettings = Pick<
  NotificationConfiguration,
  | 'name'
  | 'enabled'
  | 'destinationType'
  | 'url'
  | 'token'
  | 'triggers'
  | 'userIds'
  | 'emailAddresses'
>;

const checkTriggers = (
  triggers: readonly string[],
  { kind }: Pick<Subscribable, 'kind'>,
): readonly Violation[] =>
  triggers.flatMap((trigger) => {
    const refuse = (text: string) => [attributeViolation('triggers', text)];
    if (trigger === TEAM_TRIGGER && kind === 'teams') return [];
    const missing = WITHOUT_EVENTS[trigger];
    if (missing !== undefined) return refuse(`${trigger} would never be sent: ${missing}`);
    if (!(TRIGGERS as readonly string[]).includes(trigger)) {
      return refuse(`triggers are ${TRIGGERS.join(', ')}`);
    }
    return trigger === REMINDER_TRIGGER && kind !== 'workspaces'
      ? refuse(`${trigger} is for configurations of a workspace`)
      : [];
  });

const checkDestination = ({
  destinationType,
  url,
  token,
  userIds,
  emailAddresses,
}: NotificationSettings): readonly Violation[] => {
  const isMail = destinationType === 'email';
  const violations: Violation[] = [];
  if (isMail && url !== null) {
    violations.push(attributeViolation('url', 'url is not allowed for destinations of type email'));
  }
  if (!isMail && (url === null || !isWebUrl(url))) {
    violations.push(
      attributeViolation('url', 'url must be an http or https address without credentials in it'),
    );
  }
  if (token !== null && destinationType !== 'generic') {
    violations.push(attributeViolation('token', 'only generic destinations get signatures'));
  }
  if (!isMail && (userIds.length > 0 || emailAddresses.length > 0)) {
    violations.push(
      attributeViolation(
        'email-addresses',
        'recipients are allowed only for destinations of type email',
      ),
    );
  }
  if (!emailAddresses.every(isEmail)) {
    violations.push(attributeViolation('email-addresses', 'each must be a mail address'));
  }
  return violations;
};

export const checkNotification = (
  settings: NotificationSettings,
  subscribable: Subscribable,
): readonly Violation[] => [
  ...(settings.name.trim() === '' ? [attributeViolation('name', "Name can't be blank")] : []),
  ...checkTriggers(settings.triggers, subscribable),
  ...checkDestination(settings),
];

/** An event of a workspace, with values from the time it happened. */
export const notificationEventShape = Type.Object({
  trigger: notificationTriggerShape,
  /** "Run Errored". */
  message: Type.String(),
  atMs: Type.Number(),
  workspaceId: Type.String(),
  workspaceName: Type.String(),
  organizationName: Type.String(),
  /** null for events without a run. */
  run: nullable(
    Type.Object({
      id: Type.String(),
      message: Type.String(),
      status: Type.String(),
      createdAtMs: Type.Number(),
      /** Names of users; null if the service or a team acted. */
      createdBy: nullable(Type.String()),
      updatedBy: nullable(Type.String()),
    }),
  ),
});
export type NotificationEvent = Shaped<typeof notificationEventShape>;

/** A notification that was sent, and the response. */
export const deliveryResponseShape = Type.Object({
  /** Address, or the recipients of a mail. */
  url: Type.String(),
  /** The beginning of the text. */
  body: Type.String(),
  /** HTTP status or the code of the error; "ECONNREFUSED". */
  code: Type.String(),
  headers: Type.Record(Type.String(), Type.Array(Type.String())),
  sentAtMs: Type.Number(),
  successful: Type.Boolean(),
});
export type DeliveryResponse = Shaped<typeof deliveryResponseShape>;

/** Number of responses that are kept for a configuration. */
export const MAX_RESPONSES = 10;

/** Maximum number of events that wait for one destination; further ones are not sent. */
export const MAX_WAITING = 1000;

/** Older events are no longer sent. */
export const MAX_AGE_MS = 24 * 3600 * 1000;
