/**
 * Sends notifications. Notifications of one configuration are sent in order, one at a time; while its destination
 * does not accept them, the oldest is retried after increasing delays. Waiting notifications are
 * records, so a restart or another replica continues where this one stopped; an event may then
 * arrive twice.
 */
import { createHmac } from 'node:crypto';
import { createTurnRounds, type NextWork } from '@keelson/locks';
import { outboundFailure, readBeginning } from '@keelson/outbound';
import { type Reads, readableOnly, type TransactOptions, unlessDamaged } from '@keelson/storage';
import { mailFailure } from '../../base/mail/mailer.ts';
import { MESSAGE_RETRIES, pauseAfter } from '../../base/retries.ts';
import { listSwitchedOrganizations } from '../../identity/model/organization-switch-records.ts';
import { membershipRecords } from '../../identity/model/team-records.ts';
import { userRecords } from '../../identity/model/user-records.ts';
import { workspaceRecords } from '../model/workspace-records.ts';
import type { WorkspacesContext } from '../seams/workspaces-context.ts';
import {
  type DeliveryResponse,
  MAX_AGE_MS,
  type NotificationConfiguration,
  type NotificationEvent,
} from './domain/notification.ts';
import {
  toGenericPayload,
  toMailText,
  toSlackPayload,
  toTeamsPayload,
  toText,
} from './notification-message.ts';
import { mayReadRuns, type RunReader } from './notification-queue-operations.ts';
import {
  addResponse,
  notificationEvents,
  notificationQueues,
  notificationRecords,
  removeQueue,
} from './notification-records.ts';

const TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1024;
const MAX_HEADERS = 20;
const MAX_HEADER_CHARACTERS = 256;

/** Notifications that are sent at the same time. */
const AT_ONCE = 16;
/** The part of one organization, whose destinations may all be slow. */
const AT_ONCE_OF_ORGANIZATION = 4;

interface Outcome {
  readonly response: DeliveryResponse;
  /** A later attempt may succeed. */
  readonly mayRetry: boolean;
}

/** Whether a status indicates a temporary condition (RFC 9110 §15.5.9, RFC 6585 §4). */
const isPassing = (status: number): boolean => status >= 500 || status === 408 || status === 429;

const redactedHeaders = (headers: Iterable<[string, string]>): DeliveryResponse['headers'] =>
  Object.fromEntries(
    [...headers]
      .filter(([name]) => name !== 'set-cookie')
      .slice(0, MAX_HEADERS)
      .map(([name, value]) => [name, [value.slice(0, MAX_HEADER_CHARACTERS)]]),
  );

const toBody = (
  context: WorkspacesContext,
  configuration: NotificationConfiguration,
  event: NotificationEvent | undefined,
): string => {
  const { destinationType } = configuration;
  if (destinationType === 'slack') {
    return JSON.stringify(toSlackPayload(toText(context, configuration, event)));
  }
  return destinationType === 'microsoft-teams'
    ? JSON.stringify(toTeamsPayload(toText(context, configuration, event)))
    : JSON.stringify(toGenericPayload(context, configuration, event));
};

const post = async (
  context: WorkspacesContext,
  configuration: NotificationConfiguration,
  event: NotificationEvent | undefined,
): Promise<Outcome> => {
  const { outbound, clock } = context;
  const { token } = configuration;
  const url = configuration.url ?? '';
  const body = toBody(context, configuration, event);
  const sent = { url, body: '', headers: {}, sentAtMs: clock.nowMs() };
  try {
    const response = await outbound.fetch(url, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'keelson-notifications',
        ...(token !== null && {
          'x-tfe-notification-signature': createHmac('sha512', token).update(body).digest('hex'),
        }),
      },
    });
    return {
      mayRetry: isPassing(response.status),
      response: {
        ...sent,
        body: await readBeginning(response, MAX_BODY_BYTES),
        headers: redactedHeaders(response.headers),
        code: String(response.status),
        successful: response.ok,
      },
    };
  } catch (error) {
    const code = outboundFailure(error);
    return { mayRetry: true, response: { ...sent, code, successful: false } };
  }
};

