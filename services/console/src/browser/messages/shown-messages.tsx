/**
 * Messages as shown to users: banners at the end of the window, modals one after the other in front of it.
 */
import { useEffect, useRef, useState } from 'react';
import { useSecret } from '../api/queries.ts';
import { Anchor } from '../components/anchor.tsx';
import { BannerLine, Banners, BannersEnd } from '../components/banners.tsx';
import { Button } from '../components/button.tsx';
import modalStyles from '../components/modal.module.css';
import { CardHeading } from '../components/text.tsx';
import { fromBase64, linkOf, type Message, type MessageList, sortedByStart } from './message.ts';

type Shown = Pick<Message, 'title' | 'message' | 'link'>;

const MessageLink = ({ message }: { message: Shown }) => {
  const link = linkOf(message);
  return (
    link && (
      <Anchor href={link.href} target="_blank" rel="noopener noreferrer">
        {link.title}
      </Anchor>
    )
  );
};

export const Banner = (props: { message: Shown; onDismiss?: () => void }) => (
  <BannerLine
    title={props.message.title}
    text={fromBase64(props.message.message)}
    dir="auto"
    link={<MessageLink message={props.message} />}
    action={
      props.onDismiss && (
        <Button
          look="plain"
          aria-label={`Dismiss ${props.message.title}`}
          onClick={props.onDismiss}
        >
          ×
        </Button>
      )
    }
  />
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
    <dialog
      ref={dialog}
      className={modalStyles['modal']}
      aria-labelledby="modal-title"
      onClose={props.onDismiss}
    >
      <CardHeading id="modal-title" className={modalStyles['heading']} dir="auto">
        {props.message.title}
      </CardHeading>
      {/* Focusable, so that the arrow keys scroll it. */}
      <section
        ref={text}
        className={modalStyles['text']}
        aria-labelledby="modal-title"
        tabIndex={0}
      >
        <p dir="auto">{fromBase64(props.message.message)}</p>
        <MessageLink message={props.message} />
      </section>
      <form method="dialog">
        <Button type="submit" look="primary">
          Close
        </Button>
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
        <Banners label="Messages">
          {banners.map(([id, message]) => (
            <Banner key={id} message={message} onDismiss={() => dismiss(id)} />
          ))}
        </Banners>
      )}
      {banners.length > FEW && (
        <BannersEnd>
          {banners.length} messages
          <Button look="plain" onClick={() => dismiss(...banners.map(([id]) => id))}>
            Dismiss all
          </Button>
        </BannersEnd>
      )}
      {modal && (
        <MessageModal key={modal[0]} message={modal[1]} onDismiss={() => dismiss(modal[0])} />
      )}
    </>
  );
};
