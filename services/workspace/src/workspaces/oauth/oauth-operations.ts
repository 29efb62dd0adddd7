import { KeelsonError } from '@keelson/errors';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { deleteOwned, type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { byCreation } from '../../base/creation-order.ts';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { isWebUrl } from '../../base/validation/domain/web-url.ts';
import { decideOrganizationPermissions } from '../../identity/access/domain/organization-permissions.ts';
import {
  type OrganizationAccessResult,
  requireOrganization,
  requireOrganizationOf,
} from '../../identity/access/organization-access-operations.ts';
import { findReadableProject } from '../access/access-operations.ts';
import { agentPoolRecords, agentPoolUsers } from '../model/agent-pool-records.ts';
import { NO_SUCH_POOL } from '../model/domain/agent-pool.ts';
import { type OAuthClient, type OAuthToken, signingOf } from '../model/domain/oauth-client.ts';
import { oauthClientRecords, oauthTokenRecords } from '../model/oauth-records.ts';
import { sshKeyRecords } from '../model/ssh-key-records.ts';
import type { RemovalContext, WorkspacesContext } from '../seams/workspaces-context.ts';
import { findCredentialViolations } from './domain/credentials.ts';

export type OAuthClientInput = Pick<
  OAuthClient,
  | 'name'
  | 'serviceProvider'
  | 'httpUrl'
  | 'apiUrl'
  | 'key'
  | 'secret'
  | 'rsaPublicKey'
  | 'privateKey'
  | 'organizationScoped'
  | 'projectIds'
  | 'agentPoolId'
> & {
  /** Null if the client is authorized at its provider later, with its key pair. */
  readonly oauthTokenString: string | null;
};

export interface OAuthClientAccess extends OrganizationAccessResult {
  readonly client: OAuthClient;
}

const mayManage = ({ caller }: OrganizationAccessResult): boolean =>
  decideOrganizationPermissions(caller).canUpdateOauth;

const requireManagerOf = async (
  reads: Reads,
  principal: Principal,
  organizationId: string,
  resource: string,
): Promise<OrganizationAccessResult> => {
  const access = await requireOrganizationOf(reads, principal, organizationId, resource);
  if (!mayManage(access)) throw notFound(resource);
  return access;
};

/** @throws KeelsonError `workspace.not_found` */
export const requireOAuthClient = async (
  reads: Reads,
  principal: Principal,
  clientId: string,
): Promise<OAuthClientAccess> => {
  const client = await oauthClientRecords.find(reads, clientId);
  if (client === undefined) throw notFound('OAuth client');
  const access = await requireManagerOf(reads, principal, client.organizationId, 'OAuth client');
  return { ...access, client };
};

/**
 * @throws KeelsonError `workspace.not_found` unless all are projects of the organization that the caller may
 * see
 */
const requireProjects = async (
  reads: Reads,
  owner: OrganizationAccessResult,
  projectIds: readonly string[],
): Promise<void> => {
  for (const id of projectIds) {
    const project = await findReadableProject(reads, owner, id);
    if (project?.organizationId !== owner.organization.id) throw notFound('project');
  }
};

/**
 * Records that a client now names another pool; null means no pool.
 * @throws KeelsonError `jsonapi.invalid_attribute` unless the organization has the pool
 */
const changePool = async (
  tx: Transaction,
  { id, organizationId }: Pick<OAuthClient, 'id' | 'organizationId'>,
  before: string | null,
  after: string | null,
): Promise<void> => {
  if (before === after) return;
  const pool = after === null ? undefined : await agentPoolRecords.find(tx, after);
  if (after !== null && pool?.organizationId !== organizationId) {
    const pointer = '/data/relationships/agent-pool/data/id';
    refuseInvalid([{ pointer, text: NO_SUCH_POOL }]);
  }
  if (before !== null) agentPoolUsers.delete(tx, before, id);
  if (after !== null) agentPoolUsers.write(tx, [after, id], { kind: 'oauth-client' });
};

/** OAuth clients of one organization. */
const MAX_CLIENTS = 500;

const requireRoom = async (reads: Reads, organizationId: string): Promise<void> => {
  const clients = await oauthClientRecords.by.organizationId.keys(reads, organizationId);
  if (clients.length < MAX_CLIENTS) return;
  throw new KeelsonError('workspace.conflict', {
    text: `an organization has at most ${MAX_CLIENTS} OAuth clients`,
  });
};

const newToken = (
  { id, organizationId }: Pick<OAuthClient, 'id' | 'organizationId'>,
  text: string,
  createdAtMs: number,
): OAuthToken => ({
  id: newResourceId('ot'),
  organizationId,
  clientId: id,
  token: text,
  sshKeyId: null,
  sshKey: null,
  createdAtMs,
});

/** Stores the token of a client. A token that it has already keeps its id, so that workspaces keep their repositories. */
const writeToken = async (
  tx: Transaction,
  client: OAuthClient,
  text: string,
  nowMs: number,
): Promise<OAuthToken> => {
  const found = await oauthTokenRecords.find(tx, client.tokenId ?? '');
  const token = found === undefined ? newToken(client, text, nowMs) : { ...found, token: text };
  await oauthTokenRecords.write(tx, [token.id], token);
  return token;
};

/** Creates a client, with its token unless it is authorized later. */
export const createOAuthClient = (
  { store, clock }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
  { oauthTokenString, ...given }: OAuthClientInput,
): Promise<OAuthClientAccess> =>
  store.transact(async (tx) => {
    const access = await requireOrganization(tx, principal, organizationName);
    const { organization } = access;
    if (!mayManage(access)) throw notFound('organization');
    refuseInvalid([
      ...(['httpUrl', 'apiUrl'] as const)
        .filter((name) => !isWebUrl(given[name]))
        .map((name) =>
          attributeViolation(name === 'httpUrl' ? 'http-url' : 'api-url', 'is not a URL'),
        ),
      ...findCredentialViolations({ ...given, hasToken: Boolean(oauthTokenString) }),
    ]);
    await requireProjects(tx, access, given.projectIds);
    await requireRoom(tx, organization.id);
    const createdAtMs = clock.nowMs();
    const id = newResourceId('oc');
    const unconnected: OAuthClient = {
      ...given,
      name: given.name || null,
      id,
      organizationId: organization.id,
      tokenId: null,
      createdAtMs,
    };
    const token = oauthTokenString
      ? await writeToken(tx, unconnected, oauthTokenString, createdAtMs)
      : undefined;
    const client = { ...unconnected, tokenId: token?.id ?? null };
    await changePool(tx, client, null, client.agentPoolId);
    await oauthClientRecords.write(tx, [id], client);
    return { ...access, client };
  });

/** Stores the token that a client has got from its provider, in place of an earlier one. */
export const connectClient = async (
  { workspaceSteps, clock }: WorkspacesContext,
  tx: Transaction,
  unconnected: OAuthClient,
  text: string,
): Promise<OAuthToken> => {
  const token = await writeToken(tx, unconnected, text, clock.nowMs());
  const client = { ...unconnected, tokenId: token.id };
  await oauthClientRecords.write(tx, [client.id], client);
  for (const step of workspaceSteps) await step.onOAuthClientUpdated?.(tx, client);
  return token;
};

/** Absent attributes keep their values. */
export type OAuthClientChange = Partial<
  Pick<
    OAuthClient,
    'name' | 'key' | 'secret' | 'rsaPublicKey' | 'organizationScoped' | 'agentPoolId'
  >
> & {
  /** Replaces the text of the token, which keeps its id, so that workspaces keep their repositories. */
  readonly oauthTokenString?: string | null;
};

/** @throws KeelsonError `jsonapi.invalid_attribute` for credentials that the changed client cannot have */
const requireCredentials = (
  before: OAuthClient,
  after: OAuthClient,
  token: string | null | undefined,
): void => {
  const hasKeyPair = signingOf(before) !== null;
  const hasToken = before.tokenId !== null && !hasKeyPair;
  if (hasKeyPair && token) {
    const text =
      'is not taken by a client with a key pair: create another client, or authorize this one again';
    refuseInvalid([attributeViolation('oauth-token-string', text)]);
  }
  if (hasToken && token === '')
    refuseInvalid([attributeViolation('oauth-token-string', 'must not be empty')]);
  const mayWait = before.tokenId === null;
  refuseInvalid(
    findCredentialViolations({ ...after, hasToken: hasToken || Boolean(token), mayWait }),
  );
};

export const updateOAuthClient = (
  { store, workspaceSteps, clock }: WorkspacesContext,
  principal: Principal,
  clientId: string,
  { oauthTokenString, ...change }: OAuthClientChange,
): Promise<OAuthClientAccess> =>
  store.transact(async (tx) => {
    const access = await requireOAuthClient(tx, principal, clientId);
    const { name = access.client.name } = change;
    const changed = { ...access.client, ...change, name: name || null };
    requireCredentials(access.client, changed, oauthTokenString);
    await changePool(tx, changed, access.client.agentPoolId, changed.agentPoolId);
    const token = oauthTokenString
      ? await writeToken(tx, changed, oauthTokenString, clock.nowMs())
      : undefined;
    const client = { ...changed, tokenId: token?.id ?? changed.tokenId };
    await oauthClientRecords.write(tx, [client.id], client);
    for (const step of workspaceSteps) await step.onOAuthClientUpdated?.(tx, client);
    return { ...access, client };
  });

/** Adds or removes projects that may use a client; workspaces in removed projects keep their connection. */
export const changeClientProjects = (
  { store }: WorkspacesContext,
  principal: Principal,
  clientId: string,
  projectIds: readonly string[],
  change: 'add' | 'remove',
): Promise<void> =>
  store.transact(async (tx) => {
    const access = await requireOAuthClient(tx, principal, clientId);
    const { client } = access;
    if (change === 'add') await requireProjects(tx, access, projectIds);
    const others = client.projectIds.filter((id) => !projectIds.includes(id));
    const next = change === 'add' ? [...others, ...new Set(projectIds)] : others;
    await oauthClientRecords.write(tx, [client.id], { ...client, projectIds: next });
  });

/** Removes a client with the token that it may have; workspaces connected through it lose their repository. */
export const removeOAuthClient = async (
  { workspaceSteps }: RemovalContext,
  tx: Transaction,
  client: OAuthClient,
): Promise<void> => {
  for (const step of workspaceSteps) await step.onOAuthClientDisconnected?.(tx, client);
  if (client.agentPoolId !== null) agentPoolUsers.delete(tx, client.agentPoolId, client.id);
  await deleteOwned(tx, { kind: 'oauth-client', id: client.id });
  await oauthClientRecords.delete(tx, client.id);
};

export const deleteOAuthClient = (
  context: WorkspacesContext,
  principal: Principal,
  clientId: string,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const { client } = await requireOAuthClient(tx, principal, clientId);
    await removeOAuthClient(context, tx, client);
  });

