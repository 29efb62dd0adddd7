import { useState } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ListDocument, Resource } from '../api/workspaces-api.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Empty } from '../components/page.tsx';
import { Pager } from '../components/pager.tsx';
import type { RunAttributes } from '../runs/run.ts';
import { FirstSteps } from './first-steps.tsx';
import { RunTable } from './run-table.tsx';
import { StartRun } from './start-run.tsx';
import type { WorkspaceAttributes } from './workspace.ts';

// The API allows 30 requests for the list of runs per minute.
const REFRESH_MS = 10_000;

const INCLUDED = 'plan,created_by,configuration_version,configuration_version.ingress_attributes';

/** Runs to be shown, as the API names them. */
const CHOICES: Readonly<Record<string, readonly [title: string, query: string]>> = {
  all: ['All runs', ''],
  waiting: ['Wait for somebody', 'filter[status]=planned'],
  working: ['Are in progress', 'filter[status_group]=non_final'],
  ended: ['Have ended', 'filter[status_group]=final'],
  errored: ['Have failed', 'filter[status]=errored'],
};

/** Runs of every kind: the API leaves out those that only plan unless they are named. */
const OPERATIONS =
  'filter[operation]=plan_only,plan_and_apply,save_plan,refresh_only,destroy,empty_apply,assess';

const queryOf = (choice: string, text: string): string =>
  [CHOICES[choice]?.[1] ?? '', text === '' ? '' : `search[basic]=${encodeURIComponent(text)}`]
    .filter((part) => part !== '')
    .map((part) => `&${part}`)
    .join('');

export const RunsTab = (props: {
  organization: string;
  workspace: Resource<WorkspaceAttributes>;
}) => {
  const { organization, workspace } = props;
  const { name, permissions } = workspace.attributes;
  const [page, setPage] = useState(1);
  const [choice, setChoice] = useState('all');
  const [text, setText] = useState('');
  const filter = queryOf(choice, text);
  const path = `workspaces/${workspace.id}/runs?page[size]=20&page[number]=${page}&include=${INCLUDED}&${OPERATIONS}${filter}`;
  const query = useDocument<ListDocument<RunAttributes>>(path, {
    everyMs: REFRESH_MS,
    keepPrevious: true,
  });
  return (
    <>
      {workspace.attributes['execution-mode'] !== 'local' && (
        <div className="form-actions">
          {permissions['can-queue-run'] && (
            <StartRun organization={organization} workspace={workspace} isDestroy={false} />
          )}
          {permissions['can-queue-destroy'] && (
            <StartRun organization={organization} workspace={workspace} isDestroy />
          )}
        </div>
      )}
      <form
        className="selection"
        role="search"
        aria-label="Runs"
        onSubmit={(event) => {
          event.preventDefault();
          setText(fieldsOf(event.currentTarget).text('text').trim());
          setPage(1);
        }}
      >
        <label>
          Message, commit or person
          <input type="search" name="text" defaultValue={text} />
        </label>
        <label>
          Runs that
          <select
            value={choice}
            onChange={({ target }) => {
              setChoice(target.value);
              setPage(1);
            }}
          >
            {Object.entries(CHOICES).map(([value, [title]]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Search</button>
      </form>
      <Loaded query={query}>
        {(document) =>
          document.data.length === 0 ? (
            filter === '' ? (
              <FirstSteps organization={organization} workspace={workspace} />
            ) : (
              <Empty>No run fits the search.</Empty>
            )
          ) : (
            <>
              <RunTable organization={organization} workspace={name} document={document} />
              {document.meta?.pagination && (
                <Pager pagination={document.meta.pagination} onPage={setPage} />
              )}
            </>
          )
        }
      </Loaded>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </>
  );
};
