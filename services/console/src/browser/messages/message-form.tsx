import { type ChangeEvent, type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { Commands, secretsCurl } from '../components/commands.tsx';
import { Page, Problem } from '../components/page.tsx';
import {
  bodyOf,
  type Draft,
  draftOf,
  linkMap,
  type Message,
  type MessageType,
  toBase64,
  toLocalInput,
} from './message.ts';
import { Banner, MessageModal } from './shown-messages.tsx';

const newDraft = (authenticated: boolean): Draft => ({
  title: '',
  text: '',
  type: 'banner',
  authenticated,
  start: toLocalInput(new Date().toISOString()),
  end: '',
  linkTitle: '',
  linkHref: '',
});

export interface MessageFormProps {
  /** Id of the message that is replaced; undefined creates a message. */
  readonly id: string | undefined;
  readonly message: Message | undefined;
  /** Default for a new message: shown after signing in (true) or before. */
  readonly authenticated: boolean;
  readonly hasActiveModal: boolean;
  /** Called with the saved message, or without an argument if the form was cancelled. */
  readonly onEnd: (saved?: { authenticated: boolean }) => void;
}

export const MessageForm = (props: MessageFormProps) => {
  const [draft, setDraft] = useState(() =>
    props.message === undefined ? newDraft(props.authenticated) : draftOf(props.message),
  );
  const [isPreviewed, setPreviewed] = useState(false);
  const path = `sys/config/ui/custom-messages${props.id === undefined ? '' : `/${props.id}`}`;
  const saving = useAction(
    () => callSecrets('POST', path, { body: bodyOf(draft, props.message) }),
    () => props.onEnd({ authenticated: draft.authenticated }),
  );
  const set = (change: Partial<Draft>): void => setDraft((last) => ({ ...last, ...change }));
  const typed =
    (name: keyof Draft) =>
    ({ target }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>): void =>
      set({ [name]: target.value });

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const isSecondModal = draft.type === 'modal' && props.hasActiveModal;
    if (isSecondModal && !confirm('Another modal is active in this list. Save this one as well?'))
      return;
    saving.run();
  };
  const preview = { title: draft.title, message: toBase64(draft.text), link: linkMap(draft) };
  const choice = (name: 'type' | 'authenticated', value: string, text: string) => (
    <label className="choice">
      <input
        type="radio"
        name={name}
        value={value}
        checked={String(draft[name]) === value}
        onChange={() =>
          set(
            name === 'type' ? { type: value as MessageType } : { authenticated: value === 'true' },
          )
        }
      />
      {text}
    </label>
  );
  const verb = props.id === undefined ? 'Create' : 'Edit';
  return (
    <Page title={`${verb} message`}>
      <form onSubmit={submit} className="card">
        {saving.error !== null && <Problem>{messageOf(saving.error)}</Problem>}
        <fieldset>
          <legend>Shown</legend>
          {choice('authenticated', 'true', 'after login')}
          {choice('authenticated', 'false', 'before login, to everybody: nothing secret')}
        </fieldset>
        <fieldset>
          <legend>Type</legend>
          {choice('type', 'banner', 'banner above the page')}
          {choice('type', 'modal', 'modal in front of the page')}
        </fieldset>
        <label>
          Title <input name="title" required value={draft.title} onChange={typed('title')} />
        </label>
        <label>
          Message
          <textarea name="message" required rows={4} value={draft.text} onChange={typed('text')} />
        </label>
        <div className="pair">
          <label>
            Starts (your time zone)
            <input
              name="start"
              type="datetime-local"
              required
              value={draft.start}
              onChange={typed('start')}
            />
          </label>
          <label>
            Ends (your time zone; empty: never)
            <input name="end" type="datetime-local" value={draft.end} onChange={typed('end')} />
          </label>
        </div>
        <div className="pair">
          <label>
            Link title
            <input name="link-title" value={draft.linkTitle} onChange={typed('linkTitle')} />
          </label>
          <label>
            Link address
            <input
              name="link-href"
              inputMode="url"
              pattern="(https?://|mailto:|/(?!/)).*"
              title="http://, https://, mailto: or a path of this server"
              value={draft.linkHref}
              onChange={typed('linkHref')}
            />
          </label>
        </div>
        <Commands commands={[secretsCurl('POST', path, bodyOf(draft, props.message))]} />
        <footer className="form-actions">
          <button type="submit" className="primary" disabled={saving.isPending}>
            {props.id === undefined ? 'Create' : 'Save'}
          </button>
          <button type="button" onClick={() => setPreviewed(true)}>
            Preview
          </button>
          <button type="button" className="plain" onClick={() => props.onEnd()}>
            Cancel
          </button>
        </footer>
        {isPreviewed && draft.type === 'banner' && (
          <div className="preview">
            <Banner message={preview} onDismiss={() => setPreviewed(false)} />
          </div>
        )}
      </form>
      {isPreviewed && draft.type === 'modal' && (
        <MessageModal message={preview} onDismiss={() => setPreviewed(false)} />
      )}
    </Page>
  );
};
