/**
 * Decisions about the sign-in of a command: an authorization code of OAuth 2.0 (RFC 6749) for a program on the
 * user's own machine (RFC 8252), bound to its challenge (RFC 7636, S256 alone).
 */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Between the approval and the request of the command, which follows at once. */
export const CODE_LIFETIME_MS = 60_000;

/** Codes of one user that wait; the oldest ends when there is one too many. */
export const MOST_CODES = 10;

export const loginCodeShape = Type.Object({
  /** `user-…` of who approved. */
  userId: Type.String(),
  /** `at-…` of the token with which the user approved; when it ends, so does the code. */
  tokenId: Type.String(),
  /** The SHA-256 digest, in base64url, of the verifier that the command keeps. */
  challenge: Type.String(),
  /** Where the command listens. */
  redirectUri: Type.String(),
  expiresAtMs: Type.Number(),
});
export type LoginCode = Shaped<typeof loginCodeShape>;

/** The request of a command, as the address of the authorization page has it. */
export interface LoginRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly state: string;
}

/** Facts about commands that this installation has announced. */
export interface CommandRules {
  readonly clientId: string;
  readonly ports: readonly [first: number, last: number];
}

export interface LoginFault {
  readonly field: 'client-id' | 'redirect-uri' | 'code-challenge';
  readonly text: string;
}

const OWN_MACHINE = /^http:\/\/(?:localhost|127\.0\.0\.1):(\d{4,5})\/login$/;
const CHALLENGE = /^[\w-]{43}$/;

/** The faults for which a request is not approved, whoever asks. */
export const faultsOf = (
  { clientId, redirectUri, challenge }: LoginRequest,
  rules: CommandRules,
): readonly LoginFault[] => {
  const [first, last] = rules.ports;
  const port = Number(OWN_MACHINE.exec(redirectUri)?.[1] ?? 0);
  const faults: readonly (LoginFault | false)[] = [
    clientId !== rules.clientId && { field: 'client-id', text: `must be ${rules.clientId}` },
    (port < first || port > last) && {
      field: 'redirect-uri',
      text: `must be http://localhost:PORT/login or http://127.0.0.1:PORT/login, with a port from ${first} to ${last}`,
    },
    !CHALLENGE.test(challenge) && {
      field: 'code-challenge',
      text: 'must be the SHA-256 digest of the verifier, 43 characters of base64url',
    },
  ];
  return faults.filter((fault) => fault !== false);
};

/** The address of the command to which the browser brings the code. */
export const addressWith = ({ redirectUri, state }: LoginRequest, code: string): string =>
  `${redirectUri}?${new URLSearchParams({ code, state }).toString()}`;

/** In place of a code: no code of this installation is as short. */
export const REFUSED_CODE = 'refused';

/**
 * The address to which the browser brings a refusal. The commands wait for a code, go on waiting when they get an
 * error alone (RFC 6749, section 4.1.2.1), and cannot be interrupted meanwhile. Shown a code that is good for
 * nothing, they end with the answer of the token endpoint.
 */
export const addressOfRefusal = ({ redirectUri, state }: LoginRequest): string =>
  `${redirectUri}?${new URLSearchParams({ error: 'access_denied', code: REFUSED_CODE, state }).toString()}`;

/** The facts that a command shows in exchange for a token. */
export interface TokenRequest {
  readonly code: string;
  readonly redirectUri: string;
  readonly verifier: string;
}

const VERIFIER = /^[\w.~-]{43,128}$/;

const isEqual = (given: string, expected: string): boolean => {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** Whether the code was made for whoever shows it, and has not expired. */
export const isFor = (code: LoginCode, given: TokenRequest, nowMs: number): boolean =>
  nowMs < code.expiresAtMs &&
  given.redirectUri === code.redirectUri &&
  VERIFIER.test(given.verifier) &&
  isEqual(hash('sha256', given.verifier, 'base64url'), code.challenge);

/** Releases of Terraform state their maker with a version or without. */
const PROGRAM = /^(?:HashiCorp(?:\/[\d.]+)? )?(Terraform|OpenTofu)\/(\d[\w.+-]{0,31})(?: |$)/;

/** Tells the user in the list of tokens which command has which token. @param userAgent as the command states it */
export const describeLogin = (userAgent: string, nowMs: number): string => {
  const [, program, version] = PROGRAM.exec(userAgent) ?? [];
  const tool = program === 'OpenTofu' ? 'tofu' : 'terraform';
  const minute = new Date(nowMs).toISOString().slice(0, 16).replace('T', ' ');
  return `${tool} login${version === undefined ? '' : ` (${version})`}, ${minute} UTC`;
};
