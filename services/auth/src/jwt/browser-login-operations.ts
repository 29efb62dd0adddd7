/** Logins through a browser: the address of the provider, and the return from there. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import { isAllowedRedirect } from '@keelson/openid/redirect-uri';
import { createOutbound, type Outbound } from '@keelson/outbound';
import type { AddressPolicy } from '@keelson/outbound/addresses';
import type { Claims } from '../providers/domain/claims.ts';
import { ProviderFailure } from '../providers/provider-requests.ts';
import { RequestsUnderWay } from '../providers/under-way.ts';
import { authorizationUrl, ExchangeFailure, type OidcClient, redeemCode } from './code-exchange.ts';
import { findConfig, type JwtContext } from './config-operations.ts';
import { type JwtConfig, keySourcesOf } from './domain/jwt-config.ts';
import type { JwtRole } from './domain/jwt-role.ts';
import {
  LOGIN_LASTS_MS,
  type LoginState,
  openState,
  sealState,
  stateDigest,
} from './domain/login-state.ts';
import { usedStateRecords } from './jwt-records.ts';
import { requireRole } from './role-operations.ts';
import { verifyToken } from './verify-token.ts';

export interface BrowserLoginContext extends JwtContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly outboundPolicy: AddressPolicy;
}

const TIME_LIMIT_MS = 5000;
/** Authorities of providers whose connections are kept. */
const MAX_OUTBOUNDS = 64;
const RANDOM_BYTES = 32;
const IV_BYTES = 12;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const random = (): string => randomBytes(RANDOM_BYTES).toString('base64url');

const isSame = (...texts: readonly [string, string]): boolean => {
  const [left, right] = [Buffer.from(texts[0]), Buffer.from(texts[1])];
  return left.length === right.length && timingSafeEqual(left, right);
};

const requireClient = async (
  { providerKeys }: JwtContext,
  mount: MountScope,
  config: JwtConfig,
): Promise<OidcClient> => {
  const [source] = keySourcesOf(config);
  if (config.oidcClientId === '' || source === undefined)
    return refuse('OIDC login is not configured for this mount');
  try {
    const metadata = (await providerKeys.metadataOf(mount, source)) ?? {};
    return { id: config.oidcClientId, secret: config.oidcClientSecret, metadata };
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    return refuse('the provider cannot be reached at the moment');
  }
};

export interface BrowserRequest {
  /** "" for the default role of the mount. */
  readonly role: string;
  readonly redirectUri: string;
  readonly clientNonce: string;
}

export interface BrowserAnswer {
  readonly state: string;
  readonly code: string;
  readonly iss: string;
  readonly clientNonce: string;
}

export interface BrowserLogin {
  readonly config: JwtConfig;
  readonly roleName: string;
  readonly role: JwtRole;
  readonly claims: Claims;
}

export class BrowserLogins {
  readonly #context: BrowserLoginContext;
  readonly #outbounds = new Map<string, Outbound>();
  readonly #exchanges = new RequestsUnderWay();

  constructor(context: BrowserLoginContext) {
    this.#context = context;
  }

