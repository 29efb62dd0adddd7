import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import {
  findReadableProject,
  findStanding,
  notFound,
  type OrganizationAccessResult,
  requireOrganization,
} from '../access/access-operations.ts';
import { decideOrganizationPermissions } from '../organizations/domain/organization-permissions.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { sshKeyRecords } from '../ssh-keys/ssh-key-records.ts';
import { attributeViolation } from '../validation/domain/violation.ts';
import { isWebUrl } from '../validation/domain/web-url.ts';
import type { OAuthClient, OAuthToken } from './domain/oauth-client.ts';
import {
  oauthClientRecords,
  oauthTokenRecords,
  organizationOAuthClients,
} from './oauth-records.ts';

export type GivenOAuthClient = Pick<
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
> & { readonly oauthTokenString: string };

export interface OAuthClientAccess extends OrganizationAccessResult {
  readonly client: OAuthClient;
}

const mayManage = ({ standing }: OrganizationAccessResult): boolean =>
  decideOrganizationPermissions(standing).canUpdateOauth;

const requireManagerOf = async (
  reads: Reads,
  principal: Principal,
  organizationId: string | undefined,
  resource: string,
): Promise<OrganizationAccessResult> => {
  const organization = await organizationRecords.find(reads, organizationId ?? '');
  const standing = organization && (await findStanding(reads, principal, organization));
  if (organization === undefined || standing === undefined) throw notFound(resource);
  const access = { organization, standing };
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
  const access = await requireManagerOf(reads, principal, client?.organizationId, 'OAuth client');
  if (client === undefined) throw notFound('OAuth client');
  return { ...access, client };
};

/** @throws KeelsonError `workspace.not_found` unless all are projects of the organization that the caller sees */
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

/** Makes a client with its token, which is handed in: nobody is sent to the provider to agree. */
export const createOAuthClient = (
  { store, clock }: ServiceContext,
  principal: Principal,
  organizationName: string,
  { oauthTokenString, ...given }: GivenOAuthClient,
): Promise<OAuthClientAccess> =>
  store.transact(async (tx) => {
    const access = await requireOrganization(tx, principal, organizationName);
    const { organization } = access;
    if (!mayManage(access)) throw notFound('organization');
    refuseInvalid(
      (['httpUrl', 'apiUrl'] as const)
        .filter((name) => !isWebUrl(given[name]))
        .map((name) =>
          attributeViolation(name === 'httpUrl' ? 'http-url' : 'api-url', 'is not a URL'),
        ),
    );
    await requireProjects(tx, access, given.projectIds);
    const createdAtMs = clock.nowMs();
    const id = newResourceId('oc');
    const token: OAuthToken = {
      id: newResourceId('ot'),
      organizationId: organization.id,
      clientId: id,
      token: oauthTokenString,
      sshKeyId: null,
      createdAtMs,
    };
    const client: OAuthClient = {
      ...given,
      id,
      organizationId: organization.id,
      tokenId: token.id,
      createdAtMs,
    };
    oauthClientRecords.write(tx, [id], client);
    oauthTokenRecords.write(tx, [token.id], token);
    organizationOAuthClients.write(tx, [organization.id, id], {});
    return { ...access, client };
  });

/** Absent attributes keep their value. */
export type OAuthClientChange = Partial<
  Pick<OAuthClient, 'name' | 'key' | 'secret' | 'rsaPublicKey' | 'organizationScoped'>
> & {
  /** Takes the place of the token's text; the token keeps its id, and workspaces their repository. */
  readonly oauthTokenString?: string;
};

export const updateOAuthClient = (
  { store }: ServiceContext,
  principal: Principal,
  clientId: string,
  { oauthTokenString, ...change }: OAuthClientChange,
): Promise<OAuthClientAccess> =>
  store.transact(async (tx) => {
    const access = await requireOAuthClient(tx, principal, clientId);
    const client = { ...access.client, ...change };
    oauthClientRecords.write(tx, [client.id], client);
    const token = await oauthTokenRecords.find(tx, client.tokenId);
    if (token !== undefined && oauthTokenString !== undefined) {
      oauthTokenRecords.write(tx, [token.id], { ...token, token: oauthTokenString });
    }
    return { ...access, client };
  });

/** Opens a client to projects, or closes it to them; workspaces there keep what they have. */
export const changeClientProjects = (
  { store }: ServiceContext,
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
    oauthClientRecords.write(tx, [client.id], { ...client, projectIds: next });
  });

/** Removes a client with its token; workspaces lose the repository that they reach with it. */
export const removeOAuthClient = (tx: Transaction, client: OAuthClient): void => {
  oauthClientRecords.delete(tx, client.id);
  oauthTokenRecords.delete(tx, client.tokenId);
  organizationOAuthClients.delete(tx, client.organizationId, client.id);
};

export const deleteOAuthClient = (
  { store }: ServiceContext,
  principal: Principal,
  clientId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    removeOAuthClient(tx, (await requireOAuthClient(tx, principal, clientId)).client);
  });

/** In order of creation. */
export const listOAuthClients = async (
  { store }: ServiceContext,
  principal: Principal,
  organizationName: string,
): Promise<readonly OAuthClientAccess[]> => {
  const access = await requireOrganization(store, principal, organizationName);
  if (!mayManage(access)) throw notFound('organization');
  const ids = await organizationOAuthClients.keys(store, [access.organization.id]);
  const clients = await Promise.all(ids.map((id) => oauthClientRecords.find(store, id)));
  return clients
    .filter((client) => client !== undefined)
    .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1))
    .map((client) => ({ ...access, client }));
};

/** @throws KeelsonError `workspace.not_found` */
export const requireOAuthToken = async (
  reads: Reads,
  principal: Principal,
  tokenId: string,
): Promise<OAuthToken> => {
  const token = await oauthTokenRecords.find(reads, tokenId);
  await requireManagerOf(reads, principal, token?.organizationId, 'OAuth token');
  if (token === undefined) throw notFound('OAuth token');
  return token;
};

/** The key that submodules of the repository are fetched with. */
export const assignOAuthTokenKey = (
  { store }: ServiceContext,
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
    const next = { ...token, sshKeyId };
    oauthTokenRecords.write(tx, [token.id], next);
    return next;
  });

/** A token goes with its client: there is one of each. */
export const deleteOAuthToken = (
  { store }: ServiceContext,
  principal: Principal,
  tokenId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const { clientId } = await requireOAuthToken(tx, principal, tokenId);
    const client = await oauthClientRecords.find(tx, clientId);
    if (client !== undefined) removeOAuthClient(tx, client);
  });
