/** Changes of several workspaces of the list at once. */
import { type ReactNode } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import {
  callWorkspaces,
  type ListDocument,
  type OneDocument,
  relatedOne,
  type WorkspacesMethod,
} from '../api/workspaces-api.ts';
import type { Bulk, Verdict } from '../bulk/bulk.ts';
import { BulkButton } from '../bulk/bulk-button.tsx';
import type { Fields } from '../components/action-button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { Input, Label, SelectField } from '../components/fields.tsx';
import { ProjectSelect } from '../projects/project-select.tsx';
import { holderOf } from './lock-card.tsx';
import { RUN_KINDS, runAttributes, runBody } from './start-run.tsx';
import type { WorkspaceAttributes } from './workspace.ts';

/** A workspace with the holder of its lock. */
export type Listed = OneDocument<WorkspaceAttributes>;

type Permission = keyof WorkspaceAttributes['permissions'];

type Project = ResourceAttributes['projects'];

const mayOn =
  (permission: Permission) =>
  ({ data }: Listed): boolean =>
    data.attributes.permissions[permission];

const mayMove = (project: Project): boolean => project.permissions?.['can-move-workspace'] === true;

/** One kind of change, of one workspace. */
export interface Deed {
  readonly label: string;
  /** Joins the label with the number of workspaces. */
  readonly preposition?: string;
  readonly isAllowed: (listed: Listed) => boolean;
  readonly children: ReactNode;
  /** The fate of a workspace on which the person has the permission. */
  readonly judge: (listed: Listed, fields: Fields) => Verdict;
  readonly request: (
    listed: Listed,
    fields: Fields,
  ) => readonly [method: WorkspacesMethod, path: string, body?: object];
}

const changes = (words: string): Verdict => ({ kind: 'changes', words });
const stays = (words: string): Verdict => ({ kind: 'stays', words });
const refused = (words: string): Verdict => ({ kind: 'refused', words });

const lock: Deed = {
  label: 'Lock',
  isAllowed: mayOn('can-lock'),
  children: (
    <>
      <p>New runs wait until the workspaces are unlocked.</p>
      <Label>
        Reason (optional)
        <Input name="reason" autoComplete="off" maxLength={500} />
      </Label>
    </>
  ),
  judge: (listed) =>
    listed.data.attributes.locked
      ? refused(`It is locked already, by ${holderOf(listed)}.`)
      : changes('It will be locked.'),
  request: ({ data: { id } }, fields) => [
    'POST',
    `workspaces/${id}/actions/lock`,
    { reason: fields.text('reason') },
  ],
};

/** @param account id of the person; undefined for the token of a team or an organization */
const unlock = (account: string | undefined): Deed => ({
  label: 'Unlock',
  isAllowed: mayOn('can-unlock'),
  children: <p>Only who holds a lock can give it back. Waiting runs begin.</p>,
  judge: (listed) => {
    if (!listed.data.attributes.locked) return stays('It is not locked.');
    const holder = relatedOne(listed.data, 'locked-by');
    const isOther = account !== undefined && holder !== undefined && holder.id !== account;
    return isOther
      ? refused(`${holderOf(listed)} holds the lock; the page of the workspace can take it away.`)
      : changes('It will be unlocked.');
  },
  request: ({ data: { id } }) => ['POST', `workspaces/${id}/actions/unlock`],
});

