/** A provider of OpenID Connect that knows everybody, by whatever name and password they type. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface OpenIdProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Registers Keelson as a client. @param redirectUris where it has browsers sent back to */
  register(...redirectUris: readonly string[]): void;
}

/** The client, as `auth/<mount>/config` names it. */
export const CLIENT = {
  oidc_client_id: 'keelson',
  oidc_client_secret: 'a secret of the test',
} as const;

export const startOpenIdProvider = async (): Promise<OpenIdProvider> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    register: (...redirectUris) => {
      const provider = new Provider(issuer, {
        clients: [
          {
            client_id: CLIENT.oidc_client_id,
            client_secret: CLIENT.oidc_client_secret,
            redirect_uris: [...redirectUris],
            grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
          },
        ],
        claims: { openid: ['sub'], email: ['email', 'email_verified'] },
        findAccount: (_, accountId) => ({
          accountId,
          claims: () => ({
            sub: accountId,
            email: `${accountId}@keelson.example`,
            email_verified: true,
          }),
        }),
        features: { deviceFlow: { enabled: true } },
        cookies: { keys: ['a key of the test'] },
      });
      const answer = provider.callback();
      server.on('request', (request, response) => void answer(request, response));
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
