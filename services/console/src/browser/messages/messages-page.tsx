import { useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets, readData } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { secretsCurl } from '../components/commands.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { shownTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Empty, Page, Problem } from '../components/page.tsx';
import { Pill } from '../components/pill.tsx';
import { Tabs } from '../components/tabs.tsx';
import { type Message, type MessageList, sortedByStart } from './message.ts';
import { MessageForm } from './message-form.tsx';

const COLLECTION = 'sys/config/ui/custom-messages';
const REFRESH_MS = 5_000;

const shownTitle = ({ title }: Message): string => (title === '' ? 'untitled' : title);

const stateOf = (message: Message): 'active' | 'scheduled' | 'over' => {
  if (message.active) return 'active';
  return Date.parse(message.start_time) > Date.now() ? 'scheduled' : 'over';
};

const TONES = { active: 'good', scheduled: 'busy', over: 'plain' } as const;

interface Editing {
  readonly id?: string;
  readonly message?: Message;
}

type Entry = readonly [id: string, message: Message];

/** All messages of the current namespace, in two tabs: shown before and after sign-in. */
export const MessagesPage = () => {
  const [authenticated, setAuthenticated] = useState(true);
  const [editing, setEditing] = useState<Editing>();
  const query = useSecret<MessageList>(`${COLLECTION}?list=true&authenticated=${authenticated}`, {
    everyMs: REFRESH_MS,
  });
  const messages = sortedByStart(query.data ?? undefined);
  const may = useCapabilities([COLLECTION, `${COLLECTION}/any`]);
  const opening = useAction(
    (id: string) => readData<Message>(`${COLLECTION}/${id}`),
    (message, id) => message && setEditing({ id, message }),
  );

  if (editing !== undefined)
    return (
      <MessageForm
        id={editing.id}
        message={editing.message}
        authenticated={authenticated}
        hasActiveModal={messages.some(
          ([id, message]) => id !== editing.id && message.type === 'modal' && message.active,
        )}
        onEnd={(saved) => {
          setEditing(undefined);
          if (saved !== undefined) setAuthenticated(saved.authenticated);
        }}
      />
    );

  const columns: readonly Column<Entry>[] = [
    { title: 'Title', cell: ([, message]) => <bdi className="title">{shownTitle(message)}</bdi> },
    { title: 'Type', cell: ([, { type }]) => type },
    {
      title: 'State',
      cell: ([, message]) => <Pill tone={TONES[stateOf(message)]}>{stateOf(message)}</Pill>,
    },
    { title: 'Starts', cell: ([, message]) => shownTime(message.start_time) },
    {
      title: 'Ends',
      cell: ([, message]) => (message.end_time === null ? 'never' : shownTime(message.end_time)),
    },
    {
      title: 'Actions',
      isActions: true,
      cell: ([id, message]) => (
        <>
          {may(`${COLLECTION}/any`, 'update') && (
            <button
              type="button"
              className="small"
              aria-label={`Edit ${shownTitle(message)}`}
              onClick={() => opening.run(id)}
            >
              Edit
            </button>
          )}
          {may(`${COLLECTION}/any`, 'delete') && (
            <ActionButton
              label="Delete"
              name={`Delete ${shownTitle(message)}`}
              className="small danger"
              tone="danger"
              title={`Delete the message "${shownTitle(message)}"?`}
              confirm="Delete it"
              act={() => callSecrets('DELETE', `${COLLECTION}/${id}`)}
              commands={[secretsCurl('DELETE', `${COLLECTION}/${id}`)]}
            >
              <p>Nobody sees it any more, and it cannot be brought back.</p>
            </ActionButton>
          )}
        </>
      ),
    },
  ];
  const list = () => (
    <Loaded query={query}>
      {() =>
        messages.length === 0 ? (
          <Empty>
            No message is shown {authenticated ? 'after' : 'before'} login in this namespace.
          </Empty>
        ) : (
          <DataTable label="Messages" columns={columns} rows={messages} keyOf={([id]) => id} />
        )
      }
    </Loaded>
  );
  return (
    <Page
      title="Custom messages"
      lead="Banners and modals for whoever opens the console."
      actions={
        may(COLLECTION, 'update') && (
          <button type="button" className="primary" onClick={() => setEditing({})}>
            Create message
          </button>
        )
      }
    >
      {opening.error !== null && <Problem>{messageOf(opening.error)}</Problem>}
      <Tabs
        label="Messages shown"
        items={[
          { name: 'after', title: 'After login', content: list },
          { name: 'before', title: 'Before login', content: list },
        ]}
        selected={authenticated ? 'after' : 'before'}
        onSelect={(name) => setAuthenticated(name === 'after')}
      />
    </Page>
  );
};
