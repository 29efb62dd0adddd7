/**
 * Notification configurations, as the vendor's client reads and writes them:
 *
 * | endpoint | success | refused |
 * | --- | --- | --- |
 * | POST /(workspaces, projects, teams)/:id/notification-configurations | 201 | 404, 409 above the limit, 422; enabled and not verified 400 |
 * | GET  /(workspaces, projects, teams)/:id/notification-configurations | 200 in pages | 404 |
 * | GET, PATCH, DELETE /notification-configurations/:id | 200, 200, 204 | 404, 422; enabled and not verified 400 |
 * | POST /notification-configurations/:id/actions/verify | 200 | 404; not accepted 400 |
 *
 * Permissions are covered by `callers.integration.test.ts`.
 */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type MailServer, startMailServer } from '@keelson/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { teamWith } from '../../../test/ended-rights.ts';
import { startRunHarness } from '../../../test/run-harness.ts';
import type { Harness } from '../../../test/workspace-harness.ts';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- documents are read, not typed
  readonly body: any;
}

const received: Received[] = [];
let answer = 200;
/** Called before the destination answers, which waits for the result. */
let beforeAnswer: () => Promise<unknown> = () => Promise.resolve();
const destination = createServer((request, response) => {
  let text = '';
  request
    .setEncoding('utf8')
    .on('data', (chunk: string) => (text += chunk))
    .on('end', () => {
      received.push({ headers: request.headers, text, body: JSON.parse(text) });
      void beforeAnswer().then(() =>
        response.writeHead(answer, { 'x-served-by': 'test', 'set-cookie': 'a=b' }).end('noted'),
      );
    });
});

let mail: MailServer;
let runs: Awaited<ReturnType<typeof startRunHarness>>;
let harness: Harness;
let url = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => destination.listen(0, '127.0.0.1', resolve));
  mail = await startMailServer();
  url = `http://127.0.0.1:${(destination.address() as AddressInfo).port}/hook`;
  runs = await startRunHarness({
    config: {
      outboundRanges: ['127.0.0.1'],
      workspaceSmtpUrl: mail.url,
      workspaceMailFrom: 'keelson@keelson.example',
    },
    limits: { notifications: 3 },
  });
  ({ harness } = runs);
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await new Promise((resolve) => destination.close(resolve));
  await mail[Symbol.asyncDispose]();
});
beforeEach(() => {
  received.length = 0;
  mail.mails.length = 0;
  answer = 200;
  beforeAnswer = () => Promise.resolve();
});

const tryConfigure = (place: string, attributes: object = {}, relationships: object = {}) =>
  harness.call('POST', `${place}/notification-configurations`, {
    data: {
      type: 'notification-configurations',
      attributes: {
        name: 'hook',
        'destination-type': 'generic',
        enabled: true,
        url,
        triggers: ['run:created', 'run:needs_attention', 'run:errored', 'run:completed'],
        ...attributes,
      },
      relationships,
    },
  });

const configure = async (place: string, attributes: object = {}, relationships: object = {}) => {
  const reply = await tryConfigure(place, attributes, relationships);
  if (reply.status !== 201) throw new Error(JSON.stringify(reply.errors));
  received.length = 0;
  mail.mails.length = 0;
  return reply.data.id;
};

const change = (id: string, attributes: object) =>
  harness.call('PATCH', `/notification-configurations/${id}`, {
    data: { type: 'notification-configurations', attributes },
  });

const makePlace = async () => `/workspaces/${await runs.makeWorkspace()}`;

const triggers = () => received.map(({ body }) => body.notifications[0].trigger);

const responsesOf = async (id: string) => {
  const { data } = await harness.call('GET', `/notification-configurations/${id}`);
  return data.attributes['delivery-responses'] as readonly Record<string, unknown>[];
};

