/** Decodes requests for runs and the filters of their lists. */
import { KeelsonError } from '@keelson/errors';
import {
  choice,
  nullable,
  type QueryParameters,
  type QuerySchema,
  resourceBody,
  type UnsupportedFields,
} from '@keelson/jsonapi';
import { type Static, Type } from 'typebox';
import { RUN_STATUSES } from '../../base/run-status.ts';
import { RUN_STATUS_FILTER } from '../../base/run-status-filter.ts';
import { toCamelKeys } from '../../base/validation/attribute-names.ts';
import { RUN_OPERATIONS, RUN_SOURCES, STATUS_GROUPS } from '../model/domain/run.ts';
import type { RunInput, RunSource } from './run-creation.ts';
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

export const toGivenRun = (given: Static<typeof CREATE_RUN>['data']['attributes']): RunInput => {
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

/** No run has it, so that a status outside of the group that is asked for matches none. */
const NO_STATUS = ['none'];

/** Each name is looked up. */
const NAMES = Type.Array(Type.String(), { maxItems: 30 });

/** Sources that clients may ask for, and that no run has. */
const FOREIGN_SOURCES = ['tfe-ui', 'tfe-module', 'tfe-infrastructure-lifecycle'] as const;

/** Parameters that `parseRunFilter` reads. */
export const RUN_FILTERS: QuerySchema = {
  'filter[status]': { description: 'Statuses of the runs.', schema: RUN_STATUS_FILTER },
  'filter[status_group]': {
    description: 'A group of statuses.',
    schema: choice([...STATUS_GROUPS.keys()]),
  },
  'filter[source]': {
    description: 'Sources of the runs.',
    schema: Type.Array(choice([...RUN_SOURCES, ...FOREIGN_SOURCES])),
  },
  'filter[operation]': {
    description: 'Operations of the runs.',
    schema: Type.Array(choice(RUN_OPERATIONS)),
  },
  'filter[agent_pool_names]': { description: 'Names of agent pools.', schema: NAMES },
  'filter[workspace_names]': { description: 'Names of workspaces.', schema: NAMES },
  'filter[timeframe]': {
    description: 'A year, or `year` for the last twelve months.',
    schema: Type.String({ pattern: '^(?:year|[0-9]{4})$' }),
  },
  'search[user]': { description: 'Part of the name of the user who queued the run.' },
  'search[commit]': { description: 'Part of the hash of the commit.' },
  'search[basic]': { description: 'Part of the id, message, commit or user name.' },
};

/** @throws KeelsonError `jsonapi.invalid_parameter` for any other text than a year or `year` */
const parseTimeframe = (query: QueryParameters): string | undefined => {
  const timeframe = query.one('filter', 'timeframe') || undefined;
  if (timeframe === undefined || timeframe === 'year' || /^\d{4}$/.test(timeframe))
    return timeframe;
  throw new KeelsonError('jsonapi.invalid_parameter', {
    parameter: 'filter[timeframe]',
    text: 'must be a year of four digits, or year for the last twelve months',
  });
};

export const parseRunFilter = (query: QueryParameters): RunFilter => {
  const group = query.one('filter', 'status_group') || undefined;
  const statuses = query.list('filter', 'status');
  const isInGroup = STATUS_GROUPS.get(group ?? '') ?? (() => false);
  const grouped = RUN_STATUSES.filter(isInGroup);
  return {
    statuses:
      group === undefined
        ? statuses
        : statuses.length === 0
          ? grouped
          : [...NO_STATUS, ...statuses.filter((status) => grouped.some((one) => one === status))],
    sources: query.list('filter', 'source'),
    operations: query.list('filter', 'operation'),
    agentPoolNames: query.list('filter', 'agent_pool_names'),
    workspaceNames: query.list('filter', 'workspace_names'),
    timeframe: parseTimeframe(query),
    username: query.one('search', 'user'),
    commit: query.one('search', 'commit'),
    text: query.one('search', 'basic'),
  };
};
