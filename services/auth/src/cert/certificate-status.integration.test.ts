/**
 * Roles that ask responders of OCSP. Behaviours:
 *
 * | the responder                                        | login | with ocsp_fail_open |
 * | ---------------------------------------------------- | ----- | ------------------- |
 * | says good: the issuer, or a responder of its          | yes   | yes                 |
 * | says revoked                                          | no    | no                  |
 * | does not know, fails, redirects, cannot be reached    | no    | yes                 |
 * | lies: other signer, question, certificate, old answer | no    | no                  |
 *
 * The answers are those of `openssl ocsp`.
 */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { clientCertificateHeaders } from '@keelson/edge';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';
import { type Authorities, CA, LEAF, openAuthorities } from '../../test/openssl-authority.ts';

let authorities: Authorities;
let auth: OpenAuth;
let server: Server;
let url: string;

/** The answer of a server to a question: a document of OCSP, or a status alone. */
type Responder = (question: Buffer) => Buffer | number;

const RESPONDER = ['basicConstraints=critical,CA:FALSE', 'extendedKeyUsage=OCSPSigning'];

/** Responders by the paths of the server. */
const responders = new Map<string, Responder>();
/** The paths that were asked since the test began. */
const asked: string[] = [];
const held: ServerResponse[] = [];
let onHeld: (() => void) | undefined;

const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const path = request.url ?? '';
  asked.push(path);
  const pieces: Buffer[] = await request.toArray();
  if (path === '/hangs') {
    held.push(response);
    onHeld?.();
    return;
  }
  const answer = responders.get(path)?.(Buffer.concat(pieces)) ?? 404;
  if (answer === 0) response.destroy();
  else if (typeof answer === 'number')
    response.writeHead(answer, { location: `${url}/good` }).end();
  else response.writeHead(200, { 'content-type': 'application/ocsp-response' }).end(answer);
};

const read = (name: string): Buffer => readFileSync(join(authorities.path, name));

/** The answer of openssl, for the records of the authority. */
const answerBy =
  (signer: string, ...options: readonly string[]): Responder =>
  (question) => {
    writeFileSync(join(authorities.path, 'question.der'), question);
    const keys = ['-rsigner', `${signer}.pem`, '-rkey', `${signer}.key`];
    const files = ['-reqin', 'question.der', '-respout', 'answer.der'];
    authorities.openssl(
      'ocsp',
      '-index',
      'index.txt',
      '-CA',
      'ca.pem',
      ...keys,
      ...files,
      ...options,
    );
    return read('answer.der');
  };

/** A question without a nonce. */
const questionAbout = (name: string): Buffer => {
  const question = ['-issuer', 'ca.pem', '-cert', `${name}.pem`, '-no_nonce'];
  authorities.openssl('ocsp', ...question, '-reqout', 'bare.der');
  return read('bare.der');
};

beforeAll(async () => {
  authorities = await openAuthorities();
  const { make, openssl, path } = authorities;
  server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  make('ca', { subject: '/CN=CA', extensions: CA });
  make('imposter', { subject: '/CN=CA', extensions: CA });
  make('other', { subject: '/CN=Other', extensions: CA });
  for (const name of ['good', 'revoked', 'unknown', 'second'])
    make(name, { subject: `/CN=${name}`, signer: 'ca', extensions: LEAF });
  const named = [...LEAF, `authorityInfoAccess=OCSP;URI:${url}/good,OCSP;URI:ldap://x`];
  make('naming', { subject: '/CN=naming', signer: 'ca', extensions: named });
  make('responder', { subject: '/CN=R', signer: 'ca', extensions: RESPONDER });
  make('short-lived', { subject: '/CN=R', signer: 'ca', extensions: RESPONDER, days: '1' });
  make('of-imposter', { subject: '/CN=R', signer: 'imposter', extensions: RESPONDER });
  make('of-other', { subject: '/CN=R', signer: 'other', extensions: RESPONDER });
  writeFileSync(join(path, 'index.txt'), '');
  writeFileSync(
    join(path, 'ca.conf'),
    '[ca]\ndefault_ca=own\n[own]\ndatabase=index.txt\ndefault_md=sha256\n',
  );
  const authority = ['ca', '-config', 'ca.conf', '-keyfile', 'ca.key', '-cert', 'ca.pem'];
  for (const name of ['good', 'second', 'naming']) openssl(...authority, '-valid', `${name}.pem`);
  openssl(...authority, '-revoke', 'revoked.pem');
  auth = await openAuth({ outboundRanges: ['127.0.0.0/8'] });
}, 60_000);
afterAll(async () => {
  await auth.close();
  server.closeAllConnections();
  server.close();
  await authorities.close();
});

