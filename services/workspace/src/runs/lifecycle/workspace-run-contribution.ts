/** Adds the current run and run figures to workspace documents. */
import { type Resource, type ResourceType, relatedOne, toOne } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { Type } from 'typebox';
import {
  loadConfigurationVersion,
  loadIngress,
} from '../../state/configuration-versions/workspace-configuration-contribution.ts';
import type { WorkspaceAccessResult } from '../../workspaces/access/access-operations.ts';
import {
  type IncludeRequest,
  type LoadIncluded,
  type WorkspaceInclude,
  workspaceContribution,
} from '../../workspaces/seams/workspace-contributions.ts';
import type { Run } from '../model/domain/run.ts';
import { toPerformance } from '../model/domain/run-performance.ts';
import { runRecords } from '../model/run-records.ts';
import { loadComments } from './run-comment-operations.ts';
import { toApplyResource, toPlanResource, toRunResource } from './run-document.ts';
import { type LogUrl, loadLogUrl } from './run-log-url.ts';

type Permissions = WorkspaceAccessResult['permissions'];

const loadRun = async (
  reads: Reads,
  { permissions }: WorkspaceAccessResult,
  runId: string | undefined,
): Promise<readonly Resource[]> => {
  const run = permissions.canReadRun ? await runRecords.find(reads, runId ?? '') : undefined;
  if (run === undefined) return [];
  return [toRunResource(run, await loadComments(reads, run.id), permissions)];
};

const CURRENT_RUN: WorkspaceInclude = {
  types: ['runs'],
  prepare:
    ({ context }) =>
    (access) =>
      loadRun(context.store, access, access.runs.current?.id),
};

const CURRENT_CONFIGURATION: WorkspaceInclude = {
  types: ['configuration-versions'],
  prepare:
    ({ context }) =>
    async ({ runs, permissions }) =>
      permissions.canReadRun
        ? loadConfigurationVersion(context.store, runs.current?.configurationVersionId)
        : [],
};

/** One phase of the current run. */
const currentPhase = (
  type: ResourceType,
  toResources: (run: Run, logUrl: LogUrl, permissions: Permissions) => readonly Resource[],
): WorkspaceInclude => ({
  types: [type],
  prepare: async ({ context, caller }: IncludeRequest): Promise<LoadIncluded> => {
    const logUrl = await loadLogUrl(context, caller);
    return async ({ runs, permissions }) => {
      const runId = permissions.canReadRun ? runs.current?.id : undefined;
      const run = await runRecords.find(context.store, runId ?? '');
      return run === undefined ? [] : toResources(run, logUrl, permissions);
    };
  },
});

const CURRENT_PLAN = currentPhase('plans', (run, logUrl) => [
  toPlanResource(run, logUrl(run, 'plan')),
]);

const CURRENT_APPLY = currentPhase('applies', (run, logUrl, permissions) =>
  run.planOnly ? [] : [toApplyResource(run, logUrl(run, 'apply'), permissions)],
);

/** The commit of the current run's configuration. */
const CURRENT_INGRESS: WorkspaceInclude = {
  types: ['ingress-attributes'],
  prepare:
    ({ context }) =>
    async ({ runs, permissions }) =>
      permissions.canReadRun
        ? loadIngress(context.store, runs.current?.configurationVersionId)
        : [],
};

const milliseconds = Type.Number({ description: 'In milliseconds, of the recent runs.' });

export const WORKSPACE_RUN_CONTRIBUTION = workspaceContribution({
  schema: {
    attributes: {
      'apply-duration-average': milliseconds,
      'plan-duration-average': milliseconds,
      'policy-check-failures': Type.Integer({ description: 'Always 0: there are no policies.' }),
      'run-failures': Type.Integer({ description: 'Failures among the recent runs.' }),
      'workspace-kpis-runs-count': Type.Integer({ description: 'Number of recent runs.' }),
      'workspace-kpis-run-count': Type.Integer({
        description: 'The same as `workspace-kpis-runs-count`.',
      }),
    },
    relationships: { 'current-run': relatedOne('runs'), 'latest-run': relatedOne('runs') },
  },
  attributes: ({ runs }) => {
    const performance = toPerformance(runs);
    return {
      'apply-duration-average': performance.applyDurationAverageMs,
      'plan-duration-average': performance.planDurationAverageMs,
      'policy-check-failures': 0,
      'run-failures': performance.failures,
      'workspace-kpis-runs-count': performance.count,
      'workspace-kpis-run-count': performance.count,
    };
  },
  relationships: ({ runs }) => {
    const currentRun = toOne('runs', runs.current?.id ?? null);
    return { 'current-run': currentRun, 'latest-run': currentRun };
  },
  includes: {
    locked_by: {
      types: ['runs'],
      prepare:
        ({ context }) =>
        async (access) => {
          const holder = access.locking.lock?.holder;
          return holder?.kind === 'run' ? loadRun(context.store, access, holder.id) : [];
        },
    },
    current_run: CURRENT_RUN,
    'current_run.apply': CURRENT_APPLY,
    'current_run.configuration_version': CURRENT_CONFIGURATION,
    'current_run.configuration_version.ingress_attributes': CURRENT_INGRESS,
    'current_run.plan': CURRENT_PLAN,
    latest_run: CURRENT_RUN,
    'latest_run.configuration_version': CURRENT_CONFIGURATION,
    'latest_run.configuration_version.ingress_attributes': CURRENT_INGRESS,
    'latest_run.plan': CURRENT_PLAN,
  },
});