/** In order of creation. */
export const listOAuthClients = async (
  { store }: WorkspacesContext,
  principal: Principal,
  organizationName: string,
): Promise<readonly OAuthClientAccess[]> => {
  const access = await requireOrganization(store, principal, organizationName);
  if (!mayManage(access)) throw notFound('organization');
  const { id } = access.organization;
  const clients = await oauthClientRecords.by.organizationId.records(readableOnly(store), id);
  return clients.toSorted(byCreation).map((client) => ({ ...access, client }));
};

/** @throws KeelsonError `workspace.not_found` */
export const requireOAuthToken = async (
  reads: Reads,
  principal: Principal,
  tokenId: string,
): Promise<OAuthToken> => {
  const token = await oauthTokenRecords.find(reads, tokenId);
  if (token === undefined) throw notFound('OAuth token');
  await requireManagerOf(reads, principal, token.organizationId, 'OAuth token');
  return token;
};

/** The SSH key for cloning submodules of the repository. */
export const assignOAuthTokenKey = (
  { store }: WorkspacesContext,
  principal: Principal,
  tokenId: string,
  sshKeyId: string | null,
): Promise<OAuthToken> =>
  store.transact(async (tx) => {
    const token = await requireOAuthToken(tx, principal, tokenId);
    const key = sshKeyId === null ? undefined : await sshKeyRecords.find(tx, sshKeyId);
    if (sshKeyId !== null && key?.organizationId !== token.organizationId) {
      refuseInvalid([
        { pointer: '/data/relationships/ssh-key/data/id', text: 'Ssh key is invalid' },
      ]);
    }
    const next = { ...token, sshKeyId, sshKey: null };
    await oauthTokenRecords.write(tx, [token.id], next);
    return next;
  });