const tagsIn = (fields: Fields): readonly string[] => [
  ...new Set(
    fields
      .text('tags')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
];

const addTags: Deed = {
  label: 'Add tags',
  preposition: 'to',
  isAllowed: mayOn('can-manage-tags'),
  children: (
    <>
      <p>Lists and the tool select workspaces by their tags.</p>
      <Label>
        Tags, separated by commas
        <Input
          name="tags"
          required
          autoComplete="off"
          pattern="[A-Za-z0-9_:\-]+( *, *[A-Za-z0-9_:\-]+)*"
        />
      </Label>
    </>
  ),
  judge: ({ data: { attributes } }, fields) => {
    const missing = tagsIn(fields).filter((tag) => !attributes['tag-names'].includes(tag));
    if (missing.length > 0) return changes(`It gets ${missing.join(', ')}.`);
    return fields.text('tags').trim() === ''
      ? changes('It gets the tags.')
      : stays('It has these tags.');
  },
  request: ({ data: { id } }, fields) => [
    'POST',
    `workspaces/${id}/relationships/tags`,
    { data: tagsIn(fields).map((name) => ({ type: 'tags', attributes: { name } })) },
  ],
};

const startRuns: Deed = {
  label: 'Start runs',
  preposition: 'in',
  isAllowed: mayOn('can-queue-run'),
  children: (
    <>
      <Label>
        What to do
        <SelectField name="kind" defaultValue="plan">
          {Object.entries(RUN_KINDS).map(([name, [title]]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </SelectField>
      </Label>
      <Label>
        Why
        <Input name="message" required autoComplete="off" defaultValue="Started in the console" />
      </Label>
    </>
  ),
  judge: ({ data: { attributes } }, fields) => {
    if (attributes['execution-mode'] === 'local')
      return refused('Its runs are executed on the machine of whoever starts them.');
    if (attributes.locked) return changes('Its run waits until it is unlocked.');
    return fields.text('kind') !== 'plan' && attributes['auto-apply']
      ? changes('Its plan is applied by itself.')
      : changes('It is planned; nothing changes until somebody confirms.');
  },
  request: ({ data: { id } }, fields) => ['POST', 'runs', runBody(id, runAttributes(fields))],
};

/**
 * A move asks for a right on both projects, and for none on the workspace.
 * @param projects the first ones of the organization by id; the server decides on others
 */
const move = (organization: string, projects: ReadonlyMap<string, Project>): Deed => ({
  label: 'Move',
  isAllowed: ({ data }) => {
    const project = projects.get(relatedOne(data, 'project')?.id ?? '');
    return project === undefined ? projects.size > 0 : mayMove(project);
  },
  children: (
    <>
      <p>
        Teams lose the rights that they have by the old project, and get those of the new one.
        Variable sets and settings of the project change as well.
      </p>
      <Label>
        Project
        <ProjectSelect
          organization={organization}
          name="project"
          none="choose one"
          isRequired
          only={mayMove}
        />
      </Label>
    </>
  ),
  judge: ({ data }, fields) => {
    const project = fields.text('project');
    return relatedOne(data, 'project')?.id === project
      ? stays('It is in this project.')
      : changes('It moves to the project.');
  },
  request: ({ data: { id } }, fields) => [
    'PATCH',
    `workspaces/${id}`,
    {
      data: {
        type: 'workspaces',
        relationships: { project: { data: { type: 'projects', id: fields.text('project') } } },
      },
    },
  ],
});

const toBulk = (deed: Deed): Bulk<Listed> => ({
  label: deed.label,
  ...(deed.preposition !== undefined && { preposition: deed.preposition }),
  noun: 'workspace',
  idOf: ({ data }) => data.id,
  nameOf: ({ data }) => data.attributes.name,
  read: ({ data }, signal) =>
    callWorkspaces<Listed>('GET', `workspaces/${data.id}?include=locked_by`, { signal }),
  judge: (listed, fields) =>
    deed.isAllowed(listed) ? deed.judge(listed, fields) : refused('You may not do this here.'),
  change: (listed, fields) => {
    const [method, path, body] = deed.request(listed, fields);
    return callWorkspaces(method, path, { ...(body && { body }) });
  },
  commands: (listed, fields) => [workspacesCurl(...deed.request(listed, fields))],
  children: deed.children,
});

/** The changes of several workspaces that the organization has, each with its rights. */
export const useBulkDeeds = (organization: string): readonly Deed[] => {
  const { data: account } = useDocument<OneDocument<unknown>>('account/details');
  const { data: projects } = useDocument<ListDocument<Project>>(
    `organizations/${encodeURIComponent(organization)}/projects?page[size]=100`,
  );
  const byId = new Map(projects?.data.map(({ id, attributes }) => [id, attributes]));
  return [lock, unlock(account?.data.id), addTags, startRuns, move(organization, byId)];
};

/** Buttons for the selected workspaces: those that the person may use on one of them at least. */
export const BulkActions = (props: {
  deeds: readonly Deed[];
  chosen: ReadonlyMap<string, Listed>;
  /** Called with the workspaces that stay selected, because they were to be changed and were not. */
  onEnd: (left: ReadonlyMap<string, Listed>) => void;
}) => {
  const things = [...props.chosen.values()];
  return props.deeds
    .filter(({ isAllowed }) => things.some(isAllowed))
    .map((deed) => (
      <BulkButton
        key={deed.label}
        bulk={toBulk(deed)}
        things={things}
        onEnd={(left) => props.onEnd(new Map(left.map((one) => [one.data.id, one])))}
      />
    ));
};
