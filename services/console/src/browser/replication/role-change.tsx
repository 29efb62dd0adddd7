/** Calls and command lines of actions that change the replication of the whole cluster. */
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { type Command, rootCurl, rootVaultCommand } from '../components/commands.tsx';

export type Kind = 'performance' | 'dr';

/** Replication is administered in the root namespace only. */
export const ROOT = { namespace: '' } as const;

/** @param path below `/v1/` */
export const post =
  (path: string) =>
  (body: object = {}): Promise<unknown> =>
    callSecrets('POST', path, { body, ...ROOT });

/** The action as commands to copy. */
export const commandsFor = (path: string, body: object = {}): readonly Command[] => [
  rootCurl('POST', path, body),
  rootVaultCommand(
    ['vault write', ...(Object.keys(body).length === 0 ? ['-f'] : []), path]
      .concat(Object.entries(body).map(([name, value]) => `${name}=${String(value)}`))
      .join(' '),
  ),
];

/** An action without parameters, confirmed by typing a word. */
export const RoleChange = (props: {
  path: string;
  label: string;
  title: string;
  confirm: string;
  typed: string;
  text: string;
}) => (
  <ActionButton
    label={props.label}
    tone="danger"
    title={props.title}
    confirm={props.confirm}
    typed={props.typed}
    act={() => post(props.path)()}
    commands={commandsFor(props.path)}
  >
    <p>{props.text}</p>
  </ActionButton>
);
