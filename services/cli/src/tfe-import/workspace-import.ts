/** Imports one workspace: its settings, tags, variables and states; reports the rest. */
import type { Document } from '../client/api-client.ts';
import { attempt } from '../importing/attempts.ts';
import {
  copyAttributes,
  create,
  type IdsByName,
  type ImportContext,
  toOne,
} from './import-context.ts';
import { importStates } from './state-import.ts';
import { importVariables } from './variable-import.ts';

/** Resources to which workspaces refer: those of the source by id, those of the target by name. */
export interface Surroundings {
  readonly organization: string;
  readonly sourceProjects: ReadonlyMap<string, string>;
  readonly sourcePools: ReadonlyMap<string, string>;
  readonly projects: IdsByName;
  readonly pools: IdsByName;
  readonly workspaces: IdsByName;
}

const SETTINGS = [
  'name',
  'allow-destroy-plan',
  'assessments-enabled',
  'auto-apply',
  'auto-apply-run-trigger',
  'description',
  'file-triggers-enabled',
  'global-remote-state',
  'project-remote-state',
  'queue-all-runs',
  'speculative-enabled',
  'structured-run-output-enabled',
  'terraform-version',
  'working-directory',
];

const subjectOf = ({ organization }: Surroundings, workspace: Document): string =>
  `${organization}/${workspace.attributes.name}`;

/** A workspace without its own mode continues to inherit it. */
const toExecution = (
  { sourcePools, pools }: Surroundings,
  { attributes, relationships }: Document,
): object => {
  if (attributes['setting-overwrites']?.['execution-mode'] === false) return {};
  const mode = attributes['execution-mode'];
  const pool = sourcePools.get(relationships?.['agent-pool']?.data?.id);
  return {
    'execution-mode': mode,
    ...(mode === 'agent' && pool !== undefined && { 'agent-pool-id': pools.get(pool) }),
  };
};

/** Only one kind of trigger may have values. */
const toTriggers = ({ attributes }: Document): object =>
  Object.fromEntries(
    ['trigger-patterns', 'trigger-prefixes']
      .map((name) => [name, attributes[name]])
      .filter(([, value]) => value?.length > 0),
  );

const toTags = async ({ source }: ImportContext, { id, attributes }: Document): Promise<object> => {
  const names: readonly string[] = attributes['tag-names'] ?? [];
  const bindings = await source.list(`workspaces/${id}/tag-bindings`);
  const pairs = bindings
    .map((binding) => copyAttributes(binding, ['key', 'value']))
    // A key without a value is a tag with that name.
    .filter(({ key, value }) => value !== undefined || !names.includes(String(key)));
  return {
    tags: { data: names.map((name) => ({ type: 'tags', attributes: { name } })) },
    'tag-bindings': { data: pairs.map((pair) => ({ type: 'tag-bindings', attributes: pair })) },
  };
};

/** Reports the settings that are not imported, with the recommended action. */
const reportOmissions = async (
  { source, report }: ImportContext,
  subject: string,
  { id, attributes, relationships }: Document,
): Promise<void> => {
  const repository = attributes['vcs-repo']?.identifier ?? attributes['vcs-repo-identifier'];
  if (repository) report.leaveOut(subject, `repository ${repository}: connect the workspace to it`);
  if (relationships?.['ssh-key']?.data)
    report.leaveOut(subject, 'SSH key: its value cannot be read, assign one');
  if (attributes['auto-destroy-at'] || attributes['auto-destroy-activity-duration'])
    report.leaveOut(
      subject,
      'automatic destruction: set it when the source no longer manages the workspace',
    );
  if (attributes.locked === true)
    report.leaveOut(subject, 'locked at the source: run the import again if its state changes');
  const notifications = await source.list(`workspaces/${id}/notification-configurations`);
  for (const { attributes: notification } of notifications)
    report.leaveOut(
      subject,
      `notification ${notification.name}: its token cannot be read, create it`,
    );
};

