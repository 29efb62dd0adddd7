/** Where somebody is signed in to certificates and administration, with buttons that end it. */
import { useState } from 'react';
import { ApiProblem } from '../api/api-problem.ts';
import { withThoseAbove } from '../api/namespaces-above.ts';
import { useCapabilitiesIn, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { endSession, useSession } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurlIn } from '../components/commands.tsx';
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
/** Status of the list for a token of nobody. */
const NO_ENTITY_STATUS = 400;
/** As many as a table shows at once. */
const PAGE = 50;

/** A namespace in which the token may list its own, and what it may do with them there. */
interface Place {
  readonly namespace: string;
  readonly mayEnd: boolean;
  readonly mayEndOthers: boolean;
}

/**
 * The innermost one from that of the page on: people work in namespaces below the one where they have signed in. Null
 * where the token may list its own nowhere, or while that is not known.
 */
const usePlace = (): Place | null => {
  const namespaces = withThoseAbove(useSession().namespace);
  const rights = useCapabilitiesIn(namespaces, [OWN, REVOKE, REVOKE_OTHERS]);
  const at = rights.findIndex((may) => may?.(OWN, 'read') !== false);
  const [may, namespace] = [rights[at], namespaces[at]];
  if (may === undefined || namespace === undefined) return null;
  return {
    namespace,
    mayEnd: may(REVOKE, 'update'),
    mayEndOthers: may(REVOKE_OTHERS, 'update'),
  };
};

const EndToken = ({ token, namespace }: { token: OwnToken; namespace: string }) => (
  <ActionButton
    label="End"
    name={token.is_current ? 'End this session' : `End ${token.display_name} ${token.accessor}`}
    look="small danger"
    tone="danger"
    title={`End "${token.display_name}"?`}
    confirm="End it"
    act={() => callSecrets('POST', REVOKE, { body: { accessor: token.accessor }, namespace })}
    onDone={() => {
      if (token.is_current) endSession('secrets', 'You have ended this session.');
    }}
    commands={[secretsCurlIn(namespace, 'POST', REVOKE, { accessor: token.accessor })]}
  >
    <p>
      {token.is_current
        ? 'It is the token of this page: you are asked to sign in again.'
        : 'Whoever uses it is asked to sign in again.'}{' '}
      Tokens that were made by it, and their leases, end too.
    </p>
  </ActionButton>
);

const EndOthers = ({ namespace }: { namespace: string }) => (
  <ActionButton
    label="End all others"
    tone="danger"
    title="End all your other tokens?"
    confirm="End them"
    act={() => callSecrets('POST', REVOKE_OTHERS, { namespace })}
    commands={[secretsCurlIn(namespace, 'POST', REVOKE_OTHERS)]}
  >
    <p>
      You stay signed in here alone. Tokens that you have made for programs end too, with their
      leases.
    </p>
  </ActionButton>
);

const TokenTable = ({ tokens, place }: { tokens: readonly OwnToken[]; place: Place }) => (
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
        cell: (token) => place.mayEnd && <EndToken token={token} namespace={place.namespace} />,
      },
    ]}
  />
);

/** Nothing for a token of nobody, such as the root token, or where the list is not allowed. */
export const OwnTokensCard = () => {
  const [before, setBefore] = useState('');
  const place = usePlace();
  const page = `${OWN}?limit=${PAGE}`;
  const path = before === '' ? page : `${page}&before=${encodeURIComponent(before)}`;
  const query = useSecret<OwnTokens>(path, {
    enabled: place !== null,
    keepPrevious: true,
    ...(place !== null && { namespace: place.namespace }),
  });
  const isOfNobody = query.error instanceof ApiProblem && query.error.status === NO_ENTITY_STATUS;
  if (place === null || isOfNobody || (query.data === undefined && query.error === null))
    return null;
  return (
    <Card
      title="Your tokens"
      actions={place.mayEndOthers ? <EndOthers namespace={place.namespace} /> : undefined}
    >
      <Hint>
        Where you are signed in to certificates and administration. The last use is known to the
        hour.
      </Hint>
      <Loaded query={query}>
        {(shown) => (
          <>
            {shown === null || shown.tokens.length === 0 ? (
              <Empty>You have no token in this namespace.</Empty>
            ) : (
              <TokenTable tokens={shown.tokens} place={place} />
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
      <Commands commands={[secretsCurlIn(place.namespace, 'GET', OWN)]} />
    </Card>
  );
};