describe('a configuration', () => {
  test('is not enabled if its token was replaced during the verification', async () => {
    const id = await configure(await makePlace(), { enabled: false, token: 'first' });
    beforeAnswer = () => change(id, { token: 'second' });
    expect((await change(id, { enabled: true })).status).toBe(409);
    expect(received).toHaveLength(1);
    const { data } = await harness.call('GET', `/notification-configurations/${id}`);
    expect(data.attributes['enabled']).toBe(false);
  });

  test('is created, listed, shown, updated and deleted; its token is never shown', async () => {
    const place = await makePlace();
    const made = await tryConfigure(place, { token: 'hidden', enabled: false });
    expect(made.status).toBe(201);
    expect(received).toEqual([]);
    const { id } = made.data;
    expect(made.data).toMatchObject({
      type: 'notification-configurations',
      attributes: {
        name: 'hook',
        enabled: false,
        'destination-type': 'generic',
        url,
        token: null,
        'email-addresses': [],
        'delivery-responses': [],
      },
      relationships: { subscribable: { data: { type: 'workspaces', id: place.slice(12) } } },
    });
    const { list, meta } = await harness.call('GET', `${place}/notification-configurations`);
    expect([list.map((one) => one.id), meta.pagination['total-count']]).toEqual([[id], 1]);
    const changed = await change(id, { name: 'other', triggers: [] });
    expect(changed.data.attributes).toMatchObject({ name: 'other', triggers: [], url });
    const gone = await harness.call('DELETE', `/notification-configurations/${id}`);
    expect(gone.status).toBe(204);
    expect((await harness.call('GET', `/notification-configurations/${id}`)).status).toBe(404);
  });

  test('that is to be enabled is verified first, and unchanged if that fails', async () => {
    const place = await makePlace();
    answer = 500;
    const refused = await tryConfigure(place);
    expect([refused.status, refused.errors[0]?.detail]).toEqual([
      400,
      'the destination did not accept the verification: 500',
    ]);
    expect((await harness.call('GET', `${place}/notification-configurations`)).list).toEqual([]);
    const { id } = (await tryConfigure(place, { enabled: false })).data;
    expect((await change(id, { enabled: true })).status).toBe(400);
    expect(
      (await harness.call('POST', `/notification-configurations/${id}/actions/verify`)).status,
    ).toBe(400);
    answer = 204;
    received.length = 0;
    expect((await change(id, { enabled: true })).data.attributes['enabled']).toBe(true);
    expect(received[0]?.body).toMatchObject({
      payload_version: 1,
      notification_configuration_id: id,
      run_id: null,
      notifications: [{ message: 'Verification of hook', trigger: 'verification' }],
    });
    const verified = await harness.call(
      'POST',
      `/notification-configurations/${id}/actions/verify`,
    );
    expect(verified.data.attributes['delivery-responses']).toMatchObject([
      { url, code: '204', successful: 'true', headers: { 'x-served-by': ['test'] } },
      { code: '204' },
    ]);
    expect(await responsesOf(id)).not.toMatchObject([{ headers: { 'set-cookie': ['a=b'] } }, {}]);
  });

  test.for([
    [{ triggers: ['run:exploded'] }, '/data/attributes/triggers'],
    [{ triggers: ['change_request:created'] }, '/data/attributes/triggers'],
    [{ triggers: ['assessment:check_failure'] }, '/data/attributes/triggers'],
    [{ url: null }, '/data/attributes/url'],
    [{ url: 'file:///etc/passwd' }, '/data/attributes/url'],
    [{ url: 'http://user:secret@keelson.example' }, '/data/attributes/url'],
    [{ 'destination-type': 'slack', token: 'x' }, '/data/attributes/token'],
    [{ 'destination-type': 'pager' }, '/data/attributes/destination-type'],
    [{ 'email-addresses': ['a@b.example'] }, '/data/attributes/email-addresses'],
    [
      { 'destination-type': 'email', url: null, 'email-addresses': ['a'] },
      '/data/attributes/email-addresses',
    ],
    [{ 'destination-type': 'email' }, '/data/attributes/url'],
    [{ name: ' ' }, '/data/attributes/name'],
  ] as const)('%j is refused', async ([attributes, pointer]) => {
    const reply = await tryConfigure(await makePlace(), attributes);
    expect([reply.status, reply.errors[0]?.source?.pointer]).toEqual([422, pointer]);
  });

  test('of a team may have the trigger of change requests, with a warning that it is never sent', async () => {
    const team = await harness.create('/organizations/acme/teams', 'teams', {
      name: 'of-requests',
    });
    const attributes = {
      name: 'requests',
      'destination-type': 'generic',
      enabled: false,
      url: 'https://hooks.example',
      triggers: ['change_request:created'],
    };
    const made = await harness.call('POST', `/teams/${team.id}/notification-configurations`, {
      data: { type: 'notification-configurations', attributes },
    });
    const warnings = [
      'triggers: change_request:created is never sent: there are no change requests',
    ];
    expect([made.status, made.data.attributes['triggers'], made.meta.warnings]).toEqual([
      201,
      ['change_request:created'],
      warnings,
    ]);
    const path = `/notification-configurations/${made.data.id}`;
    const update = (triggers: readonly string[]) =>
      harness.call('PATCH', path, {
        data: { type: 'notification-configurations', attributes: { triggers } },
      });
    expect((await update(['change_request:created'])).meta.warnings).toEqual(warnings);
    expect((await update(['run:created'])).meta).toBeUndefined();
  });

  test('does not reach private addresses that the operator has not added', async () => {
    const refused = await tryConfigure(await makePlace(), { url: 'http://[::1]:80/' });
    expect([refused.status, refused.errors[0]?.detail]).toEqual([
      400,
      'the destination did not accept the verification: the address policy permits no address of ::1',
    ]);
  });

  test('is refused beyond the limit of its workspace', async () => {
    const place = await makePlace();
    for (const name of ['a', 'b', 'c']) await configure(place, { name, enabled: false });
    expect((await tryConfigure(place, { enabled: false })).status).toBe(409);
  });

  test('cannot change its type', async () => {
    const id = await configure(await makePlace(), { enabled: false });
    expect((await change(id, { 'destination-type': 'slack' })).status).toBe(422);
  });

  test('is deleted with its workspace, project or team', async () => {
    const project = await harness.create('/organizations/acme/projects', 'projects', {
      name: 'prj1',
    });
    const team = await harness.create('/organizations/acme/teams', 'teams', { name: 't1' });
    const workspaceId = await runs.makeWorkspace();
    for (const place of [
      `/workspaces/${workspaceId}`,
      `/projects/${project.id}`,
      `/teams/${team.id}`,
    ]) {
      const id = await configure(place, { enabled: false });
      await harness.call('DELETE', place);
      expect((await harness.call('GET', `/notification-configurations/${id}`)).status).toBe(404);
    }
  });
});

