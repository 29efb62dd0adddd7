/** Tokens that users create for their own tools; `terraform login` opens this page. */
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useDocument } from '../api/queries.ts';
import { callWorkspaces, type ListDocument, type OneDocument } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { DataTable } from '../components/data-table.tsx';
import { shownTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page, Problem } from '../components/page.tsx';

interface TokenAttributes {
  readonly description: string | null;
  readonly token: string | null;
  readonly 'created-at': string;
  readonly 'last-used-at': string | null;
  readonly 'expired-at': string | null;
}

const bodyOf = (description: string, expiry: string): object => ({
  data: {
    type: 'authentication-tokens',
    attributes: {
      description,
      ...(expiry !== '' && { 'expired-at': new Date(expiry).toISOString() }),
    },
  },
});

const MakeToken = ({ path }: { path: string }) => {
  const [description, setDescription] = useState('');
  const [expiry, setExpiry] = useState('');
  const [made, setMade] = useState<string>();
  const body = bodyOf(description, expiry);
  const making = useAction(
    () => callWorkspaces<OneDocument<TokenAttributes>>('POST', path, { body }),
    ({ data }) => {
      setMade(data.attributes.token ?? undefined);
      setDescription('');
    },
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    making.run();
  };
  return (
    <Card title="Make a token">
      {made !== undefined && (
        <div role="status" className="hindrance">
          <p>The token is shown now and never again. Paste it where the tool asks for it.</p>
          <code className="secret">{made}</code>{' '}
          <CopyButton text={made} label="Copy the new token" />
        </div>
      )}
      <form onSubmit={submit}>
        {making.error !== null && <Problem>{messageOf(making.error)}</Problem>}
        <div className="pair">
          <label>
            What it is for
            <input
              required
              autoComplete="off"
              value={description}
              onChange={({ target }) => setDescription(target.value)}
            />
          </label>
          <label>
            Expires (empty: never)
            <input
              type="datetime-local"
              value={expiry}
              onChange={({ target }) => setExpiry(target.value)}
            />
          </label>
        </div>
        <button type="submit" className="primary" disabled={making.isPending}>
          Make the token
        </button>
        <Commands
          commands={[
            workspacesCurl('POST', path, body),
            { tool: 'terraform', text: `terraform login ${location.host}` },
          ]}
        />
      </form>
    </Card>
  );
};

const Tokens = ({ userId }: { userId: string }) => {
  const path = `users/${userId}/authentication-tokens`;
  const query = useDocument<ListDocument<TokenAttributes>>(`${path}?page[size]=100`);
  return (
    <>
      <MakeToken path={path} />
      <Card title="Tokens of yours">
        <Loaded query={query}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty>You have no token of this kind.</Empty>
            ) : (
              <DataTable
                label="Tokens of yours"
                rows={data}
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'For',
                    isName: true,
                    cell: ({ id, attributes }) => attributes.description || id,
                  },
                  { title: 'Made', cell: (one) => shownTime(one.attributes['created-at']) },
                  { title: 'Last used', cell: (one) => shownTime(one.attributes['last-used-at']) },
                  {
                    title: 'Expires',
                    cell: ({ attributes }) =>
                      attributes['expired-at'] === null
                        ? 'never'
                        : shownTime(attributes['expired-at']),
                  },
                  {
                    title: 'Actions',
                    isActions: true,
                    cell: ({ id, attributes }) => (
                      <ActionButton
                        label="Revoke"
                        name={`Revoke ${attributes.description || id}`}
                        className="small danger"
                        tone="danger"
                        title={`Revoke the token "${attributes.description || id}"?`}
                        confirm="Revoke it"
                        act={() => callWorkspaces('DELETE', `authentication-tokens/${id}`)}
                        commands={[workspacesCurl('DELETE', `authentication-tokens/${id}`)]}
                      >
                        <p>
                          Tools that use it are refused from now on. If it is the one that you
                          signed in with, this session ends.
                        </p>
                      </ActionButton>
                    ),
                  },
                ]}
              />
            )
          }
        </Loaded>
      </Card>
    </>
  );
};

export const ApiTokensPage = () => {
  const query = useDocument<OneDocument<{ username: string }>>('account/details');
  return (
    <Page
      title="API tokens"
      lead="For terraform and other tools that speak to the workspace API as you."
    >
      <Loaded query={query}>{({ data }) => <Tokens userId={data.id} />}</Loaded>
    </Page>
  );
};
