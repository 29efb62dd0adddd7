/** Organizations take turns at the places for notifications and mails. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startMailServer } from '@keelson/testkit';
import { afterAll, expect, test } from 'vitest';
import { archiveOf } from '../../../test/configuration-archive.ts';
import { startHarness } from '../../../test/workspace-harness.ts';

/** Notifications of one organization that are sent at once. */
const PART_OF_ONE = 4;
const CONFIGURATIONS = 20;

const arrived: string[] = [];
/** Answers that are held back, by path. */
const held: ServerResponse[] = [];
let onArrival = (): void => undefined;
const destination = createServer((request, response) => {
  request.resume().on('end', () => {
    arrived.push(request.url ?? '');
    if (request.url === '/slow') held.push(response);
    else response.writeHead(200).end();
    onArrival();
  });
});
await new Promise<void>((resolve) => destination.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(destination.address() as AddressInfo).port}`;
const mail = await startMailServer();
const harness = await startHarness({
  config: {
    runnerToken: 'a-token-of-the-built-in-runner-for-tests',
    outboundRanges: ['127.0.0.1'],
    workspaceSmtpUrl: mail.url,
    workspaceMailFrom: 'keelson@keelson.example',
    publicUrl: 'https://keelson.example',
  },
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
  destination.closeAllConnections();
  await new Promise((resolve) => destination.close(resolve));
});

const createOrganization = (name: string) =>
  harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });

const createWorkspace = async (organization: string): Promise<string> => {
  const path = `/organizations/${organization}/workspaces`;
  const { id } = await harness.create(path, 'workspaces', { name: 'app' });
  const version = await harness.create(
    `/workspaces/${id}/configuration-versions`,
    'configuration-versions',
    { 'auto-queue-runs': false },
  );
  const url = String(version.attributes['upload-url']);
  await harness.transfer('PUT', url, await archiveOf({ 'main.tf': '' }));
  return id;
};

const notifyOf = (workspaceId: string, path: string) =>
  harness.create(
    `/workspaces/${workspaceId}/notification-configurations`,
    'notification-configurations',
    {
      name: 'hook',
      'destination-type': 'generic',
      // An enabled one would be verified.
      enabled: false,
      url: `${origin}${path}`,
      triggers: ['run:created'],
    },
  );
const enable = async (id: string, before: () => void): Promise<void> => {
  before();
  const { status } = await harness.call('PATCH', `/notification-configurations/${id}`, {
    data: { type: 'notification-configurations', attributes: { enabled: true } },
  });
  expect(status).toBe(200);
};
const queueRun = (workspaceId: string) =>
  harness.create(
    '/runs',
    'runs',
    {},
    {
      relationships: { workspace: { data: { type: 'workspaces', id: workspaceId } } },
    },
  );

test('an organization whose destinations do not answer delays no notification of another', async () => {
  await createOrganization('greedy');
  await createOrganization('polite');
  const greedy = await createWorkspace('greedy');
  const polite = await createWorkspace('polite');
  const answerAll = (): void => {
    onArrival = () => {
      for (const response of held.splice(0)) response.writeHead(200).end();
    };
  };
  for (let left = CONFIGURATIONS; left > 0; left -= 1)
    await enable((await notifyOf(greedy, '/slow')).id, answerAll);
  await enable((await notifyOf(polite, '/prompt')).id, answerAll);
  arrived.length = 0;

  await queueRun(greedy);
  const areHeld = Promise.withResolvers<void>();
  onArrival = () => {
    if (held.length === PART_OF_ONE) areHeld.resolve();
  };
  const upkeep = harness.runUpkeep();
  await areHeld.promise;
  await queueRun(polite);
  const isThere = Promise.withResolvers<void>();
  onArrival = () => {
    if (arrived.includes('/prompt')) isThere.resolve();
  };
  harness.clock.advance(1000);
  await isThere.promise;
  expect(arrived).toEqual([...Array(PART_OF_ONE).fill('/slow'), '/prompt']);
  answerAll();
  onArrival();
  await upkeep;
  expect(arrived.filter((path) => path === '/slow')).toHaveLength(CONFIGURATIONS);
});

test('an organization with many invitations delays a mail of another by one', async () => {
  await createOrganization('inviting');
  await createOrganization('other');
  const invite = (organization: string, email: string) =>
    harness.create(
      `/organizations/${organization}/organization-memberships`,
      'organization-memberships',
      { email },
    );
  for (let left = 10; left > 0; left -= 1) await invite('inviting', `many-${left}@b.example`);
  await invite('other', 'one@b.example');
  await harness.runUpkeep();
  expect(mail.mails).toHaveLength(11);
  const position = mail.mails.findIndex((text) => text.includes('one@b.example'));
  expect(position).toBeLessThanOrEqual(1);
});
