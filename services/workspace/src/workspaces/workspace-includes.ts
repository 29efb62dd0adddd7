import { type Resource, withLinkage } from '@keelson/jsonapi';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { findReadableProject, type WorkspaceAccessResult } from '../access/access-operations.ts';
import { toAgentPoolResource } from '../agents/agent-pool-document.ts';
import { loadVisiblePool } from '../agents/agent-pool-operations.ts';
import { agentPoolRecords } from '../agents/agent-pool-records.ts';
import { registeredAgents } from '../agents/agent-records.ts';
import { toAssessmentResource } from '../assessments/assessment-document.ts';
import { findCurrentAssessment } from '../assessments/assessment-operations.ts';
import { toConfigurationVersionResource } from '../configuration-versions/configuration-version-document.ts';
import {
  configurationVersionRecords,
  workspaceReadmes,
} from '../configuration-versions/configuration-version-records.ts';
import { toOrganizationResource } from '../organizations/organization-document.ts';
import { toProjectResource } from '../projects/project-document.ts';
import { findSitePolicy } from '../retention/retention-records.ts';
import { loadComments } from '../runs/run-comment-operations.ts';
import { toApplyResource, toPlanResource, toRunResource } from '../runs/run-document.ts';
import { type LogUrl, loadLogUrl } from '../runs/run-log-url.ts';
import { runRecords } from '../runs/run-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { loadUrlSigner, type SignUrl } from '../signed-urls/signed-url-operations.ts';
import { toWorkspaceOutputResource } from '../states/state-version-document.ts';
import { loadStateVersionResource } from '../states/state-version-includes.ts';
import { stateSummaries, stateVersionRecords } from '../states/state-version-records.ts';
import { toEffectiveBindingResources } from '../tags/tag-document.ts';
import { findVisibleTeam } from '../teams/team-access.ts';
import { toUserResource } from '../users/user-document.ts';
import { userRecords } from '../users/user-records.ts';
import { toVariableResource } from '../variables/variable-document.ts';
import { loadVariables } from '../variables/variable-operations.ts';
import { decideEffectiveExecution } from './domain/execution.ts';
import { toReadmeResource } from './workspace-document.ts';

/** Every relationship that may be asked for; those without a resource behind them include nothing. */
export const WORKSPACE_INCLUDES: ReadonlySet<string> = new Set([
  'agent_pool',
  'current_assessment_result',
  'current_configuration_version',
  'current_configuration_version.ingress_attributes',
  'current_run',
  'current_run.apply',
  'current_run.configuration_version',
  'current_run.configuration_version.ingress_attributes',
  'current_run.plan',
  'current_state_version',
  'current_state_version.resources_processed',
  'effective_tag_bindings',
  'latest_run',
  'latest_run.configuration_version',
  'latest_run.configuration_version.ingress_attributes',
  'latest_run.plan',
  'locked_by',
  'no_code_module_version',
  'organization',
  'outputs',
  'project',
  'readme',
  'vars',
]);

/** Of these there is a route for the token of a run; what is absent for a caller is not included. */
const OPEN_TO_RUNS: ReadonlySet<string> = new Set([
  'organization',
  'outputs',
  'current_state_version',
]);

const openTo = (
  { standing }: Pick<WorkspaceAccessResult, 'standing'>,
  include: ReadonlySet<string>,
): ReadonlySet<string> => (standing.kind === 'run' ? include.intersection(OPEN_TO_RUNS) : include);

const loadProject = async (
  reads: Reads,
  access: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const { organization, workspace } = access;
  const project = await findReadableProject(reads, access, workspace.projectId);
  return project === undefined ? [] : [toProjectResource({ project, organization })];
};

const findLockHolder = async (
  reads: Reads,
  access: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const { workspace, permissions } = access;
  const holder = workspace.lock?.holder;
  if (holder?.kind === 'run') {
    const run = permissions.canReadRun ? await runRecords.find(reads, holder.id) : undefined;
    if (run === undefined) return [];
    return [toRunResource(run, await loadComments(reads, run.id), permissions)];
  }
  if (holder?.kind === 'user') {
    const user = await userRecords.find(reads, holder.id);
    return user === undefined ? [] : [toUserResource(user, false)];
  }
  if (holder?.kind === 'team') {
    const team = await findVisibleTeam(reads, access, holder.id);
    return team === undefined
      ? []
      : [{ id: team.id, type: 'teams', attributes: { name: team.name } }];
  }
  return [];
};

const loadOutputs = async (
  reads: Reads,
  { workspace }: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const { currentId } = workspace.state;
  const summary = currentId === null ? undefined : await stateSummaries.find(reads, currentId);
  return (summary?.outputs ?? []).map((output, index) =>
    toWorkspaceOutputResource(currentId ?? '', index, output),
  );
};

const loadCurrentState = async (
  reads: Reads,
  { workspace, permissions }: WorkspaceAccessResult,
  sign: SignUrl,
): Promise<readonly Resource[]> => {
  const version = await stateVersionRecords.find(reads, workspace.state.currentId ?? '');
  return version === undefined
    ? []
    : [await loadStateVersionResource(reads, { version, permissions }, sign)];
};

const loadReadme = async (
  reads: Reads,
  { workspace }: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const readme = await workspaceReadmes.find(reads, workspace.id);
  return readme === undefined ? [] : [toReadmeResource(workspace.id, readme.markdown)];
};

