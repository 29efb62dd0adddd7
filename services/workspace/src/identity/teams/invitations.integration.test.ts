/**
 * Invitations by email address:
 *
 * | what happens | effect |
 * | --- | --- |
 * | POST /organizations/:name/organization-memberships | 201, `invited`, for new and known addresses; mail where SMTP and the public address are set, else a warning |
 * | the link of the mail | shows the invitation; accepting it once gives a token, ends the link, and makes the membership `active` |
 * | the first request with another token of that user | `active` in every organization that invited the address |
 * | POST /admin/users with the address | the account becomes that user's |
 * | DELETE /organization-memberships/:id of an open invitation | 204; the link, and the account with the last one |
 * | leaving the last team | ends the membership only with `members-leave-with-last-team` |
 */
import { type MailServer, startMailServer } from '@keelson/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, type Identified, startHarness } from '../../../test/workspace-harness.ts';
import { invitationMails } from '../model/team-records.ts';
import { tokenRecords } from '../model/token-records.ts';

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
    },
    limits: { invitations: 3 },
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

/** The newest mail; its long lines are folded (RFC 2045 §6.7). */
const lastMail = () => (mail.mails.at(-1) ?? '').replaceAll('=\r\n', '').replaceAll('=3D', '=');

/** The code in the link of the newest mail. */
const lastCode = () =>
  /^https:\/\/keelson\.example\/app\/invitation#(\S+)\r$/m.exec(lastMail())?.[1] ?? '';

const show = (code: string) => harness.call('GET', '/invitation', undefined, code);
const accept = (code: string) =>
  harness.call('POST', '/invitation/actions/accept', undefined, code);

describe('an address without a user', () => {
  test('is invited, gets a link by mail, and accepts it for a token', async () => {
    const made = await invite('ada.l@keelson.example', O, [teamId]);
    expect([made.status, made.meta]).toEqual([201, undefined]);
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
    const code = lastCode();
    await harness.runUpkeep();
    expect(mail.mails).toHaveLength(2);
    expect(mail.mails[0]).toMatch(/^To: ada\.l@keelson\.example\r$/m);
    expect((await show(code)).data).toMatchObject({
      type: 'invitations',
      attributes: {
        email: 'ada.l@keelson.example',
        username: 'ada-l',
        'invited-by': 'admin',
        'expires-at': new Date(harness.clock.nowMs() + 7 * 86_400_000).toISOString(),
      },
    });
    expect(await statusOf(made.data.id)).toBe('invited');

    const accepted = await accept(code);
    expect(accepted.status).toBe(201);
    const token = String(accepted.data.attributes['token']);
    const account = await harness.call('GET', '/account/details', undefined, token);
    expect(account.data.attributes['username']).toBe('ada-l');
    for (const { data } of [made, elsewhere]) expect(await statusOf(data.id)).toBe('active');
    expect((await harness.call('GET', list)).list).toEqual([]);
    const teams = await harness.call('GET', `${O}/teams`, undefined, token);
    expect(teams.list.map(({ id }) => id)).toContain(teamId);
    // It works once.
    for (const again of [await show(code), await accept(code), await accept(lastCode())])
      expect(again.status).toBe(401);
  });

  test('accepts its invitation once, however many accept at the same time', async () => {
    await invite('twice@keelson.example');
    await harness.runUpkeep();
    const code = lastCode();
    const answers = await Promise.all([accept(code), accept(code), accept(code)]);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  test('gets a link that opens nothing else, and ends', async () => {
    const { data } = await invite('late@keelson.example');
    await harness.runUpkeep();
    const code = lastCode();
    for (const path of ['/account/details', O, `/users/${userIdOf(data)}/authentication-tokens`])
      expect((await harness.call('GET', path, undefined, code)).status).toBe(404);
    harness.clock.advance(7 * 86_400_000);
    expect([(await show(code)).status, (await accept(code)).status]).toEqual([401, 401]);
    expect(await withdraw(data.id)).toBe(204);
  });

  test('gets another mail after a failure, and the link of the failed mail is invalid', async () => {
    const { data } = await invite('bob@keelson.example');
    mail.accepts = false;
    await harness.runUpkeep();
    expect(await tokenRecords.by.ownerId.keys(harness.store, data.id)).toEqual([]);
    mail.accepts = true;
    await harness.runUpkeep();
    expect(mail.mails).toEqual([]);
    harness.clock.advance(10_000);
    await harness.runUpkeep();
    expect(mail.mails).toHaveLength(1);
    expect((await show(lastCode())).status).toBe(200);
    expect(await withdraw(data.id)).toBe(204);
  });

  test('loses its account and link when the invitation is withdrawn', async () => {
    const { data } = await invite('carl@keelson.example');
    const id = userIdOf(data);
    await harness.runUpkeep();
    const code = lastCode();
    expect(await withdraw(data.id)).toBe(204);
    expect((await harness.call('GET', `/users/${id}`)).status).toBe(404);
    expect((await accept(code)).status).toBe(401);
  });

  test('is answered like an address with one, whose mail has no link', async () => {
    const known = await harness.addUser('known');
    const made = await invite('known@keelson.example');
    const unknown = await invite('unknown@keelson.example');
    expect(made.data.attributes).toEqual({
      ...unknown.data.attributes,
      email: 'known@keelson.example',
    });
    await harness.runUpkeep();
    const ofKnown = mail.mails.find((text) => text.includes('To: known@')) ?? '';
    expect(ofKnown).not.toContain('/app/invitation');
    expect((await harness.call('GET', O, undefined, known.token)).status).toBe(200);
    expect(await statusOf(made.data.id)).toBe('active');
    expect(await withdraw(unknown.data.id)).toBe(204);
    expect(await withdraw(made.data.id)).toBe(204);
    expect((await harness.call('GET', `/users/${known.id}`)).status).toBe(200);
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

test.for([
  [
    'a public address',
    { workspaceSmtpUrl: 'smtp://127.0.0.1:1', workspaceMailFrom: 'k@k.example' },
    { publicUrl: undefined },
    'KEELSON_PUBLIC_URL',
  ],
  ['a mail server', {}, {}, 'KEELSON_WORKSPACE_SMTP_URL'],
] as const)(
  'without %s an invitation says that no mail is sent',
  async ([, settings, absent, missing]) => {
    await using bare = await startHarness({ config: { ...settings, ...absent } as object });
    await bare.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
    const { status, meta } = await bare.call('POST', `${O}/organization-memberships`, {
      data: { type: 'organization-memberships', attributes: { email: 'x@keelson.example' } },
    });
    expect([status, meta.warnings]).toEqual([201, [expect.stringContaining(`no ${missing}`)]]);
    expect(await invitationMails.keys(bare.store, [])).toEqual([]);
  },
);
