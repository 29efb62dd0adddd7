/**
 * `terraform login` by its protocol: OAuth 2.0 with a code and PKCE.
 *
 * | the user decides | answer |
 * | --- | --- |
 * | as a user, with the announced client, an address of the own machine and S256 | 201, where the browser goes with a code |
 * | the same, but refuses | 201, where the browser goes with what ends the command |
 * | as anybody else | 404 |
 * | another client, address, port, method or challenge | 422, which names the field |
 *
 * | the command shows a code | answer |
 * | --- | --- |
 * | once, within a minute, with its verifier and address | 200, a token of the user |
 * | again, late, unknown, with another verifier or address, or after the user's session or account has ended | 400 invalid_grant |
 * | as another client | 400 invalid_client |
 * | as another grant | 400 unsupported_grant_type |
 * | with a parameter missing, empty or twice | 400 invalid_request |
 * | in another media type | 415 |
 *
 * Whatever is answered, the code is spent once it was shown by the right client.
 */
import { hash } from 'node:crypto';
import { bufferedBody } from '@keelson/edge';
import { RequestHead } from '@keelson/proto/edge/v1/edge';
import { messageOf } from '@keelson/proto/message';
import { readableOnly } from '@keelson/storage';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, requireDescribed, startHarness } from '../../../test/workspace-harness.ts';
import { loginCodes } from './login-code-records.ts';

const VERIFIER = 'd8b5e1c2-4a4e-4f0f-9a3b-0d4b7f0c2a11.123456789';
const ADDRESS = 'http://localhost:10003/login';
const STATE = 'a state & more';
const TERRAFORM = 'HashiCorp Terraform/1.14.0 (+https://www.terraform.io)';
let harness: Harness;
let serial = 0;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness[Symbol.asyncDispose]());

const addUser = () => harness.addUser(`user-${(serial += 1)}`);

const REQUEST = {
  'response-type': 'code',
  'client-id': 'terraform-cli',
  'redirect-uri': ADDRESS,
  'code-challenge': hash('sha256', VERIFIER, 'base64url'),
  'code-challenge-method': 'S256',
  state: STATE,
  approved: true,
};

const approve = (token: string | null, change: object = {}) =>
  harness.call(
    'POST',
    '/command-logins',
    { data: { type: 'command-logins', attributes: { ...REQUEST, ...change } } },
    token,
  );

const codeOf = (reply: Awaited<ReturnType<typeof approve>>): string =>
  new URL(String(reply.data.attributes['redirect-to'])).searchParams.get('code') ?? '';

const approved = async (token: string): Promise<string> => codeOf(await approve(token));

interface Exchanged {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly document: Readonly<Record<string, string | number>>;
}

const FORM = 'application/x-www-form-urlencoded';

const send = async (
  body: string,
  userAgent = TERRAFORM,
  contentType = FORM,
): Promise<Exchanged> => {
  const { head, body: bytes } = await harness.service.edge.handle({
    head: messageOf(RequestHead, {
      requestId: 'req',
      method: 'POST',
      path: '/command-logins/token',
      headers: { 'content-type': contentType, 'user-agent': userAgent },
    }),
    body: bufferedBody(Buffer.from(body)),
    signal: new AbortController().signal,
  });
  const text = Buffer.from(bytes as Uint8Array).toString();
  const headers = Object.fromEntries(head.headers.map(({ name, value }) => [name, value]));
  await requireDescribed(harness.service.edge, {
    method: 'POST',
    path: '/command-logins/token',
    query: '',
    status: head.status,
    contentType: headers['content-type'] ?? '',
    body: text,
  });
  return { status: head.status, headers, document: JSON.parse(text) as Exchanged['document'] };
};

const formOf = (code: string, change: Readonly<Record<string, string>> = {}): string =>
  new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: 'terraform-cli',
    code,
    redirect_uri: ADDRESS,
    code_verifier: VERIFIER,
    ...change,
  }).toString();

const exchange = (code: string, change: Readonly<Record<string, string>> = {}) =>
  send(formOf(code, change));

const errorOf = async (answer: Promise<Exchanged>) => {
  const { status, document } = await answer;
  return [status, document['error']];
};
const REFUSED = [400, 'invalid_grant'];

describe('a refusal', () => {
  test('sends the browser to the command with what ends it, and leaves no code', async () => {
    const { id, token } = await addUser();
    const { status, data } = await approve(token, { approved: false });
    expect([status, data.attributes['expires-at']]).toEqual([201, null]);
    const address = new URL(String(data.attributes['redirect-to']));
    expect(address.origin + address.pathname).toBe(ADDRESS);
    expect(Object.fromEntries(address.searchParams)).toEqual({
      error: 'access_denied',
      code: 'refused',
      state: STATE,
    });
    expect((await exchange('refused')).document).toEqual({
      error: 'invalid_grant',
      error_description: 'the user has refused',
    });
    expect(await loginCodes.by.userId.keys(readableOnly(harness.store), id)).toEqual([]);
  });

  test('goes to no other address either', async () => {
    const { token } = await addUser();
    const elsewhere = { approved: false, 'redirect-uri': 'https://evil.example/login' };
    expect((await approve(token, elsewhere)).status).toBe(422);
  });
});

