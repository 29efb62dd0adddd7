/** Events of a run and the comments on it. */

import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type ListDocument } from '../api/workspaces-api.ts';
import { Button } from '../components/button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { Label, TextArea } from '../components/fields.tsx';
import { formatExactTime, inWords } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Problem } from '../components/page.tsx';
import styles from './run-history.module.css';

type EventAttributes = ResourceAttributes['run-events'];

export const RunEvents = ({ runId, everyMs }: { runId: string; everyMs: number | undefined }) => {
  const query = useDocument<ListDocument<EventAttributes>>(`runs/${runId}/run-events`, {
    everyMs,
    isLive: true,
  });
  return (
    <Card title="Events">
      <Loaded query={query}>
        {({ data }) => (
          <ol className={styles['timeline']}>
            {data.map(({ id, attributes }) => (
              <li key={id}>
                <strong>{inWords(attributes.action)}</strong>
                <time className={styles['time']} dateTime={attributes['created-at']}>
                  {formatExactTime(attributes['created-at'])}
                </time>
                {attributes.description !== null && <p>{attributes.description}</p>}
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </Card>
  );
};

const commentBody = (text: string): object => ({
  data: { type: 'comments', attributes: { body: text } },
});

export const RunComments = ({ runId, mayComment }: { runId: string; mayComment: boolean }) => {
  const [text, setText] = useState('');
  const query = useDocument<ListDocument<{ body: string }>>(
    `runs/${runId}/comments?page[size]=100`,
    { everyMs: 10_000 },
  );
  const sending = useAction(
    () => callWorkspaces('POST', `runs/${runId}/comments`, { body: commentBody(text) }),
    () => setText(''),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    sending.run();
  };
  return (
    <Card title="Comments">
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty>Nobody has said anything about this run.</Empty>
          ) : (
            <ul className={styles['comments']}>
              {data.map(({ id, attributes }) => (
                <li key={id} dir="auto">
                  {attributes.body}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {mayComment && (
        <form onSubmit={submit}>
          {sending.error !== null && <Problem>{messageOf(sending.error)}</Problem>}
          <Label>
            New comment
            <TextArea
              rows={2}
              required
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          </Label>
          <Button type="submit" disabled={sending.isPending}>
            Add comment
          </Button>
          <Commands
            commands={[workspacesCurl('POST', `runs/${runId}/comments`, commentBody(text))]}
          />
        </form>
      )}
    </Card>
  );
};
