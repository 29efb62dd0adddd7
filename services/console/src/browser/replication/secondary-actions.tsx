/** Actions of a cluster that becomes, is or stops being a secondary. */
import { useState } from 'react';
import type { May } from '../api/queries.ts';
import { signOut } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { FormActions, Input, Label, SelectField, TextArea } from '../components/fields.tsx';
import { Steps } from '../components/steps.tsx';
import {
  OperationTokenField,
  operationTokenIn,
  operationTokenShown,
} from './operation-token-field.tsx';
import { Promote } from './promotion.tsx';
import { commandsFor, type Kind, post } from './role-change.tsx';

const secondaryPath = (kind: Kind, action: string): string =>
  `sys/replication/${kind}/secondary/${action}`;

/** The paths whose capabilities decide which actions are offered. */
export const secondaryPaths = (kind: Kind): readonly string[] =>
  ['enable', 'promote', 'update-primary', 'disable'].map((action) => secondaryPath(kind, action));

const ApiAddressField = () => (
  <Label>
    API address of the primary (empty: the one in the token)
    <Input name="api" autoComplete="off" placeholder="https://primary.example:8200" />
  </Label>
);

/** Offered by a cluster that takes no part in replication. */
export const BecomeSecondary = ({ kind }: { kind: Kind }) => {
  const path = `sys/replication/${kind}/secondary/enable`;
  return (
    <ActionButton
      label="Become a secondary"
      tone="danger"
      title="Wipe this cluster and follow a primary?"
      confirm="Wipe it and follow"
      typed="wipe everything"
      act={async ({ text }) => {
        await post(path)({
          token: text('token').trim(),
          ...(text('api') !== '' && { primary_api_addr: text('api') }),
        });
        signOut('This cluster was wiped to follow its primary, and its tokens with it.');
      }}
      commands={commandsFor(path, { token: '…' })}
    >
      <Steps>
        <li>On the primary, “Add a secondary” gives a token. It can be used once.</li>
        <li>
          <strong>Everything in this cluster is wiped</strong>: its mounts, keys, certificates,
          tokens, workspaces and states. This page is signed out. Keep a copy if anything is needed.
        </li>
        <li>
          The primary's data arrives.{' '}
          {kind === 'dr'
            ? 'A DR secondary has the tokens of its primary, and serves no client until it is promoted.'
            : 'A performance secondary has tokens of its own: the holders of the primary’s key shares make the first one, on the page that asks you to sign in. Reads are answered here, and writes of shared data go to the primary.'}
        </li>
      </Steps>
      <Label>
        Token of the primary
        <TextArea name="token" isCode rows={3} required />
      </Label>
      <ApiAddressField />
    </ActionButton>
  );
};

/** Ways of naming the primary to a secondary. */
const WAYS = {
  token: 'the cluster that gave this token',
  addresses: 'the same primary, at another address',
  nobody: 'nobody for now',
} as const;

type Way = keyof typeof WAYS;

/** Body of `update-primary`. */
const primaryIn = (way: Way, text: (name: string) => string): object => {
  switch (way) {
    case 'token':
      return {
        token: text('token').trim(),
        ...(text('api') !== '' && { primary_api_addr: text('api') }),
      };
    case 'addresses':
      return { update_primary_addrs: text('addresses') };
    case 'nobody':
      return { token: '' };
  }
};

/** Points a secondary to another primary. */
export const FollowAnother = ({ kind }: { kind: Kind }) => {
  const path = secondaryPath(kind, 'update-primary');
  const [way, setWay] = useState<Way>('token');
  return (
    <ActionButton
      label="Follow another primary"
      title="Make this secondary follow another primary?"
      confirm="Follow it"
      act={(fields) =>
        post(path)({ ...primaryIn(way, fields.text), ...operationTokenIn(kind, fields) })
      }
      commands={commandsFor(path, { token: '…', ...operationTokenShown(kind) })}
    >
      <p>
        Nothing is wiped: what differs from the new primary is compared, and{' '}
        <strong>replaced by what the primary has</strong>. Entries that only this cluster has are
        lost. It serves nothing until it has caught up.
      </p>
      <OperationTokenField kind={kind} />
      <Label>
        It follows
        <SelectField value={way} onChange={({ target }) => setWay(target.value as Way)}>
          {Object.entries(WAYS).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </SelectField>
      </Label>
      {way === 'token' && (
        <>
          <Label>
            Token of the new primary (“Add a secondary” there gives one)
            <TextArea name="token" isCode rows={3} required />
          </Label>
          <ApiAddressField />
        </>
      )}
      {way === 'addresses' && (
        <Label>
          Cluster addresses, separated by commas; the first that answers is taken
          <Input
            name="addresses"
            required
            autoComplete="off"
            placeholder="https://primary.example:8201"
          />
        </Label>
      )}
      {way === 'nobody' && (
        <p>It keeps what it has, gets nothing new, and waits to be told of a primary.</p>
      )}
    </ActionButton>
  );
};

/** Makes a secondary independent. */
export const LeaveSet = ({ kind }: { kind: Kind }) => {
  const path = secondaryPath(kind, 'disable');
  return (
    <ActionButton
      label="Leave the set"
      tone="danger"
      title="Leave the replication set?"
      confirm="Leave it"
      typed="leave"
      act={(fields) => post(path)(operationTokenIn(kind, fields))}
      commands={commandsFor(path, operationTokenShown(kind))}
    >
      <p>
        This cluster keeps what it has received and becomes independent. To follow a primary again
        it is wiped.
        {kind === 'dr' &&
          ' It then serves clients like the primary does: make sure that none reaches both.'}
      </p>
      <OperationTokenField kind={kind} />
    </ActionButton>
  );
};

export const SecondaryActions = (props: { kind: Kind; isFilled: boolean; may: May }) => {
  const { kind, isFilled, may } = props;
  // A DR secondary is operated with an operation token, before login.
  if (kind === 'dr') return null;
  const mayUpdate = (action: string): boolean => may(secondaryPath(kind, action), 'update');
  return (
    <>
      {isFilled && mayUpdate('promote') && <Promote kind={kind} />}
      <FormActions>
        {mayUpdate('update-primary') && <FollowAnother kind={kind} />}
        {mayUpdate('disable') && <LeaveSet kind={kind} />}
      </FormActions>
    </>
  );
};
