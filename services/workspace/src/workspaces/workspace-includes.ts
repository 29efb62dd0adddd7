import type { Resource } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import type { WorkspaceAccessResult } from '../access/access-operations.ts';
import { toConfigurationVersionResource } from '../configuration-versions/configuration-version-document.ts';
import { configurationVersionRecords } from '../configuration-versions/configuration-version-records.ts';
import { toOrganizationResource } from '../organizations/organization-document.ts';
import { toProjectResource } from '../projects/project-document.ts';
import { toRunResource } from '../runs/run-document.ts';
import { runRecords } from '../runs/run-records.ts';
import { toWorkspaceOutputResource } from '../states/state-version-document.ts';
import { stateSummaries } from '../states/state-version-records.ts';
import { toEffectiveBindingResources } from '../tags/tag-document.ts';
import { teamRecords } from '../teams/team-records.ts';
import { toUserResource } from '../users/user-document.ts';
import { userRecords } from '../users/user-records.ts';
import { toVariableResource } from '../variables/variable-document.ts';
import { loadVariables } from '../variables/variable-operations.ts';

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

const findLockHolder = async (
  reads: Reads,
  { workspace }: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const holder = workspace.lock?.holder;
  if (holder?.kind === 'user') {
    const user = await userRecords.find(reads, holder.id);
    return user === undefined ? [] : [toUserResource(user, false)];
  }
  if (holder?.kind === 'team') {
    const team = await teamRecords.find(reads, holder.id);
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

const loadCurrentRun = async (
  reads: Reads,
  { workspace, permissions }: WorkspaceAccessResult,
): Promise<readonly Resource[]> => {
  const run = await runRecords.find(reads, workspace.runs.current?.id ?? '');
  return run === undefined ? [] : [toRunResource(run, permissions)];
};

const loadConfiguration = async (
  reads: Reads,
  versionId: string | null | undefined,
): Promise<readonly Resource[]> => {
  const version = await configurationVersionRecords.find(reads, versionId ?? '');
  return version === undefined ? [] : [toConfigurationVersionResource(version, null)];
};

/** The resources that `include` names, each once. */
export const loadIncluded = async (
  reads: Reads,
  include: ReadonlySet<string>,
  workspaces: readonly WorkspaceAccessResult[],
): Promise<readonly Resource[]> => {
  const found = new Map<string, Resource>();
  const add = (resources: readonly Resource[]) => {
    for (const resource of resources) found.set(`${resource.type} ${resource.id}`, resource);
  };
  for (const access of workspaces) {
    if (include.has('organization')) add([toOrganizationResource(access)]);
    if (include.has('project')) add([toProjectResource(access)]);
    if (include.has('locked_by')) add(await findLockHolder(reads, access));
    if (include.has('vars') && access.permissions.canReadVariable) {
      add((await loadVariables(reads, access.workspace)).map(toVariableResource));
    }
    if (include.has('outputs') && access.permissions.canReadStateOutputs) {
      add(await loadOutputs(reads, access));
    }
    if (include.has('current_run') || include.has('latest_run')) {
      add(await loadCurrentRun(reads, access));
    }
    if (include.has('current_configuration_version')) {
      add(await loadConfiguration(reads, access.workspace.currentConfigurationVersionId));
    }
    if (
      include.has('current_run.configuration_version') ||
      include.has('latest_run.configuration_version')
    ) {
      add(await loadConfiguration(reads, access.workspace.runs.current?.configurationVersionId));
    }
    if (include.has('effective_tag_bindings')) {
      add(toEffectiveBindingResources(access.workspace.tagBindings, access.project));
    }
  }
  return [...found.values()];
};
