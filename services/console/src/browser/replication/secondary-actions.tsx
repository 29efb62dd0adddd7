/** Actions of a cluster that becomes, is or stops being a secondary. */
import type { May } from '../api/queries.ts';
import { signOut } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Promote } from './promotion.tsx';
import { commandsFor, type Kind, post, RoleChange } from './role-change.tsx';

const secondaryPath = (kind: Kind, action: string): string =>
  `sys/replication/${kind}/secondary/${action}`;

/** The paths whose capabilities decide which actions are offered. */
export const secondaryPaths = (kind: Kind): readonly string[] =>
  ['enable', 'promote', 'disable'].map((action) => secondaryPath(kind, action));

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
      <ol className="steps">
        <li>On the primary, “Let a secondary in” gives a token. It can be used once.</li>
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
      </ol>
      <label>
        Token of the primary
        <textarea name="token" className="code" rows={3} required />
      </label>
      <label>
        API address of the primary (empty: the one in the token)
        <input name="api" autoComplete="off" placeholder="https://primary.example:8200" />
      </label>
    </ActionButton>
  );
};

export const SecondaryActions = (props: { kind: Kind; isFilled: boolean; may: May }) => {
  const { kind, isFilled, may } = props;
  // A DR secondary is operated with an operation token, before login.
  if (kind === 'dr') return null;
  const leave = secondaryPath(kind, 'disable');
  return (
    <>
      {isFilled && may(secondaryPath(kind, 'promote'), 'update') && <Promote kind={kind} />}
      {may(leave, 'update') && (
        <div className="form-actions">
          <RoleChange
            path={leave}
            label="Leave the set"
            title="Leave the replication set?"
            confirm="Leave it"
            typed="leave"
            text="This cluster keeps what it has received and becomes independent. To follow a primary again it is wiped."
          />
        </div>
      )}
    </>
  );
};
