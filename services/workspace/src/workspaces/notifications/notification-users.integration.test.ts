/** Users who get the mail of a notification configuration. Public clients omit an empty list of them. */
import { type MailServer, startMailServer } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';

let mail: MailServer;
let harness: Harness;
beforeAll(async () => {
  mail = await startMailServer();
  harness = await startHarness({
    config: { workspaceSmtpUrl: mail.url, workspaceMailFrom: 'keelson@keelson.example' },
  });
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});

const TYPE = 'notification-configurations';

test('users are removed by an update without them, which says so, but not by turning mail off', async () => {
  const { list } = await harness.call('GET', '/organizations/acme/organization-memberships');
  const user = list[0]?.relationships['user']?.data as { id: string };
  const users = { users: { data: [{ type: 'users', id: user.id }] } };
  const workspace = await harness.create('/organizations/acme/workspaces', 'workspaces', {
    name: 'app',
  });
  const { id } = await harness.create(
    `/workspaces/${workspace.id}/${TYPE}`,
    TYPE,
    { name: 'mail', 'destination-type': 'email' },
    { relationships: users },
  );
  const update = async (attributes: object, relationships?: object) => {
    const body = { data: { type: TYPE, attributes, relationships } };
    const { status, data, meta } = await harness.call('PATCH', `/${TYPE}/${id}`, body);
    const left = data.relationships['users']?.data as readonly object[];
    return [status, left.length, meta?.warnings ?? []];
  };
  expect(await update({ enabled: false })).toEqual([200, 1, []]);
  expect(await update({ name: 'with users' }, users)).toEqual([200, 1, []]);
  expect(await update({ name: 'without' })).toEqual([
    200,
    0,
    [expect.stringContaining('the users of this configuration were removed')],
  ]);
  expect(await update({ name: 'still without' })).toEqual([200, 0, []]);
});