describe('the events of a run', () => {
  test('are sent in order, signed with the token', async () => {
    const workspaceId = await runs.makeWorkspace();
    const id = await configure(`/workspaces/${workspaceId}`, { token: 'key' });
    const runId = await runs.queue(workspaceId, { message: 'more workers' });
    await runs.claim();
    await runs.finish(runId);
    await runs.act(runId, 'discard');
    await harness.runUpkeep();
    expect(triggers()).toEqual(['run:created', 'run:needs_attention', 'run:completed']);
    const { headers, text, body } = received[1] as Received;
    expect(headers['x-tfe-notification-signature']).toBe(
      createHmac('sha512', 'key').update(text).digest('hex'),
    );
    const workspace = await runs.workspaceOf(workspaceId);
    const name = String(workspace.attributes['name']);
    expect(body).toMatchObject({
      notification_configuration_id: id,
      run_url: `https://keelson.example/app/acme/${name}/runs/${runId}`,
      run_id: runId,
      run_message: 'more workers',
      run_created_by: 'admin',
      workspace_id: workspaceId,
      workspace_name: name,
      organization_name: 'acme',
      notifications: [{ message: 'Run Needs Attention', run_status: 'planned' }],
    });
    expect(received[2]?.body.notifications[0]).toMatchObject({ run_updated_by: 'admin' });
    await harness.runUpkeep();
    expect(received).toHaveLength(3);
  });

  test('reach the configurations of the project, and of teams that may read the runs', async () => {
    const workspaceId = await runs.makeWorkspace();
    const { relationships } = await runs.workspaceOf(workspaceId);
    const project = relationships['project']?.data as { id: string };
    const ofProject = await configure(`/projects/${project.id}`, { triggers: ['run:created'] });
    const team = async (name: string) =>
      (await harness.create('/organizations/acme/teams', 'teams', { name })).id;
    const [reading, other] = [await team('reading'), await team('other')];
    await harness.create(
      '/team-workspaces',
      'team-workspaces',
      { access: 'read' },
      {
        relationships: {
          team: { data: { type: 'teams', id: reading } },
          workspace: { data: { type: 'workspaces', id: workspaceId } },
        },
      },
    );
    const ofTeam = await configure(`/teams/${reading}`, { triggers: ['run:created'] });
    const ofOther = await configure(`/teams/${other}`, { triggers: ['run:created'] });
    await runs.queue(workspaceId, { 'plan-only': true });
    await harness.runUpkeep();
    const told = new Set(received.map(({ body }) => body.notification_configuration_id));
    expect(told).toEqual(new Set([ofProject, ofTeam]));
    for (const id of [ofProject, ofTeam, ofOther]) {
      await harness.call('DELETE', `/notification-configurations/${id}`);
    }
    await runs.act(
      (await harness.call('GET', `/workspaces/${workspaceId}/runs`)).list[0]?.id ?? '',
      'discard',
    );
  });

  test('wait in order while the destination is down, and are dropped when it refuses them', async () => {
    const workspaceId = await runs.makeWorkspace();
    const id = await configure(`/workspaces/${workspaceId}`);
    answer = 503;
    const runId = await runs.queue(workspaceId);
    await harness.runUpkeep();
    await harness.runUpkeep();
    expect(triggers()).toEqual(['run:created']);
    await runs.act(runId, 'discard');
    harness.clock.advance(9_999);
    await harness.runUpkeep();
    expect(received).toHaveLength(1);
    harness.clock.advance(1);
    await harness.runUpkeep();
    expect(triggers()).toEqual(['run:created', 'run:created']);
    answer = 200;
    harness.clock.advance(60_000);
    await harness.runUpkeep();
    expect(triggers().slice(2)).toEqual(['run:created', 'run:completed']);
    expect((await responsesOf(id)).map(({ code }) => code)).toEqual([
      '200',
      '200',
      '503',
      '503',
      '200',
    ]);
    answer = 410;
    await runs.act(await runs.queue(workspaceId), 'discard');
    await harness.runUpkeep();
    expect(triggers().slice(4)).toEqual(['run:created', 'run:completed']);
    harness.clock.advance(3_600_000);
    await harness.runUpkeep();
    expect(received).toHaveLength(6);
  });

  test('are not sent once they are a day old or the configuration is disabled', async () => {
    const workspaceId = await runs.makeWorkspace();
    const id = await configure(`/workspaces/${workspaceId}`, { triggers: ['run:created'] });
    await runs.act(await runs.queue(workspaceId), 'discard');
    harness.clock.advance(86_400_001);
    await harness.runUpkeep();
    expect(received).toEqual([]);
    expect((await responsesOf(id))[0]).toMatchObject({ code: 'not sent within a day' });
    await runs.act(await runs.queue(workspaceId), 'discard');
    await change(id, { enabled: false });
    await change(id, { enabled: true });
    received.length = 0;
    await harness.runUpkeep();
    expect(received).toEqual([]);
  });
});

