/** A button that explains its action, performs it once after confirmation, and shows its error. */
import { type FormEvent, type ReactNode, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { Button, type ButtonLook } from './button.tsx';
import { type Command, Commands } from './commands.tsx';
import { FormActions, Input, Label } from './fields.tsx';
import { Modal } from './modal.tsx';
import { useOpenedByAddress } from './opened-by-address.ts';
import { Problem } from './page.tsx';
import { Code } from './text.tsx';

/** Values of a dialog's fields, by field name. */
export interface Fields {
  readonly text: (name: string) => string;
  readonly isChecked: (name: string) => boolean;
}

/** Values of a form that may also have fields for files. */
export interface SubmittedFields extends Fields {
  /** The chosen file; null if none is. */
  readonly file: (name: string) => File | null;
}

/** @param form the submitted form */
export const fieldsOf = (form: HTMLFormElement): SubmittedFields => {
  const data = new FormData(form);
  return {
    text: (name) => {
      const value = data.get(name);
      return typeof value === 'string' ? value : '';
    },
    isChecked: (name) => data.has(name),
    file: (name) => {
      const value = data.get(name);
      return value instanceof File ? value : null;
    },
  };
};

export interface ActionButtonProps {
  readonly label: string;
  /** Accessible name for screen readers, which lack the visual context: "Delete the policy web". */
  readonly name?: string;
  readonly title: string;
  /** Explains the effect of the action and what it destroys. */
  readonly children: ReactNode;
  /** Label of the button that confirms the action. */
  readonly confirm: string;
  readonly tone?: 'danger' | 'primary' | undefined;
  readonly look?: ButtonLook;
  /** Performs the action with the values of the dialog's fields. */
  readonly act: (fields: SubmittedFields) => Promise<unknown>;
  readonly onDone?: () => void;
  /** The same action on the command line. */
  readonly commands: readonly Command[];
  /** The end of the page's address, after "#", that opens the dialog. */
  readonly opensAt?: string;
  /** Text that the user has to type before confirming. */
  readonly typed?: string;
}

export const ActionButton = (props: ActionButtonProps) => {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const action = useAction(
    props.act,
    () => {
      setOpen(false);
      props.onDone?.();
    },
    () => `${props.title.replace(/\?$/, '')}: done.`,
  );
  const open = (): void => {
    action.reset();
    setTyped('');
    setOpen(true);
  };
  useOpenedByAddress(props.opensAt, open);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    action.run(fieldsOf(event.currentTarget));
  };
  return (
    <>
      <Button
        look={props.look ?? props.tone}
        aria-label={props.name}
        aria-haspopup="dialog"
        onClick={open}
      >
        {props.label}
      </Button>
      <Modal title={props.title} isOpen={isOpen} onClose={() => setOpen(false)}>
        <form onSubmit={submit}>
          {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
          {props.children}
          {props.typed !== undefined && (
            <Label>
              Type <Code>{props.typed}</Code> to go on
              <Input
                value={typed}
                autoComplete="off"
                onChange={({ target }) => setTyped(target.value)}
              />
            </Label>
          )}
          <Commands commands={props.commands} />
          <FormActions>
            <Button
              type="submit"
              look={props.tone ?? 'primary'}
              disabled={action.isPending || (props.typed !== undefined && typed !== props.typed)}
            >
              {action.isPending ? 'Working…' : props.confirm}
            </Button>
            <Button onClick={() => setOpen(false)}>Cancel</Button>
          </FormActions>
        </form>
      </Modal>
    </>
  );
};
