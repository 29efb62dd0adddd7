import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, type Session } from '../api-client.ts';
import { messageOf } from '../loading.ts';
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
import { Banner, Modal } from './shown-messages.ts';

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
  readonly session: Session;
  /** Of the message that is replaced; undefined creates one. */
  readonly id: string | undefined;
  readonly message: Message | undefined;
  /** Where a new message is shown unless chosen otherwise. */
  readonly authenticated: boolean;
  readonly hasActiveModal: boolean;
  /** With what was saved; without it when the form was left. */
  readonly onEnd: (saved?: { authenticated: boolean }) => void;
}

export const MessageForm = (props: MessageFormProps): VNode => {
  const [draft, setDraft] = useState(() =>
    props.message === undefined ? newDraft(props.authenticated) : draftOf(props.message),
  );
  const [isPreviewed, setPreviewed] = useState(false);
  const [problem, setProblem] = useState<string>();
  const set = (change: Partial<Draft>): void => setDraft((last) => ({ ...last, ...change }));
  const typed = (name: keyof Draft) => (event: Event) =>
    set({ [name]: (event.currentTarget as HTMLInputElement).value });

  const save = async (): Promise<void> => {
    const isSecondModal = draft.type === 'modal' && props.hasActiveModal;
    if (isSecondModal && !confirm('Another modal is active in this list. Save this one as well?'))
      return;
    const path = `sys/config/ui/custom-messages${props.id === undefined ? '' : `/${props.id}`}`;
    try {
      await callApi(props.session, 'POST', path, bodyOf(draft, props.message));
      props.onEnd({ authenticated: draft.authenticated });
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    void save();
  };
  const preview = { title: draft.title, message: toBase64(draft.text), link: linkMap(draft) };
  const choice = (name: 'type' | 'authenticated', value: string, text: string) => html`
    <label class="choice">
      <input
        type="radio"
        name=${name}
        value=${value}
        checked=${String(draft[name]) === value}
        onChange=${() => set(name === 'type' ? { type: value as MessageType } : { authenticated: value === 'true' })}
      />
      ${text}
    </label>
  `;
  return html`
    <form onSubmit=${submit} class="message-form">
      <header class="page-head">
        <h1>${props.id === undefined ? 'Create message' : 'Edit message'}</h1>
      </header>
      ${problem && html`<p role="alert" class="problem">${problem}</p>`}
      <fieldset>
        <legend>Shown</legend>
        ${choice('authenticated', 'true', 'after login')}
        ${choice('authenticated', 'false', 'before login, to everybody: nothing secret')}
      </fieldset>
      <fieldset>
        <legend>Type</legend>
        ${choice('type', 'banner', 'banner above the page')}
        ${choice('type', 'modal', 'modal in front of the page')}
      </fieldset>
      <label>Title <input name="title" required value=${draft.title} onInput=${typed('title')} /></label>
      <label>Message <textarea name="message" required rows="4" value=${draft.text} onInput=${typed('text')}></textarea></label>
      <div class="pair">
        <label>Starts (your time zone) <input name="start" type="datetime-local" required value=${draft.start} onInput=${typed('start')} /></label>
        <label>Ends (your time zone; empty: never) <input name="end" type="datetime-local" value=${draft.end} onInput=${typed('end')} /></label>
      </div>
      <div class="pair">
        <label>Link title <input name="link-title" value=${draft.linkTitle} onInput=${typed('linkTitle')} /></label>
        <label>
          Link address
          <input
            name="link-href"
            inputmode="url"
            pattern="(https?://|mailto:|/(?!/)).*"
            title="http://, https://, mailto: or a path of this server"
            value=${draft.linkHref}
            onInput=${typed('linkHref')}
          />
        </label>
      </div>
      <footer class="form-actions">
        <button class="primary">${props.id === undefined ? 'Create' : 'Save'}</button>
        <button type="button" onClick=${() => setPreviewed(true)}>Preview</button>
        <button type="button" class="plain" onClick=${() => props.onEnd()}>Cancel</button>
      </footer>
      ${
        isPreviewed &&
        (draft.type === 'modal'
          ? html`<${Modal} message=${preview} onDismiss=${() => setPreviewed(false)} />`
          : html`<div class="preview"><${Banner} message=${preview} onDismiss=${() => setPreviewed(false)} /></div>`)
      }
    </form>
  `;
};
