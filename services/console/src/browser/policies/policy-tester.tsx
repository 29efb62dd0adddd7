/** "May this token do that": the server's own answer, for a token or its accessor. */
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useCapabilities } from '../api/queries.ts';
import { callSecrets, readData } from '../api/secrets-api.ts';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { Input, Label, Pair } from '../components/fields.tsx';
import { Card, Problem } from '../components/page.tsx';
import { Pill, PillRow } from '../components/pill.tsx';
import { PlainList } from '../components/plain-list.tsx';
import { Code } from '../components/text.tsx';
import { decidingRules, type Rule, rulesIn } from './deciding-rules.ts';

interface Answer {
  readonly data: { readonly capabilities: readonly string[] };
}

interface Found {
  readonly capabilities: readonly string[];
  /**
   * Rules that match the path, the deciding one first; only from policies that the user may read.
   */
  readonly rules: readonly Rule[];
  readonly policies: readonly string[];
}

const BY_ACCESSOR = 'sys/capabilities-accessor';
const LOOKUP = 'auth/token/lookup-accessor';

/** The capabilities reported by the server, and the rules that grant them. */
const find = async (accessor: string, path: string): Promise<Found> => {
  const { data } = await callSecrets<Answer>('POST', BY_ACCESSOR, {
    body: { accessor, paths: [path] },
  });
  const token = await callSecrets<{ data: { policies: readonly string[] } }>('POST', LOOKUP, {
    body: { accessor },
  }).catch(() => undefined);
  const policies = token?.data.policies ?? [];
  const texts = await Promise.allSettled(
    policies.map(async (name) => {
      const at = `sys/policies/acl/${encodeURIComponent(name)}`;
      return rulesIn(name, (await readData<{ policy: string }>(at))?.policy ?? '');
    }),
  );
  const rules = texts.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
  return { capabilities: data.capabilities, rules: decidingRules(rules, path), policies };
};

const DecidingRules = ({ found: { rules, policies } }: { found: Found }) => {
  if (policies.includes('root')) return <p>The policy root grants everything.</p>;
  if (rules.length === 0)
    return <p>No rule of a policy that this token may read covers the path.</p>;
  return (
    <PlainList isOrdered aria-label="Rules that cover the path">
      {rules.map(({ policy, path, capabilities }, at) => (
        <li key={`${policy} ${path}`}>
          {at === 0 && <strong>decides: </strong>}
          <Code>{path}</Code> of <Code>{policy}</Code>: {capabilities.join(', ') || 'nothing'}
        </li>
      ))}
    </PlainList>
  );
};

export const PolicyTester = () => {
  const [accessor, setAccessor] = useState('');
  const [path, setPath] = useState('');
  const [found, setFound] = useState<Found>();
  const may = useCapabilities([BY_ACCESSOR]);
  const body = { accessor: accessor.trim(), paths: [path.trim()] };
  const asking = useAction(() => find(accessor.trim(), path.trim()), setFound);
  if (!may(BY_ACCESSOR, 'update')) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setFound(undefined);
    asking.run();
  };
  return (
    <Card title="May this token do that?">
      <form onSubmit={submit}>
        {asking.error !== null && <Problem>{messageOf(asking.error)}</Problem>}
        <Pair>
          <Label>
            Accessor of the token
            <Input
              required
              autoComplete="off"
              value={accessor}
              onChange={({ target }) => setAccessor(target.value)}
            />
          </Label>
          <Label>
            Path
            <Input
              required
              autoComplete="off"
              placeholder="pki/issue/web"
              value={path}
              onChange={({ target }) => setPath(target.value)}
            />
          </Label>
        </Pair>
        <Button type="submit" disabled={asking.isPending}>
          Ask
        </Button>
        {found && (
          <div role="status">
            <PillRow>
              {found.capabilities.map((capability) => (
                <Pill key={capability} tone={capability === 'deny' ? 'bad' : 'good'}>
                  {capability}
                </Pill>
              ))}
            </PillRow>
            <DecidingRules found={found} />
          </div>
        )}
        <Commands
          commands={[
            secretsCurl('POST', BY_ACCESSOR, body),
            vaultCommand('vault token capabilities TOKEN PATH'),
          ]}
        />
      </form>
    </Card>
  );
};
