/** The kinds of records whose changes are events, and the resources that they are or are parts of. */
import type { Reads } from '@keelson/storage';
import { organizationRecords } from '../identity/model/organization-records.ts';
import { organizationSwitches } from '../identity/model/organization-switch-records.ts';
import { membershipRecords, teamRecords } from '../identity/model/team-records.ts';
import { tokenRecords } from '../identity/model/token-records.ts';
import { runComments, runRecords } from '../runs/model/run-records.ts';
import { runTriggerRecords } from '../runs/run-triggers/run-trigger-records.ts';
import { configurationVersionRecords } from '../state/configuration-versions/configuration-version-records.ts';
import { stateVersionRecords } from '../state/state-versions/state-version-records.ts';
import { teamProjectGrants, teamWorkspaceGrants } from '../workspaces/access/grant-records.ts';
import { agentPoolRecords } from '../workspaces/model/agent-pool-records.ts';
import { agentRecords } from '../workspaces/model/agent-records.ts';
import { consumerLists } from '../workspaces/model/consumer-records.ts';
import { oauthClientRecords, oauthTokenRecords } from '../workspaces/model/oauth-records.ts';
import { agentPoolSwitches, oauthClientSwitches } from '../workspaces/model/part-switch-records.ts';
import { projectRecords } from '../workspaces/model/project-records.ts';
import { sshKeyRecords } from '../workspaces/model/ssh-key-records.ts';
import { workspaceLocks } from '../workspaces/model/workspace-lock-records.ts';
import { workspaceRecords } from '../workspaces/model/workspace-records.ts';
import { notificationRecords } from '../workspaces/notifications/notification-records.ts';
import { reservedKeys } from '../workspaces/tags/reserved-key-records.ts';
import {
  setVariableRecords,
  variableSetRecords,
} from '../workspaces/variable-sets/variable-set-records.ts';
import { variableRecords } from '../workspaces/variables/variable-records.ts';

import type { ResourceType } from './domain/audit-event.ts';

/** A resource as an event names it. */
export interface DescribedResource {
  readonly id: string;
  readonly name: string | null;
  /** Ids of what it belongs to directly; empty for an organization. */
  readonly within: readonly string[];
  /** The person of a membership. */
  readonly userId?: string;
}

/** A kind of records whose changes are events. */
export interface AuditedKind {
  readonly type: ResourceType;
  /** Whether the record is a part of a resource, which a change of the record changes. */
  readonly isPart: boolean;
  find(reads: Reads, key: readonly string[]): Promise<unknown>;
  /** Undefined for a record that belongs to no organization. */
  describe(
    reads: Reads,
    value: unknown,
    key: readonly string[],
  ): Promise<DescribedResource | undefined>;
}

interface Records<T> {
  readonly prefix: string;
  find(reads: Reads, ...key: readonly string[]): Promise<T | undefined>;
}

type Kind = readonly [prefix: string, kind: AuditedKind];

type Describe<T> = (
  value: T,
  key: readonly string[],
  reads: Reads,
) => DescribedResource | undefined | Promise<DescribedResource | undefined>;

const resource = <T>(type: ResourceType, records: Records<T>, describe: Describe<T>): Kind => [
  records.prefix,
  {
    type,
    isPart: false,
    find: (reads, key) => records.find(reads, ...key),
    describe: async (reads, value, key) => describe(value as T, key, reads),
  },
];

/** A part of the resource whose id is its key. */
const part = <T>(
  type: ResourceType,
  records: Records<unknown>,
  whole: Records<T>,
  describe: Describe<T>,
): Kind => [
  records.prefix,
  {
    type,
    isPart: true,
    find: (reads, key) => records.find(reads, ...key),
    describe: async (reads, _, key) => {
      const value = await whole.find(reads, ...key);
      return value && describe(value, key, reads);
    },
  },
];

interface OfOrganization {
  readonly id: string;
  readonly name: string | null;
  readonly organizationId: string;
}

const ofOrganization = ({ id, name, organizationId }: OfOrganization): DescribedResource => ({
  id,
  name,
  within: [organizationId],
});

const ofWorkspace = ({
  id,
  workspaceId,
}: {
  readonly id: string;
  readonly workspaceId: string;
}): DescribedResource => ({ id, name: null, within: [workspaceId] });

const organization = ({
  id,
  name,
}: {
  readonly id: string;
  readonly name: string;
}): DescribedResource => ({ id, name, within: [] });

const teamName = async (reads: Reads, id: string): Promise<string | null> =>
  (await teamRecords.find(reads, id))?.name ?? null;

