/**
 * A row's button that deletes a resource of the workspace API, after a dialog that explains what is
 * lost.
 */
import type { ReactNode } from 'react';
import { callWorkspaces } from '../api/workspaces-api.ts';
import { ActionButton } from './action-button.tsx';
import { workspacesCurl } from './commands.tsx';

export const DeleteButton = (props: {
  /** Kind and name: "the variable region". */
  what: string;
  /** Accessible name of the button: "Delete region". */
  name: string;
  /** Below `/api/v2/`. */
  path: string;
  body?: object;
  label?: string;
  typed?: string;
  /** Called after the deletion, for a page that shows the deleted resource. */
  onDone?: () => void;
  children: ReactNode;
}) => {
  const { label = 'Delete', path, body } = props;
  return (
    <ActionButton
      label={label}
      name={props.name}
      look="small danger"
      tone="danger"
      title={`${label} ${props.what}?`}
      confirm={`${label} it`}
      {...(props.typed !== undefined && { typed: props.typed })}
      {...(props.onDone && { onDone: props.onDone })}
      act={() => callWorkspaces('DELETE', path, body && { body })}
      commands={[workspacesCurl('DELETE', path, body)]}
    >
      <p>{props.children}</p>
    </ActionButton>
  );
};
