/** Clients (relying parties), the providers that they use, and who may sign in to them. */
import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { DEFAULT_KEY } from './named-key.ts';

export const scopeShape = Type.Object({ template: Type.String(), description: Type.String() });
export type Scope = Shaped<typeof scopeShape>;

export const assignmentShape = Type.Object({
  entityIds: Type.Array(Type.String()),
  groupIds: Type.Array(Type.String()),
});
export type Assignment = Shaped<typeof assignmentShape>;

export const providerShape = Type.Object({
  /** Scheme and authority; "" for the public address. */
  issuer: Type.String(),
  /** "*" stands for all. */
  allowedClientIds: Type.Array(Type.String()),
  scopesSupported: Type.Array(Type.String()),
});
export type Provider = Shaped<typeof providerShape>;

export const clientShape = Type.Object({
  clientId: Type.String(),
  /** Undefined for a public client. Operators read it, so it is encrypted and not hashed. */
  clientSecret: Type.Optional(Type.String()),
  key: Type.String(),
  redirectUris: Type.Array(Type.String()),
  assignments: Type.Array(Type.String()),
  idTokenSeconds: Type.Number(),
  accessTokenSeconds: Type.Number(),
});
export type Client = Shaped<typeof clientShape>;

/** The scope that every request names and every provider has. */
export const OPENID_SCOPE = 'openid';
export const ALLOW_ALL = 'allow_all';
export const DEFAULT_PROVIDER = 'default';

export const BUILT_IN_PROVIDER: Provider = {
  issuer: '',
  allowedClientIds: ['*'],
  scopesSupported: [],
};
export const BUILT_IN_ASSIGNMENT: Assignment = { entityIds: ['*'], groupIds: ['*'] };

/** Undefined values remain unchanged, or are the default of a new client. */
export interface ClientChanges {
  readonly key: string | undefined;
  readonly client_type: string | undefined;
  readonly redirect_uris: readonly string[] | undefined;
  readonly assignments: readonly string[] | undefined;
  readonly id_token_ttl: number | undefined;
  readonly access_token_ttl: number | undefined;
}

const DEFAULT_TTL_SECONDS = 86_400;
const MAX_ACCESS_SECONDS = 30 * DEFAULT_TTL_SECONDS;
const MAX_REDIRECT_URIS = 100;
export const MAX_REDIRECT_URI = 2048;
/** A browser that follows these runs what they contain. */
const SCRIPTS = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:']);

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** RFC 6749 §3.1.2: absolute, without a fragment. */
const requireRedirectUri = (uri: string): void => {
  if (uri.length > MAX_REDIRECT_URI)
    refuse(`a redirect URI has at most ${MAX_REDIRECT_URI} characters`);
  if (!URL.canParse(uri) || uri.includes('#') || /\s/.test(uri))
    refuse(`the redirect URI "${uri}" is not an absolute URI without a fragment`);
  if (SCRIPTS.has(new URL(uri).protocol))
    refuse(`the redirect URI "${uri}" has a scheme that browsers execute`);
};

const CLIENT_TYPES = ['confidential', 'public'] as const;
export type ClientType = (typeof CLIENT_TYPES)[number];

export const clientTypeOf = ({ clientSecret }: Pick<Client, 'clientSecret'>): ClientType =>
  clientSecret === undefined ? 'public' : 'confidential';

const requireType = (given: string): ClientType =>
  CLIENT_TYPES.find((type) => type === given) ?? refuse(`invalid client_type "${given}"`);

/** The id and secret that are made for a new client. */
export interface ClientCredentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

const newClient = (type: ClientType, { clientId, clientSecret }: ClientCredentials): Client => ({
  clientId,
  ...(type === 'confidential' && { clientSecret }),
  key: DEFAULT_KEY,
  redirectUris: [],
  assignments: [],
  idTokenSeconds: DEFAULT_TTL_SECONDS,
  accessTokenSeconds: DEFAULT_TTL_SECONDS,
});

/** @throws KeelsonError `request.invalid` naming the parameter that is refused */
export const changedClient = (
  before: Client | undefined,
  changes: ClientChanges,
  made: ClientCredentials,
): Client => {
  const { key, client_type, redirect_uris, assignments } = changes;
  const { id_token_ttl, access_token_ttl } = changes;
  const type = client_type === undefined ? undefined : requireType(client_type);
  if (before !== undefined && type !== undefined && type !== clientTypeOf(before))
    refuse('client_type modification is not allowed');
  if (before !== undefined && key !== undefined && key !== before.key)
    refuse('key modification is not allowed');
  const base = before ?? newClient(type ?? 'confidential', made);
  const redirectUris = [...new Set(redirect_uris ?? base.redirectUris)];
  if (redirectUris.length > MAX_REDIRECT_URIS)
    refuse(`a client has at most ${MAX_REDIRECT_URIS} redirect URIs`);
  redirectUris.forEach(requireRedirectUri);
  const accessTokenSeconds = access_token_ttl ?? base.accessTokenSeconds;
  if (accessTokenSeconds < 1 || accessTokenSeconds > MAX_ACCESS_SECONDS)
    refuse('access_token_ttl has one second to 30 days');
  return {
    ...base,
    key: key ?? base.key,
    redirectUris,
    assignments: [...new Set(assignments ?? base.assignments)],
    idTokenSeconds: id_token_ttl ?? base.idTokenSeconds,
    accessTokenSeconds,
  };
};

export const allowsClient = ({ allowedClientIds }: Provider, clientId: string): boolean =>
  allowedClientIds.includes('*') || allowedClientIds.includes(clientId);

/** Whether somebody is among those who may sign in to a client. */
export const isAssigned = (
  assignments: readonly (Assignment | undefined)[],
  person: { readonly entityIds: readonly string[]; readonly groupIds: readonly string[] },
): boolean =>
  assignments.some(
    (one) =>
      one !== undefined &&
      (one === BUILT_IN_ASSIGNMENT ||
        person.entityIds.some((id) => one.entityIds.includes(id)) ||
        person.groupIds.some((id) => one.groupIds.includes(id))),
  );
