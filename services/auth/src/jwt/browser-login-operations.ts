/** Logins through a browser: the address of the provider, and the return from there. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import type { MountScope } from '@keelson/engine';
import { KeelsonError } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import {
  authorizationUrl,
  authorizeDevice,
  ExchangeFailure,
  type OidcClient,
  redeemCode,
  redeemDevice,
} from '@keelson/openid/code-exchange';
import { isAllowedRedirect } from '@keelson/openid/redirect-uri';
import { LOGIN_LASTS_MS, openState, sealState, stateDigest } from '@keelson/openid/sealed-state';
import { createOutbound, type Outbound } from '@keelson/outbound';
import type { AddressPolicy } from '@keelson/outbound/addresses';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { Claims } from '../providers/domain/claims.ts';
import { ProviderFailure } from '../providers/provider-requests.ts';
import { RequestsUnderWay } from '../providers/under-way.ts';
import { findConfig, type JwtContext } from './config-operations.ts';
import { type JwtConfig, keySourcesOf } from './domain/jwt-config.ts';
import type { JwtRole } from './domain/jwt-role.ts';
import { finishedLoginRecords, usedStateRecords } from './jwt-records.ts';
import { DEVICE_LOGIN_LASTS_MS, type LoginState } from './login-state.ts';
import { requireRole } from './role-operations.ts';
import { verifyToken } from './verify-token.ts';

export interface BrowserLoginContext extends JwtContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly outboundPolicy: AddressPolicy;
  /** Id of this cluster: the clusters of a set have the same keys, and remember for themselves which logins have ended. */
  readonly clusterId: () => string;
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

const digestOf = (code: string): string => createHash('sha256').update(code).digest('hex');

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
  /** "" where the browser does not return. */
  readonly redirectUri: string;
  readonly clientNonce: string;
  /** Address of the program that begins the login. */
  readonly remoteAddress: string;
}

/** The address at which the user signs in, and how its program learns of the end. */
export interface BegunLogin {
  readonly url: string;
  /** Set if the program asks for the result. */
  readonly poll?: {
    readonly state: string;
    readonly intervalSeconds: number;
    /** Which the user types at that address; "" for none. */
    readonly userCode: string;
  };
}

/** The parameters, or the form, that the browser brings back. */
export interface BrowserAnswer {
  readonly state: string;
  readonly code: string;
  readonly iss: string;
  /** The token itself, where the provider sends it in place of a code. */
  readonly idToken: string;
}

/**
 * The issuer that the answer names. Programs to which the browser returns, such as the vendor's, pass the state and the
 * code on, and drop it, although the provider may announce that it always names itself (RFC 9207). They have proved by
 * their nonce that the login is theirs, and its state has the provider that redeems the code.
 */
const issuerOfAnswer = (
  { metadata }: OidcClient,
  { clientNonce }: LoginState,
  { iss }: BrowserAnswer,
): string => (iss === '' && clientNonce !== '' ? String(metadata['issuer']) : iss);

export interface BrowserLogin {
  readonly config: JwtConfig;
  readonly roleName: string;
  readonly role: JwtRole;
  readonly claims: Claims;
}

/** A login whose browser has come back. */
export interface ReturnedLogin {
  readonly login: LoginState;
  readonly config: JwtConfig;
  readonly role: JwtRole;
}

/** Whether a program is the one that began a login with a nonce. */
export const isBegunWith = ({ clientNonce }: LoginState, given: string): boolean =>
  clientNonce !== '' && isSame(clientNonce, given);

/** Path of the console to which browsers return; it reads no forms, so that Keelson receives them. */
const CONSOLE_RETURN = '/ui/sign-in/return';

/** Path below a mount to which browsers return that bring a form, or whose login is direct. */
const CALLBACK = 'oidc/callback';

const toOwnCallback = ({ namespace, path }: Mount, redirectUri: string): string =>
  new URL(`/v1/${namespace?.path ?? ''}${path}${CALLBACK}`, redirectUri).href;

