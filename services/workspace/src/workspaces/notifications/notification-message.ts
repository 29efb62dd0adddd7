/** Bodies of notifications, by the kind of their destination. */
import { toTimestamp } from '@keelson/jsonapi';
import { publicAddress } from '../../base/public-address.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import type { NotificationConfiguration, NotificationEvent } from './domain/notification.ts';

type Configuration = Pick<NotificationConfiguration, 'id' | 'name'>;
type Context = Pick<ServiceContext, 'publicUrl'>;

/** null without a run, or without a public address of the installation. */
const runUrl = (context: Context, event: NotificationEvent): string | null =>
  event.run &&
  publicAddress(
    context,
    `/app/${event.organizationName}/${event.workspaceName}/runs/${event.run.id}`,
  );

/** The payload of version 1, with nulls where there is no run. @param event undefined for a verification */
export const toGenericPayload = (
  context: Context,
  configuration: Configuration,
  event: NotificationEvent | undefined,
) => ({
  payload_version: 1,
  notification_configuration_id: configuration.id,
  run_url: event === undefined ? null : runUrl(context, event),
  run_id: event?.run?.id ?? null,
  run_message: event?.run?.message ?? null,
  run_created_at: event?.run ? toTimestamp(event.run.createdAtMs) : null,
  run_created_by: event?.run?.createdBy ?? null,
  workspace_id: event?.workspaceId ?? null,
  workspace_name: event?.workspaceName ?? null,
  organization_name: event?.organizationName ?? null,
  notifications: [
    {
      message: event?.message ?? `Verification of ${configuration.name}`,
      trigger: event?.trigger ?? 'verification',
      run_status: event?.run?.status ?? null,
      run_updated_at: event === undefined ? null : toTimestamp(event.atMs),
      run_updated_by: event?.run?.updatedBy ?? null,
    },
  ],
});

export interface NotificationText {
  readonly title: string;
  readonly lines: readonly string[];
  readonly url: string | null;
}

/** For people. */
export const toText = (
  context: Context,
  configuration: Configuration,
  event: NotificationEvent | undefined,
): NotificationText => {
  if (event === undefined) {
    const lines = ['Notifications of this configuration will arrive here.'];
    return { title: `Verification of ${configuration.name}`, lines, url: null };
  }
  const { run, message, organizationName, workspaceName } = event;
  const lines =
    run === null
      ? []
      : [
          `${run.id}: ${run.message}`,
          `Status: ${run.status}`,
          ...(run.createdBy === null ? [] : [`Created by ${run.createdBy}`]),
        ];
  return {
    title: `${message} in ${organizationName}/${workspaceName}`,
    lines,
    url: runUrl(context, event),
  };
};

/** Characters that start markup in Slack's texts. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** For an incoming webhook of Slack. */
export const toSlackPayload = ({ title, lines, url }: NotificationText) => ({
  text: escapeSlack(title),
  attachments: [
    {
      fallback: escapeSlack(title),
      ...(url !== null && { title: 'Show the run', title_link: url }),
      text: lines.map(escapeSlack).join('\n'),
    },
  ],
});

/** An adaptive card, which workflows of Microsoft Teams accept. */
export const toTeamsPayload = ({ title, lines, url }: NotificationText) => ({
  type: 'message',
  attachments: [
    {
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body: [
          { type: 'TextBlock', size: 'Medium', weight: 'Bolder', wrap: true, text: title },
          ...lines.map((text) => ({ type: 'TextBlock', wrap: true, text })),
        ],
        actions: url === null ? [] : [{ type: 'Action.OpenUrl', title: 'Show the run', url }],
      },
    },
  ],
});

export const toMailText = ({ lines, url }: NotificationText): string =>
  [...lines, ...(url === null ? [] : ['', url]), ''].join('\n');