const loadCurrentRun = async (
  reads: Reads,
  { workspace, permissions }: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const run = await runRecords.find(reads, workspace.runs.current?.id ?? '');
  if (run === undefined) return [];
  return [toRunResource(run, await loadComments(reads, run.id), permissions)];
};

const PHASE_INCLUDES = ['current_run.plan', 'current_run.apply', 'latest_run.plan'];

/** The plan and the apply of the current run, as far as they are asked for. */
const loadCurrentPhases = async (
  reads: Reads,
  include: ReadonlySet<string>,
  { workspace, permissions }: WorkspaceAccessResult,
  logUrl: LogUrl,
): Promise<readonly Resource[]> => {
  const run = await runRecords.find(reads, workspace.runs.current?.id ?? '');
  if (run === undefined) return [];
  const hasPlan = include.has('current_run.plan') || include.has('latest_run.plan');
  const hasApply = include.has('current_run.apply') && !run.planOnly;
  return [
    ...(hasPlan ? [toPlanResource(run, logUrl(run, 'plan'))] : []),
    ...(hasApply ? [toApplyResource(run, logUrl(run, 'apply'), permissions)] : []),
  ];
};

/** The pool that executes the workspace's runs, its own or inherited. */
const loadAgentPool = async (
  reads: Reads,
  access: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const { workspace, project, organization } = access;
  const { agentPoolId } = decideEffectiveExecution(
    workspace.ownExecution,
    project.ownExecution,
    organization.defaultExecution,
  );
  const stored = await agentPoolRecords.find(reads, agentPoolId ?? '');
  if (stored === undefined) return [];
  const { pool, workspaceIds } = await loadVisiblePool(reads, access, stored);
  const agentIds = await registeredAgents.keys(reads, [pool.organizationId, pool.id]);
  return [toAgentPoolResource({ pool, organization }, workspaceIds, agentIds)];
};

const loadConfiguration = async (
  reads: Reads,
  versionId: string | null | undefined,
): Promise<readonly Resource[]> => {
  const version = await configurationVersionRecords.find(reads, versionId ?? '');
  return version === undefined ? [] : [toConfigurationVersionResource(version, null)];
};

/** The workspace with the identifiers of what is included and else only linked to. */
export const withIncludedLinkage = (
  resource: Resource,
  include: ReadonlySet<string>,
  access: WorkspaceAccessResult,
): Resource => {
  if (!openTo(access, include).has('effective_tag_bindings')) return resource;
  const { workspace, project } = access;
  const name = 'effective-tag-bindings';
  const ids = toEffectiveBindingResources(workspace.tagBindings, project).map(({ id }) => id);
  return withLinkage(resource, name, ids);
};

/** The resources that `include` names, each once. */
export const loadIncluded = async (
  context: ServiceContext,
  { baseUrl }: Pick<RequestHead, 'baseUrl'>,
  given: ReadonlySet<string>,
  workspaces: readonly WorkspaceAccessResult[],
): Promise<readonly Resource[]> => {
  const { store: reads } = context;
  const hasPhases = PHASE_INCLUDES.some((name) => given.has(name));
  const logUrl = hasPhases ? await loadLogUrl(context, baseUrl) : undefined;
  const sign = given.has('current_state_version')
    ? await loadUrlSigner(context, baseUrl)
    : undefined;
  const sitePolicy = given.has('organization') ? await findSitePolicy(reads) : null;
  const found = new Map<string, Resource>();
  const add = (resources: readonly Resource[]) => {
    for (const resource of resources) found.set(`${resource.type} ${resource.id}`, resource);
  };
  for (const access of workspaces) {
    const include = openTo(access, given);
    const seesRuns = access.permissions.canReadRun;
    if (include.has('organization')) add([toOrganizationResource(access, sitePolicy)]);
    if (include.has('project')) add(await loadProject(reads, access));
    if (include.has('locked_by')) add(await findLockHolder(reads, access));
    if (include.has('vars') && access.permissions.canReadVariable) {
      add((await loadVariables(reads, access.workspace)).map(toVariableResource));
    }
    if (include.has('outputs') && access.permissions.canReadStateOutputs) {
      add(await loadOutputs(reads, access));
    }
    const seesStates = access.permissions.canReadStateVersions;
    if (sign !== undefined && seesStates && include.has('current_state_version')) {
      add(await loadCurrentState(reads, access, sign));
    }
    if (seesRuns && include.has('readme')) add(await loadReadme(reads, access));
    if (seesRuns && (include.has('current_run') || include.has('latest_run'))) {
      add(await loadCurrentRun(reads, access));
    }
    if (logUrl !== undefined && seesRuns)
      add(await loadCurrentPhases(reads, include, access, logUrl));
    if (include.has('agent_pool')) add(await loadAgentPool(reads, access));
    if (seesRuns && include.has('current_configuration_version')) {
      add(await loadConfiguration(reads, access.workspace.currentConfigurationVersionId));
    }
    if (
      seesRuns &&
      (include.has('current_run.configuration_version') ||
        include.has('latest_run.configuration_version'))
    ) {
      add(await loadConfiguration(reads, access.workspace.runs.current?.configurationVersionId));
    }
    if (include.has('current_assessment_result')) {
      const run = await findCurrentAssessment(reads, access.workspace);
      if (run !== undefined) add([toAssessmentResource(run)]);
    }
    if (include.has('effective_tag_bindings')) {
      add(toEffectiveBindingResources(access.workspace.tagBindings, access.project));
    }
  }
  return [...found.values()];
};
