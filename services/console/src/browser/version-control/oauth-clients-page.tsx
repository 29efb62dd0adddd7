/** Connections of an organization to version control providers. */
import { getRouteApi } from '@tanstack/react-router';
import { callWorkspaces } from '../api/workspaces-api.ts';
import { ActionButton, type Fields } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { formatTime } from '../components/format.ts';
import { Empty, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { useOrganizationPermissions } from '../organizations/organization-permissions.ts';
import {
  SwitchButtons,
  SwitchState,
  useIsSiteAdministrator,
} from '../organizations/site-switches.tsx';
import { isProvider, type OAuthClient, PROVIDERS, tokenIdOf } from './oauth-client.ts';
import { ProviderFields } from './provider-fields.tsx';

const route = getRouteApi('/app/$organization/version-control');

const bodyOf = ({ text }: Pick<Fields, 'text'>): object => ({
  data: {
    type: 'oauth-clients',
    attributes: {
      name: text('name'),
      'service-provider': text('provider'),
      'http-url': text('http-url'),
      'api-url': text('api-url'),
      ...(text('token') === ''
        ? {
            key: text('key'),
            secret: text('secret'),
            'rsa-public-key': text('rsa-public-key'),
          }
        : { 'oauth-token-string': text('token') }),
    },
    ...(text('pool') !== '' && {
      relationships: { 'agent-pool': { data: { type: 'agent-pools', id: text('pool') } } },
    }),
  },
});
const EXAMPLE = bodyOf({ text: () => '…' });

export const OAuthClientsPage = () => {
  const { organization } = route.useParams();
  const path = `organizations/${encodeURIComponent(organization)}/oauth-clients`;
  const list = `${path}?include=oauth_tokens`;
  const mayManage = useOrganizationPermissions(organization)('can-update-oauth');
  const isSiteAdministrator = useIsSiteAdministrator();
  return (
    <Page
      title="Version control"
      windowTitle={`Version control of ${organization}`}
      lead={`in ${organization}: providers whose repositories workspaces follow.`}
      actions={
        mayManage && (
          <ActionButton
            label="Connect a provider"
            title={`Connect ${organization} to a provider`}
            confirm="Connect"
            tone="primary"
            act={(fields) => callWorkspaces('POST', path, { body: bodyOf(fields) })}
            commands={[workspacesCurl('POST', path, EXAMPLE)]}
          >
            <ProviderFields organization={organization} />
          </ActionButton>
        )
      }
    >
      {mayManage ? (
        <PagedList<OAuthClient>
          name="providers"
          path={list}
          empty="No provider is connected: workspaces get their configurations by upload."
        >
          {({ data }) => (
            <DataTable
              label="Providers"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Name',
                  isName: true,
                  cell: ({ id, attributes }) => (
                    <PageLink
                      to="/app/$organization/version-control/$client"
                      params={{ organization, client: id }}
                    >
                      {attributes.name || id}
                    </PageLink>
                  ),
                },
                {
                  title: 'Provider',
                  cell: ({ attributes: { 'service-provider': provider } }) =>
                    isProvider(provider) ? PROVIDERS[provider].title : provider,
                },
                { title: 'Address', cell: ({ attributes }) => attributes['http-url'] },
                {
                  title: 'Reached by',
                  cell: ({ relationships }) =>
                    relationships?.['agent-pool']?.data ? 'agents of a pool' : 'this server',
                },
                {
                  title: 'Connected',
                  cell: (client) =>
                    tokenIdOf(client) === undefined
                      ? 'not authorized yet'
                      : formatTime(client.attributes['created-at']),
                },
                {
                  title: 'State',
                  cell: ({ attributes }) => <SwitchState attributes={attributes} />,
                },
                {
                  title: 'Actions',
                  isActions: true,
                  cell: ({ id, attributes }) => (
                    <>
                      {isSiteAdministrator && (
                        <SwitchButtons
                          type="oauth-clients"
                          id={id}
                          name={attributes.name || id}
                          attributes={attributes}
                        />
                      )}
                      <DeleteButton
                        what={`the connection ${attributes.name || id}`}
                        name={`Delete ${attributes.name || id}`}
                        path={`oauth-clients/${id}`}
                        typed={attributes.name || id}
                      >
                        Its token is deleted with it. Workspaces that use it are disconnected from
                        their repositories and get no more configurations from them.
                      </DeleteButton>
                    </>
                  ),
                },
              ]}
            />
          )}
        </PagedList>
      ) : (
        <Empty>Only teams that manage version control settings may see the connections.</Empty>
      )}
      <Commands commands={[workspacesCurl('GET', list)]} />
    </Page>
  );
};
