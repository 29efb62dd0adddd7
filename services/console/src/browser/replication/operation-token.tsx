/** The ceremony in which holders of key shares generate an operation token for a DR secondary. */
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { bytesOfBase64 } from '../api/base64.ts';
import { useAction } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { Commands, secretsCurl } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Card, Problem } from '../components/page.tsx';
import { Promote } from './replication-actions.tsx';

const BASE = 'sys/replication/dr/secondary/generate-operation-token';
/** Requests without a token: none is needed, and a DR secondary has none. */
const OPEN = { token: '', namespace: '' } as const;

interface Progress {
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

export const OperationTokenSteps = () => {
  const [attempt, setAttempt] = useState<Progress>();
  const [share, setShare] = useState('');
  const [token, setToken] = useState<string>();
  const starting = useAction(
    () => callSecrets<Progress>('POST', `${BASE}/attempt`, { body: {}, ...OPEN }),
    (begun) => {
      setToken(undefined);
      setAttempt(begun);
    },
  );
  const cancelling = useAction(
    () => callSecrets('DELETE', `${BASE}/attempt?nonce=${attempt?.nonce ?? ''}`, OPEN),
    () => setAttempt(undefined),
  );
  const giving = useAction(
    () =>
      callSecrets<Progress>('POST', `${BASE}/update`, {
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
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    giving.run();
  };
  const error = starting.error ?? giving.error ?? cancelling.error;
  return (
    <Card title="Operate this DR secondary">
      <p>
        Nobody can sign in here. To promote it, the holders of the key shares make an operation
        token together; it may promote, disable or redirect this cluster, and nothing else.
      </p>
      {error !== null && <Problem>{messageOf(error)}</Problem>}
      {attempt === undefined ? (
        <button type="button" disabled={starting.isPending} onClick={() => starting.run()}>
          Begin the ceremony
        </button>
      ) : (
        <form onSubmit={submit} aria-label="Ceremony">
          <p className="progress-line">
            <progress max={attempt.required} value={attempt.progress} aria-label="Progress" />{' '}
            {attempt.progress} of {attempt.required} key shares given
          </p>
          <label>
            Key share
            <input
              type="password"
              required
              autoComplete="off"
              value={share}
              onChange={({ target }) => setShare(target.value)}
            />
          </label>
          <div className="form-actions">
            <button type="submit" className="primary" disabled={giving.isPending}>
              Give share
            </button>
            <button type="button" onClick={() => cancelling.run()}>
              Cancel the ceremony
            </button>
          </div>
        </form>
      )}
      {token !== undefined && (
        <div role="status" className="hindrance" aria-label="Operation token">
          <p>The operation token is shown now and never again.</p>
          <code className="secret">{token}</code> <CopyButton text={token} label="Copy the token" />
        </div>
      )}
      <Commands
        commands={[
          secretsCurl('POST', `${BASE}/attempt`, {}),
          secretsCurl('POST', `${BASE}/update`, { key: '…', nonce: '…' }),
          { tool: 'vault', text: 'vault operator generate-root -dr-token -init' },
          { tool: 'vault', text: 'vault operator generate-root -dr-token' },
        ]}
      />
      <Promote kind="dr" />
    </Card>
  );
};