  /** @returns undefined if the role does not allow the redirect URI; @throws KeelsonError `request.invalid` */
  async begin(mount: MountScope, request: BrowserRequest): Promise<string | undefined> {
    const { store, clock } = this.#context;
    const config = await this.#requireConfig(mount);
    const name = request.role === '' ? config.defaultRole : request.role.toLowerCase();
    const role = await requireRole(store, mount, name);
    if (role.roleType !== 'oidc') refuse('role with jwt role_type is not allowed');
    if (!isAllowedRedirect(role.allowedRedirectUris, request.redirectUri)) return undefined;
    const client = await requireClient(this.#context, mount, config);
    const login: LoginState = {
      role: name,
      redirectUri: request.redirectUri,
      nonce: random(),
      codeVerifier: random(),
      clientNonce: request.clientNonce,
      expiresAtMs: clock.nowMs() + LOGIN_LASTS_MS,
    };
    const key = Buffer.from(config.stateKey, 'base64');
    const state = sealState(key, mount.uuid, login, randomBytes(IV_BYTES));
    const scopes = role.oidcScopes;
    return authorizationUrl(client, this.#outboundOf(config), login, { state, scopes });
  }

  /** The verified claims of the user who has come back. @throws KeelsonError `request.invalid` */
  async finish(mount: MountScope, answer: BrowserAnswer): Promise<BrowserLogin> {
    const { store, clock } = this.#context;
    const config = await this.#requireConfig(mount);
    const key = Buffer.from(config.stateKey, 'base64');
    const login =
      openState(key, mount.uuid, answer.state, clock.nowMs()) ??
      refuse('expired or missing OAuth state');
    if (!isSame(login.clientNonce, answer.clientNonce)) refuse('invalid client_nonce');
    if (answer.code === '') refuse('no code received from the provider');
    if ((await usedStateRecords(mount).find(store, stateDigest(login))) !== undefined)
      refuse('expired or missing OAuth state');
    // The role may have changed since the login began.
    const role = await requireRole(store, mount, login.role);
    if (!isAllowedRedirect(role.allowedRedirectUris, login.redirectUri))
      refuse('the redirect_uri of the login is no longer allowed');
    const client = await requireClient(this.#context, mount, config);
    const { idToken, userInfo } = await this.#redeem(mount, config, client, { login, answer });
    const claims = await verifyToken(this.#context, mount, config, idToken);
    await this.#markUsed(mount, login);
    return { config, roleName: login.role, role, claims: { ...userInfo, ...claims } };
  }

  async tidy(mount: MountScope): Promise<void> {
    const { store, clock } = this.#context;
    const used = usedStateRecords(mount);
    const expired = (await used.entries(store)).filter(
      ([, { expiresAtMs }]) => expiresAtMs <= clock.nowMs(),
    );
    if (expired.length > 0)
      await store.transact((tx) => {
        for (const [digest] of expired) used.delete(tx, digest);
        return Promise.resolve();
      });
  }

  async #requireConfig(mount: MountScope): Promise<JwtConfig> {
    return (await findConfig(this.#context.store, mount)) ?? refuse('could not load configuration');
  }

  /** One login for each state, however many replicas and requests there are at a time. */
  #markUsed(mount: MountScope, login: LoginState): Promise<void> {
    return this.#context.store.transact(async (tx) => {
      const used = usedStateRecords(mount);
      const digest = stateDigest(login);
      if ((await used.find(tx, digest)) !== undefined) refuse('expired or missing OAuth state');
      used.write(tx, [digest], { expiresAtMs: login.expiresAtMs });
    });
  }

  async #redeem(
    mount: MountScope,
    config: JwtConfig,
    client: OidcClient,
    { login, answer }: { readonly login: LoginState; readonly answer: BrowserAnswer },
  ): ReturnType<typeof redeemCode> {
    try {
      return await this.#exchanges.send(mount, () =>
        redeemCode(client, this.#outboundOf(config), login, answer),
      );
    } catch (err) {
      if (!(err instanceof ExchangeFailure)) throw err;
      const { message: reason } = err;
      this.#context.logger.warn({ reason, mount: mount.uuid }, 'a code was not redeemed');
      return refuse('the provider has refused the code, or cannot be reached');
    }
  }

  /** One for each authority; those that were used last are kept. */
  #outboundOf({ oidcDiscovery }: JwtConfig): Outbound {
    const ca = oidcDiscovery?.caPem ?? '';
    const outbound =
      this.#outbounds.get(ca) ??
      createOutbound({
        policy: this.#context.outboundPolicy,
        timeoutMs: TIME_LIMIT_MS,
        ...(ca !== '' && { ca }),
      });
    this.#outbounds.delete(ca);
    this.#outbounds.set(ca, outbound);
    const [oldest = ''] = this.#outbounds.keys();
    if (this.#outbounds.size > MAX_OUTBOUNDS) {
      // Requests that are under way end before it is closed.
      void this.#outbounds.get(oldest)?.close();
      this.#outbounds.delete(oldest);
    }
    return outbound;
  }
}
