/**
 * The mail address of an account counts for invitations, lists of members and notifications:
 *
 * | who states the address | effect |
 * | --- | --- |
 * | a site administrator, for the user | at once |
 * | the user | `unconfirmed-email`, until the link of the mail is followed; before, the former address counts |
 *
 * An address belongs to one account at most, whatever the case of its letters.
 */
import { type MailServer, startMailServer } from '@keelson/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../../../test/workspace-harness.ts';
import { confirmationMails } from '../model/user-records.ts';

const O = '/organizations/acme';
let harness: Harness;
let mail: MailServer;

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
beforeEach(async () => {
  await harness.runUpkeep();
  mail.mails.length = 0;
  mail.accepts = true;
});

const update = (token: string, attributes: object, on: Harness = harness) =>
  on.call('PATCH', '/account/update', { data: { type: 'users', attributes } }, token);

const invite = (email: string) =>
  harness.call('POST', `${O}/organization-memberships`, {
    data: { type: 'organization-memberships', attributes: { email } },
  });

const account = async (token: string) =>
  (await harness.call('GET', '/account/details', undefined, token)).data.attributes;

const addressesOf = async (token: string) => {
  const { email, 'unconfirmed-email': unconfirmed } = await account(token);
  return [email, unconfirmed];
};

/** Mails to this address; their long lines are folded (RFC 2045 §6.7). */
const mailsTo = (address: string): readonly string[] =>
  mail.mails
    .filter((text) => text.includes(`To: ${address}`))
    .map((text) => text.replaceAll('=\r\n', '').replaceAll('=3D', '='));

/** The code in the link of the newest mail to the address. */
const codeFor = async (address: string): Promise<string> => {
  await harness.runUpkeep();
  const text = mailsTo(address).at(-1) ?? '';
  return /^https:\/\/keelson\.example\/app\/confirm-email#(\S+)\r$/m.exec(text)?.[1] ?? '';
};

const show = (code: string) => harness.call('GET', '/email-confirmation', undefined, code);
const confirm = async (code: string) =>
  harness.call('POST', '/email-confirmation/actions/confirm', undefined, code);

