/** Imports one organization, in an order in which every part follows those it refers to. */
import type { Document } from '../client/api-client.ts';
import { attempt, attemptEach } from '../importing/attempts.ts';
import {
  copyAttributes,
  create,
  createMissing,
  type IdsByName,
  type ImportContext,
  idsByName,
  toOne,
} from './import-context.ts';
import { importVariables } from './variable-import.ts';
import {
  importWorkspace,
  importWorkspaceRelations,
  type Surroundings,
} from './workspace-import.ts';

const ORGANIZATION = ['name', 'email', 'allow-force-delete-workspaces', 'assessments-enforced'];
const TEAM = ['name', 'visibility', 'allow-member-token-management'];
/** Rights of teams on features that Keelson does not have. */
const RIGHTS_WITHOUT_EFFECT = /polic|modules|providers|run-tasks/;
const CUSTOM_WORKSPACE_RIGHTS = ['runs', 'variables', 'state-versions', 'workspace-locking'];
const PROJECT_RIGHTS = ['settings', 'teams', 'variable-sets'];
const PROJECT_WORKSPACE_RIGHTS = [
  'runs',
  'variables',
  'state-versions',
  'create',
  'locking',
  'delete',
  'move',
];

/** Lists of the source that are only counted in the report, with the recommended action. */
const LEFT_OUT: readonly (readonly [path: string, text: string])[] = [
  ['oauth-clients', 'connections to repositories: their tokens cannot be read, create them'],
  ['ssh-keys', 'SSH keys: their values cannot be read, create them'],
  ['policy-sets', 'policy sets: there are no policies'],
  ['registry-modules', 'modules of the private registry: there is no registry'],
  ['tasks', 'run tasks: there are none'],
];

type Names = ReadonlyMap<string, string>;

const namesById = (resources: readonly Document[]): Names =>
  new Map(resources.map(({ id, attributes }) => [id, attributes.name]));

const pick = (from: object | undefined, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(from ?? {}).filter(([name]) => names.includes(name)));

/** The resources of an organization on both servers. */
const listBoth = async (
  { source, target }: ImportContext,
  organization: string,
  kind: string,
  isThere: boolean,
): Promise<readonly [here: readonly Document[], there: IdsByName]> => {
  const path = `organizations/${encodeURIComponent(organization)}/${kind}`;
  return [await source.list(path), idsByName(isThere ? await target.list(path) : [])];
};

/** The default execution mode needs the pool, which belongs to the organization. */
const importDefaultPool = async (
  { target, isDryRun }: ImportContext,
  organization: Document,
  sourcePools: Names,
  pools: IdsByName,
): Promise<void> => {
  if (organization.attributes['default-execution-mode'] !== 'agent' || isDryRun) return;
  const path = `organizations/${organization.attributes.name}`;
  const { data } = await target.get(path);
  const poolId = pools.get(
    sourcePools.get(organization.relationships?.['default-agent-pool']?.data?.id) ?? '',
  );
  if (data.relationships?.['default-agent-pool']?.data || poolId === undefined) return;
  await target.send('PATCH', path, {
    data: {
      type: 'organizations',
      attributes: { 'default-execution-mode': 'agent', 'default-agent-pool-id': poolId },
    },
  });
};

const projectExecution = (
  { attributes, relationships }: Document,
  sourcePools: Names,
  pools: IdsByName,
): object => {
  if (attributes['setting-overwrites']?.['default-execution-mode'] !== true) return {};
  const mode = attributes['default-execution-mode'];
  const pool = sourcePools.get(relationships?.['default-agent-pool']?.data?.id);
  return {
    'default-execution-mode': mode,
    ...(mode === 'agent' && pool && { 'default-agent-pool-id': pools.get(pool) }),
  };
};

