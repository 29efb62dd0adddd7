/** A button that explains its action, performs it once after confirmation, and shows its error. */
import { type FormEvent, type ReactNode, useLayoutEffect, useState } from 'react';
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

/** An action that is explained and confirmed in a dialog. */
export interface ConfirmedAction {
  readonly title: string;
  /** Explains the effect of the action and what it destroys. */
  readonly children: ReactNode;
  /** Label of the button that confirms the action. */
  readonly confirm: string;
  readonly tone?: 'danger' | 'primary' | undefined;
  /** Performs the action with the values of the dialog's fields. */
  readonly act: (fields: SubmittedFields) => Promise<unknown>;
  readonly onDone?: () => void;
  /** The same action on the command line. */
  readonly commands: readonly Command[];
  /** Text that the user has to type before confirming. */
  readonly typed?: string;
}

/** The dialog of an action. It stays while it is closed, so that nothing is sent twice when it opens again. */
export const ActionDialog = (
  props: ConfirmedAction & { readonly isOpen: boolean; readonly onClose: () => void },
) => {
  const { isOpen, onClose } = props;
  const [typed, setTyped] = useState('');
  const action = useAction(
    props.act,
    () => {
      onClose();
      props.onDone?.();
    },
    () => `${props.title.replace(/\?$/, '')}: done.`,
  );
  useLayoutEffect(() => {
    if (!isOpen) return;
    action.reset();
    setTyped('');
  }, [isOpen]);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    action.run(fieldsOf(event.currentTarget));
  };
  return (
    <Modal title={props.title} isOpen={isOpen} onClose={onClose}>
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
          <Button onClick={onClose}>Cancel</Button>
        </FormActions>
      </form>
    </Modal>
  );
};

export interface ActionButtonProps extends ConfirmedAction {
  readonly label: string;
  /** Accessible name for screen readers, which lack the visual context: "Delete the policy web". */
  readonly name?: string;
  readonly look?: ButtonLook;
  /** The end of the page's address, after "#", that opens the dialog. */
  readonly opensAt?: string;
}

export const ActionButton = (props: ActionButtonProps) => {
  const { label, name, look, opensAt, ...action } = props;
  const [isOpen, setOpen] = useState(false);
  const open = (): void => setOpen(true);
  useOpenedByAddress(opensAt, open);
  return (
    <>
      <Button look={look ?? action.tone} aria-label={name} aria-haspopup="dialog" onClick={open}>
        {label}
      </Button>
      <ActionDialog {...action} isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  );
};
