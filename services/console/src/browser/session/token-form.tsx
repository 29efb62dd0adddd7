import { type FormEvent, useEffect, useRef, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { Button } from '../components/button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Problem } from '../components/page.tsx';
import { Code, Hint } from '../components/text.tsx';
import { signIn } from './sign-in.ts';

/** Asks for a token of either API and verifies it before storing it. */
export const TokenForm = () => {
  const [token, setToken] = useState('');
  const action = useAction(signIn);
  const tokenInput = useRef<HTMLInputElement>(null);
  // Focused at once, so that a token pasted early does not end up readable in the field above. The form may come late,
  // when something is being typed elsewhere, such as a key share.
  useEffect(() => {
    if (document.activeElement === document.body) tokenInput.current?.focus();
  }, []);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    action.run(token.trim());
  };
  return (
    <form onSubmit={submit}>
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <Label>
        Token
        <Input
          ref={tokenInput}
          name="token"
          type="password"
          autoComplete="off"
          required
          aria-describedby="token-kinds"
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
      </Label>
      <Hint id="token-kinds">
        A service token (<Code>hvs.…</Code>) opens certificates and administration, an API token (
        <Code>….atlasv1.…</Code>) workspaces. Either will do; the other can be added later.
      </Hint>
      <Button type="submit" look="primary" disabled={action.isPending}>
        {action.isPending ? 'Signing in…' : 'Sign in'}
      </Button>
    </form>
  );
};
