/**
 * Invitations by email address:
 *
 * | what happens | effect |
 * | --- | --- |
 * | POST /organizations/:name/organization-memberships for an unknown address | 201, `invited`; mail with a token where SMTP is set |
 * | the first request with a token of that user | `active` in every organization that invited the address |
 * | POST /admin/users with the address | the account becomes that user's |
 * | DELETE /organization-memberships/:id of an open invitation | 204; account and token go with the last one |
 * | leaving the last team | ends the membership only with `members-leave-with-last-team` |
 */
import { type MailServer, startMailServer } from '@keelson/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, type Identified, startHarness } from '../../../test/workspace-harness.ts';

const O = '/organizations/acme';
let harness: Harness;
let mail: MailServer;
let teamId: string;

beforeAll(async () => {
  mail = await startMailServer();
  harness = await startHarness({
    config: {
      workspaceSmtpUrl: mail.url,
      workspaceMailFrom: 'keelson@keelson.example',
      workspaceInvitationsLimit: 3,
    },
  });
  for (const name of ['acme', 'globex']) {
    await harness.create('/organizations', 'organizations', { name, email: 'a@b.example' });
  }
  teamId = (await harness.create(`${O}/teams`, 'teams', { name: 'readers' })).id;
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});
beforeEach(() => {
  mail.mails.length = 0;
  mail.accepts = true;
});

const invite = (email: string, place = O, teams: readonly string[] = []) =>
  harness.call('POST', `${place}/organization-memberships`, {
    data: {
      type: 'organization-memberships',
      attributes: { email },
      ...(teams.length > 0 && {
        relationships: { teams: { data: teams.map((id) => ({ type: 'teams', id })) } },
      }),
    },
  });

const statusOf = async (id: string) =>
  (await harness.call('GET', `/organization-memberships/${id}`)).data.attributes['status'];

const withdraw = async (id: string) =>
  (await harness.call('DELETE', `/organization-memberships/${id}`)).status;

const userIdOf = ({ relationships }: Identified): string =>
  (relationships['user'] as { data: { id: string } }).data.id;

/** The token in the newest mail, whose long lines are folded (RFC 2045 §6.7). */
const lastToken = () => {
  const text = (mail.mails.at(-1) ?? '').replaceAll('=\r\n', '');
  return /^\S+\.atlasv1\.\S+$/m.exec(text)?.[0] ?? '';
};

describe('an address without a user', () => {
  test('is invited, gets a token by mail, and is a member from the first request on', async () => {
    const made = await invite('ada.l@keelson.example', O, [teamId]);
    expect(made.status).toBe(201);
    expect(made.data.attributes).toMatchObject({
      status: 'invited',
      email: 'ada.l@keelson.example',
    });
    const elsewhere = await invite('ADA.L@keelson.example', '/organizations/globex');
    const list = `${O}/organization-memberships?include=user&filter[status]=invited`;
    const invited = await harness.call('GET', list);
    expect(invited.list.map(({ id }) => id)).toEqual([made.data.id]);
    expect(invited.included[0]?.attributes['username']).toBe('ada-l');
    expect((await invite('ada.l@keelson.example')).errors[0]?.detail).toBe('was invited already');

    await harness.runUpkeep();
    await harness.runUpkeep();
    expect(mail.mails).toHaveLength(2);
    expect(mail.mails[0]).toMatch(/^To: ada\.l@keelson\.example\r$/m);
    expect(await statusOf(made.data.id)).toBe('invited');
    const account = await harness.call('GET', '/account/details', undefined, lastToken());
    expect(account.data.attributes['username']).toBe('ada-l');
    for (const { data } of [made, elsewhere]) expect(await statusOf(data.id)).toBe('active');
    expect((await harness.call('GET', list)).list).toEqual([]);
    const teams = await harness.call('GET', `${O}/teams`, undefined, lastToken());
    expect(teams.list.map(({ id }) => id)).toContain(teamId);
  });

  test('gets another mail after a failure, and the token of the failed mail is invalid', async () => {
    const { data } = await invite('bob@keelson.example');
    const id = userIdOf(data);
    mail.accepts = false;
    await harness.runUpkeep();
    const tokens = `/users/${id}/authentication-tokens`;
    expect((await harness.call('GET', tokens)).list).toEqual([]);
    mail.accepts = true;
    await harness.runUpkeep();
    expect(mail.mails).toEqual([]);
    harness.clock.advance(10_000);
    await harness.runUpkeep();
    expect(mail.mails).toHaveLength(1);
    expect((await harness.call('GET', tokens)).list).toHaveLength(1);
    expect(await withdraw(data.id)).toBe(204);
  });

  test('loses its account and token when the invitation is withdrawn', async () => {
    const { data } = await invite('carl@keelson.example');
    const id = userIdOf(data);
    await harness.runUpkeep();
    const token = lastToken();
    expect(await withdraw(data.id)).toBe(204);
    expect((await harness.call('GET', `/users/${id}`)).status).toBe(404);
    expect((await harness.call('GET', '/account/details', undefined, token)).status).toBe(401);
  });

  test('keeps its invitation when a site administrator creates the account later', async () => {
    const { data } = await invite('dora@keelson.example');
    const user = await harness.addUser('dora');
    expect(data.relationships['user']?.data).toEqual({ type: 'users', id: user.id });
    expect(await statusOf(data.id)).toBe('invited');
    expect((await harness.call('GET', O, undefined, user.token)).status).toBe(200);
    expect(await statusOf(data.id)).toBe('active');
  });

  test('must be valid, and the number of open invitations is limited', async () => {
    expect((await invite('nobody')).errors[0]?.source?.pointer).toBe('/data/attributes/email');
    const open: string[] = [];
    for (const name of ['e1', 'e2', 'e3']) {
      open.push((await invite(`${name}@keelson.example`)).data.id);
    }
    expect((await invite('e4@keelson.example')).status).toBe(409);
    const before = await harness.call('GET', `${O}/organization-memberships?q=e4@`);
    expect(before.list).toEqual([]);
    for (const id of open) expect(await withdraw(id)).toBe(204);
  });
});

describe('a member that leaves the last team', () => {
  const leave = async (username: string) => {
    const { token } = await harness.addUser(username, teamId);
    const members = { data: [{ type: 'users', id: username }] };
    await harness.call('DELETE', `/teams/${teamId}/relationships/users`, members);
    return (await harness.call('GET', O, undefined, token)).status;
  };

  test('stays in the organization, unless the owners have configured otherwise', async () => {
    expect(await leave('frida')).toBe(200);
    const body = {
      data: { type: 'organizations', attributes: { 'members-leave-with-last-team': true } },
    };
    const changed = await harness.call('PATCH', O, body);
    expect(changed.data.attributes['members-leave-with-last-team']).toBe(true);
    expect(await leave('gustav')).toBe(404);
  });
});