let serial = 0;
let mount: ReturnType<typeof mountOf>;
beforeEach(() => {
  serial += 1;
  mount = mountOf('cert', `8f0b1c1e-0000-4000-8000-${String(serial).padStart(12, '0')}`);
  auth.clock.advance(Date.now() - auth.clock.nowMs());
  responders.clear();
  responders.set('/good', answerBy('ca'));
  asked.length = 0;
});

const call = (method: string, path: string, body?: unknown, headers = {}) =>
  auth.call('cert', method, path, body, { mount, headers });
const trust = async (settings: object = {}, role = 'ops', certificate = 'ca') => {
  const { status, json } = await call('POST', `certs/${role}`, {
    certificate: authorities.pemOf(certificate),
    ocsp_enabled: true,
    ocsp_max_retries: 0,
    ...settings,
  });
  expect([status, json]).toEqual([204, undefined]);
};
const present = (name: string) => clientCertificateHeaders([authorities.derOf(name)]);
const logIn = async (name: string, body: object = {}): Promise<number> =>
  (await call('POST', 'login', body, present(name))).status;
/** The statuses of logins with and without `ocsp_fail_open`, of which a responder is asked. */
const statusesBy = async (responder: Responder, name = 'good', settings: object = {}) => {
  responders.set('/x', responder);
  const statuses: number[] = [];
  for (const isOpen of [false, true]) {
    await trust({ ocsp_servers_override: `${url}/x`, ocsp_fail_open: isOpen, ...settings });
    statuses.push(await logIn(name));
  }
  expect(asked.length).toBeGreaterThan(0);
  return statuses;
};
const YES = [200, 200];
const NO = [400, 400];
const IF_OPEN = [400, 200];

