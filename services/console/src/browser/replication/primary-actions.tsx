/** Actions of a primary: letting secondaries in, withholding paths, cutting off, stepping down. */
import { useState } from 'react';
import type { May } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { DURATION, DURATION_WORDS } from '../components/duration.ts';
import { Input, Label, Pair, SelectField } from '../components/fields.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { filterPath, PathsFilter } from './paths-filter.tsx';
import { commandsFor, type Kind, post, ROOT, RoleChange } from './role-change.tsx';

const primaryPath = (kind: Kind, action: string): string =>
  `sys/replication/${kind}/primary/${action}`;

/** The paths whose capabilities decide which actions are offered. */
export const primaryPaths = (kind: Kind, ids: readonly string[]): readonly string[] => [
  ...['enable', 'secondary-token', 'revoke-secondary', 'demote', 'disable'].map((action) =>
    primaryPath(kind, action),
  ),
  ...(kind === 'performance' ? ids.map(filterPath) : []),
];

/** Offered by a cluster that takes no part in replication. */
export const EnablePrimary = ({ kind }: { kind: Kind }) => {
  const path = `sys/replication/${kind}/primary/enable`;
  return (
    <ActionButton
      label="Become a primary"
      title="Make this cluster a primary?"
      confirm="Become a primary"
      act={({ text }) =>
        post(path)(text('address') === '' ? {} : { primary_cluster_addr: text('address') })
      }
      commands={commandsFor(path)}
    >
      <p>
        Nothing here is lost. Secondaries get copies of what this cluster has once it gives them
        tokens.
      </p>
      <Label>
        Address for secondaries (empty: as configured)
        <Input name="address" autoComplete="off" placeholder="https://primary.example:8201" />
      </Label>
    </ActionButton>
  );
};

/** The activation token, shown once. */
const SecondaryToken = ({ kind }: { kind: Kind }) => {
  const path = `sys/replication/${kind}/primary/secondary-token`;
  const [token, setToken] = useState<string>();
  return (
    <>
      <ActionButton
        label="Add a secondary"
        title="Add a secondary"
        confirm="Create token"
        act={async ({ text }) => {
          const made = await callSecrets<{ wrap_info?: { token: string } }>('POST', path, {
            body: { id: text('id'), ttl: text('ttl') },
            ...ROOT,
          });
          setToken(made.wrap_info?.token);
        }}
        commands={commandsFor(path, { id: '…', ttl: '30m' })}
      >
        <p>
          The cluster that uses this token is erased. It then receives everything this cluster
          replicates, including secrets, except paths excluded by a filter.
        </p>
        <Pair>
          <Label>
            Id of the secondary
            <Input name="id" required autoComplete="off" placeholder="west" />
          </Label>
          <Label>
            Can be used for
            <Input
              name="ttl"
              required
              pattern={DURATION}
              title={DURATION_WORDS}
              defaultValue="30m"
            />
          </Label>
        </Pair>
      </ActionButton>
      {token !== undefined && (
        <ShownOnce what="the token" secret={token} label="Token for the secondary">
          “Become a secondary” there takes it.
        </ShownOnce>
      )}
    </>
  );
};

const SecondarySelect = ({ ids }: { ids: readonly string[] }) => (
  <Label>
    Secondary
    <SelectField name="id" required>
      {ids.map((id) => (
        <option key={id}>{id}</option>
      ))}
    </SelectField>
  </Label>
);

const RevokeSecondary = ({ kind, ids }: { kind: Kind; ids: readonly string[] }) => {
  const path = `sys/replication/${kind}/primary/revoke-secondary`;
  return (
    <ActionButton
      label="Revoke a secondary"
      tone="danger"
      title="Revoke a secondary?"
      confirm="Revoke it"
      act={({ text }) => post(path)({ id: text('id') })}
      commands={commandsFor(path, { id: '…' })}
    >
      <p>
        It keeps what it has and gets nothing more. To come back it needs another token, and is
        wiped.
      </p>
      <SecondarySelect ids={ids} />
    </ActionButton>
  );
};

export const PrimaryActions = (props: { kind: Kind; ids: readonly string[]; may: May }) => {
  const { kind, ids, may } = props;
  const mayUpdate = (action: string): boolean => may(primaryPath(kind, action), 'update');
  const filterable =
    kind === 'performance'
      ? ids.filter((id) => may(filterPath(id), 'update') && may(filterPath(id), 'delete'))
      : [];
  return (
    <>
      {may(primaryPath(kind, 'secondary-token'), 'update', 'sudo') && (
        <SecondaryToken kind={kind} />
      )}
      {ids.length > 0 && mayUpdate('revoke-secondary') && <RevokeSecondary kind={kind} ids={ids} />}
      {filterable.map((id) => (
        <PathsFilter key={id} id={id} path={filterPath(id)} />
      ))}
      {mayUpdate('demote') && (
        <RoleChange
          path={primaryPath(kind, 'demote')}
          label="Demote"
          title="Demote this primary to a secondary without a primary?"
          confirm="Demote it"
          typed="demote"
          text={`It takes no writes any more, until a promoted cluster becomes its primary or it is promoted again. ${
            kind === 'dr' ? 'A DR secondary serves no client, and this page is signed out. ' : ''
          }This is the safe first step of a planned change of primaries: nothing is lost.`}
        />
      )}
      {mayUpdate('disable') && (
        <RoleChange
          path={primaryPath(kind, 'disable')}
          label="Disable replication"
          title="Disable replication?"
          confirm="Disable it"
          typed="disable"
          text="This cluster keeps its data. Its secondaries cannot connect any more, and each of them has to be wiped to join another set."
        />
      )}
    </>
  );
};