/** By the prefix of their paths. Every other kind is in the list of the test, with the reason. */
export const AUDITED_KINDS: ReadonlyMap<string, AuditedKind> = new Map([
  resource('organization', organizationRecords, organization),
  part('organization', organizationSwitches, organizationRecords, organization),
  resource('team', teamRecords, ofOrganization),
  resource(
    'organization_membership',
    membershipRecords,
    ({ id }, [organizationId = '', userId]) => ({
      id,
      name: null,
      within: [organizationId],
      ...(userId !== undefined && { userId }),
    }),
  ),
  resource('authentication_token', tokenRecords, ({ id, ownerKind, ownerId, description }) =>
    ['organization', 'audit-trail', 'team', 'agent-pool'].includes(ownerKind)
      ? { id, name: description || null, within: [ownerId] }
      : undefined,
  ),
  resource('project', projectRecords, ofOrganization),
  resource('workspace', workspaceRecords, ofOrganization),
  part('workspace', workspaceLocks, workspaceRecords, ofOrganization),
  part('workspace', consumerLists, workspaceRecords, ofOrganization),
  resource('variable', variableRecords, ({ id, key, workspaceId }) => ({
    id,
    name: key,
    within: [workspaceId],
  })),
  resource('variable_set', variableSetRecords, ofOrganization),
  resource('variable', setVariableRecords, ({ id, key, variableSetId }) => ({
    id,
    name: key,
    within: [variableSetId],
  })),
  resource('team_access', teamWorkspaceGrants, async ({ id, teamId, targetId }, _, reads) => ({
    id,
    name: await teamName(reads, teamId),
    within: [teamId, targetId],
  })),
  resource('team_access', teamProjectGrants, async ({ id, teamId, targetId }, _, reads) => ({
    id,
    name: await teamName(reads, teamId),
    within: [teamId, targetId],
  })),
  resource('agent_pool', agentPoolRecords, ofOrganization),
  part('agent_pool', agentPoolSwitches, agentPoolRecords, ofOrganization),
  resource('agent', agentRecords, ({ id, name, organizationId, poolId }) => ({
    id,
    name,
    within: [...(poolId === null ? [] : [poolId]), organizationId],
  })),
  resource('oauth_client', oauthClientRecords, ofOrganization),
  part('oauth_client', oauthClientSwitches, oauthClientRecords, ofOrganization),
  resource('oauth_token', oauthTokenRecords, ({ id, clientId }) => ({
    id,
    name: null,
    within: [clientId],
  })),
  resource('ssh_key', sshKeyRecords, ofOrganization),
  resource('reserved_tag_key', reservedKeys, ({ id, key, organizationId }) => ({
    id,
    name: key,
    within: [organizationId],
  })),
  resource('notification_configuration', notificationRecords, (configuration) => ({
    id: configuration.id,
    name: configuration.name,
    within: [configuration.subscribable.id, configuration.organizationId],
  })),
  resource('state_version', stateVersionRecords, ofWorkspace),
  resource('configuration_version', configurationVersionRecords, ofWorkspace),
  resource('run', runRecords, ofWorkspace),
  resource('comment', runComments, ({ id, runId }) => ({ id, name: null, within: [runId] })),
  resource('run_trigger', runTriggerRecords, ({ id, workspaceId, sourceId }) => ({
    id,
    name: null,
    within: [workspaceId, sourceId],
  })),
]);

/** Finds the owner of a resource, by the prefix of its id. */
const OWNERS: Readonly<Record<string, (reads: Reads, id: string) => Promise<string | undefined>>> =
  {
    team: async (reads, id) => (await teamRecords.find(reads, id))?.organizationId,
    prj: async (reads, id) => (await projectRecords.find(reads, id))?.organizationId,
    ws: async (reads, id) => (await workspaceRecords.find(reads, id))?.organizationId,
    varset: async (reads, id) => (await variableSetRecords.find(reads, id))?.organizationId,
    apool: async (reads, id) => (await agentPoolRecords.find(reads, id))?.organizationId,
    oc: async (reads, id) => (await oauthClientRecords.find(reads, id))?.organizationId,
    run: async (reads, id) => (await runRecords.find(reads, id))?.workspaceId,
  };

/** The id of what a resource belongs to; undefined for an organization, and for what is absent. */
export const findOwnerId = async (reads: Reads, id: string): Promise<string | undefined> =>
  OWNERS[id.slice(0, id.indexOf('-'))]?.(reads, id);