describe('destinations for people', () => {
  test('of Slack receive a text about the run with escaped markup', async () => {
    const workspaceId = await runs.makeWorkspace();
    const triggered = { triggers: ['run:created'], 'destination-type': 'slack' };
    await configure(`/workspaces/${workspaceId}`, triggered);
    const runId = await runs.queue(workspaceId, { message: '<!channel>' });
    await harness.runUpkeep();
    expect(received[0]?.body.text).toMatch(/^Run Created in acme\/app-/);
    expect(received[0]?.body.attachments[0].text).toContain(`${runId}: &lt;!channel&gt;`);
    await runs.act(runId, 'discard');
  });

  test('of Microsoft Teams receive an adaptive card', async () => {
    const workspaceId = await runs.makeWorkspace();
    const triggered = { triggers: ['run:created'], 'destination-type': 'microsoft-teams' };
    await configure(`/workspaces/${workspaceId}`, triggered);
    const runId = await runs.queue(workspaceId);
    await harness.runUpkeep();
    const { contentType, content } = (received[0] as Received).body.attachments[0];
    expect(contentType).toBe('application/vnd.microsoft.card.adaptive');
    expect(content.actions[0].url).toMatch(new RegExp(`/runs/${runId}$`));
    await runs.act(runId, 'discard');
  });

  test('by mail are users of the organization or addresses', async () => {
    const { list } = await harness.call('GET', '/organizations/acme/organization-memberships');
    const member = list[0]?.relationships['user']?.data as { id: string };
    const workspaceId = await runs.makeWorkspace();
    const attributes = {
      'destination-type': 'email',
      url: null,
      'email-addresses': ['ops@keelson.example'],
      triggers: ['run:created'],
    };
    const users = (id: string) => ({ users: { data: [{ type: 'users', id }] } });
    const place = `/workspaces/${workspaceId}`;
    expect((await tryConfigure(place, attributes, users('user-nobody'))).status).toBe(422);
    await configure(place, attributes, users(member.id));
    const runId = await runs.queue(workspaceId);
    await harness.runUpkeep();
    expect(mail.mails).toHaveLength(1);
    expect(mail.mails[0]).toMatch(
      /^From: keelson@keelson.example\r\nTo: ops@keelson.example, \S+@\S+\r\n/m,
    );
    expect(mail.mails[0]).toMatch(/^Subject: Run Created in acme\/app-\d+\r$/m);
    await runs.act(runId, 'discard');
  });
});

