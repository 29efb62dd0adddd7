import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, type Session } from '../api-client.ts';
import { messageOf } from '../loading.ts';
import {
  fromBase64,
  fromLocalInput,
  type Message,
  type MessageType,
  toBase64,
  toLocalInput,
} from './message.ts';
import { Banner, Modal } from './shown-messages.ts';

interface Draft {
  readonly title: string;
  readonly text: string;
  readonly type: MessageType;
  readonly authenticated: boolean;
  readonly start: string;
  readonly end: string;
  readonly linkTitle: string;
  readonly linkHref: string;
}

const draftOf = (message: Message | undefined, authenticated: boolean): Draft => {
  const [link] = Object.entries(message?.link ?? {});
  return {
    title: message?.title ?? '',
    text: message === undefined ? '' : fromBase64(message.message),
    type: message?.type ?? 'banner',
    authenticated: message?.authenticated ?? authenticated,
    start: toLocalInput(message?.start_time ?? new Date().toISOString()),
    end: toLocalInput(message?.end_time ?? null),
    linkTitle: link?.[0] ?? '',
    linkHref: link?.[1] ?? '',
  };
};

const linkMap = ({ linkTitle, linkHref }: Draft): Record<string, string> =>
  linkTitle === '' && linkHref === '' ? {} : { [linkTitle]: linkHref };

/** The body that creates or replaces a message. */
const bodyOf = (draft: Draft): object => ({
  title: draft.title,
  message: toBase64(draft.text),
  type: draft.type,
  authenticated: draft.authenticated,
  start_time: fromLocalInput(draft.start),
  ...(draft.end !== '' && { end_time: fromLocalInput(draft.end) }),
  link: linkMap(draft),
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
  const [draft, setDraft] = useState(() => draftOf(props.message, props.authenticated));
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
      await callApi(props.session, 'POST', path, bodyOf(draft));
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
        <label>Starts <input name="start" type="datetime-local" required value=${draft.start} onInput=${typed('start')} /></label>
        <label>Ends (empty: never) <input name="end" type="datetime-local" value=${draft.end} onInput=${typed('end')} /></label>
      </div>
      <div class="pair">
        <label>Link title <input name="link-title" value=${draft.linkTitle} onInput=${typed('linkTitle')} /></label>
        <label>Link address <input name="link-href" type="url" value=${draft.linkHref} onInput=${typed('linkHref')} /></label>
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
