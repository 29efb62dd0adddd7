/** Tokens that name the entity of whoever asks for one (`identity/oidc/role`, `token` and `introspect`). */
import { KeelsonError } from '@keelson/errors';
import { SIGNING_ALGORITHMS } from '@keelson/openid/algorithms';
import { signClaims } from '@keelson/openid/signing-keys';
import { parseDurationSeconds } from '@keelson/secrets-api';
import type { Identity } from '../policies/domain/path-template.ts';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import { randomBase62 } from '../tokens/token-operations.ts';
import { decodeTemplate, fillTemplate, type TemplateValues } from './domain/claim-template.ts';
import { issuerOf, requireOrigin } from './domain/issuer.ts';
import { maySignFor, type NamedKey, type Signer } from './domain/named-key.ts';
import {
  changedRole,
  type IdentityRole,
  type RoleChanges,
  requireVerifiable,
} from './domain/token-role.ts';
import { keySetOf, requireKey, requireRing } from './named-key-operations.ts';
import type { OidcContext, Place } from './oidc-context.ts';
import { identityRoles, listNamed, oidcSettings } from './oidc-records.ts';

const MAX_ROLES = 1000;
const CLIENT_ID_LENGTH = 26;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** The values of somebody, or none to try a template. */
export const templateValues = (
  { clock }: Pick<OidcContext, 'clock'>,
  identity?: Identity,
): TemplateValues => ({ identity, nowMs: clock.nowMs(), parseSeconds: parseDurationSeconds });

/** The issuer that is configured; "" for the public address. */
export const readIssuer = async ({ store }: OidcContext, namespaceId: string): Promise<string> =>
  (await oidcSettings.find(store, namespaceId))?.issuer ?? '';

/** @throws KeelsonError `request.invalid` */
export const writeIssuer = (
  { store }: OidcContext,
  namespaceId: string,
  issuer: string,
): Promise<void> =>
  store.transact(async (tx) => {
    oidcSettings.write(tx, [namespaceId], { issuer: requireOrigin(issuer) });
  });

/** The issuer of the tokens of roles. @throws KeelsonError `request.invalid` if there is none */
export const roleIssuer = async (context: OidcContext, place: Place): Promise<string> => {
  const origin = await readIssuer(context, place.id);
  return issuerOf({ origin, publicUrl: context.publicUrl, namespacePath: place.path });
};

/** @throws KeelsonError `request.invalid` naming the parameter that is refused */
export const putRole = async (
  context: OidcContext,
  namespaceId: string,
  name: string,
  given: RoleChanges,
): Promise<void> => {
  const { template } = given;
  const changes = { ...given, template: template && decodeTemplate(template) };
  const made = randomBase62(CLIENT_ID_LENGTH);
  const role = await context.store.transact(async (tx) => {
    const before = await identityRoles.find(tx, namespaceId, name);
    const room = await identityRoles.keys(tx, [namespaceId], { limit: MAX_ROLES });
    if (before === undefined && room.length >= MAX_ROLES)
      refuse(`a namespace has at most ${MAX_ROLES} roles of identity tokens`);
    const after = changedRole(before, changes, made);
    fillTemplate(after.template, templateValues(context));
    const key = await requireKey(tx, namespaceId, after.key);
    requireVerifiable("a role's token ttl", after.ttlSeconds, key);
    identityRoles.write(tx, [namespaceId, name], after);
    return after;
  });
  // Published before the first token is signed.
  await requireRing(context, namespaceId, role.key);
};

export const readRole = (
  { store }: OidcContext,
  namespaceId: string,
  name: string,
): Promise<IdentityRole | undefined> => identityRoles.find(store, namespaceId, name);

export const listRoles = ({ store }: OidcContext, namespaceId: string) =>
  identityRoles.keys(store, [namespaceId]);

export const deleteRole = ({ store }: OidcContext, namespaceId: string, name: string) =>
  store.transact(async (tx) => identityRoles.delete(tx, namespaceId, name));

/** The key that signs now. @throws KeelsonError `request.invalid` if the client may not use the key */
export const requireSigner = async (
  context: OidcContext,
  namespaceId: string,
  name: string,
): Promise<{ readonly key: NamedKey; readonly signer: Signer }> => {
  await requireRing(context, namespaceId, name);
  const key = await requireKey(context.store, namespaceId, name);
  return key.ring === undefined
    ? refuse(`key "${name}" does not exist`)
    : { key, signer: key.ring.signer };
};

export interface IdentityToken {
  readonly token: string;
  readonly clientId: string;
  readonly ttlSeconds: number;
}

/**
 * A token of a role for an entity.
 * @throws KeelsonError `request.invalid` for an unknown role, and for whoever has no entity
 */
export const issueIdentityToken = async (
  context: OidcContext,
  place: Place,
  name: string,
  entity: EntityRef | undefined,
): Promise<IdentityToken> => {
  const role = (await readRole(context, place.id, name)) ?? refuse(`role "${name}" not found`);
  if (entity === undefined) return refuse("No entity associated with the request's token");
  const rights =
    (await context.identityOf(entity)) ?? refuse("No entity associated with the request's token");
  const { key, signer } = await requireSigner(context, place.id, role.key);
  const { clientId, ttlSeconds } = role;
  if (!maySignFor(key, clientId))
    refuse(
      `the key "${role.key}" does not list the client ID of the role "${name}" as an allowed client ID`,
    );
  const { identity } = rights;
  const iat = Math.floor(context.clock.nowMs() / 1000);
  const token = await signClaims(signer, signer.algorithm, {
    ...fillTemplate(role.template, templateValues(context, identity)),
    iss: await roleIssuer(context, place),
    sub: identity.entity.id,
    aud: clientId,
    iat,
    exp: iat + ttlSeconds,
    namespace: place.id,
  });
  return { token, clientId, ttlSeconds };
};

/** The keys with which tokens of roles are verified. */
export const roleKeySet = async (context: OidcContext, namespaceId: string) => {
  const roles = await listNamed(context.store, identityRoles, namespaceId);
  return keySetOf(
    context,
    namespaceId,
    roles.map(([, { key }]) => key),
  );
};

const verify = async (
  context: OidcContext,
  place: Place,
  token: string,
  clientId: string | undefined,
): Promise<string | undefined> => {
  const { createLocalJWKSet, errors, jwtVerify } = await import('jose');
  const { keys } = await roleKeySet(context, place.id);
  try {
    // The keys of this service have all the members that a key needs.
    const set = { keys } as unknown as Parameters<typeof createLocalJWKSet>[0];
    const { payload } = await jwtVerify(token, createLocalJWKSet(set), {
      algorithms: [...SIGNING_ALGORITHMS],
      issuer: await roleIssuer(context, place),
      currentDate: new Date(context.clock.nowMs()),
      requiredClaims: ['exp', 'sub'],
      ...(clientId !== undefined && { audience: clientId }),
    });
    return payload.sub;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
};

/**
 * Why a token of a role is not active; undefined if it is.
 * @param token its entity must exist and be enabled in the namespace of the request or in one above it
 */
export const inactiveBecause = async (
  context: OidcContext,
  place: Place,
  token: string,
  clientId: string | undefined,
): Promise<string | undefined> => {
  const subject = await verify(context, place, token, clientId);
  if (subject === undefined) return 'unable to validate the token signature or claims';
  const table = await context.namespaces();
  const own = table.findById(place.id);
  for (const { id: namespaceId } of own === undefined ? [place] : table.lineageOf(own))
    if ((await context.identityOf({ id: subject, namespaceId })) !== undefined) return undefined;
  return 'entity was not found or is disabled';
};
