import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useCapabilities, useSecret } from '../api/queries.ts';
import { readData } from '../api/secrets-api.ts';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Page, Problem } from '../components/page.tsx';
import { Tabs } from '../components/tabs.tsx';
import { type Message, type MessageList, sortedByStart } from './message.ts';
import { MessageFilters } from './message-filters.tsx';
import { MessageForm } from './message-form.tsx';
import type { MessageSearch } from './message-search.ts';
import { ANY_MESSAGE, COLLECTION, MessageTable } from './message-table.tsx';
import { stateOf } from './schedule.ts';

const route = getRouteApi('/ui/messages');
const REFRESH_MS = 5_000;

interface Editing {
  readonly id?: string;
  readonly message?: Message;
}

/** All messages of the current namespace, in two tabs: shown before and after sign-in. */
export const MessagesPage = () => {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const authenticated = search.shown === undefined;
  const setSearch = (next: MessageSearch): void => void navigate({ search: next, replace: true });
  const setAuthenticated = (isAfter: boolean): void => {
    const { shown: _, ...rest } = search;
    setSearch(isAfter ? rest : { ...rest, shown: 'before' });
  };
  const [editing, setEditing] = useState<Editing>();
  const query = useSecret<MessageList>(`${COLLECTION}?list=true&authenticated=${authenticated}`, {
    everyMs: REFRESH_MS,
  });
  // The states of the list are those at the time of its answer.
  const nowMs = query.dataUpdatedAt;
  const messages = sortedByStart(query.data ?? undefined);
  const may = useCapabilities([COLLECTION, ANY_MESSAGE]);
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

  const isNarrowed = search.state !== undefined || search.type !== undefined;
  const found = messages.filter(
    ([, message]) =>
      (search.state === undefined || stateOf(message, nowMs) === search.state) &&
      (search.type === undefined || message.type === search.type),
  );
  const list = () => (
    <>
      <MessageFilters search={search} onChange={setSearch} />
      <Loaded query={query}>
        {() => (
          <MessageTable
            messages={found}
            nowMs={nowMs}
            may={may}
            onEdit={opening.run}
            empty={
              isNarrowed
                ? 'No message is selected by these filters.'
                : `No message is shown ${authenticated ? 'after' : 'before'} login in this namespace.`
            }
          />
        )}
      </Loaded>
    </>
  );
  return (
    <Page
      title="Custom messages"
      lead="Banners and modals for whoever opens the console."
      actions={
        may(COLLECTION, 'update') && (
          <Button look="primary" onClick={() => setEditing({})}>
            Create message
          </Button>
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
      <Commands
        commands={[
          secretsCurl('GET', `${COLLECTION}?list=true&authenticated=${authenticated}`),
          vaultCommand(`vault list ${COLLECTION}`),
        ]}
      />
    </Page>
  );
};
