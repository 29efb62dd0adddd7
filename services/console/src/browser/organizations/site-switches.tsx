/** The switches by which administrators of the site stop an organization, an agent pool or an OAuth client. */
import { useDocument } from '../api/queries.ts';
import { callWorkspaces } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { Pill } from '../components/pill.tsx';

interface Account {
  readonly data: {
    readonly attributes: {
      readonly permissions?: { readonly 'can-create-organizations': boolean };
    };
  };
}

/**
 * Only administrators of the site create organizations, and turn switches. A token of a team has no account.
 * @param enabled false where nobody is signed in to the workspace API
 */
export const useIsSiteAdministrator = (enabled = true): boolean => {
  const { data } = useDocument<Account>('account/details', { enabled });
  return data?.data.attributes.permissions?.['can-create-organizations'] === true;
};

interface Switched {
  readonly 'is-disabled'?: boolean;
  readonly 'is-draining'?: boolean;
}

export const SwitchState = ({ attributes }: { attributes: Switched }) => {
  if (attributes['is-disabled'] === true) return <Pill tone="bad">disabled</Pill>;
  if (attributes['is-draining'] === true) return <Pill tone="busy">draining</Pill>;
  return <Pill tone="good">enabled</Pill>;
};

const VERBS = { disable: 'Disable', drain: 'Drain', enable: 'Enable' } as const;

/** Effects by kind, as the dialog explains them before. */
const EFFECTS = {
  organizations: {
    kind: 'organization',
    disable: 'Every request of it is refused, and the phases of its runs are canceled.',
    drain: 'No phase of a run starts. Those under way end, and requests are served.',
    enable: 'It is served again, and its runs go on.',
  },
  'agent-pools': {
    kind: 'agent pool',
    disable: 'Its agents get no run and no other work. What they execute ends.',
    drain: '',
    enable: 'Its agents get work again.',
  },
  'oauth-clients': {
    kind: 'connection',
    disable: 'Deliveries of the provider are refused, and nothing is sent to it.',
    drain: '',
    enable: 'Deliveries are accepted, and the provider is asked again.',
  },
} as const;

const Turn = (props: {
  type: keyof typeof EFFECTS;
  id: string;
  name: string;
  to: keyof typeof VERBS;
}) => {
  const { type, id, name, to } = props;
  const verb = VERBS[to];
  const path = `admin/${type}/${encodeURIComponent(id)}`;
  const attributes = {
    'is-disabled': to === 'disable',
    ...(type === 'organizations' && { 'is-draining': to === 'drain' }),
  };
  const body = { data: { type, attributes } };
  return (
    <ActionButton
      label={verb}
      name={`${verb} ${name}`}
      look={to === 'disable' ? 'small danger' : 'small'}
      tone={to === 'disable' ? 'danger' : undefined}
      title={`${verb} the ${EFFECTS[type].kind} ${name}?`}
      confirm={`${verb} it`}
      act={() => callWorkspaces('PATCH', path, { body })}
      commands={[workspacesCurl('PATCH', path, body)]}
    >
      <p>{EFFECTS[type][to]}</p>
    </ActionButton>
  );
};

/** The buttons for what the switch is not yet. */
export const SwitchButtons = (props: {
  type: keyof typeof EFFECTS;
  id: string;
  name: string;
  attributes: Switched;
}) => {
  const { attributes, ...of } = props;
  const isOff = attributes['is-disabled'] === true;
  const isDraining = attributes['is-draining'] === true;
  return (
    <>
      {(isOff || isDraining) && <Turn {...of} to="enable" />}
      {of.type === 'organizations' && !isDraining && <Turn {...of} to="drain" />}
      {!isOff && <Turn {...of} to="disable" />}
    </>
  );
};