describe('an event that waits to be sent', () => {
  test('and cannot be read is skipped, and the others are sent', async () => {
    const places = [await makePlace(), await makePlace()];
    const triggered = { triggers: ['run:created', 'run:errored'] };
    const [lost, other] = [
      await configure(places[0] ?? '', triggered),
      await configure(places[1] ?? '', triggered),
    ];
    const waiting = await Promise.all(
      places.map((place) => runs.queue(place.replace('/workspaces/', ''))),
    );
    const path = `shared/notification-events/${lost}/0`;
    await harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
    for (const id of waiting) await runs.act(id, 'cancel');
    await harness.runUpkeep();
    const told = received.map(
      ({ body }) => `${body.notification_configuration_id} ${body.notifications[0].trigger}`,
    );
    expect(new Set(told)).toEqual(
      new Set([`${lost} run:errored`, `${other} run:created`, `${other} run:errored`]),
    );
    expect(await responsesOf(lost)).toContainEqual(
      expect.objectContaining({ code: 'not sent: the event cannot be read' }),
    );
  });

  test('is mailed to the users who may still read the runs', async () => {
    const workspaceId = await runs.makeWorkspace();
    const [reader, former, left] = await Promise.all(
      [1, 2, 3].map(() => teamWith(harness, workspaceId, { access: 'read' })),
    );
    await configure(
      `/workspaces/${workspaceId}`,
      { 'destination-type': 'email', url: null, triggers: ['run:created'] },
      {
        users: {
          data: [reader, former, left].map((team) => ({ type: 'users', id: team?.memberId })),
        },
      },
    );
    const runId = await runs.queue(workspaceId);
    await harness.call('DELETE', `/team-workspaces/${former?.grantId}`);
    await harness.call('DELETE', `/teams/${left?.teamId}/relationships/users`, {
      data: [{ type: 'users', id: left?.memberId }],
    });
    await harness.runUpkeep();
    expect(mail.mails).toHaveLength(1);
    const { username } = (await harness.call('GET', `/users/${reader?.memberId}`)).data.attributes;
    expect(mail.mails[0]).toContain(`\nTo: ${String(username)}@keelson.example\r\n`);
    await runs.act(runId, 'discard');
  });

  test('is not sent to a team that may no longer read the runs', async () => {
    const workspaceId = await runs.makeWorkspace();
    const team = await teamWith(harness, workspaceId, { access: 'read' });
    const id = await configure(`/teams/${team.teamId}`, { triggers: ['run:created'] });
    const runId = await runs.queue(workspaceId);
    await harness.call('DELETE', `/team-workspaces/${team.grantId}`);
    await harness.runUpkeep();
    expect(received).toEqual([]);
    expect(await responsesOf(id)).toContainEqual(
      expect.objectContaining({
        code: 'not sent: the team may no longer read the runs of the workspace',
      }),
    );
    await runs.act(runId, 'discard');
  });
});

test('a reminder of a workspace to be destroyed within a day is sent once', async () => {
  const workspaceId = await runs.makeWorkspace();
  await configure(`/workspaces/${workspaceId}`, { triggers: ['workspace:auto_destroy_reminder'] });
  const at = new Date(harness.clock.nowMs() + 25 * 3_600_000).toISOString();
  await harness.call('PATCH', `/workspaces/${workspaceId}`, {
    data: { type: 'workspaces', attributes: { 'auto-destroy-at': at } },
  });
  await harness.runUpkeep();
  expect(received).toEqual([]);
  harness.clock.advance(2 * 3_600_000);
  await harness.runUpkeep();
  await harness.runUpkeep();
  expect(triggers()).toEqual(['workspace:auto_destroy_reminder']);
});
