/**
 * Actions that change this cluster's replication role; each explains which data it erases, loses or
 * withholds.
 */
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useCapabilities } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton, type Fields, fieldsOf } from '../components/action-button.tsx';
import { Commands, secretsCurl } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Problem } from '../components/page.tsx';
import type { Status } from './replication-status.ts';

export type Kind = 'performance' | 'dr';

const ROOT = { namespace: '' } as const;

const act =
  (path: string) =>
  (body: object = {}): Promise<unknown> =>
    callSecrets('POST', path, { body, ...ROOT });

const lines = (path: string, body: object = {}) => [
  secretsCurl('POST', path, body),
  {
    tool: 'vault',
    text: ['vault write', ...(Object.keys(body).length === 0 ? ['-f'] : []), path]
      .concat(Object.entries(body).map(([name, value]) => `${name}=${String(value)}`))
      .join(' '),
  },
];

const EnablePrimary = ({ kind }: { kind: Kind }) => {
  const path = `sys/replication/${kind}/primary/enable`;
  return (
    <ActionButton
      label="Become a primary"
      title="Make this cluster a primary?"
      confirm="Become a primary"
      act={({ text }) =>
        act(path)(text('address') === '' ? {} : { primary_cluster_addr: text('address') })
      }
      commands={lines(path)}
    >
      <p>
        Nothing here is lost. Secondaries get copies of what this cluster has once it gives them
        tokens.
      </p>
      <label>
        Address for secondaries (empty: as configured)
        <input name="address" autoComplete="off" placeholder="https://primary.example:8201" />
      </label>
    </ActionButton>
  );
};

