/** Sharing of a workspace: consumers of its state, tags, and run triggers. */

import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type ListDocument, type Resource } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { ItemWithButtons, PlainList } from '../components/plain-list.tsx';
import { Code } from '../components/text.tsx';
import type { WorkspaceAttributes } from './workspace.ts';
import { WorkspaceSelect } from './workspace-select.tsx';

export interface CardProps {
  readonly organization: string;
  readonly workspace: Resource<WorkspaceAttributes>;
}

const workspaceId = (id: string) => ({ type: 'workspaces', id });

export const ConsumersCard = ({ organization, workspace }: CardProps) => {
  const path = `workspaces/${workspace.id}/relationships/remote-state-consumers`;
  const query = useDocument<ListDocument<{ name: string }>>(`${path}?page[size]=100`);
  const isGlobal = workspace.attributes['global-remote-state'];
  const mayChange = workspace.attributes.permissions['can-update'] && !isGlobal;
  const bodyOf = (id: string): object => ({ data: [workspaceId(id)] });
  const ids = query.data?.data.map(({ id }) => id) ?? [];
  return (
    <Card
      title="Consumers of the state"
      actions={
        mayChange && (
          <ActionButton
            label="Add consumer"
            title={`Let a workspace read the state of ${workspace.attributes.name}`}
            confirm="Add it"
            act={({ text }) => callWorkspaces('POST', path, { body: bodyOf(text('workspace')) })}
            commands={[workspacesCurl('POST', path, bodyOf('ws-…'))]}
          >
            <p>Its runs see every output and every resource of the state, secrets included.</p>
            <WorkspaceSelect
              organization={organization}
              without={[workspace.id, ...ids]}
              label="Workspace"
            />
          </ActionButton>
        )
      }
    >
      {isGlobal ? (
        <Empty>Every workspace of the organization may read it; the settings change that.</Empty>
      ) : (
        <Loaded query={query}>
          {({ data }) => (
            <DataTable
              empty="No other workspace may read the state."
              label="Consumers of the state"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Workspace', isName: true, cell: ({ attributes }) => attributes.name },
                {
                  title: 'Actions',
                  isActions: true,
                  cell: ({ id, attributes: { name } }) =>
                    mayChange && (
                      <DeleteButton
                        label="Remove"
                        what={`${name} from the consumers`}
                        name={`Remove ${name}`}
                        path={path}
                        body={bodyOf(id)}
                      >
                        Its next run fails where it reads this state.
                      </DeleteButton>
                    ),
                },
              ]}
            />
          )}
        </Loaded>
      )}
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Card>
  );
};

export const TagsCard = ({ workspace }: CardProps) => {
  const path = `workspaces/${workspace.id}/relationships/tags`;
  const bodyOf = (name: string): object => ({ data: [{ type: 'tags', attributes: { name } }] });
  const mayChange = workspace.attributes.permissions['can-manage-tags'];
  const tags = workspace.attributes['tag-names'];
  return (
    <Card
      title="Tags"
      actions={
        mayChange && (
          <ActionButton
            label="Add tag"
            title={`Add a tag to ${workspace.attributes.name}`}
            confirm="Add"
            act={({ text }) => callWorkspaces('POST', path, { body: bodyOf(text('tag')) })}
            commands={[workspacesCurl('POST', path, bodyOf('…'))]}
          >
            <p>Lists and the tool select workspaces by their tags.</p>
            <Label>
              Tag
              <Input name="tag" required autoComplete="off" pattern="[A-Za-z0-9_:\-]+" />
            </Label>
          </ActionButton>
        )
      }
    >
      {tags.length === 0 ? (
        <Empty>It has no tag.</Empty>
      ) : (
        <PlainList>
          {tags.map((tag) => (
            <ItemWithButtons key={tag}>
              <Code>{tag}</Code>{' '}
              {mayChange && (
                <DeleteButton
                  label="Remove"
                  what={`the tag ${tag}`}
                  name={`Remove the tag ${tag}`}
                  path={path}
                  body={bodyOf(tag)}
                >
                  Selections by this tag do without the workspace.
                </DeleteButton>
              )}
            </ItemWithButtons>
          ))}
        </PlainList>
      )}
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Card>
  );
};

type Trigger = ResourceAttributes['run-triggers'];

export const RunTriggersCard = ({ organization, workspace }: CardProps) => {
  const path = `workspaces/${workspace.id}/run-triggers`;
  const query = useDocument<ListDocument<Trigger>>(
    `${path}?filter[run-trigger][type]=inbound&page[size]=100`,
  );
  const mayChange = workspace.attributes.permissions['can-update'];
  const bodyOf = (id: string): object => ({
    data: { type: 'run-triggers', relationships: { sourceable: { data: workspaceId(id) } } },
  });
  return (
    <Card
      title="Run triggers"
      actions={
        mayChange && (
          <ActionButton
            label="Add source"
            title={`Start a run of ${workspace.attributes.name} after another workspace`}
            confirm="Add"
            act={({ text }) => callWorkspaces('POST', path, { body: bodyOf(text('workspace')) })}
            commands={[workspacesCurl('POST', path, bodyOf('ws-…'))]}
          >
            <p>Whenever an apply of the source has succeeded, a run is planned here.</p>
            <WorkspaceSelect
              organization={organization}
              without={[workspace.id]}
              label="Source workspace"
            />
          </ActionButton>
        )
      }
    >
      <Loaded query={query}>
        {({ data }) => (
          <DataTable
            empty="No other workspace starts runs here."
            label="Run triggers"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'After an apply of',
                isName: true,
                cell: ({ attributes }) => attributes['sourceable-name'],
              },
              {
                title: 'Actions',
                isActions: true,
                cell: ({ id, attributes }) =>
                  mayChange && (
                    <DeleteButton
                      label="Remove"
                      what={`the source ${attributes['sourceable-name']}`}
                      name={`Remove the source ${attributes['sourceable-name']}`}
                      path={`run-triggers/${id}`}
                    >
                      Its applies start no run here any more.
                    </DeleteButton>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Card>
  );
};
