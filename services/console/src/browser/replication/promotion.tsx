/** Promotion of a secondary in two steps: a preview of what would be lost, then the promotion. */
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton, fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands } from '../components/commands.tsx';
import { ChoiceLabel } from '../components/fields.tsx';
import { Problem } from '../components/page.tsx';
import { PartHeading } from '../components/text.tsx';
import {
  OperationTokenField,
  operationTokenIn,
  operationTokenShown,
} from './operation-token-field.tsx';
import { commandsFor, type Kind, post, ROOT } from './role-change.tsx';

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

export const Promote = ({ kind }: { kind: Kind }) => {
  const path = `sys/replication/${kind}/secondary/promote`;
  const [losses, setLosses] = useState<readonly string[]>();
  const asking = useAction(
    (body: object) => callSecrets<Promotion>('POST', path, { body, ...ROOT, showsWarnings: true }),
    (answer) => setLosses(outcomeOf(answer)),
  );
  const ask = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    asking.run({ ...operationTokenIn(kind, fieldsOf(event.currentTarget)), dry_run: true });
  };
  return (
    <section aria-label="Promotion">
      <PartHeading>Promote this cluster</PartHeading>
      <form onSubmit={ask}>
        {asking.error !== null && <Problem>{messageOf(asking.error)}</Problem>}
        <OperationTokenField kind={kind} />
        <Button type="submit" disabled={asking.isPending}>
          Show what would be lost
        </Button>
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
            act={(fields) =>
              post(path)({ force: fields.isChecked('force'), ...operationTokenIn(kind, fields) })
            }
            commands={commandsFor(path, operationTokenShown(kind))}
          >
            <p>
              There must never be two primaries: first demote the former one, or make sure that it
              will never come back. Then point the other secondaries to the new primary.
            </p>
            <OperationTokenField kind={kind} />
            <ChoiceLabel>
              <input type="checkbox" name="force" /> Also when entries are missing, or it is not
              known what the primary has written
            </ChoiceLabel>
          </ActionButton>
        </>
      )}
      <Commands commands={commandsFor(path, { ...operationTokenShown(kind), dry_run: true })} />
    </section>
  );
};