const importSettings = async (
  context: ImportContext,
  surroundings: Surroundings,
  workspace: Document,
): Promise<string | undefined> => {
  const { organization, workspaces, projects, sourceProjects } = surroundings;
  const { name } = workspace.attributes;
  if (workspaces.has(name)) {
    context.report.countAlreadyThere('workspaces');
    return workspaces.get(name);
  }
  const project = projects.get(
    sourceProjects.get(workspace.relationships?.project?.data?.id) ?? '',
  );
  const id = await create(context, {
    kind: 'workspaces',
    subject: subjectOf(surroundings, workspace),
    path: `organizations/${organization}/workspaces`,
    type: 'workspaces',
    attributes: {
      ...copyAttributes(workspace, SETTINGS),
      ...toExecution(surroundings, workspace),
      ...toTriggers(workspace),
    },
    relationships: {
      ...(await toTags(context, workspace)),
      ...(project && { project: toOne('projects', project) }),
    },
  });
  workspaces.set(name, id);
  return id;
};

export const importWorkspace = async (
  context: ImportContext,
  surroundings: Surroundings,
  workspace: Document,
): Promise<void> => {
  const subject = subjectOf(surroundings, workspace);
  const targetId = await importSettings(context, surroundings, workspace);
  await reportOmissions(context, subject, workspace);
  await attempt(context, subject, async () =>
    importVariables(
      context,
      subject,
      await context.source.list(`workspaces/${workspace.id}/vars`),
      targetId && `workspaces/${targetId}/vars`,
    ),
  );
  await importStates(context, {
    organization: surroundings.organization,
    name: workspace.attributes.name,
    sourceId: workspace.id,
    targetId,
  });
};

/** State sharing and run triggers between workspaces, all of which exist by now. */
export const importWorkspaceRelations = async (
  context: ImportContext,
  surroundings: Surroundings,
  workspace: Document,
): Promise<void> => {
  const { source, target } = context;
  const subject = subjectOf(surroundings, workspace);
  const idOf = (name: string): string | undefined => surroundings.workspaces.get(name);
  const targetId = idOf(workspace.attributes.name);
  const consumersPath = (id: string): string =>
    `workspaces/${id}/relationships/remote-state-consumers`;
  const triggersPath = (id: string): string => `workspaces/${id}/run-triggers`;
  const INBOUND = '?filter[run-trigger][type]=inbound';

  // If the state is shared with all, the list contains all workspaces.
  const consumers =
    workspace.attributes['global-remote-state'] === true
      ? []
      : await source.list(`${consumersPath(workspace.id)}?show_only_configured=true`);
  const triggers = await source.list(`${triggersPath(workspace.id)}${INBOUND}`);
  const [consumersThere, triggersThere] = targetId
    ? [
        await target.list(`${consumersPath(targetId)}?show_only_configured=true`),
        await target.list(`${triggersPath(targetId)}${INBOUND}`),
      ]
    : [[], []];
  const add = async (
    kind: string,
    path: string,
    names: readonly string[],
    there: ReadonlySet<string>,
    toBody: (id: string) => object,
  ): Promise<void> => {
    for (const name of names) {
      const id = idOf(name);
      if (there.has(name)) context.report.countAlreadyThere(kind);
      else if (!surroundings.workspaces.has(name))
        context.report.leaveOut(subject, `${kind}: the target has no workspace ${name}`);
      else {
        if (id !== undefined && targetId !== undefined) await target.send('POST', path, toBody(id));
        context.report.countTakenOver(kind);
      }
    }
  };
  await add(
    'state consumers',
    consumersPath(targetId ?? ''),
    consumers.map(({ attributes }) => attributes.name),
    new Set(consumersThere.map(({ attributes }) => attributes.name)),
    (id) => ({ data: [{ type: 'workspaces', id }] }),
  );
  await add(
    'run triggers',
    triggersPath(targetId ?? ''),
    triggers.map(({ attributes }) => attributes['sourceable-name']),
    new Set(triggersThere.map(({ attributes }) => attributes['sourceable-name'])),
    (id) => ({
      data: {
        type: 'run-triggers',
        relationships: { sourceable: toOne('workspaces', id) },
      },
    }),
  );
};