const MAX_CLAIMS_LENGTH = 65_536;
const DEFAULT_POLL_INTERVAL_SECONDS = 5;

const EXPIRED = 'expired or missing OAuth state';

export class BrowserLogins {
  readonly #context: BrowserLoginContext;
  readonly #outbounds = new Map<string, Outbound>();
  readonly #exchanges = new RequestsUnderWay();

  constructor(context: BrowserLoginContext) {
    this.#context = context;
  }

  /** @returns undefined if the role does not allow the redirect URI; @throws KeelsonError `request.invalid` */
  async begin(mount: Mount, request: BrowserRequest): Promise<BegunLogin | undefined> {
    const config = await this.#requireConfig(mount);
    const name = request.role === '' ? config.defaultRole : request.role.toLowerCase();
    const role = await requireRole(this.#context.store, mount, name);
    if (role.roleType !== 'oidc') refuse('role with jwt role_type is not allowed');
    if (role.callbackMode !== 'client' && request.clientNonce === '')
      refuse('missing client_nonce');
    if (role.callbackMode === 'device')
      return this.#beginDevice(mount, config, name, role, request);
    if (request.redirectUri === '') refuse('missing redirect_uri');
    if (!isAllowedRedirect(role.allowedRedirectUris, request.redirectUri)) return undefined;
    const client = await requireClient(this.#context, mount, config);
    const isOfConsole =
      config.postsForm && new URL(request.redirectUri).pathname === CONSOLE_RETURN;
    const login: LoginState = {
      ...this.#newLogin(name, role, request, LOGIN_LASTS_MS),
      redirectUri: isOfConsole ? toOwnCallback(mount, request.redirectUri) : request.redirectUri,
      returnTo: isOfConsole ? request.redirectUri : '',
    };
    const state = this.#seal(mount, config, login);
    const url = await authorizationUrl(client, this.#outboundOf(config), login, {
      ...config,
      state,
      scopes: role.oidcScopes,
    });
    const intervalSeconds = role.pollIntervalSeconds || DEFAULT_POLL_INTERVAL_SECONDS;
    return role.callbackMode === 'direct'
      ? { url, poll: { state, intervalSeconds, userCode: '' } }
      : { url };
  }

  /** The login of a browser that has come back. @throws KeelsonError `request.invalid` */
  async find(mount: MountScope, state: string): Promise<ReturnedLogin> {
    const { store } = this.#context;
    const config = await this.#requireConfig(mount);
    const login = this.#open(mount, config, state);
    // The role may have changed since the login began.
    const role = await requireRole(store, mount, login.role);
    if (role.callbackMode !== login.mode) refuse(EXPIRED);
    const asked = login.returnTo === '' ? login.redirectUri : login.returnTo;
    if (login.mode !== 'device' && !isAllowedRedirect(role.allowedRedirectUris, asked))
      refuse('the redirect_uri of the login is no longer allowed');
    return { login, config, role };
  }

  /**
   * The verified claims of the user who has come back to the program that began the login.
   * @throws KeelsonError `request.invalid`
   */
  async finish(
    mount: MountScope,
    returned: ReturnedLogin,
    answer: BrowserAnswer & { readonly clientNonce: string },
  ): Promise<BrowserLogin> {
    const { login } = returned;
    if (!isSame(login.clientNonce, answer.clientNonce)) refuse('invalid client_nonce');
    const accepted = await this.#takeAccepted(mount, login, answer.code);
    const claims = accepted ?? (await this.#verify(mount, returned, answer));
    if (accepted === undefined) await this.#markUsed(mount, login);
    return { ...returned, roleName: login.role, claims };
  }

  /**
   * Verifies who has come back to Keelson itself; the program that began the login asks for it later.
   * @param check refuses a user who may not sign in
   * @returns a code that the browser brings to the program if it goes on there, without which nobody gets the login: a
   *   stranger may have begun it and sent the address to the user
   * @throws KeelsonError `request.invalid`
   */
  async accept(
    mount: MountScope,
    returned: ReturnedLogin,
    answer: BrowserAnswer,
    check: (login: BrowserLogin) => void,
  ): Promise<string> {
    const { login } = returned;
    const claims = await this.#verify(mount, returned, answer);
    check({ ...returned, roleName: login.role, claims });
    const claimsJson = JSON.stringify(claims);
    if (claimsJson.length > MAX_CLAIMS_LENGTH)
      refuse('the provider says more about the user than is kept');
    const code = random();
    const codeDigest = login.returnTo === '' ? '' : digestOf(code);
    await this.#markUsed(mount, login, { claimsJson, codeDigest });
    return code;
  }

  /**
   * The verified claims of the user of a direct login or of a device.
   * @throws KeelsonError `request.invalid`, with the text `authorization_pending` or `slow_down` while there is no answer
   */
  async poll(
    mount: MountScope,
    { state, clientNonce }: { readonly state: string; readonly clientNonce: string },
  ): Promise<BrowserLogin> {
    const returned = await this.find(mount, state);
    const { login, config } = returned;
    if (login.mode === 'client') refuse(EXPIRED);
    if (!isSame(login.clientNonce, clientNonce)) refuse('invalid client_nonce');
    if (login.mode === 'direct') {
      const claims = await this.#takeAccepted(mount, login, '');
      return {
        ...returned,
        roleName: login.role,
        claims: claims ?? refuse('authorization_pending'),
      };
    }
    await this.#requireUnused(mount, login);
    const client = await requireClient(this.#context, mount, config);
    const redeemed = await this.#exchange(mount, () =>
      redeemDevice(client, this.#outboundOf(config), login.deviceCode),
    );
    if (typeof redeemed === 'string') return refuse(redeemed);
    const claims = await verifyToken(this.#context, mount, config, redeemed.idToken);
    await this.#markUsed(mount, login);
    return { ...returned, roleName: login.role, claims: { ...redeemed.userInfo, ...claims } };
  }

  async tidy(mount: MountScope): Promise<void> {
    const { store, clock } = this.#context;
    for (const records of [usedStateRecords(mount), finishedLoginRecords(mount)]) {
      const entries: readonly (readonly [string, { readonly expiresAtMs: number }])[] =
        await records.entries(store);
      const expired = entries.filter(([, { expiresAtMs }]) => expiresAtMs <= clock.nowMs());
      if (expired.length > 0)
        await store.transact((tx) => {
          for (const [digest] of expired) records.delete(tx, digest);
          return Promise.resolve();
        });
    }
  }

  async #requireConfig(mount: MountScope): Promise<JwtConfig> {
    return (await findConfig(this.#context.store, mount)) ?? refuse('could not load configuration');
  }

  #newLogin(
    name: string,
    { callbackMode: mode }: JwtRole,
    { clientNonce, remoteAddress }: BrowserRequest,
    lastsMs: number,
  ): LoginState {
    return {
      mode,
      role: name,
      redirectUri: '',
      returnTo: '',
      deviceCode: '',
      remoteAddress,
      nonce: random(),
      codeVerifier: random(),
      clientNonce,
      expiresAtMs: this.#context.clock.nowMs() + lastsMs,
    };
  }

  #seal({ uuid }: MountScope, { stateKey }: JwtConfig, login: LoginState): string {
    const key = Buffer.from(stateKey, 'base64');
    return sealState(key, this.#placeOf(uuid), login, randomBytes(IV_BYTES));
  }

  #open({ uuid }: MountScope, { stateKey }: JwtConfig, state: string): LoginState {
    const key = Buffer.from(stateKey, 'base64');
    const nowMs = this.#context.clock.nowMs();
    return openState<LoginState>(key, this.#placeOf(uuid), state, nowMs) ?? refuse(EXPIRED);
  }

  /** A login ends at the cluster where it began. */
  #placeOf(mountUuid: string): string {
    return `${this.#context.clusterId()}/${mountUuid}`;
  }

  async #beginDevice(
    mount: MountScope,
    config: JwtConfig,
    name: string,
    role: JwtRole,
    request: BrowserRequest,
  ): Promise<BegunLogin> {
    const client = await requireClient(this.#context, mount, config);
    const device = await this.#exchange(mount, () =>
      authorizeDevice(client, this.#outboundOf(config), role.oidcScopes),
    );
    const lastsMs = Math.min(device.expiresInSeconds * 1000, DEVICE_LOGIN_LASTS_MS);
    const login = {
      ...this.#newLogin(name, role, request, lastsMs),
      deviceCode: device.deviceCode,
    };
    const intervalSeconds =
      role.pollIntervalSeconds || device.intervalSeconds || DEFAULT_POLL_INTERVAL_SECONDS;
    const state = this.#seal(mount, config, login);
    return { url: device.url, poll: { state, intervalSeconds, userCode: device.userCode } };
  }

  async #requireUnused(mount: MountScope, login: LoginState): Promise<void> {
    const used = await usedStateRecords(mount).find(this.#context.store, stateDigest(login));
    if (used !== undefined) refuse(EXPIRED);
  }

  /** The claims of the user, from the code or the token that the browser has brought. */
  async #verify(
    mount: MountScope,
    { login, config }: ReturnedLogin,
    answer: BrowserAnswer,
  ): Promise<Claims> {
    await this.#requireUnused(mount, login);
    if (config.bringsToken) {
      if (answer.idToken === '') return refuse('no id_token received from the provider');
      const claims = await verifyToken(this.#context, mount, config, answer.idToken);
      const { nonce } = claims;
      // Nothing else ties the token to this login.
      if (typeof nonce !== 'string' || !isSame(nonce, login.nonce))
        refuse('the token is of another login');
      return claims;
    }
    if (answer.code === '') return refuse('no code received from the provider');
    const client = await requireClient(this.#context, mount, config);
    const { idToken, userInfo } = await this.#exchange(mount, () =>
      redeemCode(client, this.#outboundOf(config), login, {
        ...answer,
        iss: issuerOfAnswer(client, login, answer),
      }),
    );
    const claims = await verifyToken(this.#context, mount, config, idToken);
    return { ...userInfo, ...claims };
  }

  /**
   * One login for each state, however many replicas and requests there are at a time.
   * @param accepted kept for the program that began the login
   */
  #markUsed(
    mount: MountScope,
    login: LoginState,
    accepted?: { readonly claimsJson: string; readonly codeDigest: string },
  ): Promise<void> {
    return this.#context.store.transact(async (tx) => {
      const used = usedStateRecords(mount);
      const digest = stateDigest(login);
      if ((await used.find(tx, digest)) !== undefined) refuse(EXPIRED);
      const { expiresAtMs } = login;
      used.write(tx, [digest], { expiresAtMs });
      if (accepted !== undefined)
        finishedLoginRecords(mount).write(tx, [digest], { ...accepted, expiresAtMs });
    });
  }

  /** The claims that were accepted for a login, once. */
  async #takeAccepted(
    mount: MountScope,
    login: LoginState,
    code: string,
  ): Promise<Claims | undefined> {
    const records = finishedLoginRecords(mount);
    const digest = stateDigest(login);
    const accepted = await records.find(this.#context.store, digest);
    if (accepted === undefined) return undefined;
    if (accepted.codeDigest !== '' && !isSame(accepted.codeDigest, digestOf(code)))
      return refuse(EXPIRED);
    const taken = await this.#context.store.transact(async (tx) => {
      const found = await records.find(tx, digest);
      if (found !== undefined) records.delete(tx, digest);
      return found;
    });
    return taken === undefined ? refuse(EXPIRED) : (JSON.parse(taken.claimsJson) as Claims);
  }

  async #exchange<T>(mount: MountScope, ask: () => Promise<T>): Promise<T> {
    try {
      return await this.#exchanges.send(mount, ask);
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
