/** Service tokens by accessor: their holders, creators and expiry times. */
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useCapabilities, useSecretList } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { useSession } from '../api/session.ts';
import { ActionButton, fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DURATION, DURATION_WORDS } from '../components/duration.ts';
import { Input, Label, Pair } from '../components/fields.tsx';
import { formatDistance, formatTime } from '../components/format.ts';
import { useListPage } from '../components/list-page.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page, Problem } from '../components/page.tsx';
import { usePages } from '../components/pager.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { Code } from '../components/text.tsx';
import { EndLogins } from './end-logins.tsx';
import { OwnTokensCard } from './own-tokens-card.tsx';

interface Token {
  readonly accessor: string;
  readonly display_name: string;
  readonly policies: readonly string[];
  readonly expire_time: string | null;
  readonly issue_time: string;
}

/** Tokens looked up for one page; each takes a request. */
const PAGE = 20;
const ACCESSORS = 'auth/token/accessors';
const LOOKUP = 'auth/token/lookup-accessor';
const CREATE = 'auth/token/create';
const REVOKE = 'auth/token/revoke-accessor';

const lookUp = async (accessor: string, signal: AbortSignal): Promise<Token> =>
  (await callSecrets<{ data: Token }>('POST', LOOKUP, { body: { accessor }, signal })).data;

const RevokeToken = ({ token }: { token: Token }) => (
  <ActionButton
    label="Revoke"
    name={`Revoke ${token.display_name}`}
    look="small danger"
    tone="danger"
    title={`Revoke the token "${token.display_name}"?`}
    confirm="Revoke it"
    act={() => callSecrets('POST', REVOKE, { body: { accessor: token.accessor } })}
    commands={[
      secretsCurl('POST', REVOKE, { accessor: token.accessor }),
      vaultCommand(`vault token revoke -accessor ${token.accessor}`),
    ]}
  >
    <p>
      It is refused at once, with every token that was made by it and every lease of theirs. It
      cannot be brought back.
    </p>
  </ActionButton>
);

const CreateToken = () => {
  const [made, setMade] = useState<string>();
  const [body, setBody] = useState<object>({ policies: ['default'], ttl: '1h' });
  const creating = useAction(
    (given: object) =>
      callSecrets<{ auth: { client_token: string } }>('POST', CREATE, { body: given }),
    ({ auth }) => setMade(auth.client_token),
  );
  const read = (form: HTMLFormElement): object => {
    const { text } = fieldsOf(form);
    return {
      display_name: text('name'),
      policies: text('policies')
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
      ttl: text('ttl'),
    };
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    creating.run(read(event.currentTarget));
  };
  return (
    <Card title="Create a token">
      {made !== undefined && <ShownOnce what="the new token" secret={made} />}
      <form onSubmit={submit} onChange={(event) => setBody(read(event.currentTarget))}>
        {creating.error !== null && <Problem>{messageOf(creating.error)}</Problem>}
        <Label>
          Owner or purpose
          <Input name="name" required autoComplete="off" />
        </Label>
        <Pair>
          <Label>
            Policies, separated by commas
            <Input name="policies" required autoComplete="off" defaultValue="default" />
          </Label>
          <Label>
            Valid for
            <Input
              name="ttl"
              required
              autoComplete="off"
              defaultValue="1h"
              pattern={DURATION}
              title={DURATION_WORDS}
            />
          </Label>
        </Pair>
        <Button type="submit" look="primary" disabled={creating.isPending}>
          Create token
        </Button>
        <Commands
          commands={[
            secretsCurl('POST', CREATE, body),
            vaultCommand('vault token create -policy=… -ttl=…'),
          ]}
        />
      </form>
    </Card>
  );
};

const TokenList = ({ accessors }: { accessors: readonly string[] }) => {
  const { rows: page, pager } = usePages(accessors, PAGE, useListPage('tokens'));
  const { secrets, namespace } = useSession();
  const may = useCapabilities([REVOKE]);
  const query = useQuery({
    queryKey: ['tokens', secrets, namespace, ...page],
    queryFn: async ({ signal }) => {
      const found = await Promise.allSettled(page.map((accessor) => lookUp(accessor, signal)));
      // A token may have expired since the list was read.
      return found.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    },
  });
  return (
    <Loaded query={query}>
      {(tokens) => (
        <>
          <DataTable
            label="Tokens"
            rows={tokens}
            keyOf={({ accessor }) => accessor}
            columns={[
              { title: 'Name', isName: true, cell: (token) => token.display_name || '–' },
              { title: 'Policies', cell: ({ policies }) => policies.join(', ') },
              { title: 'Made', cell: (token) => formatTime(token.issue_time) },
              {
                title: 'Expires',
                cell: ({ expire_time: at }) =>
                  at === null ? 'never' : formatDistance(at, Date.now()),
              },
              {
                title: 'Accessor',
                cell: ({ accessor }) => <Code isSmall>{accessor}</Code>,
              },
              {
                title: 'Actions',
                isActions: true,
                cell: (token) => may(REVOKE, 'update') && <RevokeToken token={token} />,
              },
            ]}
          />
          {pager}
        </>
      )}
    </Loaded>
  );
};

const AllTokens = () => {
  const query = useSecretList(ACCESSORS);
  return (
    <Card title="Active tokens" actions={<EndLogins />}>
      <Loaded query={query}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty>There is no token in this namespace.</Empty>
          ) : (
            <TokenList accessors={keys} />
          )
        }
      </Loaded>
      <Commands
        commands={[
          secretsCurl('GET', `${ACCESSORS}?list=true`),
          vaultCommand(`vault list ${ACCESSORS}`),
        ]}
      />
    </Card>
  );
};

export const TokensPage = () => {
  const may = useCapabilities([CREATE, ACCESSORS]);
  return (
    <Page
      title="Tokens"
      lead="Your own tokens, and those of this namespace for whoever may see them. A token itself is never shown."
    >
      {may(CREATE, 'update') && <CreateToken />}
      <OwnTokensCard />
      {may(ACCESSORS, 'list', 'sudo') && <AllTokens />}
    </Page>
  );
};
