/** Notifications of a workspace or a team, for callers who may change it. */
import { useState } from 'react';
import { callWorkspaces, type Resource } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import {
  ChoiceLabel,
  FieldSet,
  Input,
  Label,
  SelectField,
  TextArea,
} from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { Card } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Pill } from '../components/pill.tsx';
import { PlainList } from '../components/plain-list.tsx';
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
      <Label>
        Name
        <Input name="name" required autoComplete="off" />
      </Label>
      <Label>
        Sent to
        <SelectField
          name="destination"
          value={destination}
          onChange={({ target }) => setDestination(target.value)}
        >
          {Object.entries(DESTINATIONS).map(([name, words]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
        </SelectField>
      </Label>
      {destination === 'email' ? (
        <Label>
          Mail addresses
          <TextArea name="addresses" rows={2} required />
        </Label>
      ) : (
        <Label>
          Web address
          <Input name="url" type="url" required autoComplete="off" />
        </Label>
      )}
      {destination === 'generic' && (
        <Label>
          Key of the signatures (optional)
          <Input name="token" type="password" autoComplete="off" />
        </Label>
      )}
      <FieldSet>
        <legend>When</legend>
        {triggersOf(kind).map(([trigger, words]) => (
          <ChoiceLabel key={trigger}>
            <input type="checkbox" name={trigger} /> {words}
          </ChoiceLabel>
        ))}
      </FieldSet>
      <ChoiceLabel>
        <input type="checkbox" name="enabled" defaultChecked /> Enabled: the destination is verified
        at once
      </ChoiceLabel>
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
        look="small"
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
        look="small"
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
    <PlainList aria-label={`Last deliveries of ${attributes.name}`}>
      {responses.map((response) => (
        <li key={response['sent-at']}>
          <Pill tone={response.successful === 'true' ? 'good' : 'bad'}>{response.code}</Pill>{' '}
          {formatTime(response['sent-at'])}
        </li>
      ))}
    </PlainList>
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
