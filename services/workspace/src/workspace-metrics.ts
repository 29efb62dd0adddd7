/** Metrics of workspaces, runs, agents and workers. */
import type { Clock } from '@keelson/clock';
import { Counter, createCounter, type MetricsRegistry, registerSampled } from '@keelson/metrics';
import type { Store } from '@keelson/storage';
import { WORKER_DEATHS } from '@keelson/supervisor';
import { organizationRecords } from './identity/model/organization-records.ts';
import {
  listSwitchedOrganizations,
  ORGANIZATION_SWITCHES,
} from './identity/model/organization-switch-records.ts';
import type { AgentTables } from './runs/agents/agent-projections.ts';
import type { RunTables } from './runs/lifecycle/run-projections.ts';
import { OPEN_STATUSES } from './runs/model/domain/run.ts';
import type { VcsContext } from './vcs/seams/vcs-context.ts';
import { LOCKED_KEY } from './workspaces/listing/workspace-projections.ts';
import { agentPoolSwitches, oauthClientSwitches } from './workspaces/model/part-switch-records.ts';

const countWorkspaces = async (store: Store): Promise<number> => {
  const organizationIds = await organizationRecords.keys(store);
  const counts = await store.tallies('workspace', organizationIds);
  return counts.reduce((sum, count) => sum + count, 0);
};

/** Runs that have not ended, by status. */
const countOpenRuns = async (store: Store): Promise<ReadonlyMap<string, number>> => {
  const rows = await store.select<RunTables, { readonly status: string; readonly runs: number }>(
    (tables) =>
      tables
        .selectFrom('run')
        .select(({ fn }) => ['status' as const, fn.countAll<number>().as('runs')])
        .where('status', 'in', OPEN_STATUSES)
        .groupBy('status'),
  );
  const counts = new Map<string, number>(OPEN_STATUSES.map((status) => [status, 0]));
  for (const { status, runs } of rows) counts.set(status, Number(runs));
  return counts;
};

const countSwitched = async (store: Store): Promise<ReadonlyMap<string, number>> => {
  const states = [...(await listSwitchedOrganizations(store)).values()];
  return new Map(
    ORGANIZATION_SWITCHES.map((state) => [state, states.filter((one) => one === state).length]),
  );
};

const countPartsOff = async (store: Store): Promise<ReadonlyMap<string, number>> =>
  new Map([
    ['agent_pools', (await agentPoolSwitches.keys(store, [])).length],
    ['oauth_clients', (await oauthClientSwitches.keys(store, [])).length],
  ]);

const countAgents = async (store: Store): Promise<number> => {
  const [row] = await store.select<AgentTables, { readonly agents: number }>((tables) =>
    tables
      .selectFrom('agent')
      .select(({ fn }) => fn.countAll<number>().as('agents'))
      .where('has_ended', '=', 0),
  );
  return Number(row?.agents ?? 0);
};

/** Shown as 0 for each kind from the start, so that the first increase is seen. */
const createDeathCounter = (registry: MetricsRegistry): VcsContext['workerCounters']['deaths'] => {
  const counter = new Counter({
    name: 'keelson_worker_deaths_total',
    help: 'Workers that ended before they had fetched a commit or reported why not.',
    labelNames: ['kind'],
    registers: [registry],
  });
  for (const kind of [...WORKER_DEATHS, 'agent'] as const) counter.inc({ kind }, 0);
  return { inc: (kind) => counter.inc({ kind }) };
};

/** Counters of the workers that fetch commits. */
export const createWorkerCounters = (registry: MetricsRegistry): VcsContext['workerCounters'] => ({
  deaths: createDeathCounter(registry),
  givenUp: createCounter(
    registry,
    'keelson_work_given_up_total',
    'Fetches that were given up because each attempt ended the process that made it.',
  ),
});

export const registerWorkspaceMetrics = (
  registry: MetricsRegistry,
  { store, clock }: { readonly store: Store; readonly clock: Clock },
): void =>
  registerSampled(
    registry,
    clock,
    {
      keelson_workspaces: { help: 'Workspaces of all organizations.' },
      keelson_workspaces_locked: { help: 'Workspaces that are locked, by people or by runs.' },
      keelson_runs: { help: 'Runs that have not ended.', label: 'status' },
      keelson_organizations_switched: {
        help: 'Organizations that an administrator of the site has switched off or drains.',
        label: 'state',
      },
      keelson_parts_switched_off: {
        help: 'Agent pools and OAuth clients that an administrator of the site has switched off.',
        label: 'kind',
      },
      keelson_agents: { help: 'Agents that are registered and have not ended.' },
    },
    async () => {
      const [locked] = await store.tallies('workspace', [LOCKED_KEY]);
      return {
        keelson_workspaces: await countWorkspaces(store),
        keelson_workspaces_locked: locked,
        keelson_runs: await countOpenRuns(store),
        keelson_organizations_switched: await countSwitched(store),
        keelson_parts_switched_off: await countPartsOff(store),
        keelson_agents: await countAgents(store),
      };
    },
  );
