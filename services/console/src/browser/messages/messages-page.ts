import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, readData, type Session } from '../api-client.ts';
import { messageOf, useLoaded } from '../loading.ts';
import { type Message, type MessageList, sortedByStart } from './message.ts';
import { MessageForm } from './message-form.ts';

const COLLECTION = 'sys/config/ui/custom-messages';

const shownTime = (time: string | null): string =>
  time === null
    ? 'never'
    : new Date(time).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

const shownTitle = ({ title }: Message): string => (title === '' ? 'untitled' : title);

const stateOf = (message: Message): 'active' | 'scheduled' | 'over' => {
  if (message.active) return 'active';
  return Date.parse(message.start_time) > Date.now() ? 'scheduled' : 'over';
};

interface Editing {
  readonly id?: string;
  readonly message?: Message;
}

/** All messages of the present namespace, in two tabs: shown before and after login. */
export const MessagesPage = (props: { session: Session }): VNode => {
  const { session } = props;
  const [authenticated, setAuthenticated] = useState(true);
  const [editing, setEditing] = useState<Editing>();
  const [problem, setProblem] = useState<string>();
  const list = useLoaded(
    () => readData<MessageList>(session, `${COLLECTION}?list=true&authenticated=${authenticated}`),
    [session.namespace, authenticated],
  );
  const messages = sortedByStart(list.value);

  const act = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      setProblem(undefined);
      list.reload();
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const edit = (id: string) => () =>
    act(async () => {
      const message = await readData<Message>(session, `${COLLECTION}/${id}`);
      if (message !== undefined) setEditing({ id, message });
    });
  const remove = (id: string, title: string) => () => {
    if (confirm(`Delete the message "${title}"?`))
      void act(() => callApi(session, 'DELETE', `${COLLECTION}/${id}`));
  };

  if (editing !== undefined)
    return html`<${MessageForm}
      session=${session}
      id=${editing.id}
      message=${editing.message}
      authenticated=${authenticated}
      hasActiveModal=${messages.some(
        ([id, message]) => id !== editing.id && message.type === 'modal' && message.active,
      )}
      onEnd=${(saved?: { authenticated: boolean }) => {
        setEditing(undefined);
        if (saved !== undefined) setAuthenticated(saved.authenticated);
        list.reload();
      }}
    />`;

  const tab = (value: boolean, text: string) => html`
    <button
      type="button"
      role="tab"
      id=${value ? 'tab-after' : 'tab-before'}
      aria-selected=${authenticated === value}
      aria-controls="messages"
      tabindex=${authenticated === value ? 0 : -1}
      onClick=${() => setAuthenticated(value)}
    >
      ${text}
    </button>
  `;
  // The arrow keys go from one tab to the other, and the focus with them.
  const moveTab = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    setAuthenticated(!authenticated);
    document.getElementById(authenticated ? 'tab-before' : 'tab-after')?.focus();
  };
  return html`
    <header class="page-head">
      <h1>Custom messages</h1>
      <button type="button" class="primary" onClick=${() => setEditing({})}>Create message</button>
    </header>
    <div role="tablist" aria-label="Messages shown" class="tabs" onKeyDown=${moveTab}>
      ${tab(true, 'After login')} ${tab(false, 'Before login')}
    </div>
    <div role="tabpanel" id="messages" aria-labelledby=${authenticated ? 'tab-after' : 'tab-before'}>
    ${(problem ?? list.error) && html`<p role="alert" class="problem">${problem ?? list.error}</p>`}
    ${
      messages.length === 0 && !list.isLoading && list.error === undefined
        ? html`<p class="empty">
            No message is shown ${authenticated ? 'after' : 'before'} login in this namespace.
          </p>`
        : undefined
    }
    ${
      messages.length > 0 &&
      html`<table class="stacking">
        <thead>
          <tr>
            <th scope="col">Title</th><th scope="col">Type</th><th scope="col">State</th>
            <th scope="col">Starts</th><th scope="col">Ends</th>
            <th scope="col"><span class="unseen">Actions</span></th>
          </tr>
        </thead>
        <tbody>
          ${messages.map(
            ([id, message]) => html`<tr key=${id}>
              <td data-label="Title" class="title"><bdi>${shownTitle(message)}</bdi></td>
              <td data-label="Type">${message.type}</td>
              <td data-label="State"><span class="state ${stateOf(message)}">${stateOf(message)}</span></td>
              <td data-label="Starts" class="time">${shownTime(message.start_time)}</td>
              <td data-label="Ends" class="time">${shownTime(message.end_time)}</td>
              <td class="actions">
                <button type="button" aria-label=${`Edit ${shownTitle(message)}`} onClick=${edit(id)}>Edit</button>
                <button
                  type="button"
                  class="danger"
                  aria-label=${`Delete ${shownTitle(message)}`}
                  onClick=${remove(id, shownTitle(message))}
                >
                  Delete
                </button>
              </td>
            </tr>`,
          )}
        </tbody>
      </table>`
    }
    </div>
  `;
};