/** Looked up when an event is sent, which may be hours after it happened. */
const mayReadRunsOf = async (
  reads: Reads,
  reader: RunReader,
  { workspaceId }: NotificationEvent,
): Promise<boolean> => {
  const workspace = await workspaceRecords.find(reads, workspaceId);
  return workspace !== undefined && mayReadRuns(reads, reader, workspace);
};

/**
 * Users who left the organization, are suspended, or may no longer read the runs of the event's workspace, get no
 * mail.
 */
const loadRecipients = async (
  reads: Reads,
  { organizationId, userIds, emailAddresses }: NotificationConfiguration,
  event: NotificationEvent | undefined,
): Promise<readonly string[]> => {
  const mayRead = (id: string): Promise<boolean> =>
    event === undefined
      ? membershipRecords.find(reads, organizationId, id).then((found) => found !== undefined)
      : mayReadRunsOf(reads, { kind: 'user', id }, event);
  const ofUsers = await Promise.all(
    userIds.map(async (id) => {
      const user = (await mayRead(id)) ? await userRecords.find(reads, id) : undefined;
      return user?.isSuspended === true ? undefined : user?.email;
    }),
  );
  return [...new Set([...emailAddresses, ...ofUsers.filter((address) => address !== undefined)])];
};

const mail = async (
  context: WorkspacesContext,
  configuration: NotificationConfiguration,
  event: NotificationEvent | undefined,
): Promise<Outcome> => {
  const { mailer, store, clock } = context;
  const to = await loadRecipients(store, configuration, event);
  const sent = { url: to.join(', '), body: '', headers: {}, sentAtMs: clock.nowMs() };
  const text = toText(context, configuration, event);
  try {
    if (mailer === undefined) throw new Error('this installation sends no mail');
    if (to.length > 0) await mailer.send({ to, subject: text.title, text: toMailText(text) });
    return { mayRetry: false, response: { ...sent, code: '250', successful: true } };
  } catch (error) {
    const code = mailFailure(error);
    return { mayRetry: true, response: { ...sent, code, successful: false } };
  }
};

/** Sends one notification. @param event undefined for a verification */
export const send = (
  context: WorkspacesContext,
  configuration: NotificationConfiguration,
  event: NotificationEvent | undefined,
): Promise<Outcome> =>
  configuration.destinationType === 'email'
    ? mail(context, configuration, event)
    : post(context, configuration, event);

/** Records the outcome of the first waiting event, which is removed or scheduled for a retry. */
const settle = (
  { store, clock }: WorkspacesContext,
  id: string,
  number: number,
  { response, mayRetry }: Outcome,
  options: TransactOptions,
): Promise<void> =>
  store.transact(async (tx) => {
    const queue = await notificationQueues.find(tx, id);
    if (queue?.first !== number) return;
    await addResponse(tx, id, response);
    const attempts = queue.attempts + 1;
    const pauseMs =
      response.successful || !mayRetry ? undefined : pauseAfter(MESSAGE_RETRIES, attempts);
    if (pauseMs !== undefined) {
      notificationQueues.write(tx, [id], { ...queue, attempts, dueAtMs: clock.nowMs() + pauseMs });
      return;
    }
    notificationEvents.delete(tx, id, String(number));
    const first = number + 1;
    if (first === queue.next) notificationQueues.delete(tx, id);
    else notificationQueues.write(tx, [id], { ...queue, first, attempts: 0, dueAtMs: 0 });
  }, options);

/** The first waiting event that is due; it is undefined if it cannot be read. */
const findDue = async (
  { store, clock }: WorkspacesContext,
  id: string,
): Promise<
  { readonly number: number; readonly event: NotificationEvent | undefined } | undefined
