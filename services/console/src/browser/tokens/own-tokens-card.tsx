/** Where somebody is signed in to certificates and administration, with buttons that end it. */
import { useState } from 'react';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { endSession } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { FormActions } from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { Code, Hint } from '../components/text.tsx';

interface OwnToken {
  readonly accessor: string;
  readonly display_name: string;
  readonly mount_path: string;
  readonly namespace_path: string;
  readonly issue_time: string;
  readonly last_use_time: string;
  readonly expire_time: string | null;
  readonly is_current: boolean;
}

interface OwnTokens {
  readonly tokens: readonly OwnToken[];
  /** Null on the last page. */
  readonly next: string | null;
}

const OWN = 'auth/token/own';
const REVOKE = `${OWN}/revoke`;
const REVOKE_OTHERS = `${OWN}/revoke-others`;
const SELF = 'auth/token/lookup-self';
/** As many as a table shows at once. */
const PAGE = 50;

const EndToken = ({ token }: { token: OwnToken }) => (
  <ActionButton
    label="End"
    name={token.is_current ? 'End this session' : `End ${token.display_name} ${token.accessor}`}
    look="small danger"
    tone="danger"
    title={`End "${token.display_name}"?`}
    confirm="End it"
    act={() => callSecrets('POST', REVOKE, { body: { accessor: token.accessor } })}
    onDone={() => {
      if (token.is_current) endSession('secrets', 'You have ended this session.');
    }}
    commands={[secretsCurl('POST', REVOKE, { accessor: token.accessor })]}
  >
    <p>
      {token.is_current
        ? 'It is the token of this page: you are asked to sign in again.'
        : 'Whoever uses it is asked to sign in again.'}{' '}
      Tokens that were made by it, and their leases, end too.
    </p>
  </ActionButton>
);

const EndOthers = () => (
  <ActionButton
    label="End all others"
    tone="danger"
    title="End all your other tokens?"
    confirm="End them"
    act={() => callSecrets('POST', REVOKE_OTHERS)}
    commands={[secretsCurl('POST', REVOKE_OTHERS)]}
  >
    <p>
      You stay signed in here alone. Tokens that you have made for programs end too, with their
      leases.
    </p>
  </ActionButton>
);

const TokenTable = ({ tokens, mayEnd }: { tokens: readonly OwnToken[]; mayEnd: boolean }) => (
  <DataTable
    label="Your tokens"
    rows={tokens}
    keyOf={({ accessor }) => accessor}
    columns={[
      {
        title: 'Name',
        isName: true,
        cell: (token) => `${token.display_name}${token.is_current ? ' (this session)' : ''}`,
      },
      {
        title: 'Made by',
        cell: ({ mount_path: mount, namespace_path: namespace }) => (
          <>
            <Code>{mount}</Code>
            {namespace !== '' && (
              <>
                {' in '}
                <Code>{namespace}</Code>
              </>
            )}
          </>
        ),
      },
      { title: 'Since', cell: (token) => formatTime(token.issue_time) },
      { title: 'Last used', cell: (token) => formatTime(token.last_use_time) },
      {
        title: 'Ends',
        cell: ({ expire_time: at }) => (at === null ? 'never' : formatTime(at)),
      },
      {
        title: 'Actions',
        isActions: true,
        cell: (token) => mayEnd && <EndToken token={token} />,
      },
    ]}
  />
);

/** Nothing for a token of nobody, such as the root token, or where the list is not allowed. */
export const OwnTokensCard = () => {
  const [before, setBefore] = useState('');
  const may = useCapabilities([OWN, REVOKE, REVOKE_OTHERS, SELF]);
  const self = useSecret<{ readonly entity_id: string }>(SELF, { enabled: may(SELF, 'read') });
  const isShown = may(OWN, 'read') && (self.data?.entity_id ?? '') !== '';
  const page = `${OWN}?limit=${PAGE}`;
  const path = before === '' ? page : `${page}&before=${encodeURIComponent(before)}`;
  const query = useSecret<OwnTokens>(path, { enabled: isShown, keepPrevious: true });
  if (!isShown) return null;
  return (
    <Card title="Your tokens" actions={may(REVOKE_OTHERS, 'update') ? <EndOthers /> : undefined}>
      <Hint>
        Where you are signed in to certificates and administration. The last use is known to the
        hour.
      </Hint>
      <Loaded query={query}>
        {(shown) => (
          <>
            {shown === null || shown.tokens.length === 0 ? (
              <Empty>There are none here.</Empty>
            ) : (
              <TokenTable tokens={shown.tokens} mayEnd={may(REVOKE, 'update')} />
            )}
            <FormActions>
              {before !== '' && <Button onClick={() => setBefore('')}>Show the latest</Button>}
              {typeof shown?.next === 'string' && (
                <Button onClick={() => setBefore(shown.next ?? '')}>Show earlier ones</Button>
              )}
            </FormActions>
          </>
        )}
      </Loaded>
      <Commands commands={[secretsCurl('GET', OWN)]} />
    </Card>
  );
};
