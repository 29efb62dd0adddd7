import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useDocument } from '../api/queries.ts';
import { callWorkspaces, type ListDocument, type Resource } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { formatDistance, inWords } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Empty } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import { Pill } from '../components/pill.tsx';
import { type RunAttributes, runTone } from '../runs/run.ts';
import type { WorkspaceAttributes } from './workspace.ts';

// The API allows 30 requests for the list of runs per minute.
const REFRESH_MS = 10_000;

const runBody = (workspaceId: string, message: string, isDestroy: boolean): object => ({
  data: {
    type: 'runs',
    attributes: { message, ...(isDestroy && { 'is-destroy': true }) },
    relationships: { workspace: { data: { type: 'workspaces', id: workspaceId } } },
  },
});

const StartRun = (props: { workspace: Resource<WorkspaceAttributes>; isDestroy: boolean }) => {
  const { id, attributes } = props.workspace;
  return (
    <ActionButton
      label={props.isDestroy ? 'Plan to destroy' : 'Start a run'}
      title={
        props.isDestroy
          ? `Plan to destroy what ${attributes.name} manages`
          : `Start a run in ${attributes.name}`
      }
      confirm={props.isDestroy ? 'Plan the destruction' : 'Start'}
      tone={props.isDestroy ? 'danger' : 'primary'}
      act={(fields) =>
        callWorkspaces('POST', 'runs', {
          body: runBody(id, fields.text('message'), props.isDestroy),
        })
      }
      commands={[
        workspacesCurl('POST', 'runs', runBody(id, '…', props.isDestroy)),
        { tool: 'terraform', text: props.isDestroy ? 'terraform destroy' : 'terraform apply' },
      ]}
    >
      <p>
        {attributes['auto-apply']
          ? 'It is planned with the newest configuration, and applied by itself.'
          : 'It is planned with the newest configuration; nothing changes until somebody confirms.'}
      </p>
      <label>
        Why
        <input name="message" required autoComplete="off" defaultValue="Started in the console" />
      </label>
    </ActionButton>
  );
};

export const RunsTab = (props: {
  organization: string;
  workspace: Resource<WorkspaceAttributes>;
}) => {
  const { organization, workspace } = props;
  const [page, setPage] = useState(1);
  const path = `workspaces/${workspace.id}/runs?page[size]=20&page[number]=${page}`;
  const query = useDocument<ListDocument<RunAttributes>>(path, {
    everyMs: REFRESH_MS,
    keepPrevious: true,
  });
  const { permissions } = workspace.attributes;
  return (
    <>
      {workspace.attributes['execution-mode'] !== 'local' && (
        <div className="form-actions">
          {permissions['can-queue-run'] && <StartRun workspace={workspace} isDestroy={false} />}
          {permissions['can-queue-destroy'] && <StartRun workspace={workspace} isDestroy />}
        </div>
      )}
      <Loaded query={query}>
        {({ data, meta }) =>
          data.length === 0 ? (
            <Empty>There has been no run in this workspace.</Empty>
          ) : (
            <>
              <DataTable
                label="Runs"
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Run',
                    isName: true,
                    cell: ({ id, attributes }) => (
                      <Link
                        to="/app/$organization/$workspace/runs/$run"
                        params={{ organization, workspace: workspace.attributes.name, run: id }}
                      >
                        {attributes.message || id}
                      </Link>
                    ),
                  },
                  {
                    title: 'State',
                    cell: ({ attributes: { status } }) => (
                      <Pill tone={runTone(status)}>{inWords(status)}</Pill>
                    ),
                  },
                  { title: 'Source', cell: ({ attributes }) => attributes.source },
                  {
                    title: 'Begun',
                    cell: ({ attributes }) => formatDistance(attributes['created-at'], Date.now()),
                  },
                ]}
              />
              {meta?.pagination && <Pager pagination={meta.pagination} onPage={setPage} />}
            </>
          )
        }
      </Loaded>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </>
  );
};
