import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import type { Bench, Figure } from '../bench.ts';
import { askInTurn, type HttpLoad, measureRate } from '../http-load.ts';
import { askV1, type MeasuredServer, openMeasuredServer } from '../measured-server.ts';

const HOUR_SECONDS = 3600;

interface Answer {
  readonly data: Readonly<Record<string, string>>;
  readonly auth: { readonly client_token: string; readonly entity_id: string };
}

const ask = async (
  server: MeasuredServer,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> => {
  const text = await (await askV1(server, method, path, body)).text();
  return (text === '' ? {} : JSON.parse(text)) as Answer;
};

/** A JSON Web Token that lives for an hour, and the key that verifies it. */
const signedToken = (subject: string) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  const exp = iat + HOUR_SECONDS;
  const data = `${encode({ alg: 'ES256', typ: 'JWT' })}.${encode({ sub: subject, aud: 'bench', iat, exp })}`;
  const signature = sign('sha256', Buffer.from(data), {
    key: privateKey,
    dsaEncoding: 'ieee-p1363',
  });
  return {
    jwt: `${data}.${signature.toString('base64url')}`,
    pem: publicKey.export({ type: 'spki', format: 'pem' }),
  };
};

/** Mounts the three methods. @returns the path and the body of a login of each */
const setUpMethods = async (server: MeasuredServer) => {
  const suffix = randomBytes(4).toString('hex');
  const mount = async (type: string): Promise<string> => {
    const path = `${type}-${suffix}`;
    await ask(server, 'POST', `sys/auth/${path}`, { type });
    return `auth/${path}`;
  };
  const [approle, jwt, userpass] = [
    await mount('approle'),
    await mount('jwt'),
    await mount('userpass'),
  ];
  const settings = { token_policies: 'default', token_ttl: '1h' };
  await ask(server, 'POST', `${approle}/role/bench`, settings);
  const { role_id } = (await ask(server, 'GET', `${approle}/role/bench/role-id`)).data;
  const { secret_id } = (await ask(server, 'POST', `${approle}/role/bench/secret-id`, {})).data;
  const token = signedToken('bench');
  await ask(server, 'POST', `${jwt}/config`, { jwt_validation_pubkeys: token.pem });
  await ask(server, 'POST', `${jwt}/role/bench`, {
    ...settings,
    role_type: 'jwt',
    user_claim: 'sub',
    bound_audiences: 'bench',
  });
  await ask(server, 'POST', `${userpass}/users/bench`, { ...settings, password: 'bench' });
  return {
    approle: { path: `${approle}/login`, body: { role_id, secret_id } },
    jwt: { path: `${jwt}/login`, body: { role: 'bench', jwt: token.jwt } },
    userpass: { path: `${userpass}/login/bench`, body: { password: 'bench' } },
  };
};

/** Puts an entity into five groups, each of which has a policy. */
const addGroups = async (server: MeasuredServer, entityId: string): Promise<void> => {
  const suffix = randomBytes(4).toString('hex');
  for (let turn = 0; turn < 5; turn += 1) {
    const name = `bench-${suffix}-${turn}`;
    await ask(server, 'POST', `sys/policies/acl/${name}`, {
      policy: `path "secret/${name}" { capabilities = ["read"] }`,
    });
    await ask(server, 'POST', `identity/group/name/${name}`, {
      policies: name,
      member_entity_ids: entityId,
    });
  }
};

export const login: Bench = {
  name: 'login',
  claim: 'P22: logins, and requests of a token whose entity is in five groups',
  method:
    'Logins by approle, a signed token and a password from 64 connections, each of which makes a token; a token ' +
    'looking itself up, with an entity in five groups that have policies, next to one without an entity.',
  run: async (context) => {
    const { quick, say } = context;
    const seconds = quick ? 0.3 : 10;
    await using server = await openMeasuredServer(context, { KEELSON_RATE_LIMIT: 'off' });
    const methods = await setUpMethods(server);
    const { url, v1Headers, pid } = server;
    const measure = async (name: string, load: Omit<HttpLoad, 'url'>): Promise<Figure> => {
      say(name);
      const whole = { url, ...load };
      await askInTurn(whole, { duration: seconds / 4 });
      return { name, ...(await measureRate(whole, seconds, pid)) };
    };
    const figures: Figure[] = [];
    for (const [name, { path, body }] of Object.entries(methods))
      figures.push(
        await measure(`log in by ${name}`, {
          method: 'POST',
          paths: [`/v1/${path}`],
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      );
    const { auth } = await ask(server, 'POST', methods.approle.path, methods.approle.body);
    await addGroups(server, auth.entity_id);
    const { auth: made } = await ask(server, 'POST', 'auth/token/create', {
      policies: ['default'],
    });
    const header = Object.keys(v1Headers).find((one) => one.endsWith('-token')) ?? '';
    const lookUp = (name: string, token: string) =>
      measure(name, {
        paths: ['/v1/auth/token/lookup-self'],
        headers: { ...v1Headers, [header]: token },
      });
    const without = await lookUp('look up a token without an entity', made.client_token);
    const within = await lookUp('look up a token, entity in five groups', auth.client_token);
    const limit = { name: 'without an entity', value: without.value };
    return [...figures, without, { ...within, limit }];
  },
};
