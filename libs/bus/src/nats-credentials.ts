/** Credentials of a client of NATS. Files are read for every connection, so that they can be replaced. */
import { readFileSync } from 'node:fs';
import {
  type Authenticator,
  credsAuthenticator,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/nats-core';

export type NatsCredentials =
  | {
      readonly kind: 'login';
      /** "user:password", or a token, which has no colon. */
      readonly login: string;
    }
  | {
      readonly kind: 'credentials file';
      /** JWT and nkey of a user in the format of `nsc` (.creds). */
      readonly file: string;
    }
  | {
      readonly kind: 'nkey';
      /** Seed of a user nkey ("SU…"). */
      readonly file: string;
    };

const read = (file: string): Uint8Array => Buffer.from(readFileSync(file, 'utf8').trim());

const ofLogin = (login: string): Authenticator => {
  const colon = login.indexOf(':');
  return colon === -1
    ? tokenAuthenticator(login)
    : usernamePasswordAuthenticator(login.slice(0, colon), login.slice(colon + 1));
};

/** The client's form of the credentials. A file that cannot be used fails the attempt to connect. */
export const toAuthenticator = (credentials: NatsCredentials): Authenticator => {
  switch (credentials.kind) {
    case 'login':
      return ofLogin(credentials.login);
    case 'credentials file':
      return (nonce) => credsAuthenticator(read(credentials.file))(nonce);
    case 'nkey':
      return (nonce) => nkeyAuthenticator(read(credentials.file))(nonce);
  }
};
