/** The claims of a token of a run. Names of organizations, projects and workspaces contain no colon. */
import type { Organization } from '../../../identity/model/domain/organization.ts';
import type { Project } from '../../../workspaces/model/domain/project.ts';
import type { Workspace } from '../../../workspaces/model/domain/workspace.ts';
import type { Run } from '../../model/domain/run.ts';

export interface WorkloadParts {
  readonly organization: Pick<Organization, 'id' | 'name'>;
  readonly project: Pick<Project, 'id' | 'name'>;
  readonly workspace: Pick<Workspace, 'id' | 'name'>;
  readonly run: Pick<Run, 'id'>;
  readonly phase: 'plan' | 'apply';
}

/** As long as the longest phase of the built-in runner takes unless its operator says otherwise. */
const LIFETIME_SECONDS = 2 * 60 * 60;
/** Verifiers whose clock is behind take a new token. */
const CLOCK_SKEW_SECONDS = 5;

/** Claims that each token of a phase has, without its audience and its id. */
export const toWorkloadClaims = (
  { organization, project, workspace, run, phase }: WorkloadParts,
  nowMs: number,
) => {
  const iat = Math.floor(nowMs / 1000);
  const full = `organization:${organization.name}:project:${project.name}:workspace:${workspace.name}`;
  return {
    iat,
    nbf: iat - CLOCK_SKEW_SECONDS,
    exp: iat + LIFETIME_SECONDS,
    sub: `${full}:run_phase:${phase}`,
    terraform_organization_id: organization.id,
    terraform_organization_name: organization.name,
    terraform_project_id: project.id,
    terraform_project_name: project.name,
    terraform_workspace_id: workspace.id,
    terraform_workspace_name: workspace.name,
    terraform_full_workspace: full,
    terraform_run_id: run.id,
    terraform_run_phase: phase,
  } as const;
};

/** Names of the claims of a token, for the document by which others find them. */
export const CLAIM_NAMES: readonly string[] = [
  'iss',
  'aud',
  'jti',
  ...Object.keys(
    toWorkloadClaims(
      {
        organization: { id: '', name: '' },
        project: { id: '', name: '' },
        workspace: { id: '', name: '' },
        run: { id: '' },
        phase: 'plan',
      },
      0,
    ),
  ),
];
