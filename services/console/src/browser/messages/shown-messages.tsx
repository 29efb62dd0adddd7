/**
 * Messages as shown to users: banners above the page, modals one after the other in front of it.
 */
import { useEffect, useRef, useState } from 'react';
import { useSecret } from '../api/queries.ts';
import { fromBase64, linkOf, type Message, type MessageList, sortedByStart } from './message.ts';

type Shown = Pick<Message, 'title' | 'message' | 'link'>;

const MessageLink = ({ message }: { message: Shown }) => {
  const link = linkOf(message);
  return (
    link && (
      <a href={link.href} target="_blank" rel="noopener noreferrer">
        {link.title}
      </a>
    )
  );
};

export const Banner = (props: { message: Shown; onDismiss?: () => void }) => (
  <section className="banner" role="status">
    <div>
      <strong dir="auto">{props.message.title}</strong>
      <p dir="auto">{fromBase64(props.message.message)}</p>
      <MessageLink message={props.message} />
    </div>
    {props.onDismiss && (
      <button
        type="button"
        className="plain"
        aria-label={`Dismiss ${props.message.title}`}
        onClick={props.onDismiss}
      >
        ×
      </button>
    )}
  </section>
);

/**
 * The browser's native dialog, which opens at the start of its text, with its close button visible.
 */
export const MessageModal = (props: { message: Shown; onDismiss: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const text = useRef<HTMLElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    // Otherwise a link at the end of a long text would get the focus, and the text would scroll to
    // it.
    text.current?.focus();
  }, []);
  return (
    <dialog ref={dialog} className="modal" aria-labelledby="modal-title" onClose={props.onDismiss}>
      <h2 id="modal-title" dir="auto">
        {props.message.title}
      </h2>
      {/* Focusable, so that the arrow keys scroll it. */}
      <section ref={text} className="text" aria-labelledby="modal-title" tabIndex={0}>
        <p dir="auto">{fromBase64(props.message.message)}</p>
        <MessageLink message={props.message} />
      </section>
      <form method="dialog">
        <button type="submit" className="primary">
          Close
        </button>
      </form>
    </dialog>
  );
};

/** Number of messages above which all can be dismissed together. */
const FEW = 3;

/**
 * Active messages of the current namespace and its parents; dismissed ones reappear when the page
 * is reloaded.
 */
export const ShownMessages = (props: { isSignedIn: boolean }) => {
  const which = props.isSignedIn ? 'authenticated' : 'unauthenticated';
  const [dismissed, setDismissed] = useState<ReadonlySet<string>>(new Set());
  const { data } = useSecret<MessageList>(`sys/internal/ui/${which}-messages`);
  const waiting = sortedByStart(data ?? undefined).filter(([id]) => !dismissed.has(id));
  const dismiss = (...ids: readonly string[]): void =>
    setDismissed((last) => new Set([...last, ...ids]));
  const modal = waiting.find(([, message]) => message.type === 'modal');
  const banners = waiting.filter(([, message]) => message.type === 'banner');
  return (
    <>
      {banners.length > 0 && (
        <section className="banners" aria-label="Messages" tabIndex={0}>
          {banners.map(([id, message]) => (
            <Banner key={id} message={message} onDismiss={() => dismiss(id)} />
          ))}
        </section>
      )}
      {banners.length > FEW && (
        <p className="banners-end">
          {banners.length} messages
          <button
            type="button"
            className="plain"
            onClick={() => dismiss(...banners.map(([id]) => id))}
          >
            Dismiss all
          </button>
        </p>
      )}
      {modal && (
        <MessageModal key={modal[0]} message={modal[1]} onDismiss={() => dismiss(modal[0])} />
      )}
    </>
  );
};
