/** A provider of OpenID Connect that signs in whoever a test names, without a page. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** Claims of a person, by their subject. */
export type People = Map<string, Readonly<Record<string, unknown>>>;

export const CLIENT = { id: 'keelson', secret: 'a secret of the test' } as const;

export interface OpenIdProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly people: People;
  /** Whether its key set has none of the keys with which it signs. */
  hasOtherKeys: boolean;
  /** The person signs in at the address. @returns `state`, `code` and `iss`, which the browser brings back */
  signIn(address: string, subject: string): Promise<URLSearchParams>;
}

/** The cookies that an answer sets, as a browser sends them back. */
const cookiesOf = (answer: Response): readonly string[] =>
  answer.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0] ?? '');

/** @param redirectUri where it sends browsers back to */
export const startOpenIdProvider = async (redirectUri: string): Promise<OpenIdProvider> => {
  const people: People = new Map();
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: [redirectUri] }],
    claims: {
      openid: ['sub', 'amr'],
      email: ['email', 'email_verified'],
      profile: ['preferred_username', 'groups'],
    },
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, ...people.get(accountId) }),
    }),
    cookies: { keys: ['a key of the test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  });
  const answer = provider.callback();
  let subject = '';
  server.on('request', (request, response) => {
    if (request.url === '/jwks' && started.hasOtherKeys) {
      response.setHeader('content-type', 'application/json').end('{"keys":[]}');
      return;
    }
    if (request.url?.startsWith('/interaction/') !== true) {
      void answer(request, response);
      return;
    }
    void (async () => {
      const { prompt, params, grantId, session } = await provider.interactionDetails(
        request,
        response,
      );
      if (prompt.name === 'login') {
        const { amr } = people.get(subject) ?? {};
        const login = { login: { accountId: subject, ...(Array.isArray(amr) && { amr }) } };
        await provider.interactionFinished(request, response, login);
        return;
      }
      const accountId = session?.accountId ?? subject;
      const clientId = String(params['client_id']);
      const grant =
        (grantId && (await provider.Grant.find(grantId))) ||
        new provider.Grant({ accountId, clientId });
      grant.addOIDCScope(String(params['scope']));
      const consent = { consent: { grantId: await grant.save() } };
      await provider.interactionFinished(request, response, consent, {
        mergeWithLastSubmission: true,
      });
    })();
  });
  const started: OpenIdProvider = {
    issuer,
    people,
    hasOtherKeys: false,
    signIn: async (address, person) => {
      subject = person;
      const jar = new Map<string, string>();
      let at = address;
      for (;;) {
        const reply = await fetch(at, {
          redirect: 'manual',
          headers: { cookie: [...jar.values()].join('; ') },
        });
        await reply.arrayBuffer();
        for (const cookie of cookiesOf(reply)) jar.set(cookie.split('=', 1)[0] ?? '', cookie);
        const location = reply.headers.get('location');
        if (location === null) throw new Error(`${at} was answered with ${reply.status}`);
        at = new URL(location, at).href;
        if (at.startsWith(redirectUri)) return new URL(at).searchParams;
      }
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return started;
};