const PRIVATE_KEY =
  /^\s*-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]+-----END [A-Z ]*PRIVATE KEY-----\s*$/;

/**
 * Gives a token a private key of its own for submodules, in PEM or OpenSSH form.
 * @param text null removes the key that the token has
 * @throws KeelsonError `jsonapi.invalid_attribute`
 */
export const setOAuthTokenKey = (
  { store }: WorkspacesContext,
  principal: Principal,
  tokenId: string,
  text: string | null,
): Promise<OAuthToken> =>
  store.transact(async (tx) => {
    const token = await requireOAuthToken(tx, principal, tokenId);
    if (text !== null && !PRIVATE_KEY.test(text)) {
      const detail = 'Ssh key is invalid: it must be a private key in PEM or OpenSSH form';
      refuseInvalid([attributeViolation('ssh-key', detail)]);
    }
    const next = { ...token, sshKeyId: null, sshKey: text };
    await oauthTokenRecords.write(tx, [token.id], next);
    return next;
  });

/** Deletes a token. Its client remains, without repositories, until it gets another token. */
export const deleteOAuthToken = (
  { store, workspaceSteps }: WorkspacesContext,
  principal: Principal,
  tokenId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { clientId } = await requireOAuthToken(tx, principal, tokenId);
    const client = await oauthClientRecords.find(tx, clientId);
    if (client !== undefined) {
      for (const step of workspaceSteps) await step.onOAuthClientDisconnected?.(tx, client);
      await oauthClientRecords.write(tx, [client.id], { ...client, tokenId: null });
    }
    await oauthTokenRecords.delete(tx, tokenId);
  });