describe('an address that the user gives', () => {
  test('counts once the link of its mail is followed; until then the former one does', async () => {
    const { token } = await harness.addUser('ada');
    const { data } = await update(token, { email: 'ada@new.example' });
    expect(data.attributes).toMatchObject({
      email: 'ada@keelson.example',
      'unconfirmed-email': 'ada@new.example',
    });
    const code = await codeFor('ada@new.example');
    expect(mailsTo('ada@keelson.example').join('')).not.toContain('/app/confirm-email');
    const shown = await show(code);
    expect(shown.data).toMatchObject({
      type: 'email-confirmations',
      attributes: {
        email: 'ada@new.example',
        username: 'ada',
        'expires-at': new Date(harness.clock.nowMs() + 7 * 86_400_000).toISOString(),
      },
    });
    expect(await addressesOf(token)).toEqual(['ada@keelson.example', 'ada@new.example']);
    expect((await confirm(code)).status).toBe(204);
    expect(await addressesOf(token)).toEqual(['ada@new.example', null]);
    // It works once.
    expect([(await confirm(code)).status, (await show(code)).status]).toEqual([401, 401]);
    const invited = await invite('ADA@new.example');
    expect(invited.data.attributes['email']).toBe('ada@new.example');
  });

  test.for(['bob@keelson.example', 'BOB@Keelson.Example'])(
    'does not bring the invitation of %s',
    async (address) => {
      const name = `mallory-${address === 'bob@keelson.example' ? 'a' : 'b'}`;
      const { id, token } = await harness.addUser(name);
      await update(token, { email: address });
      const { data } = await invite(address);
      const invited = data.relationships['user']?.data as { id: string };
      expect(invited.id).not.toBe(id);
      expect((await harness.call('GET', O, undefined, token)).status).toBe(404);
      await harness.call('DELETE', `/organization-memberships/${data.id}`);
    },
  );

  test('does not stand in the way of the invitation of its owner, nor take it over', async () => {
    const { id, token } = await harness.addUser('eve');
    const { data } = await invite('carol@keelson.example');
    await update(token, { email: 'carol@keelson.example' });
    expect((await invite('Carol@keelson.example')).errors[0]?.detail).toBe('was invited already');
    // The owner of the address follows the link by mistake: the address has an account already.
    const refused = await confirm(await codeFor('carol@keelson.example'));
    expect([refused.status, refused.errors[0]?.detail]).toEqual([
      422,
      expect.stringContaining('Email has already been taken'),
    ]);
    const invited = data.relationships['user']?.data as { id: string };
    expect(invited.id).not.toBe(id);
    expect((await harness.call('GET', O, undefined, token)).status).toBe(404);
  });

  test('is not shown to others, and members are found and shown by the former one', async () => {
    const { list } = await harness.call('GET', `${O}/teams?q=owners`);
    const { id, token } = await harness.addUser('grace', list[0]?.id ?? '');
    await update(token, { email: 'hopper@new.example' });
    const found = async (query: string) =>
      (await harness.call('GET', `${O}/organization-memberships?${query}`)).list.map(
        ({ attributes }) => attributes['email'],
      );
    expect(await found('q=hopper@new.example')).toEqual([]);
    expect(await found('filter[email]=hopper@new.example')).toEqual([]);
    expect(await found('q=grace@')).toEqual(['grace@keelson.example']);
    const { data } = await harness.call('GET', `/users/${id}`);
    expect(data.attributes['unconfirmed-email']).toBeUndefined();
  });

  test('is given up for another one, or for the former one, and its link ends', async () => {
    const { token } = await harness.addUser('linus');
    await update(token, { email: 'one@new.example' });
    const first = await codeFor('one@new.example');
    await update(token, { email: 'two@new.example' });
    expect((await confirm(first)).status).toBe(401);
    harness.clock.advance(600_000);
    const second = await codeFor('two@new.example');
    const back = await update(token, { email: 'LINUS@keelson.example' });
    expect(back.data.attributes).toMatchObject({
      email: 'LINUS@keelson.example',
      'unconfirmed-email': null,
    });
    expect((await confirm(second)).status).toBe(401);
    expect(await addressesOf(token)).toEqual(['LINUS@keelson.example', null]);
  });

  test('keeps its link if the account sends the same address again', async () => {
    const { token } = await harness.addUser('radia');
    await update(token, { email: 'radia@new.example' });
    const code = await codeFor('radia@new.example');
    const again = await update(token, { email: 'radia@new.example', username: 'perlman' });
    expect(again.data.attributes).toMatchObject({
      username: 'perlman',
      'unconfirmed-email': 'radia@new.example',
    });
    expect((await confirm(code)).status).toBe(204);
    expect(await addressesOf(token)).toEqual(['radia@new.example', null]);
  });

  test('has a link that opens nothing else, and ends after 7 days', async () => {
    const { id, token } = await harness.addUser('barbara');
    await update(token, { email: 'barbara@new.example' });
    const code = await codeFor('barbara@new.example');
    for (const path of ['/account/details', O, `/users/${id}/authentication-tokens`, '/invitation'])
      expect((await harness.call('GET', path, undefined, code)).status).toBe(404);
    expect((await update(code, { email: 'x@y.example' })).status).toBe(404);
    harness.clock.advance(7 * 86_400_000);
    expect((await confirm(code)).status).toBe(401);
    expect(await addressesOf(token)).toEqual(['barbara@keelson.example', 'barbara@new.example']);
  });

  test('is confirmed by one of two accounts that gave it', async () => {
    const first = await harness.addUser('twin');
    const second = await harness.addUser('other-twin');
    await update(first.token, { email: 'shared@new.example' });
    const codeOfFirst = await codeFor('shared@new.example');
    await update(second.token, { email: 'Shared@new.example' });
    const codeOfSecond = await codeFor('Shared@new.example');
    const answers = await Promise.all([confirm(codeOfFirst), confirm(codeOfSecond)]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204, 422]));
  });

  test('is mailed again after a failure, and one account does not mail many addresses', async () => {
    const { token } = await harness.addUser('donald');
    mail.accepts = false;
    await update(token, { email: 'donald@new.example' });
    expect(await codeFor('donald@new.example')).toBe('');
    mail.accepts = true;
    harness.clock.advance(10_000);
    expect((await show(await codeFor('donald@new.example'))).status).toBe(200);
    for (const number of [1, 2, 3]) {
      await update(token, { email: `victim-${number}@new.example` });
      await harness.runUpkeep();
    }
    expect(mail.mails.filter((text) => text.includes('victim-'))).toEqual([]);
    harness.clock.advance(600_000);
    await harness.runUpkeep();
    expect(mail.mails.filter((text) => text.includes('victim-'))).toHaveLength(1);
  });

  test.for<[string, object, string]>([
    [
      'a public address',
      {
        workspaceSmtpUrl: 'smtp://127.0.0.1:1',
        workspaceMailFrom: 'k@k.example',
        publicUrl: undefined,
      },
      'KEELSON_PUBLIC_URL',
    ],
    ['a mail server', {}, 'KEELSON_WORKSPACE_SMTP_URL'],
  ])('stays unconfirmed without %s, with a warning', async ([, settings, missing]) => {
    await using bare = await startHarness({ config: settings });
    const { token } = await bare.addUser('ada');
    const { data, meta } = await update(token, { email: 'ada@new.example' }, bare);
    expect(data.attributes).toMatchObject({
      email: 'ada@keelson.example',
      'unconfirmed-email': 'ada@new.example',
    });
    expect(meta.warnings).toEqual([expect.stringContaining(`no ${missing}`)]);
    expect(await confirmationMails.keys(bare.store, [])).toEqual([]);
  });
});

describe('an address that a site administrator gives', () => {
  test('counts at once, and belongs to no other account', async () => {
    const attributes = { username: 'dora', email: 'Dora@keelson.example' };
    await harness.create('/admin/users', 'users', attributes);
    const taken = await harness.call('POST', '/admin/users', {
      data: { type: 'users', attributes: { username: 'dora2', email: 'dora@KEELSON.example' } },
    });
    expect([taken.status, taken.errors[0]?.source?.pointer]).toEqual([
      422,
      '/data/attributes/email',
    ]);
  });
});
