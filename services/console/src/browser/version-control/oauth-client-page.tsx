/**
 * One client with a key pair: a person authorizes it at its provider, which sends the person back to this page, and
 * chooses the SSH key with which its repositories are fetched.
 */
import { getRouteApi } from '@tanstack/react-router';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import {
  callWorkspaces,
  type ListDocument,
  type OneDocument,
  type Resource,
} from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { FactList } from '../components/fact-list.tsx';
import { Label } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Page, Problem } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Pem } from '../components/pem.tsx';
import { Select } from '../components/select.tsx';
import { PartHeading } from '../components/text.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { workspaceTarget } from '../editing/edit-target.ts';
import { completionBody, isRefusal } from './authorization.ts';
import { isProvider, type OAuthClient, PROVIDERS, tokenIdOf } from './oauth-client.ts';

const route = getRouteApi('/app/$organization/version-control/$client');

const Authorize = ({ client, isConnected }: { client: string; isConnected: boolean }) => {
  const path = `oauth-clients/${client}/actions/begin-authorization`;
  return (
    <ActionButton
      label={isConnected ? 'Authorize again' : 'Authorize'}
      title="Authorize at the provider"
      confirm="Go to the provider"
      tone="primary"
      act={async () => {
        const { data } = await callWorkspaces<OneDocument<{ 'authorize-url': string }>>(
          'POST',
          path,
        );
        location.assign(data.attributes['authorize-url']);
      }}
      commands={[workspacesCurl('POST', path)]}
    >
      <p>
        You leave this page. Sign in at the provider as the account that Keelson is to act as, which
        needs to read the repositories and to manage their webhooks, and allow the access. You come
        back within 10 minutes.
      </p>
    </ActionButton>
  );
};

const Complete = ({ client }: { client: string }) => {
  const sentBack = route.useSearch();
  const navigate = route.useNavigate();
  const path = `oauth-clients/${client}/actions/complete-authorization`;
  if (isRefusal(sentBack)) return <Problem>The access was refused at the provider.</Problem>;
  if (sentBack.oauth_token === undefined) return null;
  const body = completionBody(sentBack);
  return (
    <Card
      title="The provider has sent you back"
      actions={
        <ActionButton
          label="Complete"
          title="Complete the authorization"
          confirm="Complete"
          tone="primary"
          act={() => callWorkspaces('POST', path, { body })}
          onDone={() => void navigate({ search: {}, replace: true })}
          commands={[workspacesCurl('POST', path, body)]}
        >
          <p>Keelson asks the provider for the token of this client, and stores it.</p>
        </ActionButton>
      }
    >
      <p>Only you, who have begun the authorization, can complete it.</p>
    </Card>
  );
};

type OAuthToken = ResourceAttributes['oauth-tokens'];

/** Stands for a key of a token, because the API does not tell which it is. */
const UNNAMED_KEY = 'unnamed';

const SshKey = ({ organization, token }: { organization: string; token: Resource }) => {
  const list = `organizations/${encodeURIComponent(organization)}/ssh-keys?page[size]=100`;
  const { data } = useDocument<ListDocument<{ name: string }>>(list);
  return (
    <EditButton
      edits="ssh-key"
      label="Choose the SSH key"
      title="SSH key of the repositories"
      target={workspaceTarget<OAuthToken>(`oauth-tokens/${token.id}`, 'oauth-tokens')}
      valuesOf={({ attributes }) => ({ key: attributes['has-ssh-key'] ? UNNAMED_KEY : '' })}
      bodyOf={({ key }) => ({
        attributes: {},
        relationships: {
          'ssh-key': {
            data: key === undefined || key === '' ? null : { type: 'ssh-keys', id: key },
          },
        },
      })}
      fields={({ key }, { attributes }) => (
        <>
          <p>Its public part must be known to the provider, for the same account.</p>
          <Label>
            SSH key
            <Select
              name="key"
              value={key}
              options={[
                ...(attributes['has-ssh-key']
                  ? [[UNNAMED_KEY, 'the one that it has'] as const]
                  : []),
                ['', 'none'],
                ...(data?.data ?? []).map(({ id, attributes }) => [id, attributes.name] as const),
              ]}
            />
          </Label>
        </>
      )}
    />
  );
};

const ShownClient = ({ document }: { document: OneDocument<OAuthClient> }) => {
  const { organization } = route.useParams();
  const { id, attributes } = document.data;
  const tokenId = tokenIdOf(document.data);
  const token = document.included?.find((one) => one.id === tokenId);
  const { 'service-provider': provider, 'callback-url': callbackUrl } = attributes;
  const hasKeyPair = callbackUrl !== null;
  const name = attributes.name || id;
  return (
    <Page
      title={name}
      windowTitle={`Provider ${name} of ${organization}`}
      lead={
        <PageLink to="/app/$organization/version-control" params={{ organization }}>
          Version control
        </PageLink>
      }
      actions={hasKeyPair && <Authorize client={id} isConnected={token !== undefined} />}
    >
      <Complete client={id} />
      <Card
        title="Connection"
        actions={token !== undefined && <SshKey organization={organization} token={token} />}
      >
        <FactList
          facts={[
            ['Provider', isProvider(provider) ? PROVIDERS[provider].title : provider],
            ['Address', attributes['http-url']],
            ['State', token === undefined ? 'not authorized at the provider yet' : 'connected'],
            ...(token === undefined
              ? []
              : ([
                  ['SSH key', token.attributes['has-ssh-key'] === true ? 'yes' : 'none'],
                ] as const)),
            ...(hasKeyPair
              ? ([
                  ['Consumer key', attributes.key],
                  ['Callback address', callbackUrl],
                ] as const)
              : []),
          ]}
        />
        {hasKeyPair && (
          <>
            <PartHeading>Public key</PartHeading>
            <Pem>{attributes['rsa-public-key']}</Pem>
          </>
        )}
        {hasKeyPair && (
          <p>
            At the provider, an administrator creates an application link for Keelson with this
            consumer key and public key as its incoming authentication. Repositories are fetched
            over SSH, which needs an SSH key.
          </p>
        )}
        <Commands commands={[workspacesCurl('GET', `oauth-clients/${id}?include=oauth_tokens`)]} />
      </Card>
    </Page>
  );
};

export const OAuthClientPage = () => {
  const { client } = route.useParams();
  const path = `oauth-clients/${encodeURIComponent(client)}?include=oauth_tokens`;
  const query = useDocument<OneDocument<OAuthClient>>(path);
  return <Loaded query={query}>{(document) => <ShownClient document={document} />}</Loaded>;
};
