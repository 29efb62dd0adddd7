/** The repository that a workspace follows, and the deliveries of its provider. */

import { useState } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type ListDocument } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { FactList } from '../components/fact-list.tsx';
import { Input, Label, TextArea } from '../components/fields.tsx';
import { formatTime, inWords } from '../components/format.ts';
import { Card, Empty, PageActions, Problem } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Pill, type Tone } from '../components/pill.tsx';
import { Select } from '../components/select.tsx';
import { Code } from '../components/text.tsx';
import { WebLink } from '../components/web-link.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import { useOrganizationPermissions } from '../organizations/organization-permissions.ts';
import { type OAuthClient, tokenIdOf } from '../version-control/oauth-client.ts';
import {
  type RepositoryValues,
  repositoryAttributes,
  repositoryValues,
  TRIGGERS,
  triggersOf,
  triggerText,
} from './repository.ts';
import type { CardProps } from './sharing-cards.tsx';
import type { WorkspaceAttributes } from './workspace.ts';

const TriggerFields = ({ values }: { values: RepositoryValues }) => {
  const [triggers, setTriggers] = useState(values.triggers);
  return (
    <>
      <Label>
        Runs are started by
        <Select
          name="triggers"
          value={values.triggers}
          options={Object.entries(TRIGGERS)}
          onChange={setTriggers}
        />
      </Label>
      {triggers !== 'always' && (
        <Label>
          {triggers === 'tags' ? 'Regular expression of the tags' : 'Paths, one on each line'}
          <TextArea
            name="trigger-text"
            rows={triggers === 'tags' ? 1 : 3}
            required={triggers !== 'prefixes'}
            defaultValue={values['trigger-text']}
          />
        </Label>
      )}
    </>
  );
};

/** @param props.mayConnect whether the caller may read the connections of the organization */
const RepositoryFields = (props: {
  organization: string;
  values: RepositoryValues;
  mayConnect: boolean;
}) => {
  const { organization, values, mayConnect } = props;
  const { data } = useDocument<ListDocument<OAuthClient>>(
    `organizations/${encodeURIComponent(organization)}/oauth-clients?page[size]=100`,
    { enabled: mayConnect },
  );
  return (
    <>
      {mayConnect && (
        <Label>
          Provider
          <Select
            name="token"
            required
            value={values.token}
            options={(data?.data ?? []).flatMap((client) => {
              // A provider that nobody has authorized yet cannot be used.
              const token = tokenIdOf(client);
              return token === undefined
                ? []
                : [[token, client.attributes.name || client.id] as const];
            })}
          />
        </Label>
      )}
      <Label>
        Repository (organization/name)
        <Input name="identifier" required autoComplete="off" defaultValue={values.identifier} />
      </Label>
      <Label>
        Branch (empty: the default branch)
        <Input name="branch" autoComplete="off" defaultValue={values.branch} />
      </Label>
      <TriggerFields values={values} />
      <Choice name="submodules" isTicked={values.submodules}>
        With the files of submodules
      </Choice>
    </>
  );
};

const Connection = ({ workspace }: { workspace: WorkspaceAttributes }) => {
  const repository = workspace['vcs-repo'];
  if (repository === null)
    return <Empty>It follows no repository: configurations are uploaded.</Empty>;
  const text = triggerText(workspace);
  return (
    <>
      {repository.problem !== null && <Problem>{repository.problem}</Problem>}
      <FactList
        facts={[
          [
            'Repository',
            <WebLink
              key="repository"
              href={repository['repository-http-url']}
              text={repository.identifier}
            />,
          ],
          ['Branch', repository.branch || 'the default branch'],
          ['Runs are started by', TRIGGERS[triggersOf(workspace)]],
          ...(text === ''
            ? []
            : [['Paths or expression', <Code key="text">{text}</Code>] as const]),
          ['Working directory', workspace['working-directory'] || '/'],
        ]}
      />
    </>
  );
};

const DISCONNECTED = { data: { type: 'workspaces', attributes: { 'vcs-repo': null } } };

export const RepositoryCard = ({ organization, workspace: { id, attributes } }: CardProps) => {
  const mayConnect = useOrganizationPermissions(organization)('can-update-oauth');
  const mayChange = attributes.permissions['can-update'];
  const path = `workspaces/${id}`;
  const isConnected = attributes['vcs-repo'] !== null;
  return (
    <Card
      title="Repository"
      actions={
        mayChange && (
          <PageActions>
            {(isConnected || mayConnect) && (
              <EditButton
                edits="repository"
                label={isConnected ? 'Change the repository' : 'Connect a repository'}
                title={`The repository of ${attributes.name}`}
                save={isConnected ? 'Save' : 'Connect'}
                target={workspaceTarget<WorkspaceAttributes>(path, 'workspaces')}
                valuesOf={(workspace) => repositoryValues(workspace.attributes)}
                bodyOf={(changed, newest) => ({
                  attributes: repositoryAttributes(changed, newest.attributes),
                })}
                fields={(values) => (
                  <RepositoryFields
                    organization={organization}
                    values={values}
                    mayConnect={mayConnect}
                  />
                )}
              />
            )}
            {isConnected && (
              <ActionButton
                label="Disconnect"
                look="danger"
                tone="danger"
                title={`Disconnect ${attributes.name} from its repository?`}
                confirm="Disconnect it"
                act={() => callWorkspaces('PATCH', path, { body: DISCONNECTED })}
                commands={[workspacesCurl('PATCH', path, DISCONNECTED)]}
              >
                <p>Pushes start no run any more. The newest configuration stays in use.</p>
              </ActionButton>
            )}
          </PageActions>
        )
      }
    >
      <Connection workspace={attributes} />
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Card>
  );
};

type Delivery = ResourceAttributes['repository-deliveries'];

const OUTCOME_TONES: Readonly<Record<string, Tone>> = { failed: 'bad', ignored: 'plain' };

/** Shown to administrators of the workspace only, because only they may read deliveries. */
export const DeliveriesCard = ({ workspace }: CardProps) => {
  const path = `workspaces/${workspace.id}/repository-deliveries`;
  return (
    <Card title="Deliveries of the provider">
      <PagedList<Delivery>
        name="deliveries"
        path={path}
        size={10}
        empty="The provider has delivered nothing yet."
      >
        {({ data }) => (
          <DataTable
            label="Deliveries"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Event', isName: true, cell: ({ attributes }) => attributes.event },
              { title: 'Received', cell: (one) => formatTime(one.attributes['received-at']) },
              {
                title: 'Outcome',
                cell: ({ attributes: { outcome } }) => (
                  <Pill tone={OUTCOME_TONES[outcome] ?? 'good'}>{inWords(outcome)}</Pill>
                ),
              },
              { title: 'Detail', cell: ({ attributes }) => attributes.detail ?? '–' },
            ]}
          />
        )}
      </PagedList>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Card>
  );
};
