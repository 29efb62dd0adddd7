/** The agent pools and OAuth clients of a site, which its administrators switch off. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import type { ServiceContext } from '../../base/service-context.ts';
import { requireSiteAdmin } from '../../identity/administration/user-administration-operations.ts';
import type { Organization } from '../../identity/model/domain/organization.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import { agentPoolRecords } from '../model/agent-pool-records.ts';
import type { AgentPool } from '../model/domain/agent-pool.ts';
import type { OAuthClient } from '../model/domain/oauth-client.ts';
import { oauthClientRecords } from '../model/oauth-records.ts';
import { agentPoolSwitches, oauthClientSwitches } from '../model/part-switch-records.ts';

interface Part {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string | null;
}

/** A kind of part that can be switched off. */
export interface SwitchableKind<P extends Part> {
  readonly resource: string;
  readonly records: {
    keys(reads: Reads): Promise<readonly string[]>;
    find(reads: Reads, id: string): Promise<P | undefined>;
  };
  readonly switches: typeof agentPoolSwitches;
}

export const AGENT_POOLS: SwitchableKind<AgentPool> = {
  resource: 'agent pool',
  records: agentPoolRecords,
  switches: agentPoolSwitches,
};
export const OAUTH_CLIENTS: SwitchableKind<OAuthClient> = {
  resource: 'OAuth client',
  records: oauthClientRecords,
  switches: oauthClientSwitches,
};

export interface ManagedPart<P extends Part> {
  readonly part: P;
  readonly organization: Organization;
  readonly isOff: boolean;
}

const load = async <P extends Part>(
  reads: Reads,
  { records, switches }: SwitchableKind<P>,
  id: string,
): Promise<ManagedPart<P> | undefined> => {
  const part = await records.find(reads, id);
  const organization = part && (await organizationRecords.find(reads, part.organizationId));
  if (part === undefined || organization === undefined) return undefined;
  return { part, organization, isOff: (await switches.find(reads, id)) !== undefined };
};

/** All parts whose name or organization includes the text, by organization and name. */
export const listParts = async <P extends Part>(
  { store }: ServiceContext,
  principal: Principal,
  kind: SwitchableKind<P>,
  search: string,
): Promise<readonly ManagedPart<P>[]> => {
  await requireSiteAdmin(store, principal);
  const ids = await kind.records.keys(store);
  const found = await Promise.all(ids.map((id) => load(readableOnly(store), kind, id)));
  const text = search.toLowerCase();
  const sortKey = ({ part, organization }: ManagedPart<P>): string =>
    `${organization.name} ${part.name ?? ''} ${part.id}`;
  return found
    .filter((one) => one !== undefined)
    .filter((one) => sortKey(one).toLowerCase().includes(text))
    .sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
};

const requirePart = async <P extends Part>(
  reads: Reads,
  principal: Principal,
  kind: SwitchableKind<P>,
  id: string,
): Promise<ManagedPart<P>> => {
  await requireSiteAdmin(reads, principal);
  const found = await load(reads, kind, id);
  if (found === undefined) throw notFound(kind.resource);
  return found;
};

/**
 * Switches a part off or on; undefined leaves it as it is.
 * @throws KeelsonError `workspace.not_found`
 */
export const switchPart = <P extends Part>(
  { store, clock }: ServiceContext,
  principal: Principal,
  kind: SwitchableKind<P>,
  id: string,
  isOff: boolean | undefined,
): Promise<ManagedPart<P>> =>
  store.transact(async (tx: Transaction) => {
    const found = await requirePart(tx, principal, kind, id);
    if (isOff === undefined || isOff === found.isOff) return found;
    if (isOff) kind.switches.write(tx, [id], { sinceMs: clock.nowMs(), userId: principal.id });
    else kind.switches.delete(tx, id);
    return { ...found, isOff };
  });
