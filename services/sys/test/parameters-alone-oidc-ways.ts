/** The ways of operations on identity tokens and clients of OpenID Connect. */
import { dataAt, type Place, post, type Way } from './parameters-alone-way.ts';

const OIDC = 'identity/oidc';
const ORIGIN = 'https://keelson.example';
const CALLBACK = 'https://app.example/';

const named: Way['at'] = (path, { serial }) => path.replace('{name}', serial);
const readThere: Way['observe'] = (place, path) => dataAt(place, path);

/** A client of a provider; the key, scope and assignment of the same name are not those of the client. */
const newClient = async (place: Place, serial: string) => {
  await post(place, `${OIDC}/key/${serial}`, { algorithm: 'ES256', allowed_client_ids: '*' });
  await post(place, `${OIDC}/scope/${serial}`);
  await post(place, `${OIDC}/assignment/${serial}`);
  await post(place, `${OIDC}/client/of-${serial}`, {
    redirect_uris: CALLBACK,
    key: serial,
    assignments: 'allow_all',
  });
  await post(place, `${OIDC}/provider/${serial}`, { issuer: ORIGIN, allowed_client_ids: '*' });
  const client = await dataAt(place, `${OIDC}/client/of-${serial}`);
  return { id: String(client.client_id), secret: String(client.client_secret) };
};

const request = ({ id }: Readonly<Record<string, string>>) => ({
  client_id: id,
  redirect_uri: CALLBACK,
  scope: 'openid',
  response_type: 'code',
});

const authorize: Omit<Way, 'route'> = {
  prepare: newClient,
  at: named,
  least: request,
  values: () => ({
    client_id: 'another',
    redirect_uri: 'https://another.example/',
    scope: 'mail',
    response_type: 'token',
    state: 'a state',
    code_challenge: 'short',
    code_challenge_method: { telling: 'S512', beside: { code_challenge: 'x'.repeat(43) } },
    max_age: 0,
    request: 'x',
    request_uri: 'x',
  }),
  without: { nonce: 'it is a claim of the ID token: src/oidc/sign-in tries it' },
};

export const OIDC_WAYS: readonly Way[] = [
  {
    route: /^POST \/identity\/oidc\/config$/,
    values: ({ serial }) => ({ issuer: `https://${serial}.example` }),
    observe: readThere,
  },
  {
    route: /^POST \/identity\/oidc\/key\/\{name\}$/,
    at: named,
    least: () => ({ algorithm: 'EdDSA' }),
    values: () => ({
      rotation_period: '48h',
      verification_ttl: '1h',
      allowed_client_ids: ['another'],
      algorithm: 'ES256',
    }),
    observe: readThere,
  },
  {
    route: /^POST \/identity\/oidc\/key\/\{name\}\/rotate$/,
    prepare: newClient,
    at: named,
    values: () => ({ verification_ttl: 0 }),
    observe: async ({ cluster }, path) => {
      const keys = `${OIDC}/provider/${path.split('/').at(-2)}/.well-known/keys`;
      return { published: (await cluster.call('GET', keys)).body.keys.length };
    },
  },
  {
    route: /^POST \/identity\/oidc\/role\/\{name\}$/,
    prepare: newClient,
    at: named,
    least: () => ({ key: 'default', client_id: 'mine' }),
    values: ({ serial }) => ({
      key: serial,
      template: '{"a":1}',
      client_id: 'another',
      ttl: '1h',
    }),
    observe: readThere,
  },
  {
    route: /^POST \/identity\/oidc\/introspect$/,
    without: 'only whoever has signed in has a token of a role: src/oidc/identity-tokens tries it',
  },
  {
    route: /^POST \/identity\/oidc\/scope\/\{name\}$/,
    at: named,
    observe: readThere,
  },
  {
    route: /^POST \/identity\/oidc\/assignment\/\{name\}$/,
    at: named,
    values: () => ({ entity_ids: ['another'], group_ids: ['another'] }),
    observe: readThere,
  },
  {
    route: /^POST \/identity\/oidc\/client\/\{name\}$/,
    prepare: newClient,
    at: named,
    values: ({ serial }) => ({
      key: serial,
      redirect_uris: ['https://another.example/'],
      assignments: [serial],
      client_type: 'public',
      id_token_ttl: '1h',
      access_token_ttl: '1h',
    }),
    observe: async (place, path) => {
      const { client_id: _, client_secret: __, ...others } = await dataAt(place, path);
      return others;
    },
  },
  {
    route: /^LIST \/identity\/oidc\/provider$/,
    without: {
      allowed_client_id: 'the built-in provider allows every client: src/oidc/sign-in tries others',
    },
  },
  {
    route: /^POST \/identity\/oidc\/provider\/\{name\}$/,
    prepare: newClient,
    at: named,
    least: () => ({ issuer: ORIGIN }),
    values: ({ serial }) => ({
      issuer: 'https://another.example',
      allowed_client_ids: ['another'],
      scopes_supported: [serial],
    }),
    observe: readThere,
  },
  { route: /^(?:GET|POST) \/identity\/oidc\/provider\/\{name\}\/authorize$/, ...authorize },
  {
    route: /^POST \/identity\/oidc\/provider\/\{name\}\/token$/,
    prepare: newClient,
    at: named,
    least: ({ id, secret }) => ({
      client_id: id,
      client_secret: secret,
      grant_type: 'authorization_code',
    }),
    values: () => ({
      client_id: 'another',
      client_secret: 'another',
      grant_type: 'password',
      code: 'another',
    }),
    without: {
      redirect_uri: 'it is compared for codes that are known: src/oidc/sign-in tries it',
      code_verifier: 'it is compared for codes that are known: src/oidc/sign-in tries it',
    },
  },
];
