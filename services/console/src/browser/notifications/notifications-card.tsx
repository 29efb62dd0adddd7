/** Notifications of a workspace or a team, for callers who may change it. */
import { useState } from 'react';
import { callWorkspaces, type Resource } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { formatTime } from '../components/format.ts';
import { Card } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Pill } from '../components/pill.tsx';
import {
  DESTINATIONS,
  enabledBody,
  type NotificationConfiguration,
  newNotification,
  type SubscribableKind,
  triggersOf,
} from './notification.ts';

const NotificationFields = ({ kind }: { kind: SubscribableKind }) => {
  const [destination, setDestination] = useState('generic');
  return (
    <>
      <label>
        Name
        <input name="name" required autoComplete="off" />
      </label>
      <label>
        Sent to
        <select
          name="destination"
          value={destination}
          onChange={({ target }) => setDestination(target.value)}
        >
          {Object.entries(DESTINATIONS).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {destination === 'email' ? (
        <label>
          Mail addresses
          <textarea name="addresses" rows={2} required />
        </label>
      ) : (
        <label>
          Web address
          <input name="url" type="url" required autoComplete="off" />
        </label>
      )}
      {destination === 'generic' && (
        <label>
          Key of the signatures (optional)
          <input name="token" type="password" autoComplete="off" />
        </label>
      )}
      <fieldset>
        <legend>When</legend>
        {triggersOf(kind).map(([trigger, words]) => (
          <label className="choice" key={trigger}>
            <input type="checkbox" name={trigger} /> {words}
          </label>
        ))}
      </fieldset>
      <label className="choice">
        <input type="checkbox" name="enabled" defaultChecked /> Enabled: the destination is verified
        at once
      </label>
    </>
  );
};

const NotificationActions = ({
  id,
  attributes: { name, enabled },
}: Resource<NotificationConfiguration>) => {
  const path = `notification-configurations/${id}`;
  return (
    <>
      <ActionButton
        label="Verify"
        name={`Verify ${name}`}
        className="small"
        title={`Send a verification to ${name}?`}
        confirm="Send it"
        act={() => callWorkspaces('POST', `${path}/actions/verify`)}
        commands={[workspacesCurl('POST', `${path}/actions/verify`)]}
      >
        <p>The destination has to accept it. The answer is shown with the deliveries.</p>
      </ActionButton>
      <ActionButton
        label={enabled ? 'Disable' : 'Enable'}
        name={`${enabled ? 'Disable' : 'Enable'} ${name}`}
        className="small"
        title={`${enabled ? 'Disable' : 'Enable'} ${name}?`}
        confirm={enabled ? 'Disable it' : 'Enable it'}
        act={() => callWorkspaces('PATCH', path, { body: enabledBody(!enabled) })}
        commands={[workspacesCurl('PATCH', path, enabledBody(!enabled))]}
      >
        <p>
          {enabled
            ? 'Events are not sent until it is enabled again, and are not sent later.'
            : 'A verification is sent first, which the destination has to accept.'}
        </p>
      </ActionButton>
      <DeleteButton what={`the notification ${name}`} name={`Delete ${name}`} path={path}>
        Its destination gets no more events.
      </DeleteButton>
    </>
  );
};

const Deliveries = ({ attributes }: Resource<NotificationConfiguration>) => {
  const responses = attributes['delivery-responses'];
  return responses.length === 0 ? (
    '–'
  ) : (
    <ul className="plain-list" aria-label={`Last deliveries of ${attributes.name}`}>
      {responses.map((response) => (
        <li key={response['sent-at']}>
          <Pill tone={response.successful === 'true' ? 'good' : 'bad'}>{response.code}</Pill>{' '}
          {formatTime(response['sent-at'])}
        </li>
      ))}
    </ul>
  );
};

export const NotificationsCard = (props: {
  kind: SubscribableKind;
  id: string;
  /** Name of the workspace or team. */
  owner: string;
}) => {
  const { kind, owner } = props;
  const path = `${kind}/${props.id}/notification-configurations`;
  return (
    <Card
      title={kind === 'teams' ? `Notifications of ${owner}` : 'Notifications'}
      actions={
        <ActionButton
          label="Add notification"
          name={`Add notification to ${owner}`}
          title={`Notify about ${owner}`}
          confirm="Add"
          act={(fields) =>
            callWorkspaces('POST', path, {
              body: newNotification(fields, kind, fields.text('destination')),
            })
          }
          commands={[
            workspacesCurl(
              'POST',
              path,
              newNotification({ text: () => '…', isChecked: () => true }, kind, 'generic'),
            ),
          ]}
        >
          <NotificationFields kind={kind} />
        </ActionButton>
      }
    >
      <PagedList<NotificationConfiguration>
        name="notifications"
        path={path}
        empty="Nobody is notified."
      >
        {({ data }) => (
          <DataTable
            label={`Notifications of ${owner}`}
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Name', isName: true, cell: ({ attributes }) => attributes.name },
              {
                title: 'Sent to',
                cell: ({ attributes }) =>
                  attributes.url ?? attributes['email-addresses'].join(', '),
              },
              {
                title: 'State',
                cell: ({ attributes: { enabled } }) => (
                  <Pill tone={enabled ? 'good' : 'plain'}>{enabled ? 'enabled' : 'disabled'}</Pill>
                ),
              },
              { title: 'Last deliveries', cell: (one) => <Deliveries {...one} /> },
              {
                title: 'Actions',
                isActions: true,
                cell: (one) => <NotificationActions {...one} />,
              },
            ]}
          />
        )}
      </PagedList>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Card>
  );
};
