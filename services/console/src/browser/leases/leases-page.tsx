/** Leases by the path that created them; each can be inspected and revoked. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useCapabilities, useSecretList } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { useSession } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FactList } from '../components/fact-list.tsx';
import { formatDistance, formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page } from '../components/page.tsx';
import { usePages } from '../components/pager.tsx';
import { PillRow } from '../components/pill.tsx';
import { PlainList } from '../components/plain-list.tsx';
import { Code } from '../components/text.tsx';

const LOOKUP = 'sys/leases/lookup';
const REVOKE = 'sys/leases/revoke';
const KEYS_SHOWN = 100;

interface Lease {
  readonly id: string;
  readonly display_name: string;
  readonly issue_time: string;
  readonly expire_time: string | null;
  readonly renewable: boolean;
}

const LeaseCard = ({ id, onEnded }: { id: string; onEnded: () => void }) => {
  const { secrets, namespace } = useSession();
  const may = useCapabilities([REVOKE]);
  const query = useQuery({
    queryKey: ['lease', secrets, namespace, id],
    queryFn: async ({ signal }) =>
      (await callSecrets<{ data: Lease }>('POST', LOOKUP, { body: { lease_id: id }, signal })).data,
  });
  return (
    <Card title="Lease">
      <Loaded query={query}>
        {(lease) => (
          <FactList
            facts={[
              ['Id', <Code key="id">{lease.id}</Code>],
              ['Token of', lease.display_name],
              ['Begun', formatTime(lease.issue_time)],
              [
                'Ends',
                lease.expire_time === null
                  ? 'never'
                  : formatDistance(lease.expire_time, Date.now()),
              ],
              ['Can be renewed', lease.renewable ? 'yes' : 'no'],
            ]}
          />
        )}
      </Loaded>
      {may(REVOKE, 'update') && (
        <ActionButton
          label="Revoke the lease"
          tone="danger"
          title="Revoke this lease?"
          confirm="Revoke it"
          act={() => callSecrets('POST', REVOKE, { body: { lease_id: id, sync: true } })}
          onDone={onEnded}
          commands={[
            secretsCurl('POST', REVOKE, { lease_id: id, sync: true }),
            vaultCommand(`vault lease revoke -sync ${id}`),
          ]}
        >
          <p>What was given out with it is taken back: a token is refused from now on.</p>
        </ActionButton>
      )}
    </Card>
  );
};

/** One level of the tree of leases: folders and leases, page by page. */
const LeaseKeys = (props: { keys: readonly string[]; onChoose: (key: string) => void }) => {
  const { rows, pager } = usePages(props.keys, KEYS_SHOWN, useState(1));
  if (rows.length === 0) return <Empty>There is no lease here.</Empty>;
  return (
    <>
      <PlainList aria-label="Leases">
        {rows.map((key) => (
          <li key={key}>
            <Button look="link" onClick={() => props.onChoose(key)}>
              {key}
            </Button>
          </li>
        ))}
      </PlainList>
      {pager}
    </>
  );
};

export const LeasesPage = () => {
  const [prefix, setPrefix] = useState('');
  const [lease, setLease] = useState<string>();
  const path = prefix === '' ? LOOKUP : `${LOOKUP}/${prefix}`;
  const query = useSecretList(path);
  const parts = prefix.split('/').filter(Boolean);
  const go = (to: string): void => {
    setLease(undefined);
    setPrefix(to);
  };
  return (
    <Page title="Leases" lead="The leases of this namespace, by the paths that they come from.">
      <Card>
        <PillRow>
          <Button look="link" onClick={() => go('')}>
            Show all
          </Button>
          {parts.map((part, at) => (
            <Button
              look="link"
              key={parts.slice(0, at + 1).join('/')}
              onClick={() => go(`${parts.slice(0, at + 1).join('/')}/`)}
            >
              {part}
            </Button>
          ))}
        </PillRow>
        <Loaded query={query}>
          {({ keys }) => (
            <LeaseKeys
              key={prefix}
              keys={keys}
              onChoose={(key) =>
                key.endsWith('/') ? go(`${prefix}${key}`) : setLease(`${prefix}${key}`)
              }
            />
          )}
        </Loaded>
        <Commands
          commands={[secretsCurl('GET', `${path}?list=true`), vaultCommand(`vault list ${path}`)]}
        />
      </Card>
      {lease !== undefined && (
        <LeaseCard key={lease} id={lease} onEnded={() => setLease(undefined)} />
      )}
    </Page>
  );
};
