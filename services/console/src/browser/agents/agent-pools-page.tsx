/** Agent pools: the tokens with which agents join, and the current state of the agents. */

import { getRouteApi } from '@tanstack/react-router';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type Resource } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { ApiTokens } from '../components/api-tokens.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { Input, Label, TextArea } from '../components/fields.tsx';
import { formatDistance } from '../components/format.ts';
import { Card, Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Pill, type Tone } from '../components/pill.tsx';
import { Code, PartHeading } from '../components/text.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import { useOrganizationPermissions } from '../organizations/organization-permissions.ts';
import {
  SwitchButtons,
  SwitchState,
  useIsSiteAdministrator,
} from '../organizations/site-switches.tsx';

const route = getRouteApi('/app/$organization/agent-pools');
const REFRESH_MS = 5_000;
/** Each pool reads its agents and tokens. */
const POOLS_SHOWN = 20;

type Pool = ResourceAttributes['agent-pools'];

type Agent = ResourceAttributes['agents'];

const TONES: Readonly<Record<string, Tone>> = { idle: 'good', busy: 'busy', errored: 'bad' };

const Agents = ({ pool }: { pool: Resource<Pool> }) => {
  const path = `agent-pools/${pool.id}/agents`;
  return (
    <>
      <PartHeading>Agents</PartHeading>
      <PagedList<Agent>
        name={`agents-of-${pool.attributes.name}`}
        path={path}
        live={{ everyMs: REFRESH_MS, isLive: true }}
        empty="No agent has joined: start one with a token of this pool."
      >
        {({ data }) => (
          <DataTable
            label={`Agents of ${pool.attributes.name}`}
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Name',
                isName: true,
                cell: ({ id, attributes }) => attributes.name || id,
              },
              {
                title: 'State',
                cell: ({ attributes: { status } }) => (
                  <Pill tone={TONES[status] ?? 'plain'}>{status}</Pill>
                ),
              },
              { title: 'Address', cell: ({ attributes }) => attributes['ip-address'] ?? '–' },
              { title: 'Version', cell: ({ attributes }) => attributes.version ?? '–' },
              {
                title: 'Last contact',
                cell: ({ attributes }) => formatDistance(attributes['last-ping-at'], Date.now()),
              },
            ]}
          />
        )}
      </PagedList>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </>
  );
};

const Tokens = ({ pool }: { pool: Resource<Pool> }) => (
  <>
    <PartHeading>Tokens</PartHeading>
    <ApiTokens
      path={`agent-pools/${pool.id}/authentication-tokens`}
      owner={pool.attributes.name}
      purpose="An agent joins the pool with it."
      empty="There is no token: no agent can join."
      loss="Agents that use it are refused at once; what they are executing ends as failed."
    />
  </>
);

const valuesOf = ({ attributes: { name, 'allowed-egress': egress } }: Resource<Pool>) => ({
  name,
  'allowed-egress': (egress ?? []).join('\n'),
});

const changedPool = ({
  'allowed-egress': egress,
  ...changed
}: Partial<ReturnType<typeof valuesOf>>): object => {
  if (egress === undefined) return { attributes: changed };
  const listed = egress.split(/\s+/).filter((entry) => entry !== '');
  return { attributes: { ...changed, 'allowed-egress': listed.length === 0 ? null : listed } };
};

const EditPool = ({ pool: { id, attributes } }: { pool: Resource<Pool> }) => (
  <EditButton
    edits="agent-pool"
    label="Edit"
    name={`Edit ${attributes.name}`}
    title={`Edit the agent pool ${attributes.name}`}
    target={workspaceTarget<Pool>(`agent-pools/${id}`, 'agent-pools')}
    valuesOf={valuesOf}
    bodyOf={changedPool}
    fields={(values) => (
      <>
        <Label>
          Name
          <Input name="name" required autoComplete="off" defaultValue={values.name} />
        </Label>
        <Label>
          What alone runs may reach (one on each line, empty for everything that their agents
          permit)
          <TextArea
            name="allowed-egress"
            rows={4}
            spellCheck={false}
            defaultValue={values['allowed-egress']}
          />
        </Label>
        <p>
          Addresses, CIDR ranges and names of hosts; <Code>*.example.com</Code> is every host of the
          domain. The control plane is always reached.
        </p>
      </>
    )}
  />
);

const poolBody = (name: string): object => ({
  data: { type: 'agent-pools', attributes: { name } },
});

export const AgentPoolsPage = () => {
  const { organization } = route.useParams();
  const path = `organizations/${encodeURIComponent(organization)}/agent-pools`;
  const mayManage = useOrganizationPermissions(organization)('can-update-agent-pools');
  const isSiteAdministrator = useIsSiteAdministrator();
  return (
    <Page
      title="Agent pools"
      windowTitle={`Agent pools of ${organization}`}
      lead={`in ${organization}: agents on your machines execute the runs of workspaces in agent mode.`}
      actions={
        mayManage && (
          <ActionButton
            label="Create agent pool"
            title={`Create an agent pool in ${organization}`}
            confirm="Create"
            tone="primary"
            act={({ text }) => callWorkspaces('POST', path, { body: poolBody(text('name')) })}
            commands={[workspacesCurl('POST', path, poolBody('…'))]}
          >
            <Label>
              Name
              <Input name="name" required autoComplete="off" />
            </Label>
          </ActionButton>
        )
      }
    >
      <PagedList<Pool>
        name="pools"
        path={path}
        size={POOLS_SHOWN}
        empty="There is no agent pool in this organization."
      >
        {({ data }) =>
          data.map((pool) => (
            <Card
              key={pool.id}
              title={pool.attributes.name}
              actions={
                <>
                  {isSiteAdministrator && (
                    <SwitchButtons
                      type="agent-pools"
                      id={pool.id}
                      name={pool.attributes.name}
                      attributes={pool.attributes}
                    />
                  )}
                  {mayManage && <EditPool pool={pool} />}
                  {mayManage && (
                    <DeleteButton
                      what={`the agent pool ${pool.attributes.name}`}
                      name={`Delete ${pool.attributes.name}`}
                      path={`agent-pools/${pool.id}`}
                      typed={pool.attributes.name}
                    >
                      Its agents and tokens are gone with it. It is refused while a workspace uses
                      it.
                    </DeleteButton>
                  )}
                </>
              }
            >
              {pool.attributes['is-disabled'] && (
                <p>
                  <SwitchState attributes={pool.attributes} /> An administrator of this site has
                  switched it off: its agents get no work.
                </p>
              )}
              {pool.attributes['allowed-egress'] !== null && (
                <p>
                  Its runs reach the control plane and{' '}
                  {pool.attributes['allowed-egress'].join(', ') || 'nothing else'}.
                </p>
              )}
              <Agents pool={pool} />
              {mayManage && <Tokens pool={pool} />}
            </Card>
          ))
        }
      </PagedList>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Page>
  );
};
