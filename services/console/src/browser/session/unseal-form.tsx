import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { Button } from '../components/button.tsx';
import { Commands, rootCurl, rootVaultCommand } from '../components/commands.tsx';
import { FormActions, Input, Label } from '../components/fields.tsx';
import { Problem } from '../components/page.tsx';
import { Progress } from '../components/progress.tsx';
import { useSealStatus } from './use-seal-status.ts';

/** Accepts key shares one by one; other holders may enter theirs elsewhere at the same time. */
export const UnsealForm = () => {
  const [share, setShare] = useState('');
  const { data: status } = useSealStatus();
  const action = useAction(
    (body: object) => callSecrets('POST', 'sys/unseal', { body, token: '', namespace: '' }),
    () => setShare(''),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    action.run({ key: share.trim() });
  };
  const { progress = 0, t: threshold = 0 } = status ?? {};
  return (
    <form onSubmit={submit} aria-label="Unseal">
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <Label>
        Key share
        <Input
          name="share"
          type="password"
          autoComplete="off"
          required
          value={share}
          onChange={({ target }) => setShare(target.value)}
        />
      </Label>
      {threshold > 0 && (
        <p>
          <Progress max={threshold} value={progress} aria-label="Progress" /> {progress} of{' '}
          {threshold} key shares given
        </p>
      )}
      <FormActions>
        <Button type="submit" look="primary" disabled={action.isPending}>
          {action.isPending ? 'Working…' : 'Submit share'}
        </Button>
        {progress > 0 && (
          <Button disabled={action.isPending} onClick={() => action.run({ reset: true })}>
            Start over
          </Button>
        )}
      </FormActions>
      <Commands
        commands={[
          rootCurl('POST', 'sys/unseal', { key: '…' }),
          rootVaultCommand('vault operator unseal'),
        ]}
      />
    </form>
  );
};
