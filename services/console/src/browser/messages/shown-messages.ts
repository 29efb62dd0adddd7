/** Messages as their readers see them: banners above the page, modals one after the other in front of it. */
import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { readData, type Session } from '../api-client.ts';
import { useLoaded } from '../loading.ts';
import { fromBase64, linkOf, type Message, type MessageList, sortedByStart } from './message.ts';

const messageLink = (message: Pick<Message, 'link'>): VNode | undefined => {
  const link = linkOf(message);
  return (
    link && html`<a href=${link.href} target="_blank" rel="noopener noreferrer">${link.title}</a>`
  );
};

type Shown = Pick<Message, 'title' | 'message' | 'link'>;

export const Banner = (props: { message: Shown; onDismiss?: () => void }): VNode => html`
  <section class="banner" role="status">
    <div>
      <strong dir="auto">${props.message.title}</strong>
      <p dir="auto">${fromBase64(props.message.message)}</p>
      ${messageLink(props.message)}
    </div>
    ${
      props.onDismiss &&
      html`<button type="button" class="plain" aria-label=${`Dismiss ${props.message.title}`} onClick=${props.onDismiss}>×</button>`
    }
  </section>
`;

export const Modal = (props: { message: Shown; onDismiss: () => void }): VNode => {
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useRef<HTMLDivElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    // Otherwise a link at the end of a long text would be first, and the text scrolled to it.
    text.current?.focus();
  }, []);
  return html`
    <dialog ref=${dialog} class="modal" aria-labelledby="modal-title" onClose=${props.onDismiss}>
      <h2 id="modal-title" dir="auto">${props.message.title}</h2>
      <div ref=${text} class="text" tabindex="0">
        <p dir="auto">${fromBase64(props.message.message)}</p>
        ${messageLink(props.message)}
      </div>
      <form method="dialog"><button class="primary">Close</button></form>
    </dialog>
  `;
};

/** So many stand for themselves; more can be dismissed together. */
const FEW = 3;

/** Active messages of the present namespace and those above it; dismissed ones come back with the next load of the page. */
export const ShownMessages = (props: { session: Session }): VNode => {
  const { session } = props;
  const which = session.token === undefined ? 'unauthenticated' : 'authenticated';
  const [dismissed, setDismissed] = useState<ReadonlySet<string>>(new Set());
  const { value } = useLoaded(
    () => readData<MessageList>(session, `sys/internal/ui/${which}-messages`),
    [which, session.token, session.namespace],
  );
  const waiting = sortedByStart(value).filter(([id]) => !dismissed.has(id));
  const dismiss =
    (...ids: readonly string[]) =>
    () =>
      setDismissed((last) => new Set([...last, ...ids]));
  const modal = waiting.find(([, message]) => message.type === 'modal');
  const banners = waiting.filter(([, message]) => message.type === 'banner');
  return html`
    ${
      banners.length > 0 &&
      html`<div class="banners" role="region" aria-label="Messages" tabindex="0">
        ${banners.map(
          ([id, message]) =>
            html`<${Banner} key=${id} message=${message} onDismiss=${dismiss(id)} />`,
        )}
      </div>`
    }
    ${
      banners.length > FEW &&
      html`<p class="banners-end">
        ${banners.length} messages
        <button type="button" class="plain" onClick=${dismiss(...banners.map(([id]) => id))}>
          Dismiss all
        </button>
      </p>`
    }
    ${modal && html`<${Modal} key=${modal[0]} message=${modal[1]} onDismiss=${dismiss(modal[0])} />`}
  `;
};
