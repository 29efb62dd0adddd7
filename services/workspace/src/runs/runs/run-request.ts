/** Decodes requests for runs and the filters of their lists. */
import {
  choice,
  nullable,
  type QueryParameters,
  type QuerySchema,
  resourceBody,
  TEXTS,
  type UnsupportedFields,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { RUN_STATUSES } from '../../base/run-status.ts';
import { toCamelKeys } from '../../base/validation/attribute-names.ts';
import { STATUS_GROUPS } from '../model/domain/run.ts';
import type { GivenRun, RunSource } from './run-creation.ts';
import type { RunFilter } from './run-filter.ts';

const flag = Type.Optional(Type.Boolean());
const addresses = Type.Optional(
  nullable(Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 100 })),
);
const identifier = <T extends string>(type: T) =>
  Type.Object({ type: Type.Literal(type), id: Type.String({ maxLength: 64 }) });

export const CREATE_RUN = resourceBody(
  'runs',
  Type.Object({
    message: Type.Optional(nullable(Type.String({ maxLength: 4096 }))),
    'is-destroy': flag,
    refresh: flag,
    'refresh-only': flag,
    'auto-apply': flag,
    'plan-only': flag,
    'save-plan': flag,
    'allow-empty-apply': flag,
    'target-addrs': addresses,
    'replace-addrs': addresses,
    'runtime-version': Type.Optional(Type.String({ maxLength: 200 })),
    variables: Type.Optional(
      nullable(
        Type.Array(
          Type.Object({
            key: Type.String({ minLength: 1, maxLength: 256 }),
            value: Type.String({ maxLength: 65_536 }),
          }),
          { maxItems: 200 },
        ),
      ),
    ),
  }),
  Type.Object({
    workspace: Type.Object({ data: identifier('workspaces') }),
    // Client libraries write null for an absent one.
    'configuration-version': Type.Optional(
      nullable(Type.Object({ data: nullable(identifier('configuration-versions')) })),
    ),
  }),
);

/** Settings that neither agents nor the built-in runner can follow. */
export const RUN_NOT_OFFERED: UnsupportedFields = {
  'attributes/allow-config-generation': 'configuration is not generated for imported resources',
  'attributes/debugging-mode': 'set the variable TF_LOG of category env for a detailed log',
  'attributes/invoke-action-addrs': 'runs do not invoke actions',
  'attributes/policy-paths': 'there are no policies',
};

export const RUN_ALIASES = { 'terraform-version': 'runtime-version' } as const;

export const toGivenRun = (given: Static<typeof CREATE_RUN>['data']['attributes']): GivenRun => {
  const {
    message,
    'target-addrs': targetAddrs,
    'replace-addrs': replaceAddrs,
    'runtime-version': terraformVersion,
    variables,
    ...flags
  } = given;
  return {
    ...toCamelKeys(flags),
    ...(message ? { message } : {}),
    ...(targetAddrs ? { targetAddrs } : {}),
    ...(replaceAddrs ? { replaceAddrs } : {}),
    ...(variables ? { variables } : {}),
    ...(terraformVersion === undefined ? {} : { terraformVersion }),
  };
};

/** Source of a run, from the headers with which provisioning CLIs identify themselves. */
export const toSource = (headers: Readonly<Record<string, string>>): RunSource => {
  if (headers['x-terraform-integration'] === 'cloud') return 'terraform+cloud';
  return headers['terraform-version'] === undefined ? 'tfe-api' : 'terraform';
};

/** An unknown group has no statuses, so that it matches no run. */
const NO_STATUS = ['none'];

/** Parameters that `parseRunFilter` reads. */
export const RUN_FILTERS: QuerySchema = {
  'filter[status]': { description: 'Statuses of the runs.', schema: TEXTS },
  'filter[status_group]': {
    description: 'A group of statuses.',
    schema: choice([...STATUS_GROUPS.keys()]),
  },
  'filter[source]': { description: 'Sources of the runs.', schema: TEXTS },
  'filter[operation]': { description: 'Operations of the runs.', schema: TEXTS },
  'filter[agent_pool_names]': { description: 'Names of agent pools.', schema: TEXTS },
  'filter[workspace_names]': { description: 'Names of workspaces.', schema: TEXTS },
  'filter[timeframe]': { description: 'A year, or `year` for the last twelve months.' },
  'search[user]': { description: 'Part of the name of the user who queued the run.' },
  'search[commit]': { description: 'Part of the hash of the commit.' },
  'search[basic]': { description: 'Part of the id, message, commit or user name.' },
};

export const parseRunFilter = (query: QueryParameters): RunFilter => {
  const group = query.one('filter', 'status_group') || undefined;
  const statuses = query.list('filter', 'status').slice(0, 30);
  const isInGroup = STATUS_GROUPS.get(group ?? '');
  const grouped = isInGroup === undefined ? NO_STATUS : RUN_STATUSES.filter(isInGroup);
  return {
    statuses:
      group === undefined
        ? statuses
        : statuses.length === 0
          ? grouped
          : [...NO_STATUS, ...statuses.filter((status) => grouped.some((one) => one === status))],
    sources: query.list('filter', 'source').slice(0, 30),
    operations: query.list('filter', 'operation').slice(0, 30),
    agentPoolNames: query.list('filter', 'agent_pool_names').slice(0, 30),
    workspaceNames: query.list('filter', 'workspace_names').slice(0, 30),
    timeframe: query.one('filter', 'timeframe'),
    username: query.one('search', 'user'),
    commit: query.one('search', 'commit'),
    text: query.one('search', 'basic'),
  };
};