describe('a login', () => {
  test.for([
    ['the issuer', 'ca', [], YES],
    ['the issuer by its key', 'ca', ['-resp_key_id'], YES],
    ['a responder of the issuer', 'responder', [], YES],
    ['an authority of the same name', 'imposter', [], NO],
    ['a responder of an authority of the same name', 'of-imposter', [], NO],
    ['a responder of another authority', 'of-other', [], NO],
    ['a client of the issuer', 'second', [], NO],
    ['a responder that does not show its certificate', 'responder', ['-resp_no_certs'], NO],
  ] as const)(
    'of a certificate that is good as signed by %s',
    async ([, signer, options, expected]) => {
      expect(await statusesBy(answerBy(signer, ...options))).toEqual(expected);
    },
  );

  test.for([
    ['is revoked', 'revoked', NO],
    ['the responder does not know', 'unknown', IF_OPEN],
  ] as const)('of a certificate that %s', async ([, name, expected]) => {
    expect(await statusesBy(answerBy('responder'), name)).toEqual(expected);
  });

  test.for([
    ['fails', () => 500, IF_OPEN],
    ['redirects', () => 302, IF_OPEN],
    ['closes the connection', () => 0, IF_OPEN],
    ['says to try later', () => Buffer.from('30030a0103', 'hex'), IF_OPEN],
    ['says anything', () => Buffer.from('<html>'), NO],
    ['says nothing', () => Buffer.alloc(0), NO],
    ['says that it succeeded and nothing else', () => Buffer.from('30030a0100', 'hex'), NO],
    ['says more than anybody reads', () => Buffer.alloc(65_537, 0x30), NO],
  ] satisfies readonly (readonly [string, Responder, readonly number[]])[])(
    'where the responder %s',
    async ([, responder, expected]) => {
      expect(await statusesBy(responder)).toEqual(expected);
    },
  );

  test('is counted by its role without a question about its certificate', async () => {
    await trust({ ocsp_servers_override: `${url}/good` });
    const roleOf = async (name: string) =>
      (
        await auth.service.methods.findLoginRole({
          mount,
          path: 'login',
          parametersJson: Buffer.from('{}'),
          clientCertificates: [authorities.derOf(name)],
        })
      ).role;
    expect([await roleOf('good'), await roleOf('revoked'), await roleOf('other')]).toEqual([
      'ops',
      'ops',
      '',
    ]);
    expect(asked).toEqual([]);
    expect(await logIn('good')).toBe(200);
    expect(asked).toEqual(['/good']);
  });

  test('is refused with the recorded answer to another question', async () => {
    let recorded: Buffer | undefined;
    const replay: Responder = (question) => {
      recorded ??= answerBy('ca', '-ndays', '9')(question) as Buffer;
      return recorded;
    };
    expect(await statusesBy(replay)).toEqual([200, 400]);
  });

  test('is refused with an answer about another certificate', async () => {
    const other = answerBy('ca', '-ndays', '9')(questionAbout('second'));
    expect(await statusesBy(() => other)).toEqual(NO);
  });

  test('without a nonce takes an answer until it ends', async () => {
    const answer = answerBy('ca', '-nmin', '60')(questionAbout('good'));
    expect(await statusesBy(() => answer)).toEqual(YES);
    auth.clock.advance(59 * 60_000);
    expect(await statusesBy(() => answer)).toEqual(YES);
    expect(await statusesBy(() => answer, 'good', { ocsp_this_update_max_age: '1h' })).toEqual(YES);
    expect(await statusesBy(() => answer, 'good', { ocsp_this_update_max_age: '5m' })).toEqual(NO);
    auth.clock.advance(10 * 60_000);
    expect(await statusesBy(() => answer)).toEqual(NO);
    const revoked = answerBy('ca', '-nmin', '60')(questionAbout('revoked'));
    expect(await statusesBy(() => revoked, 'revoked')).toEqual(NO);
  });

  test('without a nonce or an end takes an answer of now, or of the age that the role permits', async () => {
    const answer = answerBy('ca')(questionAbout('good'));
    expect(await statusesBy(() => answer)).toEqual(YES);
    auth.clock.advance(10 * 60_000);
    expect(await statusesBy(() => answer)).toEqual(NO);
    expect(await statusesBy(() => answer, 'good', { ocsp_this_update_max_age: '15m' })).toEqual(
      YES,
    );
    auth.clock.advance(-30 * 60_000);
    expect(await statusesBy(() => answer, 'good', { ocsp_this_update_max_age: '15m' })).toEqual(NO);
  });

  test('is refused when the certificate of the responder has ended', async () => {
    auth.clock.advance(2 * 24 * 3_600_000);
    expect(await statusesBy(answerBy('responder', '-ndays', '9'))).toEqual(YES);
    expect(await statusesBy(answerBy('short-lived', '-ndays', '9'))).toEqual(NO);
  });

  test('asks the servers that the certificate names', async () => {
    await trust();
    expect([await logIn('naming'), asked]).toEqual([200, ['/good']]);
    // It names none.
    expect(await logIn('good')).toBe(400);
    await trust({ ocsp_fail_open: true });
    expect(await logIn('good')).toBe(200);
    expect(asked).toHaveLength(1);
  });

  test('asks only at addresses that the operator permits', async () => {
    const strict = await openAuth();
    onTestFinished(() => strict.close());
    strict.clock.advance(Date.now() - strict.clock.nowMs());
    const at = { mount, headers: present('good') };
    const role = { certificate: authorities.pemOf('ca'), ocsp_enabled: true };
    const servers = { ocsp_servers_override: `${url}/good` };
    await strict.call('cert', 'POST', 'certs/ops', { ...role, ...servers }, { mount });
    expect((await strict.call('cert', 'POST', 'login', {}, at)).status).toBe(400);
    expect(asked).toEqual([]);
    expect(strict.logged.join('')).toContain('the address policy permits no address of 127.0.0.1');
  });

  test.for([
    [1, 400, 2],
    [2, 200, 3],
  ])('asks again %i times', async ([retries, status, requests]) => {
    let left = 2;
    responders.set('/x', (question) => (left-- > 0 ? 503 : answerBy('ca')(question)));
    await trust({ ocsp_servers_override: `${url}/x`, ocsp_max_retries: retries });
    expect([await logIn('good'), asked.length]).toEqual([status, requests]);
  });

  test('asks servers one after the other until one knows, or all', async () => {
    responders.set('/down', () => 500);
    responders.set('/lies', answerBy('imposter'));
    const statusOf = async (...paths: readonly string[]): Promise<number[]> => {
      asked.length = 0;
      const results: number[] = [];
      for (const asksAll of [false, true]) {
        const servers = paths.map((path) => `${url}${path}`).join(',');
        await trust({ ocsp_servers_override: servers, ocsp_query_all_servers: asksAll });
        results.push(await logIn('good'));
      }
      return [...results, asked.length];
    };
    expect(await statusOf('/good', '/good')).toEqual([200, 200, 3]);
    expect(await statusOf('/down', '/good')).toEqual([200, 400, 4]);
    expect(await statusOf('/good', '/lies')).toEqual([200, 400, 3]);
    expect(await statusOf('/lies', '/good')).toEqual([400, 400, 3]);
    await trust({
      ocsp_servers_override: `${url}/down,${url}/good`,
      ocsp_query_all_servers: true,
      ocsp_fail_open: true,
    });
    expect(await logIn('good')).toBe(200);
  });

  test('believes further responders and their authorities, in PEM or its base64', async () => {
    const pem = authorities.pemOf('other');
    for (const given of [pem, Buffer.from(pem).toString('base64'), authorities.pemOf('of-other')])
      expect(
        await statusesBy(answerBy('of-other'), 'good', { ocsp_ca_certificates: given }),
      ).toEqual(YES);
    expect(await statusesBy(answerBy('imposter'), 'good', { ocsp_ca_certificates: pem })).toEqual(
      NO,
    );
  });

  test('with the certificate of the role itself needs its issuer', async () => {
    const servers = { ocsp_servers_override: `${url}/good` };
    await trust(servers, 'ops', 'good');
    expect(await logIn('good')).toBe(400);
    expect(asked).toEqual([]);
    await trust({ ...servers, ocsp_ca_certificates: authorities.pemOf('ca') }, 'ops', 'good');
    expect(await logIn('good')).toBe(200);
  });

  test('is decided by the first role that fits, and a role by itself', async () => {
    await trust({ ocsp_servers_override: `${url}/good` }, 'a');
    await trust({ ocsp_enabled: false }, 'b');
    expect([await logIn('revoked'), asked.length]).toEqual([400, 1]);
    expect(await logIn('revoked', { name: 'b' })).toBe(200);
  });

  test('waits for a server that hangs no longer than leaves time for the next one', async () => {
    await trust({ ocsp_servers_override: `${url}/hangs,${url}/good` });
    expect([await logIn('good'), asked]).toEqual([200, ['/hangs', '/good']]);
  });

  test('is refused while too many others of the mount wait', async () => {
    await trust({ ocsp_servers_override: `${url}/hangs` });
    const all = new Promise<void>((resolve) => {
      onHeld = () => held.length >= 16 && resolve();
    });
    held.length = 0;
    const waiting = Array.from({ length: 16 }, () => logIn('good'));
    await all;
    expect(await logIn('good')).toBe(429);
    for (const response of held) response.writeHead(404).end();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([400]));
    await trust({ ocsp_servers_override: `${url}/good` });
    expect(await logIn('good')).toBe(200);
  });
});

