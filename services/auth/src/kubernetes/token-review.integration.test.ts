/** Reviews of tokens: API servers that do not confirm an account, and whose token asks. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type KubernetesApi, startKubernetesApi } from '@keelson/testkit/kubernetes-api';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openAuth } from '../../test/open-auth.ts';
import { AWAY, DENIED, openKubernetes, REVIEWER, SOUND } from '../../test/open-kubernetes.ts';

const kubernetes = await openKubernetes();
const { auth, api, call, configure, makeRole, logIn, tokenOf, podFolder } = kubernetes;
afterAll(kubernetes.close);
beforeEach(kubernetes.nextMount);

describe('a login is refused when the API server', () => {
  const answerOf = (status: object) => ({
    authenticated: true,
    user: { username: 'system:serviceaccount:shop:web', uid: api.uidOf('shop/web') },
    audiences: ['keelson'],
    ...status,
  });
  test.for<[string, object]>([
    ['does not accept the token', { authenticated: false }],
    ['says yes in another type', { authenticated: 'true' }],
    ['reports an error', { error: 'something is wrong' }],
    ['names no user', { user: undefined }],
    ['names a person', { user: { username: 'web', uid: 'u' } }],
    ['names another account', { user: { username: 'system:serviceaccount:shop:api', uid: 'u' } }],
    ['names another namespace', { user: { username: 'system:serviceaccount:mall:web', uid: 'u' } }],
    [
      'names an account of the same name that was created later',
      { user: { username: 'system:serviceaccount:shop:web', uid: 'u' } },
    ],
    ['knows no audiences', { audiences: undefined }],
    ['confirms another audience', { audiences: ['other'] }],
  ])('%s', async ([, status]) => {
    await configure();
    await makeRole();
    const jwt = tokenOf();
    api.answer = (_, response) =>
      response.writeHead(201).end(JSON.stringify({ status: answerOf({}) }));
    expect(await logIn(jwt)).toEqual([200]);
    api.answer = (_, response) =>
      response.writeHead(201).end(JSON.stringify({ status: answerOf(status) }));
    expect(await logIn(jwt)).toEqual(DENIED);
  });

  test.for<[string, KubernetesApi['answer'], readonly unknown[]]>([
    ['answers with 401', (_, response) => response.writeHead(401).end('{}'), DENIED],
    ['answers with 403', (_, response) => response.writeHead(403).end('{}'), DENIED],
    ['answers with 500', (_, response) => response.writeHead(500).end('{}'), AWAY],
    ['answers with 200', (_, response) => response.writeHead(200).end('{}'), AWAY],
    ['redirects', (_, response) => response.writeHead(307, { location: '/elsewhere' }).end(), AWAY],
    ['closes the connection', (request) => request.socket.destroy(), AWAY],
    ['answers with text', (_, response) => response.writeHead(201).end('<html>'), AWAY],
    ['answers with a list', (_, response) => response.writeHead(201).end('[]'), DENIED],
    [
      'answers with 1 MiB',
      (_, response) => response.writeHead(201).end(`"${'x'.repeat(1024 * 1024)}"`),
      AWAY,
    ],
    [
      'repeats the token that asks',
      (_, response) => response.writeHead(201).end(JSON.stringify({ status: { error: REVIEWER } })),
      DENIED,
    ],
  ])('%s', async ([, answer, outcome]) => {
    await configure();
    await makeRole();
    api.answer = answer;
    expect(await logIn(tokenOf())).toEqual(outcome);
    expect(api.asked).toHaveLength(1);
  });

  test('hangs; 16 logins of a mount wait for 5 s, and those of other mounts go on', async () => {
    await configure();
    await makeRole();
    const jwt = tokenOf();
    api.answer = () => undefined;
    const began = performance.now();
    const waiting = Array.from({ length: 16 }, () => call('POST', 'login', { role: 'web', jwt }));
    while (api.asked.length < 16) await new Promise((resolve) => setImmediate(resolve));
    expect((await call('POST', 'login', { role: 'web', jwt })).status).toBe(429);
    kubernetes.nextMount();
    await configure();
    await makeRole();
    expect(await logIn(jwt)).toEqual([200]);
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(400);
    expect(performance.now() - began).toBeLessThan(9000);
  });

  test('has a certificate of another authority', async () => {
    await configure({ kubernetes_ca_cert: '' });
    await makeRole();
    expect(await logIn(tokenOf())).toEqual(AWAY);
    expect(api.asked).toEqual([]);
    expect(auth.logged.join('')).toContain('VERIFY');
  });

  test('is in a network that the operator has not permitted', async () => {
    const strict = await openAuth();
    try {
      const config = { kubernetes_host: api.url, kubernetes_ca_cert: api.caPem };
      await strict.call('kubernetes', 'POST', 'config', config);
      await strict.call('kubernetes', 'POST', 'role/web', SOUND);
      const body = { role: 'web', jwt: tokenOf() };
      const { status, json } = await strict.call('kubernetes', 'POST', 'login', body);
      expect([status, ...json.errors]).toEqual(AWAY);
      expect(strict.logged.join('')).toContain('permits no address of 127.0.0.1');
      expect(api.asked).toEqual([]);
    } finally {
      await strict.close();
    }
  });
});

describe('in a pod', () => {
  const OWN = 'own.token.of-the-pod';
  beforeAll(async () => {
    api.reviewers.add(OWN);
    await writeFile(join(podFolder, 'ca.crt'), api.caPem);
    await writeFile(join(podFolder, 'token'), `${OWN}\n`);
  });
  const bearers = () => api.asked.map(({ bearer }) => bearer);

  test('the certificates and the token come from there where none are given', async () => {
    await configure({ kubernetes_ca_cert: '', token_reviewer_jwt: '' });
    await makeRole();
    expect(await logIn(tokenOf())).toEqual([200]);
    await configure({ kubernetes_ca_cert: `${api.caPem}\n`, token_reviewer_jwt: '' });
    expect(await logIn(tokenOf())).toEqual([200]);
    await configure({ kubernetes_ca_cert: '' });
    expect(await logIn(tokenOf())).toEqual([200]);
    expect(bearers()).toEqual([OWN, OWN, REVIEWER]);
  });

  test('its token is replaced while the service runs', async () => {
    await configure({ kubernetes_ca_cert: '', token_reviewer_jwt: '' });
    await makeRole();
    api.reviewers.add('next.token.of-the-pod');
    await writeFile(join(podFolder, 'token'), 'next.token.of-the-pod');
    expect(await logIn(tokenOf())).toEqual([200]);
    await writeFile(join(podFolder, 'token'), OWN);
    expect(bearers()).toEqual(['next.token.of-the-pod']);
  });

  test('its token is not sent to a server of another authority, nor if the mount forbids it', async () => {
    await using elsewhere = await startKubernetesApi().then((other) =>
      Object.assign(other, { [Symbol.asyncDispose]: other.stop }),
    );
    await makeRole();
    const jwt = tokenOf();
    const there = { kubernetes_host: elsewhere.url, kubernetes_ca_cert: elsewhere.caPem };
    await configure({ ...there, token_reviewer_jwt: '' });
    expect(await logIn(jwt)).toEqual(DENIED);
    expect(elsewhere.asked).toMatchObject([{ bearer: jwt }]);
    await configure({ token_reviewer_jwt: '', disable_local_ca_jwt: true });
    expect(await logIn(jwt)).toEqual(DENIED);
    expect(bearers()).toEqual([jwt]);
  });
});
