/** The form of a message that is new or exists already, with a preview. */
import { type FormEvent, type ReactNode, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import cardStyles from '../components/card.module.css';
import { Commands, secretsCurl } from '../components/commands.tsx';
import {
  ChoiceLabel,
  FieldSet,
  FormActions,
  Input,
  Label,
  Pair,
  TextArea,
} from '../components/fields.tsx';
import { Page, Problem } from '../components/page.tsx';
import { EditForm } from '../editing/edit-form.tsx';
import { secretTarget } from '../editing/edit-target.ts';
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
import styles from './message-form.module.css';
import { COLLECTION } from './message-table.tsx';
import { Banner, MessageModal } from './shown-messages.tsx';

const newDraft = (authenticated: boolean): Draft => ({
  title: '',
  text: '',
  type: 'banner',
  authenticated: String(authenticated),
  start: toLocalInput(new Date().toISOString()),
  end: '',
  linkTitle: '',
  linkHref: '',
});

const draftIn = (form: HTMLFormElement): Draft => {
  const { text } = fieldsOf(form);
  return {
    title: text('title'),
    text: text('text'),
    type: text('type') as MessageType,
    authenticated: text('authenticated'),
    start: text('start'),
    end: text('end'),
    linkTitle: text('linkTitle'),
    linkHref: text('linkHref'),
  };
};

const Choice = (props: { name: string; value: string; chosen: string; text: string }) => (
  <ChoiceLabel>
    <input
      type="radio"
      name={props.name}
      value={props.value}
      defaultChecked={props.chosen === props.value}
    />
    {props.text}
  </ChoiceLabel>
);

const MessageFields = (draft: Draft) => (
  <>
    <FieldSet>
      <legend>Shown</legend>
      <Choice name="authenticated" value="true" chosen={draft.authenticated} text="after login" />
      <Choice
        name="authenticated"
        value="false"
        chosen={draft.authenticated}
        text="before login, to everybody: nothing secret"
      />
    </FieldSet>
    <FieldSet>
      <legend>Type</legend>
      <Choice name="type" value="banner" chosen={draft.type} text="banner above the page" />
      <Choice name="type" value="modal" chosen={draft.type} text="modal in front of the page" />
    </FieldSet>
    <Label>
      Title <Input name="title" required defaultValue={draft.title} />
    </Label>
    <Label>
      Message
      <TextArea name="text" required rows={4} defaultValue={draft.text} />
    </Label>
    <Pair>
      <Label>
        Starts (your time zone)
        <Input name="start" type="datetime-local" required defaultValue={draft.start} />
      </Label>
      <Label>
        Ends (your time zone; empty: never)
        <Input name="end" type="datetime-local" defaultValue={draft.end} />
      </Label>
    </Pair>
    <Pair>
      <Label>
        Link title
        <Input name="linkTitle" defaultValue={draft.linkTitle} />
      </Label>
      <Label>
        Link address
        <Input
          name="linkHref"
          inputMode="url"
          pattern="(https?://|mailto:|/(?!/)).*"
          title="http://, https://, mailto: or a path of this server"
          defaultValue={draft.linkHref}
        />
      </Label>
    </Pair>
  </>
);

export interface MessageFormProps {
  /** Id of the message that is edited; undefined creates a message. */
  readonly id: string | undefined;
  readonly message: Message | undefined;
  /** Default for a new message: shown after signing in (true) or before. */
  readonly authenticated: boolean;
  readonly hasActiveModal: boolean;
  /** Called with the saved message, or without an argument if the form was cancelled. */
  readonly onEnd: (saved?: { authenticated: boolean }) => void;
}

interface FormParts {
  /** The buttons next to the one that saves. */
  readonly actions: ReactNode;
  /** Asks before a second modal is stored. */
  readonly mayStore: (draft: Draft) => boolean;
  readonly onSaved: (authenticated: string) => void;
}

const NewMessage = ({ first, parts }: { first: Draft; parts: FormParts }) => {
  const [draft, setDraft] = useState(first);
  const creating = useAction(
    (given: Draft) => callSecrets('POST', COLLECTION, { body: bodyOf(given, undefined) }),
    (_, given) => parts.onSaved(given.authenticated),
    () => 'Created.',
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const given = draftIn(event.currentTarget);
    if (parts.mayStore(given)) creating.run(given);
  };
  return (
    <form
      onSubmit={submit}
      onInput={({ currentTarget }) => setDraft(draftIn(currentTarget))}
      className={cardStyles['card']}
    >
      {creating.error !== null && <Problem>{messageOf(creating.error)}</Problem>}
      <MessageFields {...first} />
      <Commands commands={[secretsCurl('POST', COLLECTION, bodyOf(draft, undefined))]} />
      <FormActions>
        <Button type="submit" look="primary" disabled={creating.isPending}>
          Create
        </Button>
        {parts.actions}
      </FormActions>
    </form>
  );
};

const EditMessage = (props: { id: string; message: Message; parts: FormParts }) => (
  <EditForm
    edits="message"
    isCard
    document={props.message}
    target={secretTarget<Message>(`${COLLECTION}/${props.id}`)}
    valuesOf={draftOf}
    bodyOf={(changed, newest) => bodyOf({ ...draftOf(newest), ...changed }, newest)}
    fields={MessageFields}
    mayStore={props.parts.mayStore}
    actions={props.parts.actions}
    onSaved={({ authenticated = String(props.message.authenticated) }) =>
      props.parts.onSaved(authenticated)
    }
  />
);

export const MessageForm = (props: MessageFormProps) => {
  const { id, message, authenticated } = props;
  const [first] = useState(() => newDraft(authenticated));
  const [previewed, setPreviewed] = useState<Draft>();
  const preview = previewed && {
    title: previewed.title,
    message: toBase64(previewed.text),
    link: linkMap(previewed),
  };
  const parts: FormParts = {
    actions: (
      <>
        <Button
          onClick={({ currentTarget: { form } }) => form !== null && setPreviewed(draftIn(form))}
        >
          Preview
        </Button>
        <Button look="plain" onClick={() => props.onEnd()}>
          Cancel
        </Button>
      </>
    ),
    mayStore: ({ type }) =>
      type !== 'modal' ||
      !props.hasActiveModal ||
      confirm('Another modal is active in this list. Save this one as well?'),
    onSaved: (after) => props.onEnd({ authenticated: after === 'true' }),
  };
  return (
    <Page title={id === undefined ? 'Create message' : 'Edit message'}>
      {id === undefined || message === undefined ? (
        <NewMessage first={first} parts={parts} />
      ) : (
        <EditMessage id={id} message={message} parts={parts} />
      )}
      {preview && previewed?.type === 'banner' && (
        <div className={styles['preview']}>
          <Banner message={preview} onDismiss={() => setPreviewed(undefined)} />
        </div>
      )}
      {preview && previewed?.type === 'modal' && (
        <MessageModal message={preview} onDismiss={() => setPreviewed(undefined)} />
      )}
    </Page>
  );
};