describe('an approval', () => {
  test('sends the browser to the command, with a code and the state', async () => {
    const { token } = await addUser();
    const { status, data } = await approve(token);
    expect(status).toBe(201);
    const address = new URL(String(data.attributes['redirect-to']));
    expect(address.origin + address.pathname).toBe(ADDRESS);
    expect([...address.searchParams.keys()]).toEqual(['code', 'state']);
    expect(address.searchParams.get('state')).toBe(STATE);
    expect(data.attributes['expires-at']).toBe(
      new Date(harness.clock.nowMs() + 60_000).toISOString(),
    );
  });

  test.for([
    ['client-id', 'another'],
    ['response-type', 'token'],
    ['code-challenge-method', 'plain'],
    ['code-challenge', VERIFIER],
    ['code-challenge', ''],
    ['state', ''],
    ['state', 'x'.repeat(513)],
    ['redirect-uri', 'https://localhost:10003/login'],
    ['redirect-uri', 'http://localhost:9999/login'],
    ['redirect-uri', 'http://localhost:10011/login'],
    ['redirect-uri', 'http://localhost/login'],
    ['redirect-uri', 'http://localhost:10003/login/'],
    ['redirect-uri', 'http://localhost:10003/login?to=elsewhere'],
    ['redirect-uri', 'http://localhost:10003/login#'],
    ['redirect-uri', 'http://localhost:10003/LOGIN'],
    ['redirect-uri', 'http://localhost:10003@evil.example/login'],
    ['redirect-uri', 'http://localhost.evil.example:10003/login'],
    ['redirect-uri', 'http://user@localhost:10003/login'],
    ['redirect-uri', 'http://127.0.0.1.evil.example:10003/login'],
    ['redirect-uri', 'http://127.0.0.2:10003/login'],
    ['redirect-uri', 'http://[::1]:10003/login'],
    ['redirect-uri', 'http://localhost:010003/login'],
    ['redirect-uri', 'http://localhost:10003/login\n'],
    ['redirect-uri', ' http://localhost:10003/login'],
    ['redirect-uri', '//localhost:10003/login'],
    ['redirect-uri', 'javascript:alert(1)'],
  ] as const)('with the %s %j is refused', async ([field, value]) => {
    const { token } = await addUser();
    const { status, errors } = await approve(token, { [field]: value });
    expect(status).toBe(422);
    expect(errors.map(({ source }) => source?.pointer)).toEqual([`/data/attributes/${field}`]);
  });

  test.for(['http://127.0.0.1:10000/login', 'http://localhost:10010/login'])(
    'for a command at %s is given',
    async (address) => {
      const { token } = await addUser();
      const code = codeOf(await approve(token, { 'redirect-uri': address }));
      expect((await exchange(code, { redirect_uri: address })).status).toBe(200);
    },
  );

  test('is a matter of users: teams and organizations have none to give', async () => {
    await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
    const made = await harness.create(
      '/organizations/acme/authentication-token',
      'authentication-tokens',
      {},
    );
    expect((await approve(String(made.attributes['token']))).status).toBe(404);
    expect((await approve(null)).status).toBe(401);
  });

  test('leaves ten codes of a user at most, of which the newest work', async () => {
    const { id, token } = await addUser();
    const codes: string[] = [];
    for (let at = 0; at < 12; at += 1) {
      codes.push(await approved(token));
      harness.clock.advance(1);
    }
    expect(await loginCodes.by.userId.keys(readableOnly(harness.store), id)).toHaveLength(10);
    const statuses: number[] = [];
    for (const code of codes) statuses.push((await exchange(code)).status);
    expect(statuses).toEqual([400, 400, ...Array.from({ length: 10 }, () => 200)]);
  });
});

