/** Clients, the scopes and assignments that they have, and the providers that they use. */
import { KeelsonError } from '@keelson/errors';
import type { Reads, Transaction } from '@keelson/storage';
import { randomBase62 } from '../tokens/token-operations.ts';
import { decodeTemplate, fillTemplate } from './domain/claim-template.ts';
import {
  ALLOW_ALL,
  type Assignment,
  BUILT_IN_ASSIGNMENT,
  BUILT_IN_PROVIDER,
  type Client,
  type ClientChanges,
  changedClient,
  DEFAULT_PROVIDER,
  OPENID_SCOPE,
  type Provider,
  type Scope,
} from './domain/client.ts';
import { issuerOf, requireOrigin } from './domain/issuer.ts';
import { requireVerifiable } from './domain/token-role.ts';
import { templateValues } from './identity-token-operations.ts';
import { keySetOf, requireKey, requireRing } from './named-key-operations.ts';
import type { OidcContext, Place } from './oidc-context.ts';
import { assignments, clients, listNamed, providers, scopes } from './oidc-records.ts';

/** The most of each kind in a namespace. */
const MAX_NAMED = 1000;
const CLIENT_ID_LENGTH = 32;
const SECRET_LENGTH = 64;
/** As the vendor's secrets begin, which scanners of repositories know. */
const SECRET_PREFIX = 'hvo_secret_';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/** @param users names of what refers to it, of this kind */
const requireUnused = (what: string, kind: string, users: readonly string[]): void => {
  if (users.length > 0)
    refuse(
      `unable to delete ${what} because it is currently referenced by these ${kind}: ${users.join(', ')}`,
    );
};

const requireRoom = async (
  tx: Transaction,
  records: Pick<typeof scopes, 'keys'>,
  namespaceId: string,
  kind: string,
): Promise<void> => {
  const { length } = await records.keys(tx, [namespaceId], { limit: MAX_NAMED });
  if (length >= MAX_NAMED) refuse(`a namespace has at most ${MAX_NAMED} ${kind}`);
};

const distinct = (given: readonly string[] | undefined, before: readonly string[]) => [
  ...new Set(given ?? before),
];

/** @throws KeelsonError `request.invalid` for a template that is not valid */
export const putScope = async (
  context: OidcContext,
  namespaceId: string,
  name: string,
  changes: Partial<Scope>,
): Promise<void> => {
  if (name === OPENID_SCOPE) refuse(`the "${OPENID_SCOPE}" scope name is reserved`);
  await context.store.transact(async (tx) => {
    const before = await scopes.find(tx, namespaceId, name);
    if (before === undefined) await requireRoom(tx, scopes, namespaceId, 'scopes');
    const template =
      changes.template === undefined ? (before?.template ?? '') : decodeTemplate(changes.template);
    fillTemplate(template, templateValues(context));
    const description = changes.description ?? before?.description ?? '';
    scopes.write(tx, [namespaceId, name], { template, description });
  });
};

/** @throws KeelsonError `request.invalid` while a provider has the scope */
export const deleteScope = ({ store }: OidcContext, namespaceId: string, name: string) =>
  store.transact(async (tx) => {
    const users = (await listNamed(tx, providers, namespaceId))
      .filter(([, { scopesSupported }]) => scopesSupported.includes(name))
      .map(([provider]) => provider);
    requireUnused(`scope "${name}"`, 'providers', users);
    scopes.delete(tx, namespaceId, name);
  });

export const findAssignment = async (
  reads: Reads,
  namespaceId: string,
  name: string,
): Promise<Assignment | undefined> =>
  name === ALLOW_ALL ? BUILT_IN_ASSIGNMENT : assignments.find(reads, namespaceId, name);

/** @throws KeelsonError `request.invalid` for the built-in one */
export const putAssignment = async (
  { store }: OidcContext,
  namespaceId: string,
  name: string,
  changes: Partial<Assignment>,
): Promise<void> => {
  if (name === ALLOW_ALL) refuse(`modification of assignment "${name}" not allowed`);
  await store.transact(async (tx) => {
    const before = await assignments.find(tx, namespaceId, name);
    if (before === undefined) await requireRoom(tx, assignments, namespaceId, 'assignments');
    const lower = (ids: readonly string[] | undefined) => ids?.map((id) => id.toLowerCase());
    assignments.write(tx, [namespaceId, name], {
      entityIds: distinct(lower(changes.entityIds), before?.entityIds ?? []),
      groupIds: distinct(lower(changes.groupIds), before?.groupIds ?? []),
    });
  });
};

/** Names, sorted, with that of the built-in assignment. */
export const listAssignments = async (
  { store }: OidcContext,
  namespaceId: string,
): Promise<readonly string[]> =>
  [...(await assignments.keys(store, [namespaceId])), ALLOW_ALL].sort();

/** @throws KeelsonError `request.invalid` while a client has the assignment */
export const deleteAssignment = async (
  { store }: OidcContext,
  namespaceId: string,
  name: string,
): Promise<void> => {
  if (name === ALLOW_ALL) refuse(`deletion of assignment "${name}" not allowed`);
  await store.transact(async (tx) => {
    const users = (await listNamed(tx, clients, namespaceId))
      .filter(([, client]) => client.assignments.includes(name))
      .map(([client]) => client);
    requireUnused(`assignment "${name}"`, 'clients', users);
    assignments.delete(tx, namespaceId, name);
  });
};

