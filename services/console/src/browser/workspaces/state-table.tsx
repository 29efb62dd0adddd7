/** The stored states of a workspace: who stored each, in which run, and what can be done with it. */
import { useAction } from '../api/queries.ts';
import {
  callWorkspaces,
  includedOne,
  type ListDocument,
  type Resource,
  relatedOne,
} from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { formatDistance, formatExactTime } from '../components/format.ts';
import { PageLink } from '../components/page-link.tsx';
import { saveFile } from '../components/save-file.ts';
import { Code } from '../components/text.tsx';
import { downloadState, type StateVersion } from './state-comparison.tsx';
import type { WorkspaceAttributes } from './workspace.ts';

const rollbackBody = (stateId: string): object => ({
  data: {
    type: 'state-versions',
    relationships: {
      'rollback-state-version': { data: { type: 'state-versions', id: stateId } },
    },
  },
});

interface StateParts {
  readonly organization: string;
  readonly workspace: Resource<WorkspaceAttributes>;
}

const Rollback = (props: StateParts & { state: Resource<StateVersion> }) => {
  const { id, attributes } = props.state;
  const path = `workspaces/${props.workspace.id}/state-versions`;
  return (
    <ActionButton
      label="Roll back"
      name={`Roll back to serial ${attributes.serial}`}
      look="small"
      title={`Roll back to the state of serial ${attributes.serial}?`}
      confirm="Roll back"
      tone="danger"
      act={() => callWorkspaces('PATCH', path, { body: rollbackBody(id) })}
      commands={[workspacesCurl('PATCH', path, rollbackBody(id))]}
    >
      <p>
        A copy of it becomes the newest state. The infrastructure stays as it is: the next plan
        shows the difference.
        {!props.workspace.attributes.locked && ' The workspace has to be locked by you before.'}
      </p>
    </ActionButton>
  );
};

const SaveState = ({ workspace, state }: StateParts & { state: Resource<StateVersion> }) => {
  const { serial } = state.attributes;
  const saving = useAction(async () => {
    const answer = await downloadState(state);
    saveFile(`${workspace.attributes.name}-${serial}.tfstate`, await answer.blob());
  });
  return (
    <Button
      look="small"
      aria-label={`Download serial ${serial}`}
      disabled={saving.isPending}
      onClick={() => saving.run(undefined)}
    >
      Download
    </Button>
  );
};

/** @param newestId of the state that is current */
export const StateTable = (
  props: StateParts & {
    document: ListDocument<StateVersion>;
    newestId: string | undefined;
  },
) => {
  const { document, newestId, organization, workspace } = props;
  const { permissions, name } = workspace.attributes;
  const columns: readonly Column<Resource<StateVersion>>[] = [
    { title: 'Serial', isName: true, cell: ({ attributes }) => String(attributes.serial) },
    {
      title: 'Stored',
      isUnbroken: true,
      cell: ({ attributes: { 'created-at': at } }) => (
        <time dateTime={at} title={formatExactTime(at)}>
          {formatDistance(at, Date.now())}
        </time>
      ),
    },
    {
      title: 'By',
      cell: (state) =>
        includedOne<{ username: string }>(document, state, 'created-by')?.attributes.username,
    },
    {
      title: 'Run',
      cell: (state) => {
        const run = relatedOne(state, 'run')?.id;
        return run === undefined ? null : (
          <PageLink
            to="/app/$organization/$workspace/runs/$run"
            params={{ organization, workspace: name, run }}
          >
            <Code>{run}</Code>
          </PageLink>
        );
      },
    },
    { title: 'State', cell: ({ attributes }) => attributes.status },
    {
      title: 'Size',
      isUnbroken: true,
      cell: ({ attributes }) => `${attributes.size.toLocaleString()} B`,
    },
    { title: 'Version', cell: ({ attributes }) => attributes['terraform-version'] ?? '–' },
    {
      title: 'Actions',
      isActions: true,
      cell: (state) =>
        state.attributes.status !== 'finalized' ? null : (
          <>
            <SaveState organization={organization} workspace={workspace} state={state} />
            {permissions['can-create-state-versions'] && state.id !== newestId && (
              <Rollback organization={organization} workspace={workspace} state={state} />
            )}
          </>
        ),
    },
  ];
  return <DataTable label="States" rows={document.data} keyOf={({ id }) => id} columns={columns} />;
};