describe('a code', () => {
  test('becomes a token of the user, which names the command and the time, and can be revoked', async () => {
    const { id, token } = await addUser();
    const code = await approved(token);
    const { status, headers, document } = await exchange(code);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    const { access_token: own, ...rest } = document;
    const start = new Date(harness.clock.nowMs());
    const end = new Date(start).setUTCFullYear(start.getUTCFullYear() + 2);
    expect(rest).toEqual({
      token_type: 'bearer',
      expires_in: (end - start.getTime()) / 1000,
    });
    const account = await harness.call('GET', '/account/details', undefined, String(own));
    expect(account.data.id).toBe(id);
    const { list } = await harness.call('GET', `/users/${id}/authentication-tokens`);
    const made = list.find(({ attributes }) => attributes['description'] !== null);
    expect(made?.attributes).toMatchObject({
      description: `terraform login (1.14.0), ${start.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
      'expired-at': new Date(end).toISOString(),
      token: null,
    });
    await harness.call('DELETE', `/authentication-tokens/${made?.id}`, undefined, token);
    expect((await harness.call('GET', '/account/details', undefined, String(own))).status).toBe(
      401,
    );
  });

  test.for([
    ['HashiCorp/1.0 Terraform/1.11.4', /^terraform login \(1\.11\.4\), /],
    ['OpenTofu/1.10.0', /^tofu login \(1\.10\.0\), /],
    ['', /^terraform login, /],
    ['HashiCorp Terraform/<b>1</b>', /^terraform login, /],
    [`OpenTofu/1${'0'.repeat(40)}`, /^terraform login, /],
  ] as const)('of the command "%s" becomes a token with its name', async ([agent, expected]) => {
    const { id, token } = await addUser();
    await send(formOf(await approved(token)), agent);
    const { list } = await harness.call('GET', `/users/${id}/authentication-tokens`);
    expect(list.map(({ attributes }) => attributes['description'] ?? '')).toContainEqual(
      expect.stringMatching(expected),
    );
  });

  test('works once', async () => {
    const code = await approved((await addUser()).token);
    expect((await exchange(code)).status).toBe(200);
    expect(await errorOf(exchange(code))).toEqual(REFUSED);
  });

  test('shown by fifty at once gives one token', async () => {
    const { id, token } = await addUser();
    const code = await approved(token);
    const answers = await Promise.all(Array.from({ length: 50 }, () => exchange(code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(49);
    const { list } = await harness.call('GET', `/users/${id}/authentication-tokens`);
    expect(list).toHaveLength(2);
  });

  test.for([
    ['another verifier', { code_verifier: VERIFIER.replace('d', 'e') }],
    ['the challenge as its verifier', { code_verifier: REQUEST['code-challenge'] }],
    ['a short verifier', { code_verifier: 'x' }],
    ['a long verifier', { code_verifier: 'x'.repeat(129) }],
    ['another address', { redirect_uri: 'http://localhost:10004/login' }],
    ['another spelling of the address', { redirect_uri: 'http://127.0.0.1:10003/login' }],
  ] as const)('shown with %s is spent and gives nothing', async ([, change]) => {
    const code = await approved((await addUser()).token);
    expect(await errorOf(exchange(code, change))).toEqual(REFUSED);
    expect(await errorOf(exchange(code))).toEqual(REFUSED);
  });

  test.for([
    ['another client', { client_id: 'another' }, 'invalid_client'],
    ['another grant', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['nothing in place of the verifier', { code_verifier: '' }, 'invalid_request'],
  ] as const)('shown with %s gives nothing', async ([, change, error]) => {
    const code = await approved((await addUser()).token);
    expect(await errorOf(exchange(code, change))).toEqual([400, error]);
  });

  test.for(['grant_type', 'client_id', 'code', 'redirect_uri', 'code_verifier'])(
    'is refused without %s, and with two of them',
    async (name) => {
      const form = formOf('some');
      const without = new URLSearchParams(form);
      without.delete(name);
      expect(await errorOf(send(without.toString()))).toEqual([400, 'invalid_request']);
      expect(await errorOf(send(`${form}&${name}=x`))).toEqual([400, 'invalid_request']);
    },
  );

  test('is refused in another media type, or in too long a form', async () => {
    const json = JSON.stringify({ code: 'x' });
    expect((await send(json, TERRAFORM, 'application/json')).status).toBe(415);
    expect((await send(formOf('x'.repeat(8192)))).status).toBe(413);
  });

  test('ends after a minute, and its record with the next round of upkeep', async () => {
    const { id, token } = await addUser();
    const [first, second] = [await approved(token), await approved(token)];
    harness.clock.advance(59_999);
    expect((await exchange(first)).status).toBe(200);
    harness.clock.advance(1);
    expect(await errorOf(exchange(second))).toEqual(REFUSED);
    await approved(token);
    harness.clock.advance(60_000);
    await harness.runUpkeep();
    expect(await loginCodes.by.userId.keys(readableOnly(harness.store), id)).toEqual([]);
  });

  test('gives nothing once the session that approved was ended', async () => {
    const { id, token } = await addUser();
    const code = await approved(token);
    const { list } = await harness.call('GET', `/users/${id}/authentication-tokens`);
    await harness.call('DELETE', `/authentication-tokens/${list[0]?.id}`);
    expect(await errorOf(exchange(code))).toEqual(REFUSED);
  });

  test.for(['suspended', 'erased'])('gives nothing once the user is %s', async (end) => {
    const { id, token } = await addUser();
    const code = await approved(token);
    const path = `/admin/users/${id}`;
    await (end === 'erased'
      ? harness.call('DELETE', path)
      : harness.call('POST', `${path}/actions/suspend`));
    expect(await errorOf(exchange(code))).toEqual(REFUSED);
    expect(await loginCodes.by.userId.keys(readableOnly(harness.store), id)).toEqual([]);
  });

  test('is stored as a hash alone', async () => {
    const { id, token } = await addUser();
    const code = await approved(token);
    const records = await readableOnly(harness.store).scan('shared/login-codes/');
    expect(records.length).toBeGreaterThan(0);
    for (const { path, value } of records) {
      expect(path).not.toContain(code);
      expect(Buffer.from(value).includes(code)).toBe(false);
    }
    expect(await loginCodes.by.userId.keys(readableOnly(harness.store), id)).toHaveLength(1);
  });
});