/** @throws KeelsonError `request.invalid` naming the parameter that is refused */
export const putClient = async (
  context: OidcContext,
  namespaceId: string,
  name: string,
  changes: ClientChanges,
): Promise<void> => {
  const { store } = context;
  const made = {
    clientId: randomBase62(CLIENT_ID_LENGTH),
    clientSecret: SECRET_PREFIX + randomBase62(SECRET_LENGTH),
  };
  const client = await store.transact(async (tx) => {
    const before = await clients.find(tx, namespaceId, name);
    if (before === undefined) await requireRoom(tx, clients, namespaceId, 'clients');
    const after = changedClient(before, changes, made);
    for (const assignment of after.assignments)
      if ((await findAssignment(tx, namespaceId, assignment)) === undefined)
        refuse(`assignment "${assignment}" does not exist`);
    const key = await requireKey(tx, namespaceId, after.key);
    requireVerifiable("a client's id_token_ttl", after.idTokenSeconds, key);
    await clients.write(tx, [namespaceId, name], after);
    return after;
  });
  // Published before the first token is signed.
  await requireRing(context, namespaceId, client.key);
};

export const readClient = (
  { store }: OidcContext,
  namespaceId: string,
  name: string,
): Promise<Client | undefined> => clients.find(store, namespaceId, name);

export const listClients = ({ store }: OidcContext, namespaceId: string) =>
  listNamed(store, clients, namespaceId);

export const deleteClient = ({ store }: OidcContext, namespaceId: string, name: string) =>
  store.transact((tx) => clients.delete(tx, namespaceId, name));

/** A provider, or the built-in one. */
export const findProvider = async (
  reads: Reads,
  namespaceId: string,
  name: string,
): Promise<Provider | undefined> =>
  (await providers.find(reads, namespaceId, name)) ??
  (name === DEFAULT_PROVIDER ? BUILT_IN_PROVIDER : undefined);

/** The names and providers of a namespace, with the built-in one. */
export const listProviders = async (
  { store }: OidcContext,
  namespaceId: string,
): Promise<readonly (readonly [string, Provider])[]> => {
  const found = new Map([
    [DEFAULT_PROVIDER, BUILT_IN_PROVIDER],
    ...(await listNamed(store, providers, namespaceId)),
  ]);
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1));
};

/** Texts about scopes that set the same claim, of which a client may request one only. */
const conflictsAmong = (
  context: OidcContext,
  found: readonly (readonly [string, Scope])[],
): string[] => {
  const owners = new Map<string, string>();
  const texts: string[] = [];
  for (const [scope, { template }] of found)
    for (const claim of Object.keys(fillTemplate(template, templateValues(context)))) {
      const other = owners.get(claim);
      if (other !== undefined)
        texts.push(
          `Found scope templates with conflicting top-level keys: conflict "${claim}" in scopes "${scope}", "${other}". This may result in an error if the scopes are requested in an OIDC Authentication Request.`,
        );
      owners.set(claim, scope);
    }
  return texts;
};

/**
 * @returns warnings
 * @throws KeelsonError `request.invalid` naming the parameter that is refused
 */
export const putProvider = (
  context: OidcContext,
  namespaceId: string,
  name: string,
  changes: Partial<Provider>,
): Promise<readonly string[]> =>
  context.store.transact(async (tx) => {
    const known = await providers.find(tx, namespaceId, name);
    if (known === undefined) await requireRoom(tx, providers, namespaceId, 'providers');
    const before =
      known ??
      (name === DEFAULT_PROVIDER
        ? BUILT_IN_PROVIDER
        : { ...BUILT_IN_PROVIDER, allowedClientIds: [] });
    const after: Provider = {
      issuer: requireOrigin(changes.issuer ?? before.issuer),
      allowedClientIds: distinct(changes.allowedClientIds, before.allowedClientIds),
      scopesSupported: distinct(changes.scopesSupported, before.scopesSupported),
    };
    const found = await Promise.all(
      after.scopesSupported.map(async (scope) => {
        const one = await scopes.find(tx, namespaceId, scope);
        return [scope, one ?? refuse(`scope "${scope}" does not exist`)] as const;
      }),
    );
    providers.write(tx, [namespaceId, name], after);
    return conflictsAmong(context, found);
  });

/** @throws KeelsonError `request.invalid` for the built-in one */
export const deleteProvider = async (
  { store }: OidcContext,
  namespaceId: string,
  name: string,
): Promise<void> => {
  if (name === DEFAULT_PROVIDER) refuse(`deletion of OIDC provider "${name}" not allowed`);
  await store.transact(async (tx) => providers.delete(tx, namespaceId, name));
};

/** @throws KeelsonError `request.invalid` if the cluster has no address that others know */
export const providerIssuer = (
  { publicUrl }: Pick<OidcContext, 'publicUrl'>,
  place: Place,
  name: string,
  { issuer }: Provider,
): string => issuerOf({ origin: issuer, publicUrl, namespacePath: place.path }, name);

/** The keys of the clients that a provider allows; undefined for an unknown provider. */
export const providerKeySet = async (context: OidcContext, namespaceId: string, name: string) => {
  const provider = await findProvider(context.store, namespaceId, name);
  if (provider === undefined) return undefined;
  const { allowedClientIds } = provider;
  const users = (await listClients(context, namespaceId)).filter(
    ([, { clientId }]) => allowedClientIds.includes('*') || allowedClientIds.includes(clientId),
  );
  return keySetOf(
    context,
    namespaceId,
    users.map(([, { key }]) => key),
  );
};
