/** The user with which the services of an installation are admitted to its NATS server. */
import { createUser, fromSeed } from '@nats-io/nkeys';

export interface NatsUser {
  /** "SU…": secret. */
  readonly seed: string;
}

export const createNatsUser = (): NatsUser => ({
  seed: Buffer.from(createUser().getSeed()).toString(),
});

/** Configuration of a NATS server that admits this user and nobody else. It has the public key only. */
export const toServerConfiguration = (seed: string): string =>
  `authorization { users: [ { nkey: ${fromSeed(Buffer.from(seed)).getPublicKey()} } ] }\n`;