test('a renewal asks again', async () => {
  let lies = false;
  responders.set('/x', (question) => answerBy(lies ? 'imposter' : 'ca')(question));
  await trust({ ocsp_servers_override: `${url}/x`, token_ttl: '1h' });
  auth.logins.length = 0;
  expect(await logIn('good')).toBe(200);
  const loginData = auth.logins[0]?.loginData ?? Buffer.alloc(0);
  const renew = () =>
    auth.renew(mount, loginData, { clientCertificates: [authorities.derOf('good')] }).then(
      (limits) => limits?.ttlSeconds,
      ({ message }: Error) => message,
    );
  expect(await renew()).toBe(3600);
  lies = true;
  expect(await renew()).toBe('the token cannot be renewed: its login would be refused now');
  await trust({ ocsp_enabled: false, token_ttl: '1h' });
  expect(await renew()).toBe(3600);
});

test('the settings are read as they were written', async () => {
  const settings = {
    ocsp_enabled: true,
    ocsp_ca_certificates: authorities.pemOf('ca'),
    ocsp_servers_override: [`${url}/a`, `${url}/b`],
    ocsp_fail_open: true,
    ocsp_query_all_servers: true,
    ocsp_this_update_max_age: 3600,
    ocsp_max_retries: 2,
  };
  await trust(settings);
  expect((await call('GET', 'certs/ops')).data).toMatchObject(settings);
  await call('POST', 'certs/new', { certificate: authorities.pemOf('ca') });
  expect((await call('GET', 'certs/new')).data).toMatchObject({
    ocsp_enabled: false,
    ocsp_ca_certificates: '',
    ocsp_servers_override: [],
    ocsp_fail_open: false,
    ocsp_query_all_servers: false,
    ocsp_this_update_max_age: 0,
    ocsp_max_retries: 4,
  });
});