> => {
  const reads = readableOnly(store);
  const queue = await notificationQueues.find(reads, id);
  if (queue === undefined || queue.dueAtMs > clock.nowMs()) return undefined;
  return {
    number: queue.first,
    event: await notificationEvents.find(reads, id, String(queue.first)),
  };
};

const findReasonNotToSend = async (
  { store, clock }: WorkspacesContext,
  { subscribable: { kind, id } }: NotificationConfiguration,
  event: NotificationEvent | undefined,
): Promise<string | undefined> => {
  if (event === undefined) return 'not sent: the event cannot be read';
  if (event.atMs + MAX_AGE_MS < clock.nowMs()) return 'not sent within a day';
  return kind !== 'teams' || (await mayReadRunsOf(store, { kind: 'team', id }, event))
    ? undefined
    : 'not sent: the team may no longer read the runs of the workspace';
};

const deliverNext = async (
  context: WorkspacesContext,
  id: string,
  options: TransactOptions,
): Promise<boolean> => {
  const due = await findDue(context, id);
  if (due === undefined) return false;
  const { store, clock } = context;
  const configuration = await notificationRecords.find(store, id);
  if (configuration === undefined || !configuration.enabled) {
    await store.transact((tx) => removeQueue(tx, id), options);
    return false;
  }
  const code = await findReasonNotToSend(context, configuration, due.event);
  const outcome: Outcome =
    code === undefined
      ? await send(context, configuration, due.event)
      : {
          mayRetry: false,
          response: {
            url: configuration.url ?? '',
            body: '',
            code,
            headers: {},
            sentAtMs: clock.nowMs(),
            successful: false,
          },
        };
  await settle(context, id, due.number, outcome, options);
  return true;
};

/** Ids of the configurations with an event that is due, by organization that is not off. */
const findDueConfigurations = async ({
  store,
  clock,
}: WorkspacesContext): Promise<ReadonlyMap<string, readonly string[]>> => {
  const found = new Map<string, string[]>();
  const switched = await listSwitchedOrganizations(store);
  for (const id of await notificationQueues.keys(store, [])) {
    const queue = await notificationQueues.find(readableOnly(store), id);
    if (queue === undefined || queue.dueAtMs > clock.nowMs()) continue;
    const configuration = await notificationRecords.find(readableOnly(store), id);
    if (configuration === undefined) continue;
    const { organizationId } = configuration;
    if (switched.get(organizationId) === 'off') continue;
    const own = found.get(organizationId);
    if (own === undefined) found.set(organizationId, [id]);
    else own.push(id);
  }
  return found;
};

/** @returns a round that sends the first waiting event of each configuration; organizations take turns */
export const createNotificationRounds = (
  context: WorkspacesContext,
): ((options: TransactOptions) => Promise<boolean>) => {
  const { clock } = context;
  const underWay = new Set<string>();
  /** Configurations that need a damaged record, and when they are tried again. */
  const unreadable = new Map<string, number>();
  const deliver = async (id: string, options: TransactOptions): Promise<void> => {
    underWay.add(id);
    try {
      const delivered = await unlessDamaged(deliverNext(context, id, options));
      if (delivered === undefined) unreadable.set(id, clock.nowMs() + TIMEOUT_MS);
      else unreadable.delete(id);
    } finally {
      underWay.delete(id);
    }
  };
  const mayBegin = (id: string): boolean =>
    !underWay.has(id) && (unreadable.get(id) ?? 0) <= clock.nowMs();
  const nextOf = (ids: readonly string[], options: TransactOptions): NextWork => {
    const left = ids.filter(mayBegin).values();
    return () => {
      const { value: id } = left.next();
      return Promise.resolve(id === undefined ? undefined : () => deliver(id, options));
    };
  };
  return createTurnRounds({
    clock,
    atOnce: AT_ONCE,
    atOnceOfOwner: AT_ONCE_OF_ORGANIZATION,
    find: async (options) => {
      const due = await findDueConfigurations(context);
      return new Map([...due].map(([id, own]) => [id, nextOf(own, options)]));
    },
  });
};
