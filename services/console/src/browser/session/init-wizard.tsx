import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Callout } from '../components/callout.tsx';
import { Commands, rootCurl, rootVaultCommand } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { FormActions, Input, Label, Pair } from '../components/fields.tsx';
import { Problem } from '../components/page.tsx';
import { Code } from '../components/text.tsx';
import styles from './init-wizard.module.css';
import { useSealStatus } from './use-seal-status.ts';

interface InitAnswer {
  readonly keys_base64: readonly string[];
  readonly recovery_keys_base64?: readonly string[] | null;
  readonly root_token: string;
}

const MAX_SHARES = 255;

/** The key shares and the root token, which cannot be shown again. */
const MadeKeys = (props: { made: InitAnswer; onKept: () => void }) => {
  const { made } = props;
  const shares = [...made.keys_base64, ...(made.recovery_keys_base64 ?? [])];
  const text = [...shares.map((share, at) => `Key share ${at + 1}: ${share}`), '']
    .concat(`First token: ${made.root_token}`)
    .join('\n');
  return (
    <>
      <Callout role="note">
        These are shown now and never again. Give each share to another person, and keep the first
        token where only an administrator finds it.
      </Callout>
      <ol className={styles['shares']}>
        {shares.map((share) => (
          <li key={share}>
            <Code>{share}</Code>
          </li>
        ))}
      </ol>
      <p>
        First token <Code>{made.root_token}</Code>
      </p>
      <FormActions>
        <CopyButton text={text} label="Copy the shares and the token" />
        <Button look="primary" onClick={props.onKept}>
          Continue: I have stored them
        </Button>
      </FormActions>
    </>
  );
};

/** A seal that a key file opens has recovery shares, any other one shares that open it. */
const bodyOf = (isRecovery: boolean, shares: number, threshold: number): object =>
  isRecovery
    ? { recovery_shares: shares, recovery_threshold: threshold }
    : { secret_shares: shares, secret_threshold: threshold };

/** Generates the keys of a new cluster and shows them once. */
export const InitWizard = (props: { onMade: () => void; onKept: () => void }) => {
  const [made, setMade] = useState<InitAnswer>();
  const { data: seal } = useSealStatus();
  const isRecovery = seal?.recovery_seal === true;
  const action = useAction(
    (body: object) =>
      callSecrets<InitAnswer>('POST', 'sys/init', { body, token: '', namespace: '' }),
    (answer) => {
      setMade(answer);
      props.onMade();
    },
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const { text } = fieldsOf(event.currentTarget);
    const [shares, threshold] = [Number(text('shares')), Number(text('threshold'))];
    action.run(bodyOf(isRecovery, shares, threshold));
  };
  if (made !== undefined) return <MadeKeys made={made} onKept={props.onKept} />;
  return (
    <form onSubmit={submit} aria-label="Initialize">
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <p>
        The key of the cluster is divided into shares for different people. So many of them together{' '}
        {isRecovery
          ? 'authorize what nobody may do alone; a key file opens the seal.'
          : 'open the seal at every start, and authorize what nobody may do alone.'}
      </p>
      <Pair>
        <Label>
          Key shares
          <Input name="shares" type="number" min={1} max={MAX_SHARES} defaultValue={5} required />
        </Label>
        <Label>
          Shares required to unseal
          <Input
            name="threshold"
            type="number"
            min={1}
            max={MAX_SHARES}
            defaultValue={3}
            required
          />
        </Label>
      </Pair>
      <Button type="submit" look="primary" disabled={action.isPending || seal === undefined}>
        {action.isPending ? 'Working…' : 'Generate the keys'}
      </Button>
      <Commands
        commands={[
          rootCurl('POST', 'sys/init', bodyOf(isRecovery, 5, 3)),
          rootVaultCommand(
            isRecovery
              ? 'vault operator init -recovery-shares=5 -recovery-threshold=3'
              : 'vault operator init -key-shares=5 -key-threshold=3',
          ),
        ]}
      />
    </form>
  );
};
