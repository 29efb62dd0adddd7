/** Ceremonies in which holders of key shares generate a token together. */
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { bytesOfBase64 } from '../api/base64.ts';
import { type Action, useAction } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, rootCurl, rootVaultCommand } from '../components/commands.tsx';
import { FormActions, Input, Label } from '../components/fields.tsx';
import { Card, Problem } from '../components/page.tsx';
import { Progress } from '../components/progress.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { Hint, PartHeading } from '../components/text.tsx';
import {
  OperationTokenField,
  operationTokenIn,
  operationTokenShown,
} from './operation-token-field.tsx';
import { Promote } from './promotion.tsx';
import { commandsFor } from './role-change.tsx';
import { FollowAnother, LeaveSet } from './secondary-actions.tsx';

const OPERATION_TOKEN = 'sys/replication/dr/secondary/generate-operation-token';
const ROOT_TOKEN = 'sys/generate-root';
/** Requests without a token: none is needed, and a DR secondary has none. */
const OPEN = { token: '', namespace: '' } as const;

interface Attempt {
  readonly nonce: string;
  readonly progress: number;
  readonly required: number;
  readonly complete: boolean;
  readonly encoded_token: string;
  readonly otp: string;
}

/** Decodes the token, which is returned XORed with the one-time password. */
const decodedToken = (encoded: string, password: string): string => {
  const mask = new TextEncoder().encode(password);
  const bytes = bytesOfBase64(encoded).map((byte, at) => byte ^ (mask[at] ?? 0));
  return new TextDecoder().decode(bytes);
};

const TokenCeremony = (props: {
  /** Path of the ceremony below `/v1/`. */
  base: string;
  /** Accessible name of the token. */
  label: string;
  /** The ceremony with the compatible command line. */
  command: string;
}) => {
  const { base, command } = props;
  const [attempt, setAttempt] = useState<Attempt>();
  const [share, setShare] = useState('');
  const [token, setToken] = useState<string>();
  const starting = useAction(
    () => callSecrets<Attempt>('POST', `${base}/attempt`, { body: {}, ...OPEN }),
    (begun) => {
      setToken(undefined);
      setAttempt(begun);
    },
  );
  const cancelling = useAction(
    () =>
      callSecrets('DELETE', `${base}/attempt`, {
        body: { nonce: attempt?.nonce, key: share.trim() },
        ...OPEN,
      }),
    () => {
      setShare('');
      setAttempt(undefined);
    },
  );
  const giving = useAction(
    () =>
      callSecrets<Attempt>('POST', `${base}/update`, {
        body: { key: share.trim(), nonce: attempt?.nonce },
        ...OPEN,
      }),
    (now) => {
      setShare('');
      if (now.complete) {
        setToken(decodedToken(now.encoded_token, attempt?.otp ?? ''));
        setAttempt(undefined);
      } else setAttempt((last) => last && { ...now, otp: last.otp });
    },
  );
  const steps = [starting, giving, cancelling];
  const take = (step: Action<void>): void => {
    for (const one of steps) one.reset();
    step.run();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    take(giving);
  };
  // Each step forgets the refusals before it.
  const error = steps.find((step) => step.error !== null)?.error ?? null;
  return (
    <>
      {error !== null && <Problem>{messageOf(error)}</Problem>}
      {attempt === undefined ? (
        <Button disabled={starting.isPending} onClick={() => take(starting)}>
          Start the ceremony
        </Button>
      ) : (
        <form onSubmit={submit} aria-label="Ceremony">
          <p>
            <Progress max={attempt.required} value={attempt.progress} aria-label="Progress" />{' '}
            {attempt.progress} of {attempt.required} key shares given
          </p>
          <Label>
            Key share
            <Input
              type="password"
              required
              autoComplete="off"
              value={share}
              onChange={({ target }) => setShare(target.value)}
            />
          </Label>
          <FormActions>
            <Button type="submit" look="primary" disabled={giving.isPending}>
              Submit share
            </Button>
            <Button onClick={() => take(cancelling)}>Cancel the ceremony</Button>
          </FormActions>
          <Hint>Cancelling needs a key share, too.</Hint>
        </form>
      )}
      {token !== undefined && <ShownOnce what="the token" secret={token} label={props.label} />}
      <Commands
        commands={[
          rootCurl('POST', `${base}/attempt`, {}),
          rootCurl('POST', `${base}/update`, { key: '…', nonce: '…' }),
          rootVaultCommand(`${command} -init`),
          rootVaultCommand(command),
        ]}
      />
    </>
  );
};

const RevokeOperationToken = () => {
  const path = 'sys/replication/dr/secondary/operation-token/delete';
  return (
    <ActionButton
      label="Revoke an operation token"
      title="Revoke an operation token?"
      confirm="Revoke it"
      tone="danger"
      act={(fields) => callSecrets('POST', path, { body: operationTokenIn('dr', fields), ...OPEN })}
      commands={commandsFor(path, operationTokenShown('dr'))}
    >
      <p>Whoever has it can change the role of this cluster. Revoke it when the work is done.</p>
      <OperationTokenField kind="dr" />
    </ActionButton>
  );
};

/** The changes of a DR secondary, on which nobody can sign in. */
export const OperationTokenSteps = () => (
  <Card title="Operate this DR secondary">
    <p>
      Nobody can sign in here. The holders of the key shares make an operation token together; it
      may promote this cluster, make it follow another primary or leave the set, and nothing else.
    </p>
    <TokenCeremony
      base={OPERATION_TOKEN}
      label="Operation token"
      command="vault operator generate-root -dr-token"
    />
    <Promote kind="dr" />
    <section aria-label="Other changes">
      <PartHeading>Keep it a secondary, or let it go</PartHeading>
      <FormActions>
        <FollowAnother kind="dr" />
        <LeaveSet kind="dr" />
        <RevokeOperationToken />
      </FormActions>
    </section>
  </Card>
);

/** The first token of a performance secondary, to which no token of its primary belongs. */
export const FirstTokenSteps = () => (
  <Card title="Create the first token of this secondary">
    <p>
      This cluster has tokens of its own. The holders of the primary's key shares make the first one
      together; it may do everything here, so use it to make others and revoke it.
    </p>
    <TokenCeremony base={ROOT_TOKEN} label="First token" command="vault operator generate-root" />
  </Card>
);