const BecomeSecondary = ({ kind }: { kind: Kind }) => {
  const path = `sys/replication/${kind}/secondary/enable`;
  return (
    <ActionButton
      label="Become a secondary"
      tone="danger"
      title="Wipe this cluster and follow a primary?"
      confirm="Wipe it and follow"
      typed="wipe everything"
      act={({ text }) =>
        act(path)({
          token: text('token').trim(),
          ...(text('api') !== '' && { primary_api_addr: text('api') }),
        })
      }
      commands={lines(path, { token: '…' })}
    >
      <ol className="steps">
        <li>On the primary, “Let a secondary in” gives a token. It can be used once.</li>
        <li>
          <strong>Everything in this cluster is wiped</strong>: its mounts, keys, certificates,
          tokens, workspaces and states. Keep a copy if anything is needed.
        </li>
        <li>
          The primary's data arrives, and its tokens work here.{' '}
          {kind === 'dr'
            ? 'A DR secondary serves no client until it is promoted; this page is signed out.'
            : 'Reads are answered here, and writes of shared data go to the primary.'}
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

/** The activation token, shown once. */
const SecondaryToken = ({ kind }: { kind: Kind }) => {
  const path = `sys/replication/${kind}/primary/secondary-token`;
  const [token, setToken] = useState<string>();
  return (
    <>
      <ActionButton
        label="Let a secondary in"
        title="Let a secondary in"
        confirm="Make the token"
        act={async ({ text }) => {
          const made = await callSecrets<{ wrap_info?: { token: string } }>('POST', path, {
            body: { id: text('id'), ttl: text('ttl') },
            ...ROOT,
          });
          setToken(made.wrap_info?.token);
        }}
        commands={lines(path, { id: '…', ttl: '30m' })}
      >
        <p>
          The cluster that uses the token is wiped, and gets everything that this one replicates,
          secrets included, unless a paths filter keeps something back.
        </p>
        <div className="pair">
          <label>
            Id of the secondary
            <input name="id" required autoComplete="off" placeholder="west" />
          </label>
          <label>
            Can be used for
            <input name="ttl" required pattern="\d+[smhd]?" defaultValue="30m" />
          </label>
        </div>
      </ActionButton>
      {token !== undefined && (
        <div role="status" className="hindrance" aria-label="Token for the secondary">
          <p>The token is shown now and never again. “Become a secondary” there takes it.</p>
          <code className="secret">{token}</code> <CopyButton text={token} label="Copy the token" />
        </div>
      )}
    </>
  );
};

const RevokeSecondary = ({ kind, ids }: { kind: Kind; ids: readonly string[] }) => {
  const path = `sys/replication/${kind}/primary/revoke-secondary`;
  return (
    <ActionButton
      label="Cut a secondary off"
      tone="danger"
      title="Cut a secondary off?"
      confirm="Cut it off"
      act={({ text }) => act(path)({ id: text('id') })}
      commands={lines(path, { id: '…' })}
    >
      <p>
        It keeps what it has and gets nothing more. To come back it needs another token, and is
        wiped.
      </p>
      <label>
        Secondary
        <select name="id" required>
          {ids.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
    </ActionButton>
  );
};

const PathsFilter = ({ ids }: { ids: readonly string[] }) => {
  const base = 'sys/replication/performance/primary/paths-filter';
  return (
    <ActionButton
      label="Filter paths"
      title="Decide what a secondary is given"
      confirm="Save"
      act={({ text }) =>
        text('paths').trim() === ''
          ? callSecrets('DELETE', `${base}/${encodeURIComponent(text('id'))}`, ROOT)
          : act(`${base}/${encodeURIComponent(text('id'))}`)({
              mode: text('mode'),
              paths: text('paths'),
            })
      }
      commands={lines(`${base}/ID`, { mode: 'deny', paths: 'pki/,team/' })}
    >
      <p>
        What is filtered from now on is also <strong>removed from the secondary</strong>. Were it
        promoted, it would not have it. Empty paths give it everything.
      </p>
      <label>
        Secondary
        <select name="id" required>
          {ids.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
      <label>
        Rule
        <select name="mode">
          <option value="deny">everything but these paths</option>
          <option value="allow">these paths only</option>
        </select>
      </label>
      <label>
        Paths of mounts and namespaces, divided by commas
        <input name="paths" autoComplete="off" placeholder="pki/,team/" />
      </label>
    </ActionButton>
  );
};

interface Promotion {
  readonly data?: Readonly<Record<string, unknown>> | null;
  readonly warnings?: readonly string[] | null;
}

const outcomeOf = ({ data, warnings }: Promotion): readonly string[] => {
  const missing = Number((data as { missing_entries?: number } | null)?.missing_entries ?? 0);
  return [
    ...(warnings ?? []),
    ...((warnings ?? []).length === 0
      ? [
          missing === 0
            ? 'Nothing that is known of would be lost.'
            : `${missing} entries would be lost.`,
        ]
      : []),
  ];
};

const OperationTokenField = () => (
  <label>
    Operation token
    <input name="operation" type="password" required autoComplete="off" />
  </label>
);

/** Promotion in two steps: a preview of what would be lost, then the promotion itself. */
export const Promote = ({ kind }: { kind: Kind }) => {
  const path = `sys/replication/${kind}/secondary/promote`;
  const [losses, setLosses] = useState<readonly string[]>();
  const tokenIn = ({ text }: Pick<Fields, 'text'>): object =>
    kind === 'dr' ? { dr_operation_token: text('operation').trim() } : {};
  const asking = useAction(
    (body: object) => callSecrets<Promotion>('POST', path, { body, ...ROOT }),
    (answer) => setLosses(outcomeOf(answer)),
  );
  const ask = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    asking.run({ ...tokenIn(fieldsOf(event.currentTarget)), dry_run: true });
  };
  return (
    <section aria-label="Promotion">
      <h3>Promote this cluster</h3>
      <form onSubmit={ask}>
        {asking.error !== null && <Problem>{messageOf(asking.error)}</Problem>}
        {kind === 'dr' && <OperationTokenField />}
        <button type="submit" disabled={asking.isPending}>
          What would be lost?
        </button>
      </form>
      {losses !== undefined && (
        <>
          <ul role="status" aria-label="What would be lost">
            {losses.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
          <ActionButton
            label="Promote"
            tone="danger"
            title="Make this cluster the primary?"
            confirm="Promote it"
            typed="promote"
            act={(fields) => act(path)({ force: fields.isChecked('force'), ...tokenIn(fields) })}
            commands={lines(path, kind === 'dr' ? { dr_operation_token: '…' } : {})}
          >
            <p>
              There must never be two primaries: demote the former one, or be sure that it is gone
              for good, before. Other secondaries have to be told of the new primary.
            </p>
            {kind === 'dr' && <OperationTokenField />}
            <label className="choice">
              <input type="checkbox" name="force" /> Also when entries are missing, or it is not
              known what the primary has written
            </label>
          </ActionButton>
        </>
      )}
      <Commands commands={lines(path, { dry_run: true })} />
    </section>
  );
};

const Simple = (props: {
  path: string;
  label: string;
  title: string;
  confirm: string;
  typed: string;
  text: string;
}) => (
  <ActionButton
    label={props.label}
    tone="danger"
    title={props.title}
    confirm={props.confirm}
    typed={props.typed}
    act={() => act(props.path)()}
    commands={lines(props.path)}
  >
    <p>{props.text}</p>
  </ActionButton>
);

const PrimaryActions = ({ kind, ids }: { kind: Kind; ids: readonly string[] }) => (
  <>
    <SecondaryToken kind={kind} />
    {ids.length > 0 && <RevokeSecondary kind={kind} ids={ids} />}
    {kind === 'performance' && ids.length > 0 && <PathsFilter ids={ids} />}
    <Simple
      path={`sys/replication/${kind}/primary/demote`}
      label="Demote"
      title="Make this primary a secondary without a primary?"
      confirm="Demote it"
      typed="demote"
      text={`It takes no writes any more, until a promoted cluster becomes its primary or it is promoted again. ${
        kind === 'dr' ? 'A DR secondary serves no client, and this page is signed out. ' : ''
      }This is the safe first step of a planned change of primaries: nothing is lost.`}
    />
    <Simple
      path={`sys/replication/${kind}/primary/disable`}
      label="Give the set up"
      title="Give the replication set up?"
      confirm="Give it up"
      typed="disable"
      text="This cluster keeps its data. Its secondaries cannot connect any more, and each of them has to be wiped to join another set."
    />
  </>
);

/** The actions that the cluster's role and the token's policies allow. */
export const ReplicationActions = ({
  kind,
  status,
}: {
  kind: Kind;
  status: Status | undefined;
}) => {
  const mode = status?.mode ?? 'disabled';
  const needed = `sys/replication/${kind}/primary/enable`;
  const may = useCapabilities([needed]);
  if (!may(needed, 'update')) return null;
  const ids = (status?.secondaries ?? []).map((one) => String(one['node_id']));
  if (mode === 'secondary' || mode === 'bootstrapping')
    return (
      <>
        {mode === 'secondary' && <Promote kind={kind} />}
        {kind === 'performance' && (
          <div className="form-actions">
            <Simple
              path="sys/replication/performance/secondary/disable"
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
  return (
    <div className="form-actions">
      {mode === 'primary' ? (
        <PrimaryActions kind={kind} ids={ids} />
      ) : (
        <>
          <EnablePrimary kind={kind} />
          <BecomeSecondary kind={kind} />
        </>
      )}
    </div>
  );
};