const importProjects = async (
  context: ImportContext,
  organization: string,
  [here, there]: readonly [readonly Document[], IdsByName],
  sourcePools: Names,
  pools: IdsByName,
): Promise<void> => {
  for (const project of here) {
    const { name } = project.attributes;
    const bindings = there.has(name)
      ? []
      : await context.source.list(`projects/${project.id}/tag-bindings`);
    await createMissing(context, there, name, () => ({
      kind: 'projects',
      subject: `${organization}, project ${name}`,
      path: `organizations/${organization}/projects`,
      type: 'projects',
      attributes: {
        ...copyAttributes(project, ['name', 'description']),
        ...projectExecution(project, sourcePools, pools),
      },
      relationships: {
        'tag-bindings': {
          data: bindings.map((binding) => ({
            type: 'tag-bindings',
            attributes: copyAttributes(binding, ['key', 'value']),
          })),
        },
      },
    }));
    if (project.attributes['auto-destroy-activity-duration'])
      context.report.leaveOut(
        `${organization}, project ${name}`,
        'automatic destruction: set it when the source no longer manages the workspaces',
      );
  }
};

const importTeams = async (
  context: ImportContext,
  organization: string,
  [here, there]: readonly [readonly Document[], IdsByName],
): Promise<void> => {
  for (const team of here) {
    const { name } = team.attributes;
    const subject = `${organization}, team ${name}`;
    const rights: Readonly<Record<string, boolean>> = team.attributes['organization-access'] ?? {};
    await createMissing(context, there, name, () => ({
      kind: 'teams',
      subject,
      path: `organizations/${organization}/teams`,
      type: 'teams',
      attributes: {
        ...copyAttributes(team, TEAM),
        'organization-access': pick(
          rights,
          // The source shows a right that is implied by another as false; the target refuses that combination.
          Object.keys(rights).filter(
            (right) => rights[right] === true && !RIGHTS_WITHOUT_EFFECT.test(right),
          ),
        ),
      },
    }));
    const members: number = team.attributes['users-count'] ?? 0;
    if (members > 0 && name !== 'owners')
      context.report.leaveOut(subject, `${members} members: invite them, and add them to the team`);
  }
};

/** Imports the access of teams to a project or a workspace. */
const importGrants = async (
  context: ImportContext,
  kind: 'workspace' | 'project',
  target: { readonly sourceId: string; readonly name: string; readonly id: string | undefined },
  sourceTeams: Names,
  teams: IdsByName,
): Promise<void> => {
  const type = `team-${kind}s`;
  const path = (id: string): string => `${type}?filter[${kind}][id]=${id}`;
  const grants = await context.source.list(path(target.sourceId));
  const found = target.id === undefined ? [] : await context.target.list(path(target.id));
  const there = new Set(found.map(({ relationships }) => relationships.team.data.id));
  for (const grant of grants) {
    const team = sourceTeams.get(grant.relationships.team.data.id);
    const teamId = teams.get(team ?? '');
    const subject = `${target.name}, team ${team}`;
    const { access } = grant.attributes;
    if (teamId !== undefined && there.has(teamId)) context.report.countAlreadyThere('grants');
    else if (team === undefined || !teams.has(team))
      context.report.leaveOut(target.name, 'the grant of a team that the target does not have');
    else
      await attempt(context, subject, () =>
        create(context, {
          kind: 'grants',
          subject,
          path: type,
          type,
          attributes: { access, ...(access === 'custom' && toCustomRights(kind, grant)) },
          relationships: {
            team: toOne('teams', teamId ?? ''),
            [kind]: toOne(`${kind}s`, target.id ?? ''),
          },
        }),
      );
  }
};

const toCustomRights = (kind: 'workspace' | 'project', { attributes }: Document): object =>
  kind === 'workspace'
    ? pick(attributes, CUSTOM_WORKSPACE_RIGHTS)
    : {
        'project-access': pick(attributes['project-access'], PROJECT_RIGHTS),
        'workspace-access': pick(attributes['workspace-access'], PROJECT_WORKSPACE_RIGHTS),
      };

