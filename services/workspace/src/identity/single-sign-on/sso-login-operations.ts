/**
 * Sign-in at the site's provider of identities (OpenID Connect): authorization code, PKCE, state and nonce. Whoever
 * begins stores nothing here, as the sign-in is remembered in its sealed state.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { KeelsonError } from '@keelson/errors';
import {
  authorizationUrl,
  discoverProvider,
  ExchangeFailure,
  type OidcClient,
  redeemCode,
} from '@keelson/openid/code-exchange';
import {
  LOGIN_LASTS_MS,
  openState,
  type SealedLogin,
  sealState,
  stateDigest,
} from '@keelson/openid/sealed-state';
import type { Outbound } from '@keelson/outbound';
import type { Reads, Store, TransactOptions } from '@keelson/storage';
import { findSsoSettings, usedSsoStates } from '../model/credential-records.ts';
import type { SsoSettings } from '../model/domain/sso-settings.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { issueSession } from '../tokens/session-operations.ts';
import type { IssuedToken } from '../tokens/token-operations.ts';
import { personOf } from './domain/person.ts';
import { followGroups, requireSsoUser } from './sso-user-operations.ts';

const RANDOM_BYTES = 32;
const IV_BYTES = 12;
/** Bound to a sealed state, so that no other one is taken for it. */
const PLACE = 'sso';
/** A provider whose document changes is asked again after this time. */
const FRESH_MS = 5 * 60_000;
/** Requests of strangers to the provider that have no answer yet. */
const MOST_UNDER_WAY = 32;

/** Where the provider sends browsers back to: a page of the console. */
export const RETURN_PATH = '/app/sign-in/return';

const refuse = (text: string): never => {
  throw new KeelsonError('workspace.sso_refused', { text });
};

const random = (): string => randomBytes(RANDOM_BYTES).toString('base64url');

const isSame = (one: string, other: string): boolean => {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
};

export interface SsoAnswer {
  readonly state: string;
  readonly code: string;
  readonly iss: string;
  readonly clientNonce: string;
  readonly userAgent: string;
}

interface Discovered {
  readonly key: string;
  readonly atMs: number;
  readonly metadata: OidcClient['metadata'];
}

/** @throws KeelsonError `workspace.sso_off` */
const requireSettings = async (reads: Reads): Promise<SsoSettings> => {
  const settings = await findSsoSettings(reads);
  if (settings?.enabled !== true) throw new KeelsonError('workspace.sso_off');
  return settings;
};

export class SsoLogins {
  readonly #context: IdentityContext;
  #discovered: Discovered | undefined;
  #underWay = 0;

  constructor(context: IdentityContext) {
    this.#context = context;
  }

  /** @returns the address of the provider to which the browser goes */
  async begin(clientNonce: string): Promise<string> {
    const settings = await requireSettings(this.#context.store);
    const { clock, publicUrl } = this.#context;
    // Requests name the host themselves, and could send codes elsewhere.
    if (publicUrl === undefined) throw new KeelsonError('workspace.sso_off');
    const login: SealedLogin = {
      redirectUri: `${publicUrl}${RETURN_PATH}`,
      nonce: random(),
      codeVerifier: random(),
      clientNonce,
      expiresAtMs: clock.nowMs() + LOGIN_LASTS_MS,
    };
    const key = Buffer.from(settings.stateKey, 'base64');
    const state = sealState(key, PLACE, login, randomBytes(IV_BYTES));
    const { scopes } = settings;
    return this.#atProvider(settings, async (client, outbound) =>
      authorizationUrl(client, outbound, login, { state, scopes }),
    );
  }

  /** A session of the person who has come back. @throws KeelsonError `workspace.sso_refused` */
  async finish(answer: SsoAnswer): Promise<IssuedToken> {
    const settings = await requireSettings(this.#context.store);
    const { store, clock } = this.#context;
    const key = Buffer.from(settings.stateKey, 'base64');
    const login =
      openState<SealedLogin>(key, PLACE, answer.state, clock.nowMs()) ??
      refuse('the sign-in has expired, or was not begun here');
    if (!isSame(login.clientNonce, answer.clientNonce))
      refuse('the sign-in was begun by another browser');
    const digest = stateDigest(login);
    if (answer.code === '') refuse('the provider has sent no code');
    // Before the code is redeemed: a secondary hands the request on to its primary here, and a code is good once.
    await store.transact(async (tx) => {
      if ((await usedSsoStates.find(tx, digest)) !== undefined)
        refuse('the sign-in has ended already');
      usedSsoStates.write(tx, [digest], { expiresAtMs: login.expiresAtMs });
    });
    const { claims, userInfo } = await this.#atProvider(settings, (client, outbound) =>
      redeemCode(client, outbound, login, answer),
    );
    const person = personOf(claims, userInfo, settings) ?? refuse('the provider has named nobody');
    return store.transact(async (tx) => {
      const nowMs = clock.nowMs();
      const { stateKey } = await requireSettings(tx);
      if (stateKey !== settings.stateKey) refuse('the settings of the site have changed meanwhile');
      const user = await requireSsoUser(tx, settings, person, nowMs);
      if (settings.groupsClaim !== '')
        await followGroups(tx, settings, user.id, person.groups, nowMs);
      return issueSession(tx, user.id, answer.userAgent, nowMs, {
        isSingleSignOn: true,
        ...(person.hasTwoFactors && { hasTwoFactors: true }),
      });
    });
  }

  /** @throws KeelsonError `workspace.sso_unavailable`, `request.rate_limited` */
  async #atProvider<T>(
    settings: SsoSettings,
    ask: (client: OidcClient, outbound: Outbound) => Promise<T>,
  ): Promise<T> {
    if (this.#underWay >= MOST_UNDER_WAY) throw new KeelsonError('request.rate_limited');
    this.#underWay += 1;
    const outbound = this.#context.openOutbound(settings.caCertificates);
    try {
      const metadata = await this.#metadataOf(settings, outbound);
      const { clientId: id, clientSecret: secret } = settings;
      return await ask({ id, secret, metadata, verifiesSignature: true }, outbound);
    } catch (err) {
      if (!(err instanceof ExchangeFailure)) throw err;
      const { message: reason } = err;
      this.#context.logger.warn({ reason }, 'a sign-in at the provider of identities has failed');
      throw new KeelsonError('workspace.sso_unavailable', {}, { cause: err });
    } finally {
      this.#underWay -= 1;
      await outbound.close();
    }
  }

  async #metadataOf(
    { issuer, caCertificates }: SsoSettings,
    outbound: Outbound,
  ): Promise<OidcClient['metadata']> {
    const key = JSON.stringify([issuer, caCertificates]);
    const nowMs = this.#context.clock.nowMs();
    const known = this.#discovered;
    if (known?.key === key && nowMs - known.atMs < FRESH_MS) return known.metadata;
    const metadata = await discoverProvider(issuer, outbound);
    this.#discovered = { key, atMs: nowMs, metadata };
    return metadata;
  }
}

/** Removes the marks of sign-ins that would have expired. */
export const removeUsedStates = async (
  store: Store,
  nowMs: number,
  options: TransactOptions,
): Promise<void> => {
  const { entries } = await usedSsoStates.readableEntries(store);
  const expired = entries.filter(([, { expiresAtMs }]) => expiresAtMs <= nowMs);
  if (expired.length === 0) return;
  await store.transact((tx) => {
    for (const [digest] of expired) usedSsoStates.delete(tx, digest);
    return Promise.resolve();
  }, options);
};