const importVariableSets = async (
  context: ImportContext,
  { organization, workspaces, projects, sourceProjects }: Surroundings,
  sourceWorkspaces: Names,
  [here, there]: readonly [readonly Document[], IdsByName],
): Promise<void> => {
  /** The elements that exist at the target; in a dry run they have no ids. */
  const translate = (list: Document, type: string, names: Names, ids: IdsByName): object => ({
    data: (list?.data ?? [])
      .map(({ id }: Document) => ids.get(names.get(id) ?? ''))
      .filter((id: string | undefined) => id !== undefined)
      .map((id: string) => ({ type, id })),
  });
  for (const set of here) {
    const { name } = set.attributes;
    const subject = `${organization}, variable set ${name}`;
    const owner = set.relationships?.parent?.data;
    const ownerId =
      owner?.type === 'projects' ? projects.get(sourceProjects.get(owner.id) ?? '') : undefined;
    await createMissing(context, there, name, () => ({
      kind: 'variable sets',
      subject,
      path: `organizations/${organization}/varsets`,
      type: 'varsets',
      attributes: copyAttributes(set, ['name', 'description', 'global', 'priority']),
      relationships: {
        ...(ownerId && { parent: toOne('projects', ownerId) }),
        workspaces: translate(
          set.relationships?.workspaces,
          'workspaces',
          sourceWorkspaces,
          workspaces,
        ),
        projects: translate(set.relationships?.projects, 'projects', sourceProjects, projects),
      },
    }));
    const id = there.get(name);
    await importVariables(
      context,
      subject,
      await context.source.list(`varsets/${set.id}/relationships/vars`),
      id && `varsets/${id}/relationships/vars`,
    );
  }
};

const reportOmissions = async (
  { source, report }: ImportContext,
  organization: string,
): Promise<void> => {
  for (const [kind, text] of LEFT_OUT) {
    const found = await source.list(`organizations/${organization}/${kind}`);
    if (found.length > 0) report.leaveOut(organization, `${found.length} ${text}`);
  }
};

/** Imports an organization by name. */
export const importOrganization = async (context: ImportContext, name: string): Promise<void> => {
  const { source, target, report, isDryRun } = context;
  const { data: organization } = await source.get(`organizations/${encodeURIComponent(name)}`);
  const found = await target.find(`organizations/${encodeURIComponent(name)}`);
  if (found === undefined)
    await create(context, {
      kind: 'organizations',
      subject: name,
      path: 'organizations',
      type: 'organizations',
      attributes: copyAttributes(organization, ORGANIZATION),
    });
  else report.countAlreadyThere('organizations');
  const isThere = found !== undefined || !isDryRun;

  const list = (kind: string) => listBoth(context, name, kind, isThere);
  const [poolsHere, pools] = await list('agent-pools');
  for (const pool of poolsHere) {
    await createMissing(context, pools, pool.attributes.name, () => ({
      kind: 'agent pools',
      subject: `${name}, agent pool ${pool.attributes.name}`,
      path: `organizations/${name}/agent-pools`,
      type: 'agent-pools',
      attributes: copyAttributes(pool, ['name', 'organization-scoped']),
    }));
    report.leaveOut(
      `${name}, agent pool ${pool.attributes.name}`,
      'tokens of agents cannot be read: create one, and start the agents with it',
    );
  }
  const sourcePools = namesById(poolsHere);
  await attempt(context, name, () => importDefaultPool(context, organization, sourcePools, pools));

  const projects = await list('projects');
  await importProjects(context, name, projects, sourcePools, pools);
  const teams = await list('teams');
  await importTeams(context, name, teams);

  const [workspacesHere, workspaces] = await list('workspaces');
  const surroundings: Surroundings = {
    organization: name,
    sourceProjects: namesById(projects[0]),
    sourcePools,
    projects: projects[1],
    pools,
    workspaces,
  };
  const subjectOf = ({ attributes }: Document): string => `${name}/${attributes.name}`;
  await attemptEach(context, workspacesHere, subjectOf, (workspace) =>
    importWorkspace(context, surroundings, workspace),
  );
  const sourceTeams = namesById(teams[0]);
  await attemptEach(context, workspacesHere, subjectOf, (workspace) =>
    importWorkspaceRelations(context, surroundings, workspace),
  );
  await attemptEach(context, workspacesHere, subjectOf, async (workspace) => {
    const place = {
      sourceId: workspace.id,
      name: subjectOf(workspace),
      id: workspaces.get(workspace.attributes.name),
    };
    await importGrants(context, 'workspace', place, sourceTeams, teams[1]);
  });
  for (const project of projects[0]) {
    const place = {
      sourceId: project.id,
      name: `${name}, project ${project.attributes.name}`,
      id: projects[1].get(project.attributes.name),
    };
    await attempt(context, place.name, () =>
      importGrants(context, 'project', place, sourceTeams, teams[1]),
    );
  }
  await importVariableSets(context, surroundings, namesById(workspacesHere), await list('varsets'));
  await reportOmissions(context, name);
};
